"""Rounding to a format, on float64 arrays: the vectorised twin of rounding.py.

Source: appendix A.2, ROUND(x, p), as in rounding.py; one test body runs both.

Arrays hold values, not quanta, and any format of up to 53 significant digits within the range of float64 fits. A value
is scaled by a power of two to steps (ldexp, exact), rounded there to an integer, and scaled back: one rounding. A cast
to a narrower dtype would round twice, since the usual ones pass through float32.

A tensor of torch is taken where an array is, and then all arrays of the result are tensors (`takes_tensors`).

A zero result is always +0.0, because a format has one zero.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import float_info
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precision.format import Format, Rounding
from precision.libraries import FloatArray, FormatLike, as_format, float64_values, takes_tensors

BoolArray = npt.NDArray[np.bool_]

# Elements handled at a time: the temporaries of `round_values` then stay in the cache next to the core.
_BLOCK = 8192
_EXPONENT_FIELD = 0x7FF << 52


class RoundedArray(NamedTuple):
    """Elements of a format and how they came about, all of one shape; the fields mean what those of `Rounded` mean."""

    value: FloatArray
    saturated: BoolArray
    tie: BoolArray


@takes_tensors
def round_array(
    x: npt.ArrayLike,
    fmt: FormatLike,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    random: npt.ArrayLike | None = None,
) -> RoundedArray:
    """Rounds values (any shape) to elements of `fmt`.

    fmt: a Format, or what `as_format` makes one of.
    random: for STOCHASTIC, numbers in [0, 1) that broadcast to the shape of x; see `random_from_bits`.
    Raises ValueError if x holds a NaN, an infinity or a number that float64 does not hold, if float64 does not hold the
    elements of `fmt`, or if STOCHASTIC has no `random` in [0, 1).
    """
    values, fmt = float64_values(x), as_format(fmt)
    require_float64_format(fmt)
    require_finite(values)
    return round_scaled(values, fmt, 0, rounding, random)


def round_scaled(
    values: FloatArray,
    fmt: Format,
    scale_exponent: int | npt.NDArray[np.int64],
    rounding: Rounding,
    random: npt.ArrayLike | None,
) -> RoundedArray:
    """Rounds finite values to elements of `fmt`, each times 2^scale_exponent.

    scale_exponent: broadcasts to the shape of values; float64 must hold the scaled elements.
    """
    # 2^(exponent - 1) <= |x| < 2^exponent. With this step x is below 2^significand_bits steps, so that its integer and
    # fractional parts are exact (a fraction below 2^-1022 apart).
    magnitude = np.abs(values)
    _, exponent = np.frexp(values)
    step_exponent = np.maximum(exponent - fmt.significand_bits, fmt.quantum_exponent + scale_exponent)
    steps = np.ldexp(magnitude, -step_exponent)
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
        # A step above 1 can bring a small fraction below the normal numbers of float64, where it is rounded. The next number
        # of float64 is above the same `random`.
        cut_off = np.ldexp(steps, step_exponent) < magnitude
        up = _require_random(random) < np.where(cut_off, np.nextafter(fraction, 1.0), fraction)

    largest = np.ldexp(float(fmt.max_value), scale_exponent)
    with np.errstate(over="ignore"):  # 2^1024, one step above the largest float64, is a value that saturates
        rounded = np.ldexp(whole + up, step_exponent)
    saturated = rounded > largest
    tie = half_way & (np.ldexp(whole, step_exponent) < largest)
    # Adding 0.0 turns the -0.0 of copysign into +0.0.
    return RoundedArray(np.copysign(np.minimum(rounded, largest), values) + 0.0, saturated, tie)


@takes_tensors
def random_from_bits(bits: npt.ArrayLike, width: int) -> FloatArray:
    """Returns bits / 2^width in [0, 1), as `random` of a stochastic rounding: the result depends on value and bits alone.

    bits: integers from 0 to 2^width − 1. width: how many bits there are to a number, 1 to 53; float64 then holds the quotient.
    For one value the scalar functions take Fraction(bits, 2**width), and round alike.

    What is exact. Let x be the fraction f of the way from one element to the next of larger magnitude. It goes up for
    bits / 2^width < f, thus for ceil(f · 2^width) of all 2^width patterns. So the mean over all patterns is x itself if
    f · 2^width is an integer. If not, it lies beyond x by less than a step / 2^width. An element stays for all bits.
    From float32 to bf16, 16 bits make the mean exact for every number of the normal range.
    Raises ValueError, naming them, if width or bits are none of these.
    """
    if not 1 <= width <= 53:
        raise ValueError(f"random bits: width must be 1 to 53, got {width}")
    patterns = np.asarray(bits)
    if patterns.dtype.kind not in "iu":
        raise ValueError(f"random bits must be integers, got dtype {patterns.dtype}")
    outside = (patterns < 0) | (patterns >= 1 << width)
    if outside.any():
        raise ValueError(
            f"random bits must be 0 to {(1 << width) - 1} for {width} bits, got {patterns[outside].flat[0]}"
        )
    numbers: FloatArray = np.ldexp(patterns.astype(np.float64), -width)
    return numbers


@takes_tensors
def round_values(x: npt.ArrayLike, fmt: FormatLike, out: FloatArray | None = None) -> FloatArray:
    """Rounds as `round_array` with NEAREST_EVEN, without the flags and several times faster.

    out: a C-contiguous float64 array of the shape of x to write to, no tensor; x itself will do.
    Raises ValueError as `round_array` does, or if `out` does not fit; `out` may then be partly written.
    Derivation: clipping first changes nothing, as the bounds are elements. Fixed point is then scaled to quanta and
    rounded to integers. Floats of s <= 51 digits: for |x| < 2^(s + e), adding c = 1.5 · 2^(52 + e) gives a sum between
    2^(52 + e) and 2^(53 + e). There float64 has the step 2^e, so the one rounding of the addition, to nearest even, is
    the wanted one; c is an even number of steps, and subtracting it is exact.
    """
    values, fmt = float64_values(x), as_format(fmt)
    require_float64_format(fmt)
    if out is None:
        out = np.empty(values.shape)
    elif out.shape != values.shape or out.dtype != np.float64 or not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f"out must be a writable C-contiguous float64 array of shape {values.shape}")
    source, target = np.ascontiguousarray(values).reshape(-1), out.reshape(-1)
    kernel = _kernel(fmt)
    for start in range(0, source.size, _BLOCK):
        block = source[start : start + _BLOCK]
        require_finite(block)
        kernel(block, fmt, target[start : start + _BLOCK])
    return out


def _kernel(fmt: Format) -> Callable[[FloatArray, Format, FloatArray], None]:
    """Returns the fastest way to round finite values to nearest even in `fmt`."""
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


def require_finite(values: FloatArray) -> None:
    """Raises ValueError, naming it, if some value is infinite or a NaN."""
    finite = np.isfinite(values)
    if not finite.all():
        raise ValueError(f"cannot round {values[~finite].flat[0]}: values must be finite")


def _require_random(random: npt.ArrayLike | None) -> FloatArray:
    if random is None:
        raise ValueError("stochastic rounding needs random numbers in [0, 1), got none")
    numbers = float64_values(random)
    outside = ~((numbers >= 0.0) & (numbers < 1.0))
    if outside.any():
        raise ValueError(f"stochastic rounding needs random numbers in [0, 1), got {numbers[outside].flat[0]}")
    return numbers
