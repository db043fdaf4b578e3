"""MX blocks against the specification by Fractions, against ml_dtypes over all codes, and against gfloat."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import gfloat
import ml_dtypes
import numpy as np
import pytest
import torch
from gfloat import block as block_format
from gfloat import formats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from precision import (
    FP4_E2M1,
    FP6_E2M3,
    FP6_E3M2,
    FP8_E4M3,
    FP8_E5M2,
    FP16,
    MX_BLOCK,
    MX_FORMATS,
    Format,
    Rounding,
    as_format,
    mx_decode,
    mx_encode,
    random_from_bits,
)
from tests.precision.oracle import hard_values, magnitudes, round_by_search
from tests.strategies import values

by_name = {"ids": lambda item: getattr(item, "name", str(item))}
every_format = pytest.mark.parametrize("fmt", MX_FORMATS, **by_name)
# Tables 1 and 2 of the specification: bits of exponent and significand, bias, largest exponent, codes that are no number.
LAYOUT = {
    FP8_E5M2: (5, 2, 15, 15, {0x7C: "inf", 0x7D: "nan", 0x7E: "nan", 0x7F: "nan"}),
    FP8_E4M3: (4, 3, 7, 8, {0x7F: "nan"}),
    FP6_E3M2: (3, 2, 3, 4, {}),
    FP6_E2M3: (2, 3, 1, 2, {}),
    FP4_E2M1: (2, 1, 1, 2, {}),
}
ML_DTYPES = {
    FP8_E5M2: "float8_e5m2",
    FP8_E4M3: "float8_e4m3fn",
    FP6_E3M2: "float6_e3m2fn",
    FP6_E2M3: "float6_e2m3fn",
    FP4_E2M1: "float4_e2m1fn",
}


def number(code: int, fmt: Format) -> Fraction | str:
    """What a code stands for, by the specification."""
    exponent_bits, significand_bits, bias, _, special = LAYOUT[fmt]
    width = exponent_bits + significand_bits
    sign = -1 if code >> width else 1
    rest = code & ((1 << width) - 1)
    if rest in special:
        return "-inf" if (sign, special[rest]) == (-1, "inf") else special[rest]
    exponent, significand = rest >> significand_bits, rest & ((1 << significand_bits) - 1)
    part = Fraction(significand, 1 << significand_bits)
    return sign * (part * Fraction(2) ** (1 - bias) if exponent == 0 else (1 + part) * Fraction(2) ** (exponent - bias))


def codes_of(fmt: Format) -> range:
    return range(1 << (1 + LAYOUT[fmt][0] + LAYOUT[fmt][1]))


def all_codes(fmt: Format) -> np.ndarray:
    """Every element code beside every scale: (scale, element), as often as it takes to fill blocks."""
    row = np.resize(np.array(codes_of(fmt), dtype=np.uint8), max(len(codes_of(fmt)), MX_BLOCK))
    return np.tile(row, (256, 1))


def all_scales(fmt: Format) -> np.ndarray:
    return np.repeat(np.arange(256, dtype=np.uint8)[:, None], all_codes(fmt).shape[1] // MX_BLOCK, axis=1)


def scale_and_codes(
    block: list[Fraction], fmt: Format, rounding: Rounding, randoms: list[Fraction]
) -> tuple[int, list[int], list[Any]]:
    """Section 6.3 on Fractions: scale code, element codes and flags."""
    largest, exponent = max(abs(x) for x in block), -127
    if largest:
        exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > largest  # the lengths say it up to one
        exponent = min(max(exponent - LAYOUT[fmt][3], -127), 127)
    places = {number(code, fmt): code for code in reversed(codes_of(fmt))}  # of the two zeros, the code 0
    rounded = [
        round_by_search(x / Fraction(2) ** exponent, fmt, rounding, random)
        for x, random in zip(block, randoms, strict=True)
    ]
    elements = [places[value] for value, _, _ in rounded]
    return exponent + 127, elements, [(saturated, tie) for _, saturated, tie in rounded]


def assert_as_specified(
    block: list[Fraction], fmt: Format, rounding: Rounding, randoms: list[Fraction] | None = None
) -> None:
    block = block + [Fraction(0)] * (MX_BLOCK - len(block))
    randoms = [Fraction(0)] * MX_BLOCK if randoms is None else randoms
    floats, random = [float(x) for x in block], [float(r) for r in randoms]
    assert [Fraction(x) for x in floats] == block, "the test feeds numbers that float64 does not hold"
    blocks = mx_encode(floats, fmt, rounding, random if rounding is Rounding.STOCHASTIC else None)
    scale, elements, flags = scale_and_codes(block, fmt, rounding, randoms)
    assert blocks.scales.tolist() == [scale]
    assert blocks.elements.tolist() == elements
    assert list(zip(blocks.saturated.tolist(), blocks.tie.tolist(), strict=True)) == flags


@every_format
def test_every_code_beside_every_scale_by_the_specification(fmt: Format) -> None:
    decoded = mx_decode(all_scales(fmt), all_codes(fmt), fmt)
    elements = [number(code, fmt) for code in codes_of(fmt)]
    for scale, row in enumerate(decoded.tolist()):
        for element, value in zip(elements, row, strict=False):
            if scale == 255 or element == "nan":
                assert value != value
            elif isinstance(element, str):
                assert value == float(element)
            else:
                assert Fraction(value) == element * Fraction(2) ** (scale - 127)
    assert not np.signbit(decoded[decoded == 0]).any()


@every_format
def test_every_code_beside_every_scale_as_ml_dtypes_decodes_it(fmt: Format) -> None:
    codes, scales = all_codes(fmt), all_scales(fmt)
    with np.errstate(invalid="ignore"):
        theirs = np.repeat(scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float64), MX_BLOCK, axis=1)
        theirs = theirs * codes.view(getattr(ml_dtypes, ML_DTYPES[fmt])).astype(np.float64)
    assert np.array_equal(mx_decode(scales, codes, fmt), theirs, equal_nan=True)
    assert as_format(getattr(ml_dtypes, ML_DTYPES[fmt])) is fmt


@every_format
def test_every_code_as_gfloat_decodes_it(fmt: Format) -> None:
    info = getattr(formats, f"format_info_mx{fmt.name}")
    for scale in (0, 1, 127, 254, 255):
        codes = all_codes(fmt)[0]
        theirs = list(gfloat.decode_block(info, [scale, *codes.tolist()]))  # as many as there are: it counts none
        ours = mx_decode([scale] * (codes.size // MX_BLOCK), codes, fmt)
        assert np.array_equal(ours, theirs, equal_nan=True)


@every_format
def test_what_is_decoded_is_encoded_again(fmt: Format) -> None:
    """Every number of a block with its largest binade in it, at every scale; the code of −0 becomes that of 0."""
    finite = [code for code in codes_of(fmt) if not isinstance(number(code, fmt), str)]
    top = max(finite, key=lambda code: number(code, fmt))
    rows = [finite[start : start + MX_BLOCK - 1] for start in range(0, len(finite), MX_BLOCK - 1)]
    elements = np.array([[top, *row, *[0] * (MX_BLOCK - 1 - len(row))] for row in rows], dtype=np.uint8)
    for scale in range(255):
        scales = np.full((len(rows), 1), scale)
        blocks = mx_encode(mx_decode(scales, elements, fmt), fmt)
        assert blocks.scales.tolist() == scales.tolist()
        zero = np.array([number(code, fmt) == 0 for code in elements.flatten().tolist()]).reshape(elements.shape)
        assert blocks.elements.tolist() == np.where(zero, 0, elements).tolist()
        assert not blocks.saturated.any()
        assert not blocks.tie.any()


@every_format
@pytest.mark.parametrize("rounding", Rounding, **by_name)
def test_every_element_midpoint_and_neighbour_at_three_scales(fmt: Format, rounding: Rounding) -> None:
    """After a power of two that fixes the scale."""
    anchor = Fraction(2) ** LAYOUT[fmt][3]
    hard = [x for x in hard_values(fmt) if abs(x) < 2 * anchor]
    for number_of_block, start in enumerate(range(0, len(hard), MX_BLOCK - 1)):
        scale = Fraction(2) ** (-127, 0, 127)[number_of_block % 3]
        block = [anchor * scale, *(x * scale for x in hard[start : start + MX_BLOCK - 1])]
        randoms = [Fraction(place % 4, 4) for place in range(MX_BLOCK)]
        assert_as_specified(block, fmt, rounding, randoms)
    assert any(abs(x) > fmt.max_value for x in hard)


NEAR_ZERO = [Fraction(2) ** -1074, -(Fraction(2) ** -1074) * 3, Fraction(2) ** -1022 + Fraction(2) ** -1074]


@every_format
@given(data=st.data(), rounding=st.sampled_from(list(Rounding)))
@example(data=None, rounding=Rounding.STOCHASTIC)
@settings(max_examples=60)
def test_a_block_is_encoded_as_specified(fmt: Format, data: st.DataObject | None, rounding: Rounding) -> None:
    """Blocks of every size, float64's smallest and largest numbers among them, far beyond what a scale covers."""
    if data is None:  # fractions of a step below all normal numbers of float64
        block, exponents = [Fraction(2) ** 127 * fmt.max_value, *NEAR_ZERO], [0] * 4
        randoms = [Fraction(0), Fraction(0), Fraction(2) ** -1074, Fraction(0)]
    else:
        inside = values(fmt).filter(lambda x: abs(x) < 2**40 and Fraction(float(x)) == x)
        block = data.draw(st.lists(inside, max_size=MX_BLOCK))
        spread = st.sampled_from([0, 0, 0, -1, 1, -20, -150, 150, 500, -500])
        exponents = data.draw(st.lists(spread, min_size=len(block), max_size=len(block)))
        randoms = [Fraction(bits, 8) for bits in data.draw(st.lists(st.integers(0, 7), min_size=4, max_size=4))]
    block = [x * Fraction(2) ** exponent for x, exponent in zip(block, exponents, strict=True)]
    assert_as_specified(block, fmt, rounding, [*randoms, *[Fraction(1, 2)] * (MX_BLOCK - 4)])


@every_format
def test_beyond_the_largest_and_the_smallest_scale(fmt: Format) -> None:
    for x, scale in ((2.0**500, 254), (2.0**-500, 0), (0.0, 0)):
        block = [Fraction(x), -Fraction(x) / 4]
        blocks = mx_encode([*map(float, block), *[0.0] * 30], fmt)
        assert blocks.scales.tolist() == [scale]
        assert blocks.saturated[:2].tolist() == [x > 1, x > 1]
        assert_as_specified(block, fmt, Rounding.NEAREST_EVEN)


def test_a_fraction_too_small_for_float64_still_counts() -> None:
    """Above a scale of 2^127, 2^−1074 is less than 2^−1074 of a step. It goes up for the random number 0 and for no other."""
    block = np.zeros(MX_BLOCK)
    block[:4] = 6 * 2.0**127, 5e-324, 5e-324, -(2.0**-1022)
    random = np.zeros(MX_BLOCK)
    random[2] = 5e-324
    blocks = mx_encode(block, FP4_E2M1, Rounding.STOCHASTIC, random)
    assert blocks.elements[:4].tolist() == [7, 1, 0, 9]


@every_format
@given(data=st.data())
@settings(max_examples=40)
def test_a_block_has_the_values_that_gfloat_gives_it(fmt: Format, data: st.DataObject) -> None:
    info = getattr(formats, f"format_info_mx{fmt.name}")
    numbers = st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=False) | st.integers(-40, 40).map(
        lambda k: k / 8
    )
    x = np.array(data.draw(st.lists(numbers, min_size=MX_BLOCK, max_size=MX_BLOCK)), dtype=np.float64)
    theirs = gfloat.quantize_block(info, x, block_format.compute_scale_amax)
    blocks = mx_encode(x, fmt)
    assert np.array_equal(mx_decode(blocks.scales, blocks.elements, fmt), theirs)


def test_the_mean_over_all_bits_is_the_number() -> None:
    """Of every quarter of a step between elements of fp4, at a scale of 8."""
    grid = magnitudes(FP4_E2M1)[:-1]
    quarters = [low + (high - low) * Fraction(k, 4) for low, high in pairwise(grid) for k in range(4)]
    x = np.array([6.0, *map(float, quarters), 0, 0, 0]) * 8
    assert x.size == MX_BLOCK
    total = np.zeros(MX_BLOCK)
    for bits in range(4):
        blocks = mx_encode(x, FP4_E2M1, Rounding.STOCHASTIC, random_from_bits(bits, 2))
        assert blocks.scales.tolist() == [130]
        total += mx_decode(blocks.scales, blocks.elements, FP4_E2M1)
    assert (total / 4).tolist() == x.tolist()


def test_blocks_lie_along_the_last_axis_and_tensors_give_tensors() -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 64)) * np.logspace(-3, 3, 64)
    blocks = mx_encode(x, FP6_E3M2)
    assert (blocks.scales.shape, blocks.elements.shape, blocks.tie.shape) == ((2, 3, 2), (2, 3, 64), (2, 3, 64))
    for place in np.ndindex(2, 3, 2):
        part = (*place[:2], slice(32 * place[2], 32 * place[2] + 32))
        alone = mx_encode(x[part], FP6_E3M2)
        assert alone.scales == blocks.scales[place]
        assert alone.elements.tolist() == blocks.elements[part].tolist()
    tensors = mx_encode(torch.from_numpy(x), FP6_E3M2)
    for ours, theirs in zip(blocks, tensors, strict=True):
        assert isinstance(theirs, torch.Tensor)
        assert theirs.numpy().tobytes() == ours.tobytes()
    decoded: Any = mx_decode(tensors.scales, tensors.elements, FP6_E3M2)
    assert decoded.numpy().tobytes() == mx_decode(blocks.scales, blocks.elements, FP6_E3M2).tobytes()
    assert mx_encode(np.zeros((0, 32)), FP6_E3M2).scales.shape == (0, 1)


def test_bad_blocks_are_named() -> None:
    for x, fmt, said in (
        (np.zeros(33), FP4_E2M1, r"multiple of 32 numbers, got the shape \(33,\)"),
        (0.0, FP4_E2M1, r"got the shape \(\)"),
        (np.full(32, np.nan), FP4_E2M1, "cannot round nan"),
        (np.zeros(32), FP16, "fp16 is no element format of MX: these are fp8_e5m2, fp8_e4m3"),
        ([2**53 + 1] * 32, FP4_E2M1, "float64 does not hold"),
    ):
        with pytest.raises(ValueError, match=said):
            mx_encode(x, fmt)
    with pytest.raises(ValueError, match="stochastic rounding needs random numbers"):
        mx_encode(np.zeros(32), FP4_E2M1, Rounding.STOCHASTIC)
    for scales, elements, fmt, said in (
        ([0, 0], [0] * 32, FP4_E2M1, r"32 elements to a scale; got scales \(2,\) and elements \(32,\)"),
        ([256], [0] * 32, FP4_E2M1, "scale codes must be 0 to 255, got 256"),
        ([0], [16] * 32, FP4_E2M1, "fp4_e2m1 element codes must be 0 to 15, got 16"),
        ([0], [-1] * 32, FP6_E2M3, "fp6_e2m3 element codes must be 0 to 63, got -1"),
        ([0.5], [0] * 32, FP4_E2M1, "scale codes must be integers, got dtype float64"),
        ([0], [0] * 32, FP16, "fp16 is no element format of MX"),
    ):
        with pytest.raises(ValueError, match=said):
            mx_decode(scales, elements, fmt)
