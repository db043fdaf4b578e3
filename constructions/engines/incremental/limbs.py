"""Exact wide integers for compiled code: little-endian limbs of 64 bits in two's complement, in flat arrays.

A number is an array, the place of its lowest limb and how many limbs it has. Nothing here can overflow silently: callers choose the
number of limbs so that the largest possible result fits (see program.py), and `round_into` saturates by definition.
Numba mixes signed and unsigned integers into floats, so every limb constant below is a uint64 by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba import njit, types  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba.extending import intrinsic  # type: ignore[import-not-found,import-untyped,unused-ignore]

Words = Any  # a flat uint64 array
Limb = Any  # a uint64
# No memory is allocated in compiled code, and without counting references to arrays it is three times as fast.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}  # Python must not call it: there is no way in
Function = TypeVar("Function", bound=Callable[..., Any])

ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(63)
LOW_HALF, HALF_BITS = np.uint64(0xFFFFFFFF), np.uint64(32)
# Regions of the scratch array, in limbs; a number has at most 12 limbs, a shifted one 24. For each int of Python in a call, numba
# would compile the function again, so these are of numpy.
REGION = cast(int, np.int64(24))
FACTOR, OTHER, SHIFTED, SUM, DIFFERENCE, LARGEST, PREFERRED, BEST, FREE = (REGION * i for i in range(9))
NEAREST_EVEN, NEAREST_AWAY, TOWARD_ZERO = 0, 1, 2


def compiled(function: Function) -> Function:
    """Compiled on first use, for calls by compiled code alone; what Python calls is cached, see entries.py."""
    return cast(Function, njit(**INNER)(function))


def inlined(function: Function) -> Function:
    """The same, copied to where it is called: there the number of limbs is known, and its loops have none left to count.

    Also, an Index takes as long to hand over as a row takes to add up.
    """
    return cast(Function, njit(forceinline=True, **INNER)(function))


def entered(function: Function) -> Function:
    """For what entries.py wraps: compiled as a part of the wrapper, not once by itself and once more there."""
    return cast(Function, njit(inline="always", **INNER)(function))


def _high_product(typing_context: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        x, y = (builder.zext(argument, wide) for argument in arguments)
        high = builder.lshr(builder.mul(x, y), ir.Constant(wide, 64))
        return builder.trunc(high, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


high_product = cast(Callable[[Limb, Limb], Limb], intrinsic(_high_product))
"""The upper 64 bits of a product of two limbs."""


class Shape(NamedTuple):
    """What all numbers of a run have in common. numbers: see FRACTION_BITS.

    limbs: W empty tuples. A tuple's length belongs to its type, so that code is compiled for each W by itself.
    """

    limbs: Any
    numbers: Any


FRACTION_BITS, MODE, SHARES = range(3)  # the last one says how many shares of ties are known


def shape_of(limbs: int, fraction_bits: int, mode: int) -> Shape:
    """For numbers of so many limbs."""
    return Shape(((),) * limbs, np.array([fraction_bits, mode, 0], np.int64))


@inlined
def widths(shape: Shape) -> tuple[int, int]:
    """W and A, known when this is compiled."""
    return len(shape.limbs), 2 * len(shape.limbs) + 1


@inlined
def clear(a: Words, at: int, size: int) -> None:
    """a := 0."""
    for i in range(at, at + size):
        a[i] = ZERO


@inlined
def is_zero(a: Words, at: int, size: int) -> bool:
    """Whether the number is 0."""
    for i in range(at, at + size):
        if a[i] != ZERO:
            return False
    return True


@inlined
def negate(a: Words, at: int, size: int) -> None:
    """a := −a."""
    carry = ONE
    for i in range(at, at + size):
        limb = ~a[i] + carry
        carry = ONE if carry == ONE and limb == ZERO else ZERO
        a[i] = limb


@inlined
def magnitude(a: Words, at: int, size: int, into: Words, place: int) -> bool:
    """into := |a|; whether a was negative."""
    for i in range(size):
        into[place + i] = a[at + i]
    negative = a[at + size - 1] >> TOP == ONE
    if negative:
        negate(into, place, size)
    return negative  # type: ignore[no-any-return]


@inlined
def less(a: Words, at: int, b: Words, place: int, size: int) -> bool:
    """Whether a < b."""
    a_negative, b_negative = a[at + size - 1] >> TOP, b[place + size - 1] >> TOP
    if a_negative != b_negative:
        return a_negative == ONE  # type: ignore[no-any-return]
    for i in range(size - 1, -1, -1):
        if a[at + i] != b[place + i]:
            return a[at + i] < b[place + i]  # type: ignore[no-any-return]
    return False


@inlined
def equal(a: Words, at: int, b: Words, place: int, size: int) -> bool:
    """Whether a = b."""
    for i in range(size):
        if a[at + i] != b[place + i]:
            return False
    return True


@inlined
def add(a: Words, at: int, b: Words, place: int, size: int) -> None:
    """a += b."""
    carry = ZERO
    for i in range(size):
        one = a[at + i] + b[place + i]
        over = ONE if one < b[place + i] else ZERO
        two = one + carry
        if two < carry:
            over = ONE
        a[at + i] = two
        carry = over


@inlined
def extend(a: Words, at: int, size: int, into: Words, place: int, wide: int) -> None:
    """into := a, with more limbs."""
    fill = ~ZERO if a[at + size - 1] >> TOP == ONE else ZERO
    for i in range(wide):
        into[place + i] = a[at + i] if i < size else fill


@inlined
def add_scaled(
    t: Words, at: int, size: int, b: Words, b_at: int, b_size: int, limb: Limb, offset: int, subtract: bool
) -> None:
    """t[at…] ±= limb·2^(64·offset)·b[b_at…], with a magnitude at b_at."""
    carry = ZERO
    for j in range(b_size):
        factor = b[b_at + j]
        if factor == ZERO and carry == ZERO:
            continue
        low, high = limb * factor, high_product(limb, factor)
        low += carry
        if low < carry:
            high += ONE
        place = at + offset + j
        if place >= at + size:
            return
        old = t[place]
        if subtract:
            t[place] = old - low
            if old < low:
                high += ONE
        else:
            t[place] = old + low
            if t[place] < low:
                high += ONE
        carry = high
    place = at + offset + b_size
    while carry != ZERO and place < at + size:
        old = t[place]
        if subtract:
            t[place] = old - carry
            carry = ONE if old < carry else ZERO
        else:
            t[place] = old + carry
            carry = ONE if t[place] < carry else ZERO
        place += 1


@inlined
def add_multiple(t: Words, at: int, size: int, x: Words, x_at: int, x_size: int, factor: int) -> None:
    """t[at…] += factor·x, in two's complement, of size > x_size limbs."""
    multiplier = np.uint64(abs(factor))
    turned, carry = (~ZERO, ONE) if factor < 0 else (ZERO, ZERO)  # −y is ~y + 1
    fill = ~ZERO if x[x_at + x_size - 1] >> TOP == ONE else ZERO
    high = ZERO
    for i in range(size):
        limb = x[x_at + i] if i < x_size else fill
        if multiplier != ONE:
            low, above = limb * multiplier, high_product(limb, multiplier)
            low += high
            if low < high:
                above += ONE
            limb, high = low, above
        limb ^= turned
        one = t[at + i] + limb
        two = one + carry
        t[at + i] = two
        carry = (ONE if one < limb else ZERO) | (ONE if two < carry else ZERO)


@inlined
def add_product(
    t: Words, at: int, size: int, x: Words, x_at: int, x_size: int, y: Words, y_at: int, y_size: int
) -> None:
    """t[at…] += x·y."""
    if is_zero(x, x_at, x_size) or is_zero(y, y_at, y_size):
        return
    x_negative, y_negative = x[x_at + x_size - 1] >> TOP == ONE, y[y_at + y_size - 1] >> TOP == ONE
    if x_negative:
        magnitude(x, x_at, x_size, t, FACTOR)
        x, x_at = t, FACTOR
    if y_negative:
        magnitude(y, y_at, y_size, t, OTHER)
        y, y_at = t, OTHER
    for i in range(x_size):
        if x[x_at + i] != ZERO:
            add_scaled(t, at, size, y, y_at, y_size, x[x_at + i], i, x_negative != y_negative)


@inlined
def add_weighted(t: Words, at: int, size: int, x: Words, x_at: int, x_size: int, mantissa: int, shift: int) -> None:
    """t[at…] += mantissa·2^shift·x."""
    if is_zero(x, x_at, x_size):
        return
    negative = x[x_at + x_size - 1] >> TOP == ONE
    if negative:
        magnitude(x, x_at, x_size, t, FACTOR)
        x, x_at = t, FACTOR
    factor, offset, bits = np.uint64(abs(mantissa)), shift >> 6, np.uint64(shift & 63)
    low = factor << bits
    if low != ZERO:
        add_scaled(t, at, size, x, x_at, x_size, low, offset, negative != (mantissa < 0))
    if bits != ZERO:
        high = factor >> (np.uint64(64) - bits)
        if high != ZERO:
            add_scaled(t, at, size, x, x_at, x_size, high, offset + 1, negative != (mantissa < 0))


@inlined
def shift_right(t: Words, at: int, size: int, shift: int) -> bool:
    """The magnitude at `at` is shifted; whether a digit 1 fell off."""
    offset, bits, lost = shift >> 6, np.uint64(shift & 63), False
    for i in range(min(offset, size)):
        if t[at + i] != ZERO:
            lost = True
    if offset < size and bits != ZERO and t[at + offset] & ((ONE << bits) - ONE) != ZERO:
        lost = True
    for i in range(size):
        low = t[at + offset + i] if offset + i < size else ZERO
        high = t[at + offset + i + 1] if offset + i + 1 < size else ZERO
        t[at + i] = low if bits == ZERO else (low >> bits) | (high << (np.uint64(64) - bits))
    return lost


@inlined
def round_into(t: Words, at: int, size: int, shift: int, mode: int, into: Words, place: int, limbs: int) -> bool:
    """into := t[at…] / 2^shift, rounded and saturated at ±t[LARGEST…]; whether that is exact. t[at…] becomes its magnitude."""
    negative = t[at + size - 1] >> TOP == ONE
    if negative:
        negate(t, at, size)
    half, lost = False, False
    if shift > 0:
        offset, bits = (shift - 1) >> 6, np.uint64((shift - 1) & 63)
        half = (t[at + offset] >> bits) & ONE == ONE
        lost = t[at + offset] & ((ONE << bits) - ONE) != ZERO or not is_zero(t, at, offset)
    offset, bits = shift >> 6, np.uint64(shift & 63)
    saturated = False
    for i in range(size - offset):
        limb = t[at + offset + i] >> bits
        if bits != ZERO and offset + i + 1 < size:
            limb |= t[at + offset + i + 1] << (np.uint64(64) - bits)
        if i < limbs:
            into[place + i] = limb
        elif limb != ZERO:
            saturated = True
    up = half and (lost or mode == NEAREST_AWAY or into[place] & ONE == ONE) and mode != TOWARD_ZERO
    if not saturated:
        saturated = up  # of the largest element
        for i in range(limbs - 1, -1, -1):
            if into[place + i] != t[LARGEST + i]:
                saturated = into[place + i] > t[LARGEST + i]
                break
    if saturated:
        for i in range(limbs):
            into[place + i] = t[LARGEST + i]
    elif up:
        for i in range(place, place + limbs):
            into[i] += ONE
            if into[i] != ZERO:
                break
    if negative:
        negate(into, place, limbs)
    return not (saturated or half or lost)


@compiled
def to_float(t: Words, at: int, size: int) -> float:
    """The number, with a relative error below 2^−49."""
    negative = magnitude(t, at, size, t, OTHER)
    value = 0.0
    for i in range(size - 1, -1, -1):
        value = value * 18446744073709551616.0 + float(t[OTHER + i])
    return -value if negative else value


@compiled
def trailing_zeros(a: Words, at: int, size: int) -> int:
    """How often 2 divides the number; 64·size for 0."""
    for i in range(size):
        limb, zeros = a[at + i], 64 * i
        if limb != ZERO:
            for bits in (32, 16, 8, 4, 2, 1):
                if limb << np.uint64(64 - bits) == ZERO:
                    limb >>= np.uint64(bits)
                    zeros += bits
            return zeros
    return 64 * size
