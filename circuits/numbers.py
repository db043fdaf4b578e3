"""R_p in gates: negate, compare, add, multiply, ReLU; each result rounded once.

Source: appendix A.2.
Notation: q = (p − 1)/2. A number is a sign and p − 1 magnitude bits, counted in quanta of 2^−q. −0 may be read, and is
never written. Sums are exact; one *settling* makes the result: ties to even, then the largest number if it is beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from circuits.builder import Bit, Builder
from circuits.sums import BitHeap, all_of, full_adder, none_of
from precision.format import Format


@dataclass(frozen=True)
class Number:
    """Magnitude bits, the least significant first, and whether the number is negative (or −0)."""

    magnitude: tuple[Bit, ...]
    negative: Bit


@dataclass(frozen=True)
class NumberBuilder:
    """Arithmetic on numbers of a fixed-point format, as gates of `builder`."""

    builder: Builder
    format: Format

    def __post_init__(self) -> None:
        if not self.format.is_fixed_point or self.format.max_quanta + 1 != 1 << self.digits:
            raise ValueError(f"circuits are built over R_p, not over {self.format.name}")

    @property
    def digits(self) -> int:
        """p − 1."""
        return self.format.significand_bits

    @property
    def fraction(self) -> int:
        """q."""
        return -self.format.quantum_exponent

    # In and out, in the paper's numbering: from the most significant bit down, then 1 for a number that is not negative.

    def input(self, name: str) -> Number:
        """Returns a new number of input bits `name1` … `namep`."""
        return self.from_bits([self.builder.input(f"{name}{i + 1}") for i in range(self.digits + 1)])

    def state(self, name: str) -> Number:
        """Returns a new number of state bits `name1` … `namep`, which starts as 0."""
        bits = [self.builder.state(f"{name}{i + 1}", int(i == self.digits)) for i in range(self.digits + 1)]
        return self.from_bits(bits)

    def from_bits(self, bits: Sequence[Bit]) -> Number:
        """Returns the number that these p bits are."""
        return Number(tuple(reversed(bits[:-1])), ~bits[-1])

    def bits(self, number: Number) -> tuple[Bit, ...]:
        """Returns the p bits that a number is."""
        return (*reversed(number.magnitude), ~number.negative)

    # Operators

    def constant(self, quanta: int) -> Number:
        """Returns an element of the format."""
        magnitude = tuple(self.builder.constant(abs(quanta) >> i & 1) for i in range(self.digits))
        return Number(magnitude, self.builder.constant(int(quanta < 0)))

    def is_zero(self, x: Number) -> Bit:
        return none_of(x.magnitude, self.builder.one)

    def canonical(self, x: Number) -> Number:
        """Returns x, with 0 for −0."""
        return Number(x.magnitude, x.negative & ~self.is_zero(x))

    def negate(self, x: Number) -> Number:
        return self.canonical(Number(x.magnitude, ~x.negative))

    def relu(self, x: Number) -> Number:
        """Returns max(x, 0)."""
        return Number(tuple(bit & ~x.negative for bit in x.magnitude), self.builder.zero)

    def less(self, x: Number, y: Number) -> Bit:
        """Returns whether x < y.

        Derivation: one chain says |x| < |y|, or |x| ≤ |y| if it starts with 1: let it start with x's sign. For x ≥ 0
        the answer is |x| < |y| and y ≥ 0; for x < 0 it is the contrary of: |x| ≤ |y|, and y < 0 or y = 0.
        """
        chain = x.negative
        for a, b in zip(x.magnitude, y.magnitude, strict=True):
            chain = chain ^ ((a ^ b) & (b ^ chain))  # b where they differ
        others = ~y.negative ^ (x.negative & ~(~y.negative & self.is_zero(y)))
        return x.negative ^ (chain & others)

    def add(self, x: Number, y: Number) -> Number:
        """Returns x + y: exact but for what lies beyond the largest number.

        Derivation: one chain adds |y|, or 2^(p−1) − |y| where the signs differ; where that leaves a negative sum,
        `settle` negates it in the increment that others round with.
        """
        for term, other in ((x, y), (y, x)):
            if self._is_nothing(term):
                return self.canonical(other)
        differ = x.negative ^ y.negative
        carry, bits = differ, list[Bit]()
        for a, b in zip(x.magnitude, y.magnitude, strict=True):
            bit, carry = full_adder(a, b ^ differ, carry)
            bits.append(bit)
        top = carry ^ differ
        below = differ & top
        return self.settle([*bits, top], below, below, x.negative ^ below, increment_fits=True)

    def multiply(self, x: Number, y: Number) -> Number:
        """Returns x·y, rounded."""
        heap = BitHeap(self.builder, 2 * self.digits)
        for i, a in enumerate(x.magnitude):
            for j, b in enumerate(y.magnitude):
                heap.add_bit(a & b, i + j)
        return self.round_magnitude(heap.total(), self.fraction, x.negative ^ y.negative)

    def _is_nothing(self, x: Number) -> bool:
        """Returns whether x is the constant 0."""
        return all(bit == self.builder.zero for bit in x.magnitude)

    # Rounding

    def round_magnitude(self, bits: Sequence[Bit], shift: int, negative: Bit) -> Number:
        """Returns ± bits / 2^shift, rounded."""
        zero = self.builder.zero
        return self.settle(bits[shift:], zero, self.rounds_up(bits, shift), negative)

    def round_signed(self, bits: Sequence[Bit], shift: int) -> Number:
        """Returns bits / 2^shift, rounded; bits in two's complement.

        Derivation: rounding to even is symmetric, so the two's complement itself is rounded, F + up; and −(F + up) is
        ¬F + (1 − up): one increment rounds and negates.
        """
        negative = bits[-1]
        return self.settle(bits[shift:-1], negative, self.rounds_up(bits, shift) ^ negative, negative)

    def rounds_up(self, bits: Sequence[Bit], shift: int) -> Bit:
        """Returns whether what lies below bit `shift` is more than a half of it, or a half and bit `shift` is odd."""
        if not shift:
            return self.builder.zero
        odd = bits[shift : shift + 1]
        return bits[shift - 1] & ~none_of([*bits[: shift - 1], *odd], self.builder.one)

    def settle(
        self, bits: Sequence[Bit], flip: Bit, increment: Bit, negative: Bit, *, increment_fits: bool = False
    ) -> Number:
        """Returns ± ((bits ⊕ flip) + increment), or the largest number if it is beyond; 0 for −0. Six gates a bit.

        increment_fits: whether the increment is known not to carry out of the p − 1 digits.
        """
        one, zero = self.builder.one, self.builder.zero
        bits = [*bits, *[flip] * (self.digits - len(bits))]
        keep, carry = ~flip, increment
        clear = list[Bit]()  # the contrary of each bit of the result: it gives the carry, and what is a 0
        for bit in bits[: self.digits]:
            clear.append((bit ^ keep) ^ carry)
            carry = carry & clear[-1]
        fits = all_of([bit ^ keep for bit in bits[self.digits :]], one)
        if not increment_fits:
            fits = fits & ~carry
        clear = [bit & fits for bit in clear]
        none = all_of(clear, one)
        return Number(tuple(~bit for bit in clear), negative & ~none if negative != zero else zero)
