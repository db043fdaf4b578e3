"""The exponential against MPFR, and its fallback on arguments made for it."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from precision import (
    BF16,
    FP8_E4M3,
    FP8_E5M2,
    FP16,
    FP32,
    FP64,
    Format,
    Rounding,
    exp_array,
    exp_quanta,
    fixed_point,
    round_fraction,
)
from precision.enclosure import exponential_ball, round_ball
from precision.exponential import _LIBRARY_ERROR
from precision.exponential_array import LIBRARY_ERROR
from tests.precision import mpfr
from tests.precision.oracle import DETERMINISTIC, fine, magnitudes, round_by_search
from tests.strategies import SMALL_FORMATS

by_name = {"ids": lambda item: getattr(item, "name", str(item))}


def near_ties(fmt: Format) -> list[int]:
    """Arguments, in quanta, whose exponential lies within about 2^quantum_exponent of a midpoint."""
    step = Fraction(1, 2 ** (fmt.significand_bits - 1))
    midpoints = [1 + step * Fraction(2 * k + 1, 2) for k in range(6)]
    with ctx.workprec(4000):
        scale = arb((1, -fmt.quantum_exponent))
        logs = [(arb(m.numerator) / arb(m.denominator)).log() * scale for m in midpoints]
        return [int((log + arb(0.5)).floor().unique_fmpz()) for log in logs]


@pytest.mark.parametrize("rounding", DETERMINISTIC, **by_name)
@pytest.mark.parametrize("fmt", SMALL_FORMATS, **by_name)
def test_every_element_of_small_formats(fmt: Format, rounding: Rounding) -> None:
    arguments = [sign * x for x in magnitudes(fmt)[:-1] for sign in (1, -1)]
    expected = []
    for x in arguments:
        # 60 is beyond every element's logarithm here, and keeps the oracle's rationals small.
        exact = mpfr.exp(max(min(x, Fraction(60)), Fraction(-60)), 300) if x else Fraction(1)
        expected.append(round_by_search(exact, fmt, rounding))
    scalar = [exp_quanta(int(x / fmt.quantum), fmt, rounding) for x in arguments]
    assert [(r.quanta * fmt.quantum, r.saturated, r.tie) for r in scalar] == expected
    array = exp_array(np.array([float(x) for x in arguments]), fmt, rounding)
    assert [Fraction(value) for value in array.value.tolist()] == [value for value, _, _ in expected]
    assert array.saturated.tolist() == [saturated for _, saturated, _ in expected]
    assert array.tie.tolist() == [tie for _, _, tie in expected]
    assert array.saturated.any()


@pytest.mark.parametrize(("fmt", "emax"), [(FP16, 16), (BF16, 128), (FP32, 128), (FP64, 1024)], **by_name)
def test_floats_against_mpfr(fmt: Format, emax: int) -> None:
    rng = np.random.default_rng(11)
    raw = np.concatenate([rng.uniform(-12, 12, 300), rng.uniform(-760, 720, 200), 2.0 ** rng.uniform(-80, -1, 60)])
    elements = [round_fraction(Fraction(x), fmt).quanta for x in raw.tolist()]
    tally: Counter[str] = Counter()
    for x in elements:
        theirs = mpfr.exp_in(x * fmt.quantum, fmt.significand_bits, fmt.quantum_exponent, emax)
        ours = exp_quanta(x, fmt, tally=tally)
        assert ours.saturated == (theirs is None)
        assert ours.quanta * fmt.quantum == (fmt.max_value if theirs is None else theirs)
    array = exp_array(np.array([float(x * fmt.quantum) for x in elements]), fmt)
    assert [Fraction(value) for value in array.value.tolist()] == [
        exp_quanta(x, fmt).quanta * fmt.quantum for x in elements
    ]
    assert tally["certificate"] > 0
    assert tally["arb" if fmt is FP64 else "float64"] > 0


@pytest.mark.parametrize("precision_bits", [17, 33, 53, 101])
@given(data=st.data())
@settings(max_examples=80)
def test_fixed_point_against_rational_rounding(precision_bits: int, data: st.DataObject) -> None:
    """Python's own round() of a rational is to nearest even."""
    fmt = fixed_point(precision_bits)
    span = 40 * 2**-fmt.quantum_exponent
    x = data.draw(st.integers(-span, span) | st.integers(-100, 100))
    exact = mpfr.exp(x * fmt.quantum, 600) / fmt.quantum if x else 1 / fmt.quantum
    assert exp_quanta(x, fmt).quanta == min(round(exact), fmt.max_quanta)


@pytest.mark.parametrize("rounding", Rounding, **by_name)
@pytest.mark.parametrize("quantum_exponent", [-52, -60, -120, -400, -1500])
def test_near_ties_reach_the_fallback_and_are_right(quantum_exponent: int, rounding: Rounding) -> None:
    fmt = fine(quantum_exponent)
    # The hard points of STOCHASTIC are those that its random number makes.
    random = Fraction(1, 2) if rounding is Rounding.STOCHASTIC else None
    tally: Counter[str] = Counter()
    arguments = near_ties(fmt)
    for x in arguments:
        ours = exp_quanta(x, fmt, rounding, random, tally)
        assert ours == round_fraction(mpfr.exp(x * fmt.quantum), fmt, rounding, random)._replace(tie=False)
    if rounding is not Rounding.TOWARD_ZERO:  # whose hard points are the elements, not the midpoints
        assert tally == {"arb": len(arguments)}


@pytest.mark.parametrize("quantum_exponent", [-56, -60])
def test_on_both_sides_of_near_ties_where_float64_goes_wrong(quantum_exponent: int) -> None:
    fmt = fine(quantum_exponent)
    arguments = [near + shift for near in near_ties(fmt) for shift in range(-3, 4)]
    right = [round_fraction(mpfr.exp(x * fmt.quantum, 500), fmt).quanta for x in arguments]
    assert [exp_quanta(x, fmt).quanta for x in arguments] == right
    assert [round_fraction(Fraction(math.exp(float(x * fmt.quantum))), fmt).quanta for x in arguments] != right


def test_the_first_precision_may_not_suffice() -> None:
    for x in near_ties(fine(-400)):
        assert round_ball(exponential_ball(x, fine(-400), 64), fine(-400), Rounding.NEAREST_EVEN) is None


def test_array_hands_near_ties_to_the_definition() -> None:
    fmt = fine(-60)
    hard = [x for x in near_ties(fmt) if abs(x) < 2**53]
    easy = [x + (1 << 40) for x in hard]
    tally: Counter[str] = Counter()
    arguments = np.array([float(x * fmt.quantum) for x in hard + easy + hard])
    array = exp_array(arguments, fmt, tally=tally)
    expected = [exp_quanta(x, fmt).quanta * fmt.quantum for x in hard + easy + hard]
    assert [Fraction(value) for value in array.value.tolist()] == expected
    assert tally == {"arb": 2 * len(hard), "float64": len(easy)}
    assert len(hard) >= 2


@pytest.mark.parametrize("fmt", [fixed_point(9), fixed_point(101), FP64, FP8_E4M3, fine(-5000)], **by_name)
def test_huge_and_tiny_arguments_cost_nothing(fmt: Format) -> None:
    huge = 2**200 << -fmt.quantum_exponent
    tally: Counter[str] = Counter()
    assert exp_quanta(huge, fmt, tally=tally) == (fmt.max_quanta, True, False)
    assert exp_quanta(-huge, fmt, tally=tally) == (0, False, False)
    assert exp_quanta(-huge, fmt, Rounding.STOCHASTIC, Fraction(0), tally) == (1, False, False)
    assert exp_quanta(-huge, fmt, Rounding.STOCHASTIC, Fraction(1, 10**9), tally) == (0, False, False)
    assert tally == {"certificate": 4}
    if not fmt.is_fixed_point:
        one = -fmt.quantum_exponent
        below = 2**one - 2 ** (one - fmt.significand_bits)
        above = 2**one + 2 ** (one - fmt.significand_bits + 1)
        assert exp_quanta(1, fine(-5000), tally=tally).quanta == 2**5000
        if fmt is FP64 or fmt == fine(-5000):
            assert exp_quanta(-1, fmt, Rounding.TOWARD_ZERO, tally=tally).quanta == below
            assert exp_quanta(1, fmt, Rounding.TOWARD_ZERO, tally=tally).quanta == 2**one
            assert exp_quanta(1, fmt, Rounding.STOCHASTIC, Fraction(0), tally).quanta == above
            assert tally == {"certificate": 8}


def test_zero_is_exact() -> None:
    tally: Counter[str] = Counter()
    for fmt in (fixed_point(9), BF16, FP8_E5M2):
        assert exp_quanta(0, fmt, tally=tally) == (2**-fmt.quantum_exponent, False, False)
    assert tally == {"exact": 3}
    assert exp_array(np.zeros(3), BF16).value.tolist() == [1.0, 1.0, 1.0]


def test_global_precision_stays_as_it_is() -> None:
    before = ctx.prec
    for x in near_ties(fine(-400)):
        exp_quanta(x, fine(-400))
    assert ctx.prec == before


def test_libraries_are_as_accurate_as_assumed() -> None:
    """Not a proof: the bound is an assumption about exp of libm and numpy, with a factor of several to spare."""
    rng = np.random.default_rng(5)
    xs = np.concatenate([rng.uniform(-700, 700, 1500), rng.uniform(-1, 1, 1500)])
    exact = [mpfr.exp(Fraction(x), 200) for x in xs.tolist()]
    library = max(abs(Fraction(math.exp(x)) / e - 1) for x, e in zip(xs.tolist(), exact, strict=True))
    vector = max(abs(Fraction(y) / e - 1) for y, e in zip(np.exp(xs).tolist(), exact, strict=True))
    assert library * 4 < _LIBRARY_ERROR * Fraction(1, 2**53)
    assert vector * 2 < Fraction(LIBRARY_ERROR)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="cannot take exp of nan"):
        exp_array(np.array([float("nan")]), BF16)
    with pytest.raises(ValueError, match="stochastic rounding of exp is offered by exp_quanta only"):
        exp_array(np.zeros(1), BF16, Rounding.STOCHASTIC)
    with pytest.raises(ValueError, match="stochastic rounding needs a random number"):
        exp_quanta(1, BF16, Rounding.STOCHASTIC)
