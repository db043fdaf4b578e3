"""The reading "floating": its numbers, and that its rows can fail. What fails in it as well, by fractions alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.wiring.part import printed_precision
from precision.rounding import round_fraction
from tests.verify.test_printed_heads import no_equal_key
from verify.claims.floating import HEADS, Floating, in_floating_point
from verify.inputs.trial import FloatingTrial, Trial, floating_format
from verify.runs.probe import compare


def nearest(x: Fraction, digits: int) -> Fraction:
    """x in so many significant digits, ties to even, with no end to the exponent."""
    exponent = 0
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while x and abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (exponent - digits + 1)
    return round(x / step) * step


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(2, 5), Fraction(12345, 7), Fraction(-1, 41)])
def test_the_format_rounds_to_significant_digits(value: Fraction) -> None:
    fmt = floating_format(32, 8)
    rounded = round_fraction(value, fmt).quanta * fmt.quantum
    assert rounded == nearest(value, 24)
    assert (fmt.max_value, fmt.quantum) == ((2 - Fraction(1, 2**23)) * 2**127, Fraction(1, 2**149))  # fp32's


@pytest.mark.parametrize("floating", HEADS, ids=lambda floating: floating.part.id)
def test_a_head_is_right_from_its_least_n_on_and_not_in_fixed_point(floating: Floating) -> None:
    def wrong(trial: Trial) -> bool:
        return compare(floating.part, trial, "reference", printed=True) is not None

    for n, fails in ((floating.holds_from - 1, True), (floating.holds_from, False)):
        assert any(map(wrong, floating.columns(n))) == fails, n


def test_no_equal_key_fails_in_fixed_point_and_not_in_floating_point() -> None:
    """n = 200, A = 1: the default saturates with the others in R_p."""
    n, floating = 200, HEADS[-1]
    fixed = no_equal_key(n, printed_precision(n))
    assert compare(floating.part, fixed, "reference", printed=True) is not None
    assert compare(floating.part, floating.floating(fixed), "reference", printed=True) is None
    narrow = FloatingTrial(n, 3, fixed.precision_bits, fixed.columns, 6)  # 2^31 is below n^6
    assert compare(floating.part, narrow, "reference", printed=True) is not None


def test_the_model_runs_in_floating_point() -> None:
    fmt = in_floating_point(9).arithmetic.format
    assert fmt == floating_format(33, 8)
    assert not fmt.is_fixed_point


def test_what_fails_in_floating_point_as_well() -> None:
    """With 24 digits: (k + 1)·ROUND(1/(k + 1)) < 1 at k = 40; 10·(−1/2) − 10·ROUND(0.4) + 10 is not 1."""
    assert nearest(41 * nearest(Fraction(1, 41), 24), 24) < 1
    assert nearest(5 - 10 * nearest(Fraction(2, 5), 24), 24) != 1
