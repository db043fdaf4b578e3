"""Rounding to a format, on exact integers: the readable definition that every faster path is tested against.

Source: appendix A.2, ROUND(x, p). The appendix leaves ties open; `Rounding` says what is done with them.

Values are ratios of integers counted in quanta of the target format (see format.py), so that nothing is rounded on the
way. Between 2^k and 2^(k+1) quanta the elements of a format are 2^max(0, k + 1 - significand_bits) quanta apart. For
R_p, whose elements all lie below 2^significand_bits quanta, this spacing is 1 everywhere: one rule serves fixed point
and floats.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from precision.format import Format, Rounding


class Rounded(NamedTuple):
    """An element of a format, and how it came about.

    quanta: the element, as an integer number of quanta.
    saturated: the value, rounded with the same number of digits but no largest element, lay beyond ±max_quanta. A value
        that exceeds max_quanta by less than half a step therefore rounds to max_quanta without saturating; this is the
        overflow of IEEE 754.
    tie: a nearest mode was asked for and the value lay exactly half-way between two neighbouring elements. Beyond
        max_quanta there is no second neighbour, hence no tie.
    """

    quanta: int
    saturated: bool
    tie: bool


def round_ratio(
    numerator: int,
    denominator: int,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: Fraction | None = None,
) -> Rounded:
    """Rounds numerator / denominator, in quanta of `fmt`, to an element of `fmt`.

    NEAREST_EVEN takes the neighbour with the even last digit on a tie, NEAREST_AWAY the one of larger magnitude;
    STOCHASTIC takes the neighbour of larger magnitude iff `random`, in [0, 1), is below the fraction of the way to it.
    Every mode is symmetric about zero and monotone in the value (STOCHASTIC for a fixed `random`, on either side of
    zero).
    Raises ValueError if denominator < 1, or if STOCHASTIC has no `random` in [0, 1).
    """
    if denominator < 1:
        raise ValueError(f"denominator must be positive, got {denominator}")
    whole, rest = divmod(abs(numerator), denominator)
    return _round_magnitude(numerator < 0, whole, rest, denominator, fmt, rounding, random)


def round_shifted(
    value: int,
    shift: int,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: Fraction | None = None,
) -> Rounded:
    """Rounds value / 2^shift quanta to an element of `fmt`; as `round_ratio`, without its division.

    Raises ValueError if shift < 0, or if STOCHASTIC has no `random` in [0, 1).
    """
    if shift < 0:
        raise ValueError(f"shift must not be negative, got {shift}")
    magnitude = abs(value)
    denominator = 1 << shift
    return _round_magnitude(
        value < 0, magnitude >> shift, magnitude & (denominator - 1), denominator, fmt, rounding, random
    )


def round_dyadic(
    mantissa: int,
    exponent: int,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: Fraction | None = None,
) -> Rounded:
    """Rounds mantissa * 2^exponent (a value, not a count of quanta) to an element of `fmt`."""
    shift = fmt.quantum_exponent - exponent
    if shift >= 0:
        return round_shifted(mantissa, shift, fmt, rounding, random)
    return round_shifted(mantissa << -shift, 0, fmt, rounding, random)


def round_fraction(
    value: Fraction,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: Fraction | None = None,
) -> Rounded:
    """Rounds a number (a value, not a count of quanta) to an element of `fmt`; see `round_ratio`."""
    numerator, denominator = value.numerator, value.denominator
    if fmt.quantum_exponent < 0:
        numerator <<= -fmt.quantum_exponent
    else:
        denominator <<= fmt.quantum_exponent
    return round_ratio(numerator, denominator, fmt, rounding, random)


def _round_magnitude(
    negative: bool,
    whole: int,
    rest: int,
    denominator: int,
    fmt: Format,
    rounding: Rounding,
    random: Fraction | None,
) -> Rounded:
    """Rounds ±(whole + rest / denominator) quanta, where 0 <= rest < denominator."""
    surplus_digits = whole.bit_length() - fmt.significand_bits
    if surplus_digits > 0:
        # Count in steps instead of quanta: digits that the format has no room for move into the fraction.
        rest += (whole & ((1 << surplus_digits) - 1)) * denominator
        denominator <<= surplus_digits
        whole >>= surplus_digits
    else:
        surplus_digits = 0

    half_way = False
    if rounding is Rounding.NEAREST_EVEN:
        comparison = 2 * rest - denominator
        half_way = comparison == 0
        up = comparison > 0 or (half_way and whole & 1 == 1)
    elif rounding is Rounding.NEAREST_AWAY:
        comparison = 2 * rest - denominator
        half_way = comparison == 0
        up = comparison >= 0
    elif rounding is Rounding.TOWARD_ZERO:
        up = False
    else:
        if random is None or not 0 <= random < 1:
            raise ValueError(f"stochastic rounding needs a random number in [0, 1), got {random}")
        up = random.numerator * denominator < rest * random.denominator

    largest = fmt.max_quanta
    tie = half_way and whole << surplus_digits < largest
    quanta = (whole + up) << surplus_digits
    saturated = quanta > largest
    if saturated:
        quanta = largest
    return Rounded(-quanta if negative else quanta, saturated, tie)
