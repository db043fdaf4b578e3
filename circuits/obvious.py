"""The same operations, written again in the most obvious way: what the circuits are compared with, by proof and in
size.

Nothing here is shared with `numbers` or `sums` but the builder's AND, XOR and NOT, and each operation goes another way:
numbers become two's complement, wide enough that nothing overflows; a sum is one plain addition; a product is a sum of
shifted rows, one after the other; rounding, saturation and sign are steps of their own, with a selection at the end of
each.
"""

from __future__ import annotations

from collections.abc import Callable

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.operations import OPERATIONS, Bits, bitwise

Word = list[Bit]  # the most significant bit first, as in the paper


def obvious(name: str, precision_bits: int) -> Circuit:
    """Returns the obvious circuit of an operation, with the inputs and outputs of the other one."""
    p = precision_bits

    def negate(builder: Builder, a: Bits) -> Bits:
        return _clip(builder, _minus(builder, _word(builder, a, p + 1)), p)

    def relu(builder: Builder, a: Bits) -> Bits:
        word = _word(builder, a, p + 1)
        return _clip(builder, _choose(word[0], [builder.zero] * len(word), word), p)

    def compare(builder: Builder, a: Bits, b: Bits) -> Bits:
        difference = _plus(builder, _word(builder, a, p + 1), _minus(builder, _word(builder, b, p + 1)))
        return difference[:1]

    def add(builder: Builder, a: Bits, b: Bits) -> Bits:
        return _clip(builder, _plus(builder, _word(builder, a, p + 1), _word(builder, b, p + 1)), p)

    def multiply(builder: Builder, a: Bits, b: Bits) -> Bits:
        width, q = 2 * p + 1, (p - 1) // 2
        total = [builder.zero] * width
        for row, bit in enumerate(reversed(a[:-1])):
            shifted = (
                [builder.zero] * (width - row - (p - 1)) + [bit & other for other in b[:-1]] + [builder.zero] * row
            )
            total = _plus(builder, total, shifted)
        whole, rest = total[:-q], total[-q:]
        half, below = rest[0], _any(builder, rest[1:])
        above_half = half & below
        tie_to_odd = half & ~below & whole[-1]
        rounded = _plus(builder, whole, [builder.zero] * (len(whole) - 1) + [above_half | tie_to_odd])
        differ = a[-1] ^ b[-1]
        return _clip(builder, _choose(differ, _minus(builder, rounded), rounded), p)

    makers: dict[str, Callable[..., Bits]] = {
        "negate": negate,
        "relu": relu,
        "compare": compare,
        "add": add,
        "multiply": multiply,
    }
    return bitwise(OPERATIONS[name].operands, p, makers[name])


def _word(builder: Builder, number: Bits, width: int) -> Word:
    """Returns a number of R_p as two's complement."""
    word = [builder.zero] * (width - len(number) + 1) + list(number[:-1])
    return _choose(number[-1], word, _minus(builder, word))


def _clip(builder: Builder, word: Word, p: int) -> Bits:
    """Returns two's complement as a number of R_p, the largest one if it is beyond."""
    negative = word[0]
    magnitude = _choose(negative, _minus(builder, word), word)
    beyond = _any(builder, magnitude[: -(p - 1)])
    return (*_choose(beyond, [builder.one] * (p - 1), magnitude[-(p - 1) :]), ~negative)


def _plus(builder: Builder, a: Word, b: Word) -> Word:
    """Returns a + b, modulo 2^width."""
    carry, result = builder.zero, Word()
    for x, y in zip(reversed(a), reversed(b), strict=True):
        result.insert(0, x ^ y ^ carry)
        carry = (x & y) | (x & carry) | (y & carry)
    return result


def _minus(builder: Builder, a: Word) -> Word:
    """Returns −a, modulo 2^width: the contrary of each bit, and 1 more."""
    return _plus(builder, [~x for x in a], [builder.zero] * (len(a) - 1) + [builder.one])


def _choose(condition: Bit, yes: Word, no: Word) -> Word:
    """Returns `yes` if the condition is 1, else `no`."""
    return [(condition & x) | (~condition & y) for x, y in zip(yes, no, strict=True)]


def _any(builder: Builder, bits: Word) -> Bit:
    result = builder.zero
    for bit in bits:
        result = result | bit
    return result
