"""Formats and arrays of other libraries: dtypes of numpy, ml_dtypes and torch, formats of gfloat, tensors of torch.

Source: appendix A.2 for what a format is; the libraries' own objects for what theirs hold.

None of these libraries but numpy is imported here: an object of theirs comes from a caller who has imported it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union, cast

import numpy as np
import numpy.typing as npt

from precision.format import FLOAT_FORMATS, FP32, FP64, Format, parse_format

if TYPE_CHECKING:
    import gfloat
    import torch

FormatLike: TypeAlias = Union[Format, str, np.dtype[Any], type[np.generic], "torch.dtype", "gfloat.FormatInfo"]

FloatArray = npt.NDArray[np.float64]
_Function = TypeVar("_Function", bound=Callable[..., object])

# Every integer up to here is a float64.
_WHOLE = 2**53


def as_format(given: FormatLike) -> Format:
    """Returns the format with the same finite numbers as `given`, which is a name or an object of this or another library.

    given: a Format; a name for `parse_format`; a dtype of numpy, ml_dtypes or torch, such as ml_dtypes.float8_e4m3fn; a
        format of gfloat, such as gfloat.formats.format_info_ocp_e4m3.
    What a format says besides is left out: its infinities, NaNs and codes, and the zero of negative sign.
    Raises ValueError, naming what was given, if it is none of these, or if its numbers are no format of this package:
    they are the same on both sides of zero, and have zero and the subnormal numbers among them.
    """
    if isinstance(given, Format):
        return given
    if isinstance(given, str):
        return parse_format(given)
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        try:
            return _dtype_format(np.dtype(given).newbyteorder("="))
        except TypeError:  # np.floating and the like
            raise ValueError(f"{given!r} is no dtype, but a class of them") from None
    library, _, _ = type(given).__module__.partition(".")
    if library == "torch" and isinstance(given, sys.modules["torch"].dtype):
        return _torch_format(given)
    if library == "gfloat" and isinstance(given, sys.modules["gfloat"].FormatInfo):
        return _gfloat_format(given)
    raise ValueError(f"{given!r} is no number format: expected a Format, a name, a dtype, or a format of gfloat")


@cache
def _dtype_format(dtype: np.dtype[Any]) -> Format:
    for native, fmt in ((np.float32, FP32), (np.float64, FP64)):
        if dtype == native:
            return fmt
    if dtype.itemsize > 2 or not np.can_cast(dtype, np.float64):
        raise ValueError(f"the numbers of dtype {dtype} are no number format that is known")
    codes = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):  # some of them are NaNs
        return _numbers_format(str(dtype), codes.view(dtype).astype(np.float64))


@cache
def _torch_format(dtype: torch.dtype) -> Format:
    import torch

    for native, fmt in ((torch.float32, FP32), (torch.float64, FP64)):
        if dtype == native:
            return fmt
    if dtype.itemsize > 2 or dtype.is_complex:
        raise ValueError(f"the numbers of {dtype} are no number format that is known")
    # By its codes, and not by torch.finfo, whose epsilon of float8_e5m2fnuz is half of what it should be (torch 2.13).
    codes = torch.arange(1 << 8 * dtype.itemsize, dtype=torch.int32)
    integers = torch.uint8 if dtype.itemsize == 1 else torch.int16
    try:
        numbers = codes.to(integers).view(dtype).to(torch.float64)
    except RuntimeError:  # torch has the dtype, but no conversion from it
        raise ValueError(f"torch does not say which numbers {dtype} holds") from None
    return _numbers_format(str(dtype), numbers.numpy())


def _numbers_format(name: str, numbers: FloatArray) -> Format:
    """Returns the format whose elements are the finite ones of `numbers`."""
    held = np.unique(numbers[np.isfinite(numbers)])
    positive = held[held > 0]
    if positive.size and np.array_equal(held, [*-positive[::-1], 0.0, *positive]):
        # The smallest of them are all multiples of the quantum up to the first power of two after which the step doubles.
        quanta = positive / positive[0]
        whole = np.flatnonzero(np.append(quanta, 0.0) != np.arange(1, quanta.size + 2))[0]
        fmt = _own_format(name, max(int(whole).bit_length() - 1, 1), Fraction(positive[0]), Fraction(positive[-1]))
        if [0.0, *positive] == [math.ldexp(magnitude, fmt.quantum_exponent) for magnitude in fmt.magnitudes()]:
            return fmt
    raise ValueError(f"the numbers of {name} are no format here: it would have zero, subnormal and negative numbers")


def _gfloat_format(info: gfloat.FormatInfo) -> Format:
    if not info.has_subnormals or not info.is_signed or info.is_twos_complement:
        raise ValueError(f"gfloat's {info.name} is no format here: it would have zero, subnormal and negative numbers")
    quantum = Fraction(2) ** (2 - info.bias - info.precision)
    return _own_format(str(info.name), info.precision, quantum, Fraction(info.max))


def _own_format(name: str, digits: int, quantum: Fraction, largest: Fraction) -> Format:
    """Returns our format with these elements, by its own name, if there is one."""
    exponent = quantum.numerator.bit_length() - quantum.denominator.bit_length()
    fmt = Format(name, digits, exponent, int(largest / quantum))
    same = (
        own for own in FLOAT_FORMATS if (own.significand_bits, own.quantum, own.max_value) == (digits, quantum, largest)
    )
    return next(same, fmt)


def float64_values(x: npt.ArrayLike) -> FloatArray:
    """Returns the numbers of `x` as float64, each exactly.

    Raises ValueError, naming the first that float64 does not hold: it would be rounded here, and again by what follows.
    """
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        return x
    given = np.asarray(x)
    kind = given.dtype.kind
    if kind not in "biufO" and not (kind == "V" and np.can_cast(given.dtype, np.float64)):
        raise ValueError(f"expected real numbers, got an array of dtype {given.dtype}")
    if not np.can_cast(given.dtype, np.float64):  # of more digits than float64, or Python's own
        return _exactly(given)
    with np.errstate(invalid="ignore"):  # a NaN is for the caller to refuse
        values = given.astype(np.float64)
    if (given.dtype.itemsize == 8 or not isinstance(x, np.ndarray)) and (np.abs(values) >= _WHOLE).any():
        # Where numpy has met integers among floats, they are rounded already.
        return _exactly(given if isinstance(x, np.ndarray) else np.asarray(x, dtype=object))
    return values


def _exactly(given: npt.NDArray[Any]) -> FloatArray:
    values = np.empty(given.shape)
    for place, number in np.ndenumerate(given):
        item = number.item() if isinstance(number, np.integer) else number
        try:
            values[place] = float(item)
            exact = values[place].item() == item or item != item
        except OverflowError:
            exact = False
        except TypeError:
            raise ValueError(f"expected real numbers, got {item!r}") from None
        if not exact:
            raise ValueError(f"float64 does not hold {item!r}: round it as a Fraction, by round_fraction")
    return values


def takes_tensors(function: _Function) -> _Function:
    """Returns the same function of arrays, which also takes torch tensors and then gives tensors, on the device of the first.

    Numbers go through the main memory and the same code, hence the same bits. No gradient flows through.
    """

    @wraps(function)
    def convert(*arguments: Any, **named: Any) -> Any:
        torch = sys.modules.get("torch")
        tensors = [] if torch is None else [x for x in (*arguments, *named.values()) if isinstance(x, torch.Tensor)]
        if torch is None or not tensors:
            return function(*arguments, **named)

        def array(x: Any) -> Any:
            if not isinstance(x, torch.Tensor):
                return x
            values = x.detach().cpu()
            values = (values.to(torch.float64) if values.is_floating_point() else values).numpy()
            values.flags.writeable = False  # what is written into a copy would be lost
            return values

        def tensor(x: Any) -> Any:
            return torch.as_tensor(x, device=tensors[0].device) if isinstance(x, np.ndarray | np.generic) else x

        result = function(*map(array, arguments), **{name: array(x) for name, x in named.items()})
        return type(result)(*map(tensor, result)) if isinstance(result, tuple) else tensor(result)

    return cast(_Function, convert)
