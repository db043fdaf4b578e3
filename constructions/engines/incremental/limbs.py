"""Exact wide integers for compiled code: two's complement of a fixed number of limbs of 64 bits.

Each operation is defined by a function on Python's integers, which is what interpreted code calls, beside the machine code that
numba puts in its place: there a number is a single value of LLVM, of as many bits as its limbs have. In arrays it is its limbs,
the lowest first. `like` says how many limbs a number has: it is any tuple of that length, as that belongs to its type. Nothing here
overflows: callers choose the number of limbs so that the largest possible result fits (see program.py), and `rounded` saturates.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba import njit, types  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba.extending import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    lower_builtin,
    models,
    register_model,
    type_callable,
)

from constructions.engines.incremental.parts import PartCompiler

Words = Any  # a flat uint64 array
Number = Any  # a wide integer
Like = Any  # a tuple
# No memory is allocated in compiled code, and without counting references to arrays it is three times as fast.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "no_rewrites": True}
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}  # Python must not call it: there is no way in
Function = TypeVar("Function", bound=Callable[..., Any])

NEAREST_EVEN, NEAREST_AWAY, TOWARD_ZERO = 0, 1, 2
LIMB = ir.IntType(64)
ZEROS_OF_ZERO = 500  # more than any shift
WORD_BYTES = 8
# What is given to a function as an argument: numpy's, as numba compiles a function once more for each literal of Python.
YES, NO = cast(bool, np.bool_(True)), cast(bool, np.bool_(False))


def compiled(function: Function) -> Function:
    """Compiled on first use, for calls by compiled code alone; what Python calls is in entries.py, and cached."""
    return cast(Function, njit(pipeline_class=PartCompiler, **INNER)(function))


def inlined(function: Function) -> Function:
    """The same, copied to where it is called: an Index takes as long to hand over as a row takes to add up."""
    return cast(Function, njit(pipeline_class=PartCompiler, forceinline=True, **INNER)(function))


class Wide(types.Type):  # type: ignore[misc,unused-ignore]
    """The type of numbers of so many limbs."""

    def __init__(self, limbs: int) -> None:
        self.limbs = limbs
        super().__init__(name=f"Wide({limbs})")  # type: ignore[no-untyped-call,unused-ignore]


@register_model(Wide)  # type: ignore[no-untyped-call,unused-ignore]
class WideModel(models.PrimitiveModel):  # type: ignore[misc,unused-ignore]
    """A single integer of LLVM."""

    def __init__(self, manager: Any, wide: Wide) -> None:
        super().__init__(manager, wide, ir.IntType(64 * wide.limbs))  # type: ignore[no-untyped-call,unused-ignore]


def generates(function: Any, typer: Callable[..., Any]) -> Callable[[Function], Function]:
    """The decorated function (context, builder, type of the result, arguments) generates the code of `function`."""

    def decorate(generate: Function) -> Function:
        type_callable(function)(lambda context: typer)  # type: ignore[no-untyped-call,unused-ignore]
        arguments = [types.Any] * typer.__code__.co_argcount
        lower = lower_builtin(function, *arguments)  # type: ignore[no-untyped-call,unused-ignore]
        lower(lambda context, builder, signature, args: generate(builder, signature.return_type, args))
        return generate

    return decorate


def _as(like: Any) -> Any:
    return like if isinstance(like, Wide) else Wide(len(like))


def _of_one_type(a: Any, b: Any) -> Any:
    return a if isinstance(a, Wide) and a == b else None


def _compared(a: Any, b: Any) -> Any:
    return types.boolean if isinstance(a, Wide) and a == b else None


for function, how in (
    (operator.add, ir.IRBuilder.add),
    (operator.iadd, ir.IRBuilder.add),
    (operator.sub, ir.IRBuilder.sub),
    (operator.isub, ir.IRBuilder.sub),
):
    generates(function, _of_one_type)(lambda builder, wide, arguments, how=how: how(builder, *arguments))
for comparison, sign in ((operator.lt, "<"), (operator.eq, "=="), (operator.ne, "!=")):
    generates(comparison, _compared)(
        lambda builder, boolean, arguments, sign=sign: builder.icmp_signed(sign, *arguments)
    )
generates(operator.neg, lambda a: a if isinstance(a, Wide) else None)(
    lambda builder, wide, arguments: builder.neg(*arguments)
)


def load(words: Words, at: int, like: Like) -> Number:
    """The number at this place."""
    return int.from_bytes(words[at : at + len(like)].tobytes(), "little", signed=True)


@generates(load, lambda words, at, like: Wide(len(like)))
def _load(builder: Any, wide: Any, arguments: Any) -> Any:
    words, at, _ = arguments
    number = builder.load(_address(builder, words, at, 64 * wide.limbs))
    number.align = WORD_BYTES
    return number


def store(words: Words, at: int, number: Number, like: Like) -> None:
    """Puts the number there."""
    raw = int(number).to_bytes(WORD_BYTES * len(like), "little", signed=True)
    words[at : at + len(like)] = np.frombuffer(raw, np.uint64)


@generates(store, lambda words, at, number, like: types.none)
def _store(builder: Any, none: Any, arguments: Any) -> Any:
    words, at, number, _ = arguments
    builder.store(number, _address(builder, words, at, number.type.width)).align = WORD_BYTES
    return None


def begin(builder: Any, array: Any) -> Any:
    """The address of a contiguous array, see addresses.py; the fifth field of numba's own is where its data begin."""
    return array if isinstance(array.type, ir.PointerType) else builder.extract_value(array, 4)


def _address(builder: Any, words: Any, at: Any, bits: int) -> Any:
    return builder.bitcast(builder.gep(begin(builder, words), [at]), ir.IntType(bits).as_pointer())


def number(value: int, like: Like) -> Number:
    """An integer as a wide one."""
    return int(value)


@generates(number, lambda value, like: _as(like))
def _number(builder: Any, wide: Any, arguments: Any) -> Any:
    return _resized(builder, arguments[0], 64 * wide.limbs)


def resized(a: Number, like: Like) -> Number:
    """The same in more limbs, or in fewer that hold it."""
    return a


@generates(resized, lambda a, like: _as(like))
def _resize(builder: Any, wide: Any, arguments: Any) -> Any:
    return _resized(builder, arguments[0], 64 * wide.limbs)


def _resized(builder: Any, a: Any, bits: int, *, signed: bool = True) -> Any:
    if a.type.width == bits:
        return a
    if a.type.width > bits:
        return builder.trunc(a, ir.IntType(bits))
    return (builder.sext if signed else builder.zext)(a, ir.IntType(bits))


def product(a: Number, b: Number | int, like: Like) -> Number:
    """a·b, in at least as many limbs as both have together; b may be an integer of 64 bits."""
    return int(a) * int(b)


@generates(product, lambda a, b, like: Wide(len(like)))
def _product(builder: Any, wide: Any, arguments: Any) -> Any:
    """Limb by limb. Only the uppermost limb of a factor has a sign."""
    double, bits, total = ir.IntType(128), 64 * wide.limbs, None
    first, second = (_limbs(builder, factor) for factor in arguments[:2])
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            signs = i == len(first) - 1, j == len(second) - 1
            factors = [(builder.sext if s else builder.zext)(z, double) for z, s in zip((x, y), signs, strict=True)]
            part = _resized(builder, builder.mul(*factors), bits, signed=any(signs))
            part = builder.shl(part, ir.Constant(part.type, 64 * (i + j)))
            total = part if total is None else builder.add(total, part)
    return total


def _limbs(builder: Any, a: Any) -> list[Any]:
    bits = range(0, a.type.width, 64)
    return [builder.trunc(builder.lshr(a, ir.Constant(a.type, i)), LIMB) if a.type.width > 64 else a for i in bits]


def shifted_left(a: Number, places: int) -> Number:
    """a·2^places, 0 ≤ places < 64 times its limbs."""
    return int(a) << int(places)


@generates(shifted_left, lambda a, places: a)
def _shifted_left(builder: Any, wide: Any, arguments: Any) -> Any:
    return builder.shl(arguments[0], _resized(builder, arguments[1], 64 * wide.limbs))


def shifted_right(a: Number, places: int) -> Number:
    """⌊a / 2^places⌋, 0 ≤ places < 64 times its limbs."""
    return int(a) >> int(places)


@generates(shifted_right, lambda a, places: a)
def _shifted_right(builder: Any, wide: Any, arguments: Any) -> Any:
    return builder.ashr(arguments[0], _resized(builder, arguments[1], 64 * wide.limbs))


def quotient(a: Number, divisor: int) -> Number:
    """⌊a / divisor⌋, a ≥ 0 and 0 < divisor < 2^32."""
    return int(a) // int(divisor)


@generates(quotient, lambda a, divisor: a)
def _quotient(builder: Any, wide: Any, arguments: Any) -> Any:
    return _divided(builder, *arguments)[0]


def remainder(a: Number, divisor: int) -> int:
    """What that leaves."""
    return int(a) % int(divisor)


@generates(remainder, lambda a, divisor: types.int64)
def _remainder(builder: Any, integer: Any, arguments: Any) -> Any:
    return _divided(builder, *arguments)[1]


def _divided(builder: Any, a: Any, divisor: Any) -> tuple[Any, Any]:
    """By half limbs, from the uppermost one on."""
    total, rest, half = ir.Constant(a.type, 0), ir.Constant(LIMB, 0), ir.Constant(LIMB, 32)
    for place, limb in reversed(list(enumerate(_limbs(builder, a)))):
        for shift, digit in ((32, builder.lshr(limb, half)), (0, builder.and_(limb, ir.Constant(LIMB, 2**32 - 1)))):
            dividend = builder.or_(builder.shl(rest, half), digit)
            rest, part = builder.urem(dividend, divisor), builder.udiv(dividend, divisor)
            part = builder.shl(
                _resized(builder, part, a.type.width, signed=False), ir.Constant(a.type, 64 * place + shift)
            )
            total = builder.or_(total, part)
    return total, rest


def is_negative(a: Number) -> bool:
    """Whether a < 0."""
    return int(a) < 0


@generates(is_negative, lambda a: types.boolean)
def _is_negative(builder: Any, boolean: Any, arguments: Any) -> Any:
    return builder.icmp_signed("<", arguments[0], ir.Constant(arguments[0].type, 0))


def is_zero(a: Number) -> bool:
    """Whether a = 0."""
    return int(a) == 0


@generates(is_zero, lambda a: types.boolean)
def _is_zero(builder: Any, boolean: Any, arguments: Any) -> Any:
    return builder.icmp_signed("==", arguments[0], ir.Constant(arguments[0].type, 0))


def low_limb(a: Number) -> int:
    """a modulo 2^64, as a signed integer."""
    return (int(a) + 2**63) % 2**64 - 2**63


@generates(low_limb, lambda a: types.int64)
def _low_limb(builder: Any, integer: Any, arguments: Any) -> Any:
    return _resized(builder, arguments[0], 64)


def trailing_zeros(a: Number) -> int:
    """How often 2 divides the number; for 0, ZEROS_OF_ZERO."""
    return (int(a) & -int(a)).bit_length() - 1 if a else ZEROS_OF_ZERO


@generates(trailing_zeros, lambda a: types.int64)
def _trailing_zeros(builder: Any, integer: Any, arguments: Any) -> Any:
    (a,) = arguments
    zeros = _resized(builder, builder.cttz(a, ir.Constant(ir.IntType(1), 0)), 64)
    return builder.select(_is_zero(builder, None, arguments), ir.Constant(LIMB, ZEROS_OF_ZERO), zeros)


def significant_bits(a: Number) -> int:
    """How many bits the number takes without its trailing zeros."""
    return int(abs(a)).bit_length() - trailing_zeros(a) if a else 0


@generates(significant_bits, lambda a: types.int64)
def _significant_bits(builder: Any, integer: Any, arguments: Any) -> Any:
    (a,), undefined = arguments, ir.Constant(ir.IntType(1), 1)
    zero = _is_zero(builder, None, arguments)
    magnitude = builder.select(_is_negative(builder, None, arguments), builder.neg(a), a)
    beside = builder.add(builder.ctlz(magnitude, undefined), builder.cttz(magnitude, undefined))
    bits = builder.sub(ir.Constant(a.type, a.type.width), beside)
    return builder.select(zero, ir.Constant(LIMB, 0), _resized(builder, bits, 64))


def to_float(a: Number) -> float:
    """The number, with a relative error below 2^−49."""
    return float(a)


@generates(to_float, lambda a: types.float64)
def _to_float(builder: Any, real: Any, arguments: Any) -> Any:
    (a,), double = arguments, ir.DoubleType()
    negative = _is_negative(builder, None, arguments)
    value = ir.Constant(double, 0.0)
    for limb in _limbs(builder, builder.select(negative, builder.neg(a), a))[::-1]:
        value = builder.fadd(builder.fmul(value, ir.Constant(double, 2.0**64)), builder.uitofp(limb, double))
    return builder.select(negative, builder.fneg(value), value)


class Shape(NamedTuple):
    """What all numbers of a run have in common. numbers: see FRACTION_BITS.

    element, long, exact, widest: as long as an element of the format has limbs, W, and W + 1, A = 2W + 1 and 3W + 1.
    """

    element: Any
    long: Any
    exact: Any
    widest: Any
    numbers: Any


FRACTION_BITS, MODE, SHARES = range(3)  # the last one says how many shares of ties are known


def lengths(limbs: int) -> tuple[int, int, int, int]:
    """Of the tuples of a Shape."""
    return limbs, limbs + 1, 2 * limbs + 1, 3 * limbs + 1


def shape_of(limbs: int, fraction_bits: int, mode: int) -> Shape:
    """For numbers of so many limbs."""
    element, long, exact, widest = (((),) * length for length in lengths(limbs))
    return Shape(element, long, exact, widest, np.array([fraction_bits, mode, 0], np.int64))


@inlined
def widths(shape: Shape) -> tuple[int, int]:
    """W and A, known when this is compiled."""
    return len(shape.element), len(shape.exact)


@inlined
def magnitude(a: Number) -> Number:
    """|a|."""
    return -a if is_negative(a) else a


@inlined
def cut(a: Number, largest: Number, shape: Shape) -> tuple[Number, bool]:
    """An integer as an element, saturated at ±largest; and whether it is one."""
    most = resized(largest, a)
    if most < a:
        return largest, False
    if a < -most:
        return -largest, False
    return resized(a, shape.element), True


@inlined
def rounded(a: Number, shift: int, largest: Number, shape: Shape) -> tuple[Number, bool]:
    """a / 2^shift as an element, rounded and saturated at ±largest; and whether that is exact."""
    if shift <= 0:
        return cut(a, largest, shape)
    whole = magnitude(a)
    zeros, mode = trailing_zeros(whole), shape.numbers[MODE]
    lost, sticky = zeros < shift, zeros < shift - 1
    whole = shifted_right(whole, shift - 1)
    half, odd = low_limb(whole) & 1 == 1, low_limb(whole) & 2 == 2
    whole = shifted_right(whole, 1)
    if half and (sticky or mode == NEAREST_AWAY or odd) and mode != TOWARD_ZERO:
        whole = whole + number(1, whole)
    saturated = resized(largest, whole) < whole
    element = largest if saturated else resized(whole, shape.element)
    return -element if is_negative(a) else element, not (saturated or lost)
