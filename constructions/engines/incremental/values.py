"""Exact numbers in machine code: a mantissa in as many bits as it can need, and a power of two that is known beforehand.

The text is LLVM's assembly language, which has integers of every width. A number's least and largest mantissa are known when the
text is written, so sums and products are never cut off, and what cannot leave the format is neither rounded nor compared with its
ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from constructions.engines.protocol import NotCovered
from precision.format import Arithmetic, Discipline, Rounding

WORD = 64


@dataclass(frozen=True)
class Operand:
    """mantissa · 2^exponent with low ≤ mantissa ≤ high. name: of the mantissa in the text, or the mantissa itself."""

    name: str
    low: int
    high: int
    exponent: int

    @property
    def width(self) -> int:
        """Returns the bits of its integer, whole words."""
        return WORD * (1 + max(self.low.bit_length(), self.high.bit_length()) // WORD)

    @property
    def type(self) -> str:
        """Returns its type in the text."""
        return f"i{self.width}"

    @property
    def least(self) -> Fraction:
        """Returns the least number that it may be."""
        return self.low * Fraction(2) ** self.exponent

    @property
    def most(self) -> Fraction:
        """Returns the largest number that it may be."""
        return self.high * Fraction(2) ** self.exponent


def constant(number: Fraction | int) -> Operand:
    """Returns a number that is known. Raises NotCovered for one that is no dyadic rational."""
    mantissa, denominator = Fraction(number).as_integer_ratio()
    if denominator & (denominator - 1):
        raise NotCovered(f"the number {number}")
    zeros = (mantissa & -mantissa).bit_length() - 1 if mantissa else 0
    return Operand(str(mantissa >> zeros), mantissa >> zeros, mantissa >> zeros, zeros + 1 - denominator.bit_length())


ZERO = constant(0)


def range_of_product(a: Operand, b: Operand) -> Operand:
    """Returns the range that a·b has; of a number by itself, a square's."""
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Operand("", 0 if a is b and a.low < 0 < a.high else min(ends), max(ends), a.exponent + b.exponent)


class Body:
    """The text of one function, and what may be said in it."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        fmt = arithmetic.format
        self.quantum, self.largest, self.rounding = fmt.quantum_exponent, fmt.max_quanta, arithmetic.rounding
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.about = ""  # what the code is for, which is what a run is given up over
        self.reasons: list[str] = []
        self._count = 0

    # Text

    def fresh(self) -> str:
        """Returns a name that nothing has yet."""
        self._count += 1
        return f"%v{self._count}"

    def op(self, text: str) -> str:
        """Writes an instruction and returns its result's name."""
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def say(self, text: str) -> None:
        """Writes an instruction without a result."""
        self.lines.append(text)

    def label(self) -> str:
        """Returns the name of a place to jump to."""
        return self.fresh()[1:]

    def place(self, label: str) -> None:
        """Begins the code of a label; what stands before it goes on here."""
        self.say(f"br label %{label}")
        self.enter(label)

    def enter(self, label: str) -> None:
        """Begins the code of a label that is jumped to alone."""
        self.lines.append(f"{label}:")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Goes on at one of two labels."""
        self.say(f"br i1 {condition}, label %{yes}, label %{no}")

    def guard(self, condition: str) -> None:
        """Gives the run up unless the condition holds; says why, by the number of the reason."""
        if condition == "true":
            return
        go, fails = self.label(), f"giveup{len(self.reasons)}"
        self.reasons.append(self.about)
        self.branch(condition, go, fails)
        self.enter(go)

    def only_if(self, condition: str, otherwise: str) -> None:
        """Goes on if the condition holds, else at a label."""
        go = self.label()
        self.branch(condition, go, otherwise)
        self.enter(go)

    def variable(self, type_: str = "i64") -> str:
        """Returns a place on the stack."""
        name = self.fresh()
        self.variables.append(f"{name} = alloca {type_}")
        return name

    # Memory

    def load(self, address: str, like: Operand) -> Operand:
        """Reads a number of known range."""
        return Operand(
            self.op(f"load {like.type}, ptr {self.pointer(address)}, align 8"), like.low, like.high, like.exponent
        )

    def store(self, address: str, value: Operand) -> None:
        """Writes a number."""
        self.say(f"store {value.type} {value.name}, ptr {self.pointer(address)}, align 8")

    def pointer(self, address: str) -> str:
        """Makes a pointer of an address."""
        return self.op(f"inttoptr i64 {address} to ptr")

    def cell(self, address: str, type_: str = "i64") -> str:
        """Reads a plain integer, as 64 bits."""
        read = self.op(f"load {type_}, ptr {self.pointer(address)}, align 4")
        return read if type_ == "i64" else self.op(f"zext {type_} {read} to i64")

    def put(self, address: str, integer: str) -> None:
        """Writes a plain integer."""
        self.say(f"store i64 {integer}, ptr {self.pointer(address)}, align 8")

    def plus(self, a: str, b: str | int) -> str:
        """Adds plain integers."""
        return self.op(f"add i64 {a}, {b}")

    def element(self, base: str, index: str, size: int | str) -> str:
        """Returns the address of an element of an array."""
        return self.plus(base, self.op(f"mul i64 {index}, {size}"))

    def test(self, how: str, a: str, b: str | int) -> str:
        """Compares plain integers."""
        return self.op(f"icmp {how} i64 {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """Returns one of two plain integers."""
        return self.op(f"select i1 {condition}, i64 {a}, i64 {b}")

    def both(self, a: str, b: str) -> str:
        """Returns whether both conditions hold."""
        return self.op(f"and i1 {a}, {b}")

    def either(self, a: str, b: str) -> str:
        """Returns whether a condition holds."""
        return self.op(f"or i1 {a}, {b}")

    # Numbers

    def extend(self, value: Operand, width: int) -> str:
        """Returns the mantissa as an integer of this many bits, which hold it."""
        if width == value.width or value.low == value.high:
            return value.name
        return self.op(f"{'sext' if width > value.width else 'trunc'} {value.type} {value.name} to i{width}")

    def lower_exponent(self, value: Operand, exponent: int) -> Operand:
        """Returns the number written with a smaller exponent."""
        shift = value.exponent - exponent
        if shift == 0:
            return value
        low, high = value.low << shift, value.high << shift
        if value.low == value.high:
            return Operand(str(low), low, high, exponent)
        result = Operand("", low, high, exponent)
        name = self.op(f"shl {result.type} {self.extend(value, result.width)}, {shift}")
        return Operand(name, low, high, exponent)

    def _two(self, a: Operand, b: Operand) -> tuple[Operand, Operand]:
        exponent = min(a.exponent, b.exponent)
        return self.lower_exponent(a, exponent), self.lower_exponent(b, exponent)

    def add(self, a: Operand, b: Operand, sign: int = 1) -> Operand:
        """Returns a + b, or a − b."""
        if b.low == b.high == 0:
            return a
        if a.low == a.high == 0 and sign == 1:
            return b
        a, b = self._two(a, b)
        low, high = (a.low + b.low, a.high + b.high) if sign == 1 else (a.low - b.high, a.high - b.low)
        result = Operand("", low, high, a.exponent)
        if low == high:
            return Operand(str(low), low, high, a.exponent)
        width = max(result.width, a.width, b.width)
        wide = self.op(f"{'add' if sign == 1 else 'sub'} i{width} {self.extend(a, width)}, {self.extend(b, width)}")
        return Operand(self.cut(wide, width, result.width), low, high, a.exponent)

    def cut(self, name: str, width: int, to: int) -> str:
        """Returns an integer in fewer bits that hold it."""
        return name if width == to else self.op(f"trunc i{width} {name} to i{to}")

    def multiply(self, a: Operand, b: Operand) -> Operand:
        """Returns a·b."""
        for one, other in ((a, b), (b, a)):
            if one.low == one.high == 1:
                return Operand(other.name, other.low, other.high, a.exponent + b.exponent)
            if one.low == one.high == 0:
                return ZERO
        result = range_of_product(a, b)
        if result.low == result.high:
            return Operand(str(result.low), result.low, result.high, result.exponent)
        width = max(result.width, a.width, b.width)
        wide = self.op(f"mul i{width} {self.extend(a, width)}, {self.extend(b, width)}")
        return Operand(self.cut(wide, width, result.width), result.low, result.high, result.exponent)

    def scaled(self, value: Operand, factor: Fraction | int) -> Operand:
        """Returns the number times one that is known."""
        return self.multiply(value, constant(factor))

    def total(self, terms: Sequence[Operand]) -> Operand:
        """Returns the sum."""
        result = ZERO
        for term in sorted(terms, key=lambda term: -term.exponent):
            result = self.add(result, term)
        return result

    def compare(self, how: str, a: Operand, b: Operand) -> str:
        """Returns whether a `how` b, one of sge, sle, eq; "true" where the ranges say so."""
        if (how == "sge" and a.least >= b.most) or (how == "sle" and a.most <= b.least):
            return "true"
        if a.low == a.high and b.low == b.high:
            holds = {"sge": a.least >= b.least, "sle": a.least <= b.least, "eq": a.least == b.least}[how]
            return "true" if holds else "false"
        a, b = self._two(a, b)
        width = max(a.width, b.width)
        return self.op(f"icmp {how} i{width} {self.extend(a, width)}, {self.extend(b, width)}")

    def select(self, condition: str, a: Operand, b: Operand) -> Operand:
        """Returns a if the condition holds, else b."""
        if condition == "true":
            return a
        a, b = self._two(a, b)
        result = Operand("", min(a.low, b.low), max(a.high, b.high), a.exponent)
        left, right = self.extend(a, result.width), self.extend(b, result.width)
        name = self.op(f"select i1 {condition}, {result.type} {left}, {result.type} {right}")
        return Operand(name, result.low, result.high, result.exponent)

    def bounded(self, value: Operand, low: int, high: int) -> Operand:
        """Returns the number, which lies between these mantissas for a reason that is known, or has been cut to do so."""
        result = Operand("", max(value.low, low), min(value.high, high), value.exponent)
        if result.low == result.high:
            return Operand(str(result.low), result.low, result.high, result.exponent)
        return Operand(self.extend(value, result.width), result.low, result.high, result.exponent)

    def positive(self, value: Operand) -> Operand:
        """Returns max(0, value)."""
        if value.low >= 0:
            return value
        if value.high <= 0:
            return ZERO
        above = self.op(f"icmp sgt {value.type} {value.name}, 0")
        name = self.op(f"select i1 {above}, {value.type} {value.name}, {value.type} 0")
        return self.bounded(Operand(name, value.low, value.high, value.exponent), 0, value.high)

    def holds(self, value: Operand) -> bool:
        """Returns whether the ranges show that the number is an element of the format."""
        most = self.largest * Fraction(2) ** self.quantum
        return value.exponent >= self.quantum and -most <= value.least and value.most <= most

    def within(self, value: Operand) -> None:
        """Gives the run up unless the number lies in the format's range."""
        self.guard(self.is_below(value))
        self.guard(self.is_below(self.scaled(value, -1)))

    def is_below(self, value: Operand) -> str:
        """Returns whether the number is at most the largest element."""
        return self.compare("sle", value, constant(self.largest * Fraction(2) ** self.quantum))

    def saturate_late(
        self, products: Sequence[tuple[tuple[Operand, Operand], Operand]], ends: tuple[Operand, Operand] | None = None
    ) -> None:
        """Gives the run up unless each product, and each sum of the first of them but the last, lies in the range.

        products: the least and the largest that one factor may be, and the other. ends: of the sum of all, if known.
        """
        below, above = [ZERO], [ZERO]
        for ends, factor in products:
            one, other = (self.multiply(end, factor) for end in ends)
            rises = self.compare("sge", factor, ZERO)
            lowest, highest = self.select(rises, one, other), self.select(rises, other, one)
            self.within(lowest)
            self.within(highest)
            below.append(self.add(below[-1], lowest))
            above.append(self.add(above[-1], highest))
        for first, last in zip(below[:-1], above[:-1], strict=True):
            low, high = [self.scaled(first, -1)], [last]
            if ends is not None:  # the sum of all, less what follows
                low.append(self.total([above[-1], self.scaled(last, -1), self.scaled(ends[0], -1)]))
                high.append(self.total([ends[1], self.scaled(below[-1], -1), first]))
            for bounds in (low, high):
                if "true" not in (shown := [self.is_below(bound) for bound in bounds]):
                    self.guard(reduce(self.either, shown))

    def round(self, value: Operand) -> Operand:
        """Returns the element of the format that the number is rounded to.

        The run is given up where a number saturates that else would need no rounding.
        """
        if value.exponent < self.quantum:
            value = self._shift(value, self.quantum - value.exponent)
        if max(abs(value.least), abs(value.most)) <= self.largest * Fraction(2) ** self.quantum:
            return value
        type_, name = value.type, value.name
        if (
            value.exponent > self.quantum
        ):  # the largest element is on a finer grid, which nothing but a saturation is worth
            end = self.largest >> (value.exponent - self.quantum)
            if value.high > end:
                self.guard(self.op(f"icmp sle {type_} {name}, {end}"))
            if value.low < -end:
                self.guard(self.op(f"icmp sge {type_} {name}, {-end}"))
            return self.bounded(value, -end, end)
        for how, end in (("sgt", self.largest), ("slt", -self.largest)):
            beyond = self.op(f"icmp {how} {type_} {name}, {end}")
            name = self.op(f"select i1 {beyond}, {type_} {end}, {type_} {name}")
        low, high = (max(-self.largest, min(self.largest, end)) for end in (value.low, value.high))
        return self.bounded(Operand(name, value.low, value.high, value.exponent), low, high)

    def _shift(self, value: Operand, shift: int) -> Operand:
        result = Operand("", value.low >> shift, (value.high >> shift) + 1, self.quantum)
        if value.low == value.high == 0:
            return ZERO
        room = Operand("", value.low - (1 << shift), value.high + (1 << shift), 0)
        type_, name = room.type, self.extend(value, room.width)
        if value.low == value.high:
            name = self.op(f"add {type_} 0, {name}")
        if self.rounding is Rounding.NEAREST_EVEN:
            odd = self.op(f"and {type_} 1, {self.op(f'ashr {type_} {name}, {shift}')}")
            name = self.op(f"add {type_} {name}, {self.op(f'add {type_} {odd}, {(1 << (shift - 1)) - 1}')}")
        else:
            sign = self.op(f"ashr {type_} {name}, {room.width - 1}")  # −1 if it is negative
            if self.rounding is Rounding.NEAREST_AWAY:
                step = self.op(f"add {type_} {sign}, {1 << (shift - 1)}")
            else:
                step = self.op(f"and {type_} {sign}, {(1 << shift) - 1}")
            name = self.op(f"add {type_} {name}, {step}")
        name = self.op(f"ashr {type_} {name}, {shift}")
        return Operand(self.cut(name, room.width, result.width), result.low, result.high, result.exponent)

    def on_grid(self, value: Operand, exponent: int) -> Operand:
        """Returns the number with a larger exponent, a multiple of whose power of two it must be, or the run is given up."""
        shift = exponent - value.exponent
        if shift <= 0:
            return value
        if value.low == value.high:
            if value.low % (1 << shift):
                raise NotCovered("a constant between two steps")
            return Operand(str(value.low >> shift), value.low >> shift, value.low >> shift, exponent)
        room = Operand("", min(value.low, -(1 << shift)), max(value.high, 1 << shift), 0)
        name = self.extend(value, room.width)
        low_bits = self.op(f"and {room.type} {name}, {(1 << shift) - 1}")
        self.guard(self.op(f"icmp eq {room.type} {low_bits}, 0"))
        result = Operand("", -(-value.low >> shift), value.high >> shift, exponent)
        name = self.op(f"ashr {room.type} {name}, {shift}")
        return Operand(self.cut(name, room.width, result.width), result.low, result.high, exponent)

    def in_word(self, value: Operand) -> Operand:
        """Returns the number in one word, where it must fit, or the run is given up."""
        most = (1 << 62) - 1
        if value.width == WORD:
            return value
        for how, end in (("sle", most), ("sge", -most)):
            self.guard(self.op(f"icmp {how} {value.type} {value.name}, {end}"))
        return self.bounded(value, -most, most)
