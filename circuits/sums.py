"""Sums of bits: adders, and a heap of weighted bits that is added up with one full adder for each bit that disappears.

Notation: a number is a tuple of bits, the least significant first. The heap is carry-save addition in its smallest
form: column by column, three bits of equal weight become their sum and a carry. No partial sum is ever propagated by
itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from circuits.builder import Bit, Builder


def half_adder(a: Bit, b: Bit) -> tuple[Bit, Bit]:
    """Returns sum and carry of two bits: 2 gates."""
    return a ^ b, a & b


def full_adder(a: Bit, b: Bit, c: Bit) -> tuple[Bit, Bit]:
    """Returns sum and carry of three bits: 5 gates, one of them AND."""
    x, y = a ^ c, b ^ c
    return x ^ b, (x & y) ^ c


def plus_one(a: Bit, b: Bit) -> tuple[Bit, Bit]:
    """Returns sum and carry of two bits and 1: 4 gates."""
    differ = a ^ b
    return ~differ, (a & b) ^ differ


def all_of(bits: Sequence[Bit], one: Bit) -> Bit:
    result = one
    for bit in bits:
        result = result & bit
    return result


def none_of(bits: Sequence[Bit], one: Bit) -> Bit:
    return all_of([~bit for bit in bits], one)


def signed_digits(number: int) -> list[tuple[int, int]]:
    """Returns (exponent, ±1) of the canonical signed digits: Σ ±2^exponent = number, no two neighbours, hence the fewest.

    Source: G. W. Reitwiesner, Binary Arithmetic, 1960.
    """
    digits, exponent = [], 0
    while number:
        if number & 1:
            digit = 2 - (number & 3)
            digits.append((exponent, digit))
            number -= digit
        number >>= 1
        exponent += 1
    return digits


class BitHeap:
    """A sum of weighted bits and a constant, modulo 2^width."""

    def __init__(self, builder: Builder, width: int) -> None:
        self._builder = builder
        self._columns: list[list[Bit]] = [[] for _ in range(width)]
        self._constant = 0

    def add_bit(self, bit: Bit, exponent: int) -> None:
        if bit == self._builder.one:
            self._constant += 1 << exponent
        elif bit != self._builder.zero and exponent < len(self._columns):
            self._columns[exponent].append(bit)

    def add_constant(self, number: int) -> None:
        """Adds a number of either sign."""
        self._constant += number

    def total(self) -> tuple[Bit, ...]:
        """Returns the sum. The heap is used up."""
        zero, result = self._builder.zero, list[Bit]()
        for exponent, column in enumerate(self._columns):
            carries = list[Bit]()
            extra = self._constant >> exponent & 1
            while len(column) > 1:
                if extra and len(column) == 2:
                    pair, extra = plus_one(*column), 0
                    column = []
                else:
                    taken, column = column[:3], column[3:]
                    pair = half_adder(*taken) if len(taken) == 2 else full_adder(*taken)
                column.append(pair[0])
                carries.append(pair[1])
            if extra:
                bit = column[0] if column else zero
                column = [~bit]
                carries.append(bit)
            for carry in carries:
                self.add_bit(carry, exponent + 1)
            result.append(column[0] if column else zero)
        return tuple(result)
