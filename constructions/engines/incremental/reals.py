"""Floats that stand for wide integers, and what is certain of them; compiled code."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba import types  # type: ignore[import-not-found,import-untyped,unused-ignore]

from constructions.engines.incremental.limbs import LIMB, Number, generates, inlined, to_float

MANTISSA, BIAS = 52, 1023  # of a float: bits behind its first one; what is added to its exponent
# Of a sum of few products of floats that stand for numbers, relative to their sizes; there is room in it.
ERROR = 2.0**-44


def bits_of(x: float) -> int:
    """The bits of a float as an integer."""
    return int(np.float64(x).view(np.int64))


@generates(bits_of, lambda x: types.int64)
def _bits_of(builder: Any, integer: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], LIMB)


def float_of(bits: int) -> float:
    """The float with these bits."""
    return float(np.int64(bits).view(np.float64))


@generates(float_of, lambda bits: types.float64)
def _float_of(builder: Any, real: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], ir.DoubleType())


def lowest_bit(x: float) -> float:
    """The largest power of two that x is a multiple of; x is not 0, nor so small that its bits are fewer."""
    n, d = abs(Fraction(x)).as_integer_ratio()
    return float(Fraction(n & -n, d))


@generates(lowest_bit, lambda x: types.float64)
def _lowest_bit(builder: Any, real: Any, arguments: Any) -> Any:
    bits, first = builder.bitcast(arguments[0], LIMB), ir.Constant(LIMB, 1 << MANTISSA)
    zeros = builder.cttz(builder.or_(bits, first), ir.Constant(ir.IntType(1), 1))
    exponent = builder.and_(builder.lshr(bits, ir.Constant(LIMB, MANTISSA)), ir.Constant(LIMB, 2 * BIAS + 1))
    exponent = builder.add(exponent, builder.sub(zeros, ir.Constant(LIMB, MANTISSA)))
    return builder.bitcast(builder.shl(exponent, ir.Constant(LIMB, MANTISSA)), ir.DoubleType())


@inlined
def power(exponent: int) -> float:
    """2^exponent, −1022 ≤ exponent ≤ 1023."""
    return float_of((exponent + BIAS) << MANTISSA)


@inlined
def real(number: Number, exponent: int) -> float:
    """The number times 2^exponent."""
    return to_float(number) * power(exponent)


@inlined
def divides(v: float, s: float, r: float) -> bool:
    """Whether v·s = r for certain: v has at most 27 bits and s 26, so that floats multiply exactly."""
    short = bits_of(v) & ((1 << MANTISSA - 26) - 1) == 0 and bits_of(s) & ((1 << MANTISSA - 25) - 1) == 0
    return short and v * s == r
