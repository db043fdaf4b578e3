"""Both twins of the rounding against the list of all elements, and against other people's implementations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import gfloat
import gfloat.formats as gfloat_formats
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precision import (
    BF16,
    FP4_E2M1,
    FP6_E2M3,
    FP6_E3M2,
    FP8_E4M3,
    FP8_E5M2,
    FP16,
    FP32,
    FP64,
    Format,
    Rounding,
    fixed_point,
    random_from_bits,
    round_array,
    round_dyadic,
    round_fraction,
    round_ratio,
    round_shifted,
    round_values,
)
from tests.precision.oracle import hard_values, magnitudes, r_p_of_gfloat, round_by_search
from tests.strategies import ARRAY_FORMATS, SMALL_FORMATS, float_values, values

by_name = {"ids": lambda item: getattr(item, "name", str(item))}
NEAREST = (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY)


class Result(NamedTuple):
    value: Fraction
    saturated: bool
    tie: bool


def scalar(xs: list[Fraction], fmt: Format, rounding: Rounding, random: Fraction | None = None) -> list[Result]:
    rounded = [round_fraction(x, fmt, rounding, random) for x in xs]
    return [Result(r.quanta * fmt.quantum, r.saturated, r.tie) for r in rounded]


def array(xs: list[Fraction], fmt: Format, rounding: Rounding, random: Fraction | None = None) -> list[Result]:
    floats = [float(x) for x in xs]
    assert [Fraction(x) for x in floats] == xs, "the test feeds numbers that float64 does not hold"
    rounded = round_array(np.array(floats), fmt, rounding, None if random is None else float(random))
    assert not np.signbit(rounded.value[rounded.value == 0.0]).any()
    columns = zip(rounded.value.tolist(), rounded.saturated.tolist(), rounded.tie.tolist(), strict=True)
    return [Result(Fraction(value), saturated, tie) for value, saturated, tie in columns]


Twin = Callable[..., list[Result]]
both_twins = pytest.mark.parametrize("twin", [scalar, array])


@both_twins
@pytest.mark.parametrize("rounding", Rounding, **by_name)
@pytest.mark.parametrize("fmt", SMALL_FORMATS, **by_name)
def test_every_element_midpoint_and_neighbour(twin: Twin, fmt: Format, rounding: Rounding) -> None:
    xs = hard_values(fmt)
    randoms = [Fraction(k, 4) for k in range(4)] if rounding is Rounding.STOCHASTIC else [Fraction(0)]
    for random in randoms:
        results = twin(xs, fmt, rounding, random)
        assert results == [round_by_search(x, fmt, rounding, random) for x in xs]
        assert any(result.saturated for result in results)
        assert any(result.tie for result in results) == (rounding in NEAREST)


@both_twins
@pytest.mark.parametrize("fmt", [BF16, FP16], **by_name)
def test_what_is_a_midpoint_in_float32_alone_is_no_tie(twin: Twin, fmt: Format) -> None:
    step = Fraction(1, 2 ** (fmt.significand_bits - 1))
    midpoint = 1 + step / 2
    x = midpoint + Fraction(1, 2**40)
    assert Fraction(float(np.float32(float(x)))) == midpoint
    assert twin([x], fmt, Rounding.NEAREST_EVEN) == [Result(1 + step, False, False)]


@both_twins
@pytest.mark.parametrize("fmt", ARRAY_FORMATS, **by_name)
@given(data=st.data(), rounding=st.sampled_from([*NEAREST, Rounding.TOWARD_ZERO]))
@settings(max_examples=30)
def test_result_is_the_nearest_element(twin: Twin, fmt: Format, data: st.DataObject, rounding: Rounding) -> None:
    """Checked without a list: no element lies nearer, or further out but not beyond x."""
    x = Fraction(data.draw(float_values(fmt)))
    ((value, saturated, tie),) = twin([x], fmt, rounding)
    quanta = value / fmt.quantum
    digits = quanta.numerator.bit_length() - (quanta.numerator & -quanta.numerator).bit_length() + 1
    assert quanta.denominator == 1
    assert digits <= fmt.significand_bits
    assert abs(value) <= fmt.max_value
    assert value * x >= 0
    if saturated or abs(x) >= fmt.max_value:
        assert abs(value) == fmt.max_value
        assert abs(x) >= fmt.max_value
        return
    step = fmt.quantum * 2 ** max(0, math.floor(abs(x) / fmt.quantum).bit_length() - fmt.significand_bits)
    distance = abs(x - value)
    assert tie == (rounding in NEAREST and distance == step / 2)
    if rounding is Rounding.TOWARD_ZERO:
        assert abs(value) <= abs(x)
        assert distance < step
    elif tie:
        even = (abs(value) / step).denominator == 1 and (abs(value) / step).numerator % 2 == 0
        assert even if rounding is Rounding.NEAREST_EVEN else abs(value) > abs(x)
    else:
        assert distance < step / 2


@pytest.mark.parametrize("precision_bits", [5, 7, 9])
def test_sum_product_and_quotient_of_all_pairs(precision_bits: int) -> None:
    """Nearest means 2 |n - k d| <= d for the ratio n / d and the result k, with equality only if k is even."""
    fmt = fixed_point(precision_bits)
    one, largest = 2**-fmt.quantum_exponent, fmt.max_quanta
    ties = saturations = 0
    for a in range(-largest, largest + 1):
        for b in range(largest + 1):
            ratios = [(a + b, 1), (a * b, one)] + ([(a * one, b)] if b else [])
            for n, d in ratios:
                k, saturated, tie = round_ratio(n, d, fmt)
                excess = 2 * abs(n - k * d) - d
                if saturated:
                    assert abs(k) == largest
                    assert n * k > 0
                    assert 2 * abs(n) >= (2 * largest + 1) * d
                else:
                    assert excess < 0 or (excess == 0 and k % 2 == 0)
                    assert tie == (excess == 0)
                ties += tie
                saturations += saturated
    assert ties > 0
    assert saturations > 0


@given(st.sampled_from(ARRAY_FORMATS), st.sampled_from(list(Rounding)), st.integers(), st.integers(0, 80), st.data())
@settings(max_examples=150)
def test_the_scalar_entries_agree(fmt: Format, rounding: Rounding, value: int, shift: int, data: st.DataObject) -> None:
    random = data.draw(st.fractions(0, 1).filter(lambda r: r < 1))
    expected = round_ratio(value, 2**shift, fmt, rounding, random)
    assert round_shifted(value, shift, fmt, rounding, random) == expected
    assert round_dyadic(value, fmt.quantum_exponent - shift, fmt, rounding, random) == expected
    assert round_ratio(3 * value, 3 * 2**shift, fmt, rounding, random) == expected
    assert round_ratio(-value, 2**shift, fmt, rounding, random) == expected._replace(quanta=-expected.quanta)


@pytest.mark.parametrize("fmt", ARRAY_FORMATS, **by_name)
def test_fast_path_has_the_bits_of_the_slow_one(fmt: Format) -> None:
    rng = np.random.default_rng(7)
    centre = min(fmt.quantum_exponent + fmt.significand_bits + 4, 0)
    spread = rng.integers(max(-1000, centre - 70), min(1000, centre + 140), 40_000)
    exponents = np.maximum(rng.integers(-4, 60, 40_000) + fmt.quantum_exponent, -1074)
    halves = np.ldexp(rng.integers(-(2**12), 2**12, 40_000).astype(float), exponents)
    largest = float(fmt.max_value) * np.array([1.0, -1.0, 1.0 - 2.0**-20, 0.5])
    x = np.concatenate([np.ldexp(rng.standard_normal(40_000), spread), halves, largest, [0.0, -0.0]])
    expected = round_array(x, fmt).value.tobytes()
    assert round_values(x, fmt).tobytes() == expected
    assert round_values(x.reshape(2, -1).T, fmt).T.tobytes() == expected
    assert round_values(x, fmt, out=x) is x
    assert x.tobytes() == expected


GFLOAT = {
    BF16: gfloat_formats.format_info_bfloat16,
    FP16: gfloat_formats.format_info_binary16,
    FP32: gfloat_formats.format_info_binary32,
    FP8_E4M3: gfloat_formats.format_info_ocp_e4m3,
    FP8_E5M2: gfloat_formats.format_info_ocp_e5m2,
    FP6_E2M3: gfloat_formats.format_info_ocp_e2m3,
    FP6_E3M2: gfloat_formats.format_info_ocp_e3m2,
    FP4_E2M1: gfloat_formats.format_info_ocp_e2m1,
    fixed_point(9): r_p_of_gfloat(9),
}
GFLOAT_MODES = {
    Rounding.NEAREST_EVEN: gfloat.RoundMode.TiesToEven,
    Rounding.NEAREST_AWAY: gfloat.RoundMode.TiesToAway,
    Rounding.TOWARD_ZERO: gfloat.RoundMode.TowardZero,
}


@both_twins
@pytest.mark.parametrize("fmt", GFLOAT, **by_name)
@given(data=st.data(), rounding=st.sampled_from(list(GFLOAT_MODES)))
@settings(max_examples=60)
def test_agrees_with_gfloat(twin: Twin, fmt: Format, data: st.DataObject, rounding: Rounding) -> None:
    x = data.draw(float_values(fmt))
    theirs = gfloat.round_float(GFLOAT[fmt], x, GFLOAT_MODES[rounding], sat=True)
    assert twin([Fraction(x)], fmt, rounding)[0].value == Fraction(theirs)


@pytest.mark.parametrize(
    ("fmt", "dtype"),
    [
        (BF16, ml_dtypes.bfloat16),
        (FP8_E4M3, ml_dtypes.float8_e4m3fn),
        (FP8_E5M2, ml_dtypes.float8_e5m2),
        (FP6_E2M3, ml_dtypes.float6_e2m3fn),
        (FP6_E3M2, ml_dtypes.float6_e3m2fn),
        (FP4_E2M1, ml_dtypes.float4_e2m1fn),
        (FP16, np.float16),
    ],
    **by_name,
)
def test_agrees_with_casts_from_float32(fmt: Format, dtype: type) -> None:
    """From float32 these casts round once; from float64 all but the last would round twice."""
    rng = np.random.default_rng(3)
    largest = float(fmt.max_value)
    smallest = max(fmt.quantum_exponent - 2, -149)
    dyadic = np.ldexp(rng.integers(-(2**10), 2**10, 50_000).astype(float), rng.integers(smallest, 20, 50_000))
    normal = np.ldexp(rng.standard_normal(50_000), rng.integers(max(smallest, -120), 20, 50_000))
    x = np.clip(np.concatenate([dyadic, normal]), -largest, largest).astype(np.float32)
    assert np.array_equal(round_values(x, fmt), x.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("rounding", Rounding, **by_name)
def test_fp64_keeps_every_float64(rounding: Rounding) -> None:
    x = np.array([5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1.0, 0.1, -0.0])
    rounded = round_array(x, FP64, rounding, random=0.0)
    assert rounded.value.tobytes() == (x + 0.0).tobytes()
    assert not rounded.saturated.any()
    assert not rounded.tie.any()


def test_stochastic_rounding_is_fair() -> None:
    fmt = fixed_point(9)
    ups = sum(round_ratio(3, 10, fmt, Rounding.STOCHASTIC, Fraction(k, 1000)).quanta for k in range(1000))
    assert ups == 300


@both_twins
@pytest.mark.parametrize("fmt", [fixed_point(5), FP4_E2M1, FP6_E2M3, FP6_E3M2], **by_name)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_mean_over_all_bits_is_the_value(twin: Twin, fmt: Format, width: int) -> None:
    """Exactly, where the fraction of the way to the next element has `width` bits; elsewhere less than such a bit beyond."""
    patterns = 2**width
    grid = magnitudes(fmt)[:-1]
    for sign in (1, -1):
        xs, steps = [], []
        for low, high in itertools.pairwise(grid):
            for quarter_bits in range(4 * patterns):
                xs.append(sign * (low + (high - low) * Fraction(quarter_bits, 4 * patterns)))
                steps.append(high - low)
        randoms = [Fraction(float(r)) for r in random_from_bits(np.arange(patterns), width)]
        assert randoms == [Fraction(bits, patterns) for bits in range(patterns)]
        total = [Fraction(0)] * len(xs)
        for random in randoms:
            results = twin(xs, fmt, Rounding.STOCHASTIC, random)
            total = [sum_ + result.value for sum_, result in zip(total, results, strict=True)]
        exact = 0
        for x, step, sum_ in zip(xs, steps, total, strict=True):
            beyond = sign * (sum_ / patterns - x) / step
            assert beyond == -(abs(x) / step) % Fraction(1, patterns)
            exact += beyond == 0
        assert exact == len(xs) // 4


def test_sixteen_bits_are_enough_from_float32_to_bf16() -> None:
    bits = random_from_bits(np.arange(2**16), 16)
    for x in (np.float32(1.2345678), np.float32(-3.1e-38), np.nextafter(np.float32(2.0), np.float32(0.0))):
        rounded = round_array(np.full(2**16, x), BF16, Rounding.STOCHASTIC, bits).value
        assert len(set(rounded.tolist())) == 2
        assert sum(map(Fraction, rounded.tolist())) == 2**16 * Fraction(float(x))


@given(st.sampled_from(ARRAY_FORMATS), st.integers(1, 53), st.data())
@settings(max_examples=100)
def test_bits_of_any_width_decide_alike_in_both_twins(fmt: Format, width: int, data: st.DataObject) -> None:
    x = data.draw(float_values(fmt))
    bits = data.draw(st.integers(0, 2**width - 1))
    random = Fraction(bits, 2**width)
    theirs = round_array(x, fmt, Rounding.STOCHASTIC, random_from_bits(bits, width))
    ours = round_fraction(Fraction(x), fmt, Rounding.STOCHASTIC, random)
    assert Fraction(float(theirs.value)) == ours.quanta * fmt.quantum
    assert theirs.saturated == ours.saturated


def test_bits_that_are_none_are_named() -> None:
    for bits, width, said in (
        ([0, 4], 2, "must be 0 to 3 for 2 bits, got 4"),
        (-1, 2, "must be 0 to 3 for 2 bits, got -1"),
        (0.5, 2, "must be integers, got dtype float64"),
        (0, 54, "width must be 1 to 53, got 54"),
        (0, 0, "width must be 1 to 53, got 0"),
    ):
        with pytest.raises(ValueError, match=said):
            random_from_bits(bits, width)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_arrays_refuse_what_is_no_number(bad: float) -> None:
    for function in (round_array, round_values):
        with pytest.raises(ValueError, match=f"cannot round {bad}"):
            function(np.array([1.0, bad]), fixed_point(9))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="denominator must be positive, got 0"):
        round_ratio(1, 0, FP32)
    with pytest.raises(ValueError, match="shift must not be negative, got -1"):
        round_shifted(1, -1, FP32)
    for random in (None, Fraction(1), Fraction(-1, 2)):
        with pytest.raises(ValueError, match="stochastic rounding needs a random number"):
            round_ratio(1, 2, FP32, Rounding.STOCHASTIC, random)
    for numbers in (None, 1.0, [0.5, -0.5], math.nan):
        with pytest.raises(ValueError, match="stochastic rounding needs random numbers"):
            round_array([0.1, 0.2], FP32, Rounding.STOCHASTIC, numbers)
    with pytest.raises(ValueError, match="float64 does not hold the elements of R_55: "):
        round_values([0.1], fixed_point(55))
    with pytest.raises(ValueError, match="out must be"):
        round_values([0.1], FP32, out=np.zeros(2))


@given(st.sampled_from(ARRAY_FORMATS), st.data())
@settings(max_examples=150)
def test_rounding_is_monotone_idempotent_and_symmetric(fmt: Format, data: st.DataObject) -> None:
    a, b = sorted((data.draw(values(fmt)), data.draw(values(fmt))))
    rounding = data.draw(st.sampled_from([*NEAREST, Rounding.TOWARD_ZERO]))
    low, high = round_fraction(a, fmt, rounding), round_fraction(b, fmt, rounding)
    assert low.quanta <= high.quanta
    assert round_ratio(low.quanta, 1, fmt, rounding) == (low.quanta, False, False)
    assert round_fraction(-a, fmt, rounding).quanta == -low.quanta
