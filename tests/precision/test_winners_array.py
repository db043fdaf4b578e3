"""Shares of tied winners as an array against one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from precision import Arithmetic, Discipline, Rounding, fixed_point
from precision.winners import winners_share
from precision.winners_array import winners_shares


@pytest.mark.parametrize("rounding", [r for r in Rounding if r is not Rounding.STOCHASTIC])
@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("precision_bits", [5, 9, 17, 131])
def test_the_same_shares(precision_bits: int, discipline: Discipline, rounding: Rounding) -> None:
    """Up to 2^(q + 1) winners and beyond: 1/m is a midpoint at each power of two below, and half a quantum at the last."""
    arithmetic = Arithmetic(fixed_point(precision_bits), discipline, rounding)
    numbers = np.array([*range(1, 40), 63, 64, 65, 511, 512, 513, 2**40, 3 * 2**40] * 2)
    if discipline is Discipline.SEQUENTIAL:
        numbers = numbers[numbers < 2**40]
    losers = np.arange(len(numbers)) < len(numbers) // 2
    expected = [winners_share(m, arithmetic, losers=b) for m, b in zip(numbers.tolist(), losers.tolist(), strict=True)]
    assert winners_shares(numbers, losers, arithmetic).tolist() == expected
