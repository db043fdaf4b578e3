"""The shares of tied winners for many numbers of them at once: the twin of `winners_share`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from precision.format import Arithmetic, Discipline, Rounding
from precision.winners import winners_share


def winners_shares(winners: NDArray[np.int64], losers: NDArray[np.bool_], arithmetic: Arithmetic) -> NDArray[Any]:
    """Returns `winners_share` at each place, as Python integers. Shapes: (places,).

    Derivation of the fast way: 1/m in halves of a quantum is a whole number and a rest. With a rest, it rounds to the quantum on
    its side of the half; a number just below a half rounds down, and the half itself to the even quantum.
    """
    fmt, one = arithmetic.format, 1 << -arithmetic.format.quantum_exponent
    plain = arithmetic.discipline is Discipline.FUSED and arithmetic.rounding is Rounding.NEAREST_EVEN
    if not (plain and fmt.is_fixed_point and one <= fmt.max_quanta):
        pairs = zip(winners.tolist(), losers.tolist(), strict=True)
        return np.array([winners_share(m, arithmetic, losers=losers) for m, losers in pairs], object)
    numbers = winners.astype(object)
    halves = (2 * one) // numbers
    quanta = halves >> 1
    odd = (halves & 1).astype(bool)
    midpoint = odd & (halves * numbers == 2 * one).astype(bool)
    up = odd & (~midpoint | (~losers & (quanta & 1).astype(bool)))
    shares: NDArray[Any] = quanta + up
    return shares
