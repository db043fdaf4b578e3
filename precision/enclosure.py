"""Rounding a real number that is only known to lie between two bounds.

Source: A. Ziv, Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991, for the loop
that its callers run; the gap arguments of appendix C's softmax heads for the two limits below.

A rounding mode is a step function. Its steps lie at the *critical points*: the elements (TOWARD_ZERO), the midpoints of
neighbours (nearest modes), or the points a fraction `random` of the way between neighbours (STOCHASTIC). Since it is
monotone, two bounds that round alike decide every number between them. Where no precision would separate the value from
a critical point, because it lies below every distance that is worth computing, the distance between rationals does:
a critical point is a multiple of 2^g / (denominator of random), and so stays away from any fraction that it is not
equal to.

All functions take the value to be positive and not itself critical, as e^x and softmax weights are unless rational.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from precision.format import Format, Rounding
from precision.rounding import Rounded, round_dyadic, round_ratio

if TYPE_CHECKING:
    from flint import arb

# log2(e) = 1.442695..., from below; dyadic, so that a lower bound of gap * log2(e) is a product and a shift.
LOG2_E_BELOW = 94548
LOG2_E_BELOW_BITS = 16


def doublings(quanta: int, fmt: Format) -> int:
    """Returns an integer k with 2^k <= e^x, for x = `quanta` >= 0 quanta of `fmt`; 2^k < e^x if x > 0.

    It is below log2(e^x) by less than 1 + x / 10^5.
    """
    scaled = quanta * LOG2_E_BELOW
    shift = LOG2_E_BELOW_BITS - fmt.quantum_exponent
    return scaled >> shift if shift >= 0 else scaled << -shift


def exponential_ball(quanta: int, fmt: Format, precision_bits: int) -> arb:
    """Returns a ball around e^x, for x = `quanta` quanta of `fmt`; its relative width is about 2^-precision_bits.

    If e^x is below 2^-(precision_bits + 64) quanta the ball is just [0, 2^-k] for some k beyond that.
    """
    from flint import arb, ctx

    if quanta < 0:
        halvings = doublings(-quanta, fmt)
        negligible = precision_bits + 64 - fmt.quantum_exponent
        if halvings > negligible:
            return arb((1, -negligible - 1), (1, -negligible - 1))
    with ctx.workprec(precision_bits):
        return arb((quanta, fmt.quantum_exponent)).exp()


def round_ball(ball: arb, fmt: Format, rounding: Rounding, random: Fraction | None = None) -> Rounded | None:
    """Rounds a ball: to what every positive, non-critical number in it rounds to; None if they do not all round alike."""
    if not ball.is_finite():
        return None
    # From midpoint and radius, exactly: upper() and lower() would round to the ambient precision.
    middle, middle_exponent = (int(part) for part in ball.mid().man_exp())
    radius, radius_exponent = (int(part) for part in ball.rad().man_exp())
    exponent = min(middle_exponent, radius_exponent) if radius else middle_exponent
    middle <<= middle_exponent - exponent
    radius <<= radius_exponent - exponent if radius else 0
    if (middle + radius).bit_length() + exponent <= fmt.quantum_exponent - 1 - _denominator(random).bit_length():
        return round_vanishing(fmt, rounding, random)
    low = round_dyadic(max(middle - radius, 0), exponent, fmt, rounding, random)
    high = round_dyadic(middle + radius, exponent, fmt, rounding, random)
    if low.quanta != high.quanta or low.saturated != high.saturated:
        return None
    return Rounded(high.quanta, high.saturated, tie=False)


def vanishes(halvings: int, fmt: Format, random: Fraction | None = None) -> bool:
    """Returns whether a number below 2^-halvings is certainly below the smallest critical point, see `round_vanishing`."""
    return halvings >= 1 - fmt.quantum_exponent + _denominator(random).bit_length()


def round_vanishing(fmt: Format, rounding: Rounding, random: Fraction | None = None) -> Rounded:
    """Rounds a positive number below half a quantum, divided by the denominator of `random`.

    Zero, except that STOCHASTIC with random = 0 takes every positive number upwards.
    Derivation: the smallest critical point is half a quantum, or random * quantum >= quantum / denominator, or 0.
    """
    return round_ratio(1, 4 * _denominator(random), fmt, rounding, random)


def reciprocal_margin(m: int, fmt: Format, random: Fraction | None = None) -> Fraction:
    """Returns a margin δ such that no critical point c has 0 < |1/m - c| < δ; for fmt.quantum <= 1. At most 1 / (2m).

    Derivation: with 2^k <= 1/m < 2^(k+1), neighbours within [1/(2m), 2/m] are at least 2^max(k - s, quantum_exponent)
    apart, s the significand bits; so every critical point there is a · 2^g / r for an integer a, with
    g = max(k - s, quantum_exponent) - 1 < 0 and r the denominator of `random`, and
    |1/m - a · 2^g / r| = |r · 2^-g - a · m| / (m · r · 2^-g) >= 2^g / (m · r) unless it is zero.
    """
    return Fraction(1, _reciprocal_margin_denominator(m, fmt, random))


def _reciprocal_margin_denominator(m: int, fmt: Format, random: Fraction | None) -> int:
    floor_log2 = -(m - 1).bit_length()
    finest = max(floor_log2 - fmt.significand_bits, fmt.quantum_exponent) - 1
    return (m * _denominator(random)) << -finest


def round_beside_reciprocal(
    m: int, side: int, fmt: Format, rounding: Rounding, random: Fraction | None = None
) -> Rounded:
    """Rounds numbers just below (side = -1) or just above (side = +1) 1/m, closer than `reciprocal_margin`."""
    # 1/m ± half of the margin. Fractions would look for common factors, which takes longer than all the rest.
    denominator = 2 * _reciprocal_margin_denominator(m, fmt, random)
    numerator = denominator // m + side
    rounded = round_ratio(numerator << -fmt.quantum_exponent, denominator, fmt, rounding, random)
    return rounded._replace(tie=False)


def _denominator(random: Fraction | None) -> int:
    return 1 if random is None else random.denominator
