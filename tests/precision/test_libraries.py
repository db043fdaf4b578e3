"""Formats and tensors of other libraries: the same elements, and the same bits as the scalar functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gfloat
import ml_dtypes
import numpy as np
import pytest
import torch
from gfloat import formats
from hypothesis import given, settings
from hypothesis import strategies as st

from precision import (
    BF16,
    FLOAT_FORMATS,
    FP4_E2M1,
    FP6_E2M3,
    FP6_E3M2,
    FP8_E4M3,
    FP8_E5M2,
    FP16,
    FP32,
    FP64,
    Arithmetic,
    Discipline,
    Format,
    Rounding,
    as_format,
    exp_array,
    exp_quanta,
    fixed_point,
    random_from_bits,
    round_array,
    round_fraction,
    round_values,
    softmax,
    softmax_array,
)
from tests.precision.oracle import hard_values, magnitudes, r_p_of_gfloat
from tests.strategies import ARRAY_FORMATS, SMALL_FORMATS, float_values

by_name = {"ids": lambda item: getattr(item, "name", str(item))}
ML_DTYPES = (
    *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
)
TORCH_DTYPES = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def elements(fmt: Format) -> set[float]:
    """By the oracle's list."""
    return {float(sign * value) for value in magnitudes(fmt)[:-1] for sign in (1, -1)}


def finite(values: np.ndarray) -> set[float]:
    return {value for value in values.tolist() if math.isfinite(value)}


@pytest.mark.parametrize("fmt", SMALL_FORMATS, **by_name)
def test_the_magnitudes_are_all_elements_in_order(fmt: Format) -> None:
    assert [quanta * fmt.quantum for quanta in fmt.magnitudes()] == list(magnitudes(fmt)[:-1])


@pytest.mark.parametrize("name", ML_DTYPES)
def test_a_dtype_of_ml_dtypes_holds_the_elements_of_its_format(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    codes = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        values = codes.view(dtype).astype(np.float64)
    assert finite(values) == elements(as_format(dtype))
    assert as_format(dtype.type) == as_format(dtype)


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_a_dtype_of_torch_holds_the_elements_of_its_format(name: str) -> None:
    dtype = getattr(torch, name)
    codes = torch.from_numpy(np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}"))
    assert finite(codes.view(dtype).to(torch.float64).numpy()) == elements(as_format(dtype))


def test_the_epsilon_that_torch_has_wrong_is_not_believed() -> None:
    """In float8_e5m2fnuz the number after 1 is 1.25; torch 2.13 says 1.125."""
    assert as_format(torch.float8_e5m2fnuz).significand_bits == 3
    assert round_array(1.126, torch.float8_e5m2fnuz).value == 1.25


def test_formats_of_gfloat_hold_what_they_decode() -> None:
    taken = 0
    for info in formats.sample_formats:
        if info.k > 8:
            continue
        values = np.array([gfloat.decode_float(info, code).fval for code in range(1 << info.k)])
        held = finite(values)
        if held == {-value for value in held}:
            taken += 1
            assert held == elements(as_format(info))
        else:
            with pytest.raises(ValueError, match=f"gfloat's {info.name} is no format here"):
                as_format(info)
    assert taken >= 10


@pytest.mark.parametrize("p", [5, 9, 17, 53])
def test_r_p_as_gfloat_says_it(p: int) -> None:
    assert as_format(r_p_of_gfloat(p)) == fixed_point(p)


def test_a_single_digit_rounds_ties_as_ieee_754_says() -> None:
    """Of two odd neighbours the larger; between 0 and the smallest, 0 is even. gfloat follows P3109, which alternates."""
    (info,) = (info for info in formats.sample_formats if info.name == "p3109_k8p1se")
    fmt = as_format(info)
    assert fmt.significand_bits == 1
    quantum = float(fmt.quantum)
    assert round_array([0.5 * quantum, 1.5 * quantum, 1.5, 3.0], info).value.tolist() == [0, 2 * quantum, 2, 4]


def test_what_we_have_comes_by_our_name() -> None:
    for theirs, ours in (
        *((fmt, fmt) for fmt in FLOAT_FORMATS),
        *((fmt.name, fmt) for fmt in FLOAT_FORMATS),
        ("R_9", fixed_point(9)),
        *(
            (np.float16, FP16),
            (np.dtype("<f4"), FP32),
            (np.dtype(">f4"), FP32),
            (np.dtype(">f2"), FP16),
            (np.float64, FP64),
        ),
        *((torch.float16, FP16), (torch.bfloat16, BF16), (torch.float32, FP32), (torch.float64, FP64)),
        *((torch.float8_e4m3fn, FP8_E4M3), (torch.float8_e5m2, FP8_E5M2)),
        *((ml_dtypes.bfloat16, BF16), (ml_dtypes.float8_e4m3fn, FP8_E4M3), (ml_dtypes.float8_e5m2, FP8_E5M2)),
        *((ml_dtypes.float6_e2m3fn, FP6_E2M3), (ml_dtypes.float6_e3m2fn, FP6_E3M2)),
        (ml_dtypes.float4_e2m1fn, FP4_E2M1),
        *((formats.format_info_binary16, FP16), (formats.format_info_binary32, FP32)),
        *((formats.format_info_binary64, FP64), (formats.format_info_bfloat16, BF16)),
        *((formats.format_info_ocp_e4m3, FP8_E4M3), (formats.format_info_ocp_e2m1, FP4_E2M1)),
    ):
        assert as_format(theirs) is ours or (ours.name == "R_9" and as_format(theirs) == ours)


def test_what_is_no_format_is_named() -> None:
    for other, named in (
        *(
            (ml_dtypes.float8_e8m0fnu, "float8_e8m0fnu"),
            (ml_dtypes.int4, "int4"),
            (np.int8, "int8"),
            (np.uint8, "uint8"),
        ),
        *((np.bool_, "bool"), (np.longdouble, r"dtype \w+128|dtype \w+96"), (np.complex64, "complex64")),
        *((np.floating, "numpy.floating"), (np.dtype("V1"), "V1"), (np.dtype("U1"), "U1"), (np.int32, "int32")),
        *((torch.int8, "torch.int8"), (torch.complex32, "torch.complex32"), (torch.bool, "torch.bool")),
        *((torch.float8_e8m0fnu, "torch.float8_e8m0fnu"), (formats.format_info_ocp_int8, "ocp_int8")),
        *((formats.format_info_ocp_e8m0, "ocp_e8m0"), ("fp5", "fp5"), (None, "None"), (16, "16"), (float, "float")),
    ):
        with pytest.raises(ValueError, match=named):
            as_format(other)


def test_all_numbers_of_float16_round_as_their_fractions() -> None:
    """As an array, as a tensor, and as the narrow dtypes themselves: each by the scalar function on Fractions."""
    codes = np.arange(2**16, dtype=np.uint16)
    halves = codes.view(np.float16)
    halves = halves[np.isfinite(halves)]
    fractions = [Fraction(half) for half in halves.tolist()]
    for fmt, rounding in ((FP8_E4M3, Rounding.NEAREST_EVEN), (fixed_point(9), Rounding.STOCHASTIC)):
        random = Fraction(3, 8) if rounding is Rounding.STOCHASTIC else None
        number = None if random is None else float(random)
        scalar = [round_fraction(x, fmt, rounding, random) for x in fractions]
        values = [float(rounded.quanta * fmt.quantum) for rounded in scalar]
        for x in (halves, torch.from_numpy(halves)):
            value, saturated, tie = round_array(x, fmt, rounding, number)
            assert value.tolist() == values
            assert saturated.tolist() == [rounded.saturated for rounded in scalar]
            assert tie.tolist() == [rounded.tie for rounded in scalar]


@pytest.mark.parametrize("rounding", Rounding, **by_name)
@pytest.mark.parametrize("fmt", SMALL_FORMATS, **by_name)
def test_tensors_have_the_bits_of_the_scalar_function(fmt: Format, rounding: Rounding) -> None:
    xs = hard_values(fmt)
    bits = [place % 8 for place in range(len(xs))]
    random = random_from_bits(torch.tensor(bits), 3)
    rounded = round_array(torch.tensor([float(x) for x in xs], dtype=torch.float64), fmt, rounding, random)
    for field in rounded:
        assert isinstance(field, torch.Tensor)
    scalar = [round_fraction(x, fmt, rounding, Fraction(b, 8)) for x, b in zip(xs, bits, strict=True)]
    assert [Fraction(value) for value in rounded.value.tolist()] == [r.quanta * fmt.quantum for r in scalar]
    assert rounded.saturated.tolist() == [r.saturated for r in scalar]
    assert rounded.tie.tolist() == [r.tie for r in scalar]
    assert not torch.signbit(rounded.value[rounded.value == 0]).any()


@given(st.sampled_from(ARRAY_FORMATS), st.data())
@settings(max_examples=60)
def test_tensors_of_other_formats_and_shapes(fmt: Format, data: st.DataObject) -> None:
    xs = np.array(data.draw(st.lists(float_values(fmt), min_size=4, max_size=4)))
    grid = torch.from_numpy(xs).reshape(2, 2).T.requires_grad_()
    rounded: Any = round_values(grid, fmt)
    assert not rounded.requires_grad
    assert rounded.shape == (2, 2)
    scalar = [round_fraction(Fraction(x), fmt).quanta * fmt.quantum for x in xs.tolist()]
    assert [Fraction(value) for value in rounded.T.flatten().tolist()] == scalar


def test_narrow_tensors_and_arrays_are_widened_exactly() -> None:
    codes = np.arange(2**16, dtype=np.uint16)
    wide = (codes.astype(np.uint32) << 16).view(np.float32)
    codes, wide = codes[np.isfinite(wide)], wide[np.isfinite(wide)].astype(np.float64)
    expected = round_values(wide, FP8_E5M2).tobytes()
    assert round_values(codes.view(ml_dtypes.bfloat16), ml_dtypes.float8_e5m2).tobytes() == expected
    tensor = torch.from_numpy(codes.view(np.int16)).view(torch.bfloat16)
    assert np.asarray(round_values(tensor, torch.float8_e5m2)).tobytes() == expected
    assert round_values(torch.tensor(3), FP4_E2M1).tolist() == 3.0


def test_exp_and_softmax_of_tensors() -> None:
    fmt = fixed_point(9)
    quanta = range(-fmt.max_quanta, fmt.max_quanta + 1)
    powers = exp_array(torch.tensor([k / 16 for k in quanta]), fmt)
    assert [Fraction(value) * 16 for value in powers.value.tolist()] == [exp_quanta(k, fmt).quanta for k in quanta]
    scores = torch.tensor([[0.0, 1.0, -2.5], [0.0, 1.0, 3.0], [0.0, -7.0, 0.25]])
    mask = torch.tensor([[True, True, False], [True, True, True], [True, False, True]])
    for discipline in Discipline:
        arithmetic = Arithmetic(fmt, discipline)
        for attended in (mask, None):
            result = softmax_array(scores, attended, arithmetic, axis=0)
            assert isinstance(result.weights, torch.Tensor)
            for query in range(3):
                keys = mask[:, query] if attended is not None else torch.ones(3, dtype=torch.bool)
                column = softmax([int(score * 16) for score in scores[keys, query].tolist()], arithmetic)
                assert [weight * 16 for weight in result.weights[keys, query].tolist()] == column.weights
                assert (result.saturated[query], result.tie[query]) == (column.saturated, column.tie)
        alone = softmax_array(scores[:, 1], None, arithmetic)
        both = softmax_array(scores, None, arithmetic, axis=0)
        assert alone.weights.tolist() == both.weights[:, 1].tolist()
        assert (alone.weights.shape, alone.saturated.shape) == ((3,), ())
    with pytest.raises(ValueError, match=r"must both have the shape"):
        softmax_array([0.0, 1.0], [[True, True]], Arithmetic(fmt))


def test_a_tensor_is_no_place_to_write_to() -> None:
    for x in (torch.zeros(2), np.zeros(2)):
        with pytest.raises(ValueError, match="out must be a writable C-contiguous float64 array"):
            round_values(x, FP16, out=torch.zeros(2, dtype=torch.float64))


ROUNDS: tuple[Callable[[object], object], ...] = (
    lambda x: round_array(x, FP64),
    lambda x: round_values(x, FP64),
    lambda x: exp_array(x, FP64),
    lambda x: round_array(0.0, FP16, Rounding.STOCHASTIC, x),
)


@pytest.mark.parametrize("function", ROUNDS, ids=["round_array", "round_values", "exp_array", "random"])
@pytest.mark.parametrize(
    "x",
    [
        2**53 + 1,
        [0.5, 2**53 + 1],
        [np.float64(0.5), 2**63 + 1],
        np.array([2**62 + 1, -1]),
        np.array([2**64 - 1], dtype=np.uint64),
        10**400,
        Fraction(1, 3),
        [Decimal("0.1")],
        np.longdouble(1) / 3,
    ],
    ids=repr,
)
def test_what_float64_does_not_hold_is_refused_and_not_rounded_twice(
    function: Callable[[object], object], x: object
) -> None:
    if isinstance(x, np.longdouble) and np.finfo(np.longdouble).nmant == 52:
        pytest.skip("long double is float64 here")
    with pytest.raises(ValueError, match="float64 does not hold"):
        function(x)


def test_what_float64_does_hold_is_taken_whatever_it_comes_as() -> None:
    for x in (
        2**60,
        [0.5, 2**60],
        np.array([2**53, -(2**63)]),
        [Fraction(1, 2), 3],
        Decimal("0.375"),
        np.longdouble(0.1),
        True,
        np.int8(-3),
        torch.tensor([1, -3], dtype=torch.int16),
    ):
        flat = np.atleast_1d(round_array(x, FP64).value).tolist()
        given_ = x if isinstance(x, list | np.ndarray | torch.Tensor) else [x]
        assert flat == [float(item) for item in given_]


@pytest.mark.parametrize("x", [1j, "0.1", ["a"], None, [None], np.array(["2020"], dtype="M8[Y]"), [object()]])
def test_what_is_no_number_is_refused(x: object) -> None:
    with pytest.raises(ValueError, match="expected real numbers"):
        round_array(x, FP64)


def test_a_rounded_array_is_held_by_the_dtype_it_was_rounded_to() -> None:
    x = np.random.default_rng(0).standard_normal(1000) * 4
    for name in ML_DTYPES:
        dtype = getattr(ml_dtypes, name)
        rounded = round_values(x, dtype)
        assert rounded.astype(dtype).astype(np.float64).tobytes() == rounded.tobytes()
