"""Rounding to a format, on float64 arrays: the vectorised twin of rounding.py.

Source: appendix A.2, ROUND(x, p), as in rounding.py; one test body runs both.

Arrays hold values, not quanta, and any format of up to 53 significant digits within the range of float64 fits. A value
is scaled by a power of two to steps (ldexp, exact), rounded there to an integer, and scaled back: one rounding. A cast
to a narrower dtype would round twice, since the usual ones pass through float32.

A zero result is always +0.0, because a format has one zero.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import float_info
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precision.format import Format, Rounding

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Elements handled at a time: the temporaries of `round_values` then stay in the cache next to the core.
_BLOCK = 8192
_EXPONENT_FIELD = 0x7FF << 52


class RoundedArray(NamedTuple):
    """Elements of a format and how they came about, all of one shape; the fields mean what those of `Rounded` mean."""

    value: FloatArray
    saturated: BoolArray
    tie: BoolArray


def round_array(
    x: npt.ArrayLike,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: npt.ArrayLike | None = None,
) -> RoundedArray:
    """The elements of `fmt` that the values `x` (any shape, float64) round to.

    random: for STOCHASTIC, numbers in [0, 1) that broadcast to the shape of x.
    Raises ValueError if x holds a NaN or an infinity, if float64 does not hold the elements of `fmt`, or if STOCHASTIC
    has no `random` in [0, 1).
    """
    values = np.asarray(x, dtype=np.float64)
    require_float64_format(fmt)
    _require_finite(values)
    # 2^(exponent - 1) <= |x| < 2^exponent. With this step x is below 2^significand_bits steps, so that its integer and
    # fractional parts are exact.
    _, exponent = np.frexp(values)
    step_exponent = np.maximum(exponent - fmt.significand_bits, fmt.quantum_exponent)
    steps = np.ldexp(np.abs(values), -step_exponent)
    whole = np.floor(steps)
    fraction = steps - whole

    half_way = np.zeros(values.shape, dtype=np.bool_)
    if rounding is Rounding.NEAREST_EVEN:
        half_way = fraction == 0.5
        up = (fraction > 0.5) | (half_way & (np.fmod(whole, 2.0) == 1.0))
    elif rounding is Rounding.NEAREST_AWAY:
        half_way = fraction == 0.5
        up = fraction >= 0.5
    elif rounding is Rounding.TOWARD_ZERO:
        up = np.zeros(values.shape, dtype=np.bool_)
    else:
        up = _checked_random(random) < fraction

    largest = float(fmt.max_value)
    with np.errstate(over="ignore"):  # 2^1024, one step above the largest float64, is a value that saturates
        magnitude = np.ldexp(whole + up, step_exponent)
    saturated = magnitude > largest
    tie = half_way & (np.ldexp(whole, step_exponent) < largest)
    # Adding 0.0 turns the -0.0 of copysign into +0.0.
    return RoundedArray(np.copysign(np.minimum(magnitude, largest), values) + 0.0, saturated, tie)


def round_values(x: npt.ArrayLike, fmt: Format, out: FloatArray | None = None) -> FloatArray:
    """The same values as `round_array` with NEAREST_EVEN, without the flags and several times faster.

    out: a C-contiguous float64 array of the shape of x to write to; x itself will do.
    Raises ValueError as `round_array` does, or if `out` does not fit; `out` may then be partly written.
    Derivation: clipping first changes nothing, as the bounds are elements. Fixed point is then scaled to quanta and
    rounded to integers. Floats of s <= 51 digits: for |x| < 2^(s + e), adding c = 1.5 · 2^(52 + e) gives a sum between
    2^(52 + e) and 2^(53 + e). There float64 has the step 2^e, so the one rounding of the addition, to nearest even, is
    the wanted one; c is an even number of steps, and subtracting it is exact.
    """
    values = np.asarray(x, dtype=np.float64)
    require_float64_format(fmt)
    if out is None:
        out = np.empty(values.shape)
    elif out.shape != values.shape or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError(f"out must be a C-contiguous float64 array of shape {values.shape}")
    source, target = np.ascontiguousarray(values).reshape(-1), out.reshape(-1)
    kernel = _kernel(fmt)
    for start in range(0, source.size, _BLOCK):
        block = source[start : start + _BLOCK]
        _require_finite(block)
        kernel(block, fmt, target[start : start + _BLOCK])
    return out


def _kernel(fmt: Format) -> Callable[[FloatArray, Format, FloatArray], None]:
    """The fastest way to round finite values to nearest even in `fmt`."""
    if fmt.significand_bits == 53 and fmt.quantum_exponent == -1074 and fmt.max_value >= float_info.max:
        return _keep
    if fmt.is_fixed_point and fmt.quantum_exponent >= -1022:
        return _round_fixed_point
    smallest_binade = fmt.quantum_exponent + fmt.significand_bits - 1
    if fmt.significand_bits <= 51 and smallest_binade >= -1022 and fmt.max_value < 2 ** (1022 - 52):
        return _round_floating_point
    return _round_by_definition


def _keep(values: FloatArray, fmt: Format, out: FloatArray) -> None:
    np.add(values, 0.0, out=out)


def _round_fixed_point(values: FloatArray, fmt: Format, out: FloatArray) -> None:
    largest = float(fmt.max_value)
    clipped = np.clip(values, -largest, largest)
    clipped *= 2.0**-fmt.quantum_exponent
    np.rint(clipped, out=clipped)
    clipped *= 2.0**fmt.quantum_exponent
    np.add(clipped, 0.0, out=out)


def _round_floating_point(values: FloatArray, fmt: Format, out: FloatArray) -> None:
    largest = float(fmt.max_value)
    clipped = np.clip(values, -largest, largest)
    # The exponent field of a float64 holds floor(log2 |x|) + 1023. Below 2^smallest_binade the step is the quantum.
    smallest_binade = fmt.quantum_exponent + fmt.significand_bits - 1
    bits = clipped.view(np.int64) & _EXPONENT_FIELD
    np.maximum(bits, (smallest_binade + 1023) << 52, out=bits)
    # From 2^binade to 1.5 · 2^(52 + e), e = binade + 1 - significand_bits: a larger exponent, and the bit of the half.
    bits += ((53 - fmt.significand_bits) << 52) + (1 << 51)
    shifter = bits.view(np.float64)
    clipped += shifter
    np.subtract(clipped, shifter, out=out)


def _round_by_definition(values: FloatArray, fmt: Format, out: FloatArray) -> None:
    out[:] = round_array(values, fmt).value


def require_float64_format(fmt: Format) -> None:
    """Raises ValueError, naming the format, unless float64 holds its elements."""
    if fmt.significand_bits > 53 or not -1074 <= fmt.quantum_exponent <= 0 or fmt.max_value >= 2**1024:
        raise ValueError(f"float64 does not hold the elements of {fmt.name}: use exact integers")


def _require_finite(values: FloatArray) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        raise ValueError(f"cannot round {values[~finite].flat[0]}: values must be finite")


def _checked_random(random: npt.ArrayLike | None) -> FloatArray:
    if random is None:
        raise ValueError("stochastic rounding needs random numbers in [0, 1), got none")
    numbers = np.asarray(random, dtype=np.float64)
    outside = ~((numbers >= 0.0) & (numbers < 1.0))
    if outside.any():
        raise ValueError(f"stochastic rounding needs random numbers in [0, 1), got {numbers[outside].flat[0]}")
    return numbers
