"""Blocks of small floats with a shared scale: OCP Microscaling (MX).

Source: OCP Microscaling Formats (MX) Specification, version 1.0: section 5 for the formats, 6.3 for the conversion.

32 numbers share a scale, which is a power of two; each is the scale times an element of a format of 8, 6 or 4 bits. A scale has
the format e8m0: the code c from 0 to 254 stands for 2^(c − 127), and 255 for a NaN. That is no `Format`, as it holds no zero.

Not here: MXINT8, whose elements are not the same on both sides of zero, and the packing of 6- and 4-bit codes into bytes, which
the specification leaves open.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precision.format import FP4_E2M1, FP6_E2M3, FP6_E3M2, FP8_E4M3, FP8_E5M2, Format, Rounding
from precision.libraries import FloatArray, FormatLike, as_format, float64_values, takes_tensors
from precision.rounding_array import BoolArray, require_finite, round_scaled

MX_FORMATS = (FP8_E5M2, FP8_E4M3, FP6_E3M2, FP6_E2M3, FP4_E2M1)
MX_BLOCK = 32
_SCALE_BIAS = 127
_SCALE_NAN = 255

CodeArray = npt.NDArray[np.uint8]


class MXBlocks(NamedTuple):
    """Numbers in blocks, and how they came about.

    scales: (…, blocks), codes of e8m0.
    elements: (…, blocks · 32), codes of the element format: sign, exponent, significand, in the low bits of a byte each.
    saturated, tie: (…, blocks · 32), whether the rounding of an element saturated or was a tie, as in `Rounded`.
    """

    scales: CodeArray
    elements: CodeArray
    saturated: BoolArray
    tie: BoolArray


@takes_tensors
def mx_encode(
    x: npt.ArrayLike,
    fmt: FormatLike,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: npt.ArrayLike | None = None,
) -> MXBlocks:
    """Rounds numbers in blocks: 32 along the last axis share a scale, and each is rounded once to an element of `fmt`.

    fmt: the element format, one of MX_FORMATS or what `as_format` makes one of.
    random: for STOCHASTIC, as in `round_array`.
    The scale is 2^(floor(log2 m) − e) for the largest magnitude m of the block and the largest power of two 2^e in `fmt`, as
    section 6.3 has it, and as near to that as e8m0 comes; of a block of zeros it is the smallest. So m may lie beyond the largest
    element by less than a factor of two, and then it saturates. No code of −0 is written.
    Raises ValueError if `fmt` is no element format of MX; if the last axis is no whole number of blocks; and as `round_array`.
    """
    values, fmt = float64_values(x), _element_format(fmt)
    if values.ndim == 0 or values.shape[-1] % MX_BLOCK:
        raise ValueError(
            f"MX blocks need a last axis of a multiple of {MX_BLOCK} numbers, got the shape {values.shape}"
        )
    require_finite(values)
    blocked = values.reshape(*values.shape[:-1], values.shape[-1] // MX_BLOCK, MX_BLOCK)
    largest = np.max(np.abs(blocked), axis=-1)  # (…, blocks)
    _, exponent = np.frexp(largest)
    top = fmt.max_quanta.bit_length() + fmt.quantum_exponent  # frexp and bit_length both count to the next power of two
    scale_exponent = np.where(largest > 0, np.clip(exponent - top, -_SCALE_BIAS, _SCALE_BIAS), -_SCALE_BIAS)
    per_number = np.repeat(scale_exponent, MX_BLOCK, axis=-1)  # (…, blocks · 32)
    rounded = round_scaled(values, fmt, per_number, rounding, random)
    unscaled = np.ldexp(rounded.value, -per_number)
    codes = np.searchsorted(_magnitudes(fmt), np.abs(unscaled)).astype(np.uint8)
    codes |= np.where(unscaled < 0, _sign_bit(fmt), 0).astype(np.uint8)
    return MXBlocks((scale_exponent + _SCALE_BIAS).astype(np.uint8), codes, rounded.saturated, rounded.tie)


@takes_tensors
def mx_decode(scales: npt.ArrayLike, elements: npt.ArrayLike, fmt: FormatLike) -> FloatArray:
    """Returns the numbers of MX blocks, exactly: scale times element.

    scales: (…, blocks) and elements: (…, blocks · 32), codes as in `MXBlocks`; fmt: the element format.
    A scale that is a NaN makes its block NaN. Elements that are infinite (fp8_e5m2) or NaN (fp8_e5m2, fp8_e4m3) stay so. Zero is
    +0.0 whichever code it has.
    Raises ValueError if `fmt` is no element format of MX, if the shapes do not fit, or if a code has more bits than it may.
    """
    fmt = _element_format(fmt)
    scale_codes, codes = (
        _codes(scales, 8, "scale"),
        _codes(elements, _sign_bit(fmt).bit_length(), f"{fmt.name} element"),
    )
    if scale_codes.ndim == 0 or codes.shape != (*scale_codes.shape[:-1], scale_codes.shape[-1] * MX_BLOCK):
        raise ValueError(
            f"MX blocks have {MX_BLOCK} elements to a scale; got scales {scale_codes.shape} and elements {codes.shape}"
        )
    scale = np.ldexp(1.0, scale_codes.astype(np.int64) - _SCALE_BIAS)
    scale[scale_codes == _SCALE_NAN] = np.nan
    numbers: FloatArray = np.repeat(scale, MX_BLOCK, axis=-1) * _numbers(fmt)[codes]
    return numbers


def _element_format(given: FormatLike) -> Format:
    fmt = as_format(given)
    if fmt not in MX_FORMATS:
        raise ValueError(
            f"{fmt.name} is no element format of MX: these are {', '.join(own.name for own in MX_FORMATS)}"
        )
    return fmt


def _codes(given: npt.ArrayLike, bits: int, what: str) -> npt.NDArray[np.integer]:
    codes = np.asarray(given)
    if codes.dtype.kind not in "iu":
        raise ValueError(f"{what} codes must be integers, got dtype {codes.dtype}")
    outside = (codes < 0) | (codes >= 1 << bits)
    if outside.any():
        raise ValueError(f"{what} codes must be 0 to {(1 << bits) - 1}, got {codes[outside].flat[0]}")
    return codes


@cache
def _magnitudes(fmt: Format) -> FloatArray:
    """Returns the elements that are not negative, at their codes."""
    return np.ldexp(np.array(list(fmt.magnitudes()), dtype=np.float64), fmt.quantum_exponent)


@cache
def _sign_bit(fmt: Format) -> int:
    """Returns the code above all of those without a sign."""
    return 1 << (_magnitudes(fmt).size - 1).bit_length()


@cache
def _numbers(fmt: Format) -> FloatArray:
    """Returns what each code stands for. Beyond the largest element, a significand of zero is an infinity, any other a NaN."""
    magnitudes = _magnitudes(fmt)
    beyond = np.arange(magnitudes.size, _sign_bit(fmt))
    special = np.where(beyond % (1 << (fmt.significand_bits - 1)) == 0, np.inf, np.nan)
    positive = np.concatenate([magnitudes, special])
    return np.concatenate([positive, -positive]) + 0.0
