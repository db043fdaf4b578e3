"""The correctly rounded exponential of float64 arrays: the vectorised twin of exponential.py.

Source: appendix A.2, as in exponential.py.

numpy's exp is not correctly rounded and differs between machines, but it is close: both ends of an interval around it are
rounded, and where they disagree the scalar definition decides. So the result is the same bits everywhere.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from precision.exponential import exp_quanta
from precision.format import Format, Rounding
from precision.libraries import FormatLike, as_format, float64_values, takes_tensors
from precision.rounding_array import RoundedArray, require_float64_format, round_array

# |np.exp(x) / e^x - 1| is taken to be at most this where |x| <= LIBRARY_RANGE: 8 units in the last place, at
# least. The libraries that numpy calls promise less than 4; a test samples ours.
LIBRARY_ERROR = 2.0**-49
LIBRARY_RANGE = 700.0
# Formats whose quantum is not below this see nothing of e^x for x < -LIBRARY_RANGE.
_LEAST_QUANTUM_EXPONENT = -1000


@takes_tensors
def exp_array(
    x: npt.ArrayLike,
    fmt: FormatLike,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    tally: Counter[str] | None = None,
) -> RoundedArray:
    """Rounds e^x to elements of `fmt`, for an array x (any shape) of multiples of the quantum of `fmt`.

    fmt: a Format, or what `as_format` makes one of.
    tally: if given, counts the entries by the step that decided, as `exp_quanta` does: "float64" here, or one of its
        steps for the entries that were handed on to it.
    Raises ValueError if x holds a NaN, an infinity or (where an entry is handed on) a fraction of a quantum; if float64
    does not hold the elements of `fmt`; for STOCHASTIC, which only `exp_quanta` offers.
    """
    if rounding is Rounding.STOCHASTIC:
        raise ValueError("stochastic rounding of exp is offered by exp_quanta only")
    arguments, fmt = float64_values(x), as_format(fmt)
    require_float64_format(fmt)
    finite = np.isfinite(arguments)
    if not finite.all():
        raise ValueError(f"cannot take exp of {arguments[~finite].flat[0]}: values must be finite")
    approximate = np.exp(np.clip(arguments, -LIBRARY_RANGE, LIBRARY_RANGE))
    low = round_array(approximate * (1.0 - 2.0 * LIBRARY_ERROR), fmt, rounding)
    high = round_array(approximate * (1.0 + 2.0 * LIBRARY_ERROR), fmt, rounding)
    undecided = (low.value != high.value) | (low.saturated != high.saturated) | (arguments == 0.0)
    if fmt.quantum_exponent < _LEAST_QUANTUM_EXPONENT or fmt.max_value > 2**1000:
        undecided |= np.abs(arguments) > LIBRARY_RANGE
    value, saturated, tie = low.value, low.saturated, np.zeros(arguments.shape, dtype=np.bool_)
    if tally is not None:
        tally["float64"] += int(arguments.size - np.count_nonzero(undecided))

    # The same argument often comes many times (0 above all), so each is decided once.
    hard, place = np.unique(arguments[undecided], return_inverse=True)
    counts = np.bincount(place, minlength=hard.size)
    decided = []
    for argument, count in zip(hard.tolist(), counts.tolist(), strict=True):
        own_tally: Counter[str] = Counter()
        decided.append(exp_quanta(to_quanta(argument, fmt), fmt, rounding, tally=own_tally))
        if tally is not None:
            tally.update(dict.fromkeys(own_tally, count))
    if decided:
        values = np.array([float(rounded.quanta * fmt.quantum) for rounded in decided])
        value[undecided] = values[place]
        saturated[undecided] = np.array([rounded.saturated for rounded in decided])[place]
        tie[undecided] = np.array([rounded.tie for rounded in decided])[place]
    return RoundedArray(value, saturated, tie)


def to_quanta(value: float, fmt: Format) -> int:
    """Returns a float as an integer number of quanta of `fmt`; raises ValueError, naming it, if it is not one."""
    quanta = Fraction(value) / fmt.quantum
    if quanta.denominator != 1:
        raise ValueError(f"{value!r} is not a multiple of the quantum of {fmt.name}")
    return quanta.numerator
