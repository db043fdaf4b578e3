"""The correctly rounded exponential.

Source: appendix A.2: exp is one operator, exact on its operand, its result rounded once. A. Ziv, 1991, for the loop.

e^x is transcendental for rational x != 0 (Lindemann), so it never lies on an element or a midpoint and some finite
precision decides the rounding. The steps, each of which either decides or hands on:

1. x = 0 is exact; results that vanish, saturate or are indistinguishable from 1 are read off the size of x;
2. the C library's exp, trusted to 2^-50 relative (the usual libraries stay within 2^-52; a test samples ours);
3. interval arithmetic (arb) at twice the precision each time. This step trusts no floating-point library.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from precision.enclosure import (
    doublings,
    exponential_ball,
    reciprocal_margin,
    round_ball,
    round_beside_reciprocal,
    round_vanishing,
    vanishes,
)
from precision.format import Format, Rounding
from precision.rounding import Rounded, round_dyadic, round_fraction

# |math.exp(x) / e^x - 1| <= 2^-50 where neither overflows nor becomes subnormal: 8 units of a 53-bit significand.
_LIBRARY_ERROR = 8
_LIBRARY_RANGE = 700.0


def exp_quanta(
    x: int,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: Fraction | None = None,
    tally: Counter[str] | None = None,
) -> Rounded:
    """Rounds e^x to an element of `fmt`, x being given in quanta of `fmt` (any integer, element or not).

    random: for STOCHASTIC, as in `round_ratio`.
    tally: if given, its entry "exact", "certificate" (read off the size of x), "float64" or "arb" is incremented: the
        step that decided.
    Raises ValueError if STOCHASTIC has no `random` in [0, 1).
    """
    rounded, decided_by = _decide(x, fmt, rounding, random)
    if tally is not None:
        tally[decided_by] += 1
    return rounded


def _decide(x: int, fmt: Format, rounding: Rounding, random: Fraction | None) -> tuple[Rounded, str]:
    if x == 0:
        return round_fraction(Fraction(1), fmt, rounding, random), "exact"
    rounded = _from_size(x, fmt, rounding, random)
    if rounded is not None:
        return rounded, "certificate"
    rounded = _from_library(x, fmt, rounding, random)
    if rounded is not None:
        return rounded, "float64"
    precision_bits = max(64, fmt.significand_bits + 16)
    while rounded is None:
        rounded = round_ball(exponential_ball(x, fmt, precision_bits), fmt, rounding, random)
        precision_bits *= 2
    return rounded, "arb"


def _from_size(x: int, fmt: Format, rounding: Rounding, random: Fraction | None) -> Rounded | None:
    """Returns the rounding of e^x if the size of x != 0 tells it."""
    if x < 0:
        if vanishes(doublings(-x, fmt), fmt, random):
            return round_vanishing(fmt, rounding, random)
    elif doublings(x, fmt) > fmt.max_quanta.bit_length() + fmt.quantum_exponent:
        # e^x > 2 * max_value: even rounded downwards it lies beyond the largest element.
        return Rounded(fmt.max_quanta, saturated=True, tie=False)
    # |e^x - 1| < 2 |x| for |x| <= 1. Only floats have elements x small enough; skip the rational arithmetic otherwise.
    if abs(x).bit_length() + fmt.quantum_exponent < -fmt.significand_bits and fmt.quantum_exponent <= 0:
        distance = 2 * abs(x) * fmt.quantum
        if distance < reciprocal_margin(1, fmt, random):
            return round_beside_reciprocal(1, 1 if x > 0 else -1, fmt, rounding, random)
    return None


def _from_library(x: int, fmt: Format, rounding: Rounding, random: Fraction | None) -> Rounded | None:
    """Returns the rounding of e^x if the C library's accuracy suffices to tell it."""
    trailing_zeros = (x & -x).bit_length() - 1
    if abs(x).bit_length() - trailing_zeros > 53 or fmt.quantum_exponent < -1074:
        return None  # x is not a float64
    argument = math.ldexp(float(x >> trailing_zeros), fmt.quantum_exponent + trailing_zeros)
    if abs(argument) > _LIBRARY_RANGE:
        return None
    significand, exponent = math.frexp(math.exp(argument))
    units = int(math.ldexp(significand, 53))
    low = round_dyadic(units - _LIBRARY_ERROR, exponent - 53, fmt, rounding, random)
    high = round_dyadic(units + _LIBRARY_ERROR, exponent - 53, fmt, rounding, random)
    if low.quanta != high.quanta or low.saturated != high.saturated:
        return None
    return Rounded(low.quanta, low.saturated, tie=False)
