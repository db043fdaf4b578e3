"""The predicates of these tests reject the usual mistakes: each mutant must die, and the package must not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from precision import BF16, FP8_E4M3, FP16, Arithmetic, Format, Rounding, exp_quanta, fixed_point, round_array, softmax
from precision import round_fraction as correct
from tests.precision import mpfr
from tests.precision.oracle import hard_values, round_by_search
from tests.precision.test_exponential import fine, near_ties

RoundFunction = Callable[[Fraction, Format], Fraction]
FORMATS = (fixed_point(5), fixed_point(9), FP8_E4M3)


def _scalar(x: Fraction, fmt: Format) -> Fraction:
    return correct(x, fmt).quanta * fmt.quantum


def _array(x: Fraction, fmt: Format) -> Fraction:
    value = float(round_array(float(x), fmt).value)
    return Fraction(-1, 10**9) if value == 0 and math.copysign(1, value) < 0 else Fraction(value)


def _ties_away(x: Fraction, fmt: Format) -> Fraction:
    return correct(x, fmt, Rounding.NEAREST_AWAY).quanta * fmt.quantum


def _truncation(x: Fraction, fmt: Format) -> Fraction:
    return correct(x, fmt, Rounding.TOWARD_ZERO).quanta * fmt.quantum


def _round_half_up(x: Fraction, fmt: Format) -> Fraction:
    return _scalar(x, fmt) if correct(x, fmt).tie is False or x > 0 else _truncation(x, fmt)


def _float32_detour(x: Fraction, fmt: Format) -> Fraction:
    return _scalar(Fraction(float(np.float32(float(x)))), fmt)


def _wrap_around(x: Fraction, fmt: Format) -> Fraction:
    modulus = 2 * fmt.max_quanta + 2
    wrapped = (round(x / fmt.quantum) + fmt.max_quanta + 1) % modulus - fmt.max_quanta - 1
    return _scalar(wrapped * fmt.quantum if abs(x) > fmt.max_value else x, fmt)


def _overflow_to_zero(x: Fraction, fmt: Format) -> Fraction:
    return Fraction(0) if correct(x, fmt).saturated else _scalar(x, fmt)


def _flush_subnormals(x: Fraction, fmt: Format) -> Fraction:
    return Fraction(0) if abs(x) <= fmt.quantum else _scalar(x, fmt)


def _negative_zero(x: Fraction, fmt: Format) -> Fraction:
    return _array(x, fmt) if round_array(float(x), fmt).value != 0 or x >= 0 else Fraction(-1, 10**9)


def mistakes(function: RoundFunction) -> int:
    """How many of the hard values `function` rounds otherwise than the search through all elements does."""
    return sum(
        function(x, fmt) != round_by_search(x, fmt, Rounding.NEAREST_EVEN)[0]
        for fmt in FORMATS
        for x in hard_values(fmt)
    )


@pytest.mark.parametrize("function", [_scalar, _array])
def test_the_package_makes_no_mistake(function: RoundFunction) -> None:
    assert mistakes(function) == 0


@pytest.mark.parametrize(
    "mutant",
    [
        _ties_away,
        _truncation,
        _round_half_up,
        _float32_detour,
        _wrap_around,
        _overflow_to_zero,
        _flush_subnormals,
        _negative_zero,
    ],
)
def test_rounding_mutants_die(mutant: RoundFunction) -> None:
    assert mistakes(mutant) > 0


@pytest.mark.parametrize("fmt", [BF16, FP16], ids=lambda fmt: str(fmt.name))
def test_rounding_by_way_of_float32_is_wrong(fmt: Format) -> None:
    """A midpoint plus less than half a digit of float32: the detour makes a tie of it."""
    step = Fraction(1, 2 ** (fmt.significand_bits - 1))
    x = 1 + step / 2 + Fraction(1, 2**40)
    assert _scalar(x, fmt) == _array(x, fmt) == 1 + step
    assert _float32_detour(x, fmt) == 1


def exp_mistakes(exp: Callable[[int, Format], int]) -> int:
    """Over arguments next to the logarithm of a midpoint, and on either side of it."""
    result = 0
    for fmt in (fine(-56), fine(-60)):
        for near in near_ties(fmt):
            for x in range(near - 3, near + 4):
                result += exp(x, fmt) != correct(mpfr.exp(x * fmt.quantum, 500), fmt).quanta
    return result


def test_exp_without_fallback_dies() -> None:
    def without_fallback(x: int, fmt: Format) -> int:
        return correct(Fraction(math.exp(float(x * fmt.quantum))), fmt).quanta

    assert exp_mistakes(lambda x, fmt: exp_quanta(x, fmt).quanta) == 0
    assert exp_mistakes(without_fallback) > 0


def softmax_mistakes(weights: Callable[[list[int], Format], list[int]]) -> int:
    """Over pairs of scores whose weights lie next to a midpoint, uniform columns, and winners that tie."""
    cases: list[tuple[list[int], Format]] = []
    for fmt in (fine(-56), fine(-60)):
        for k in range(8):
            c = Fraction(2 * (520 + 30 * k) + 1, 2**11)
            with_log = mpfr_log(c / (1 - c), fmt)
            cases += [([with_log + shift, 0], fmt) for shift in (-2, -1, 0, 1, 2)]
    cases += [([0] * m, fixed_point(9)) for m in range(1, 70)]
    cases += [([0] * m + [-g], fixed_point(9)) for m in (1, 2, 31, 32, 33) for g in (1, 40, 100, 255)]
    result = 0
    for scores, fmt in cases:
        exact = mpfr.softmax([score * fmt.quantum for score in scores], 500)
        if len(set(scores)) == 1:
            exact = [Fraction(1, len(scores))] * len(scores)
        result += weights(scores, fmt) != [correct(weight, fmt).quanta for weight in exact]
    return result


def mpfr_log(x: Fraction, fmt: Format) -> int:
    """log x in quanta, to nearest."""
    with gmpy2.context(precision=500):
        return int(gmpy2.rint(gmpy2.log(gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator))) / gmpy2.mpq(fmt.quantum)))


def test_softmax_without_fallback_dies() -> None:
    def in_float64(scores: list[int], fmt: Format) -> list[int]:
        powers = [math.exp(float((score - max(scores)) * fmt.quantum)) for score in scores]
        return [correct(Fraction(power / math.fsum(powers)), fmt).quanta for power in powers]

    assert softmax_mistakes(lambda scores, fmt: softmax(scores, Arithmetic(fmt)).weights) == 0
    assert softmax_mistakes(in_float64) > 0


def test_softmax_that_rounds_inside_dies() -> None:
    def two_roundings(scores: list[int], fmt: Format) -> list[int]:
        powers = [exp_quanta(score - max(scores), fmt).quanta for score in scores]
        return [correct(Fraction(power, sum(powers)), fmt).quanta for power in powers]

    assert softmax_mistakes(two_roundings) > 0
