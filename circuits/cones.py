"""Sums of bits that few bits decide: their values, case by case, and their gates from a table.

A *cone* is all that a gate reads, directly or not; its leaves are bits of inputs and states. With at most MOST leaves
every case is looked at, but for those that no word and no range of the state allows. Such cases are free: a table may say
anything there.
Source: R. E. Bryant, Graph-Based Algorithms for Boolean Function Manipulation, 1986, for one selection a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuits.builder import Bit, Builder
from circuits.circuit import GateKind
from circuits.lanes import pack, unpack
from circuits.ranges import Range

MOST = 10  # leaves
WIDEST = 1 << 61  # of sums in int64
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """values: of a sum, for each case of the leaves that can come; case c has bit i of c at leaf i. cases: which ones."""

    leaves: tuple[Bit, ...]
    cases: NDArray[np.int64]
    values: NDArray[np.int64]


@dataclass
class Cones:
    """The cones of a builder's gates, and what their leaves can be."""

    builder: Builder
    _supports: list[frozenset[int] | None] = field(default_factory=list)
    _words: dict[int, Bools] = field(default_factory=dict)  # of the bits of inputs that only the word decides
    _numbers: list[tuple[Range, Mapping[int, int]]] = field(default_factory=list)  # leaf → what it counts
    _number_of: dict[int, int] = field(default_factory=dict)

    def read_word(self, bit: Bit, values: Sequence[bool]) -> None:
        """Adds a bit of the input, with its value for each word."""
        leaf, negated = self.builder.positive(bit)
        self._words[leaf.id] = np.array(values, np.bool_) ^ negated

    def read_state(self, magnitude: Sequence[Bit], within: Range) -> None:
        """Adds the bits of a number of the state that is not negative, with its range."""
        leaves = {bit.id: 1 << i for i, bit in enumerate(magnitude) if bit != self.builder.zero}
        self._number_of |= dict.fromkeys(leaves, len(self._numbers))
        self._numbers.append((within, leaves))

    def table(self, terms: Mapping[Bit, int], constant: int) -> Table | None:
        """Returns Σ coefficient·bit + constant case by case, or None if that takes too many."""
        if sum(map(abs, terms.values())) + abs(constant) >= WIDEST:
            return None
        leaves = self._leaves(terms)
        if leaves is None:
            return None
        lanes = self._lanes([bit.id for bit in terms], leaves)
        count = 1 << len(leaves)
        values = np.full(count, constant, np.int64)
        for bit, coefficient in terms.items():
            values += coefficient * unpack([lanes[bit.id]], count)
        cases = np.flatnonzero(self._allow(leaves))
        return Table(tuple(Bit(self.builder, leaf) for leaf in leaves), cases, values[cases])

    def _leaves(self, bits: Iterable[Bit]) -> list[int] | None:
        leaves: set[int] = set()
        for bit in bits:
            support = self._support(bit.id)
            if support is None:
                return None
            leaves |= support
            if len(leaves) > MOST:
                return None
        return sorted(leaves)

    def _support(self, gate: int) -> frozenset[int] | None:
        gates, supports = self.builder.gates, self._supports
        for number in range(len(supports), gate + 1):
            kind, left, right = gates[number]
            if kind in (GateKind.INPUT, GateKind.STATE):
                supports.append(frozenset([number]))
            elif kind is GateKind.ONE or left == right:  # 1 and 0
                supports.append(frozenset())
            else:
                a, b = supports[left], supports[right]
                both = None if a is None or b is None else a | b
                supports.append(None if both is None or len(both) > MOST else both)
        return supports[gate]

    def _lanes(self, tops: Iterable[int], leaves: Sequence[int]) -> dict[int, int]:
        """Returns the value of each gate in these cones; bit c of a lane belongs to case c."""
        count, gates = 1 << len(leaves), self.builder.gates
        lanes = {leaf: _alternating(i, count) for i, leaf in enumerate(leaves)}
        path = list(tops)
        while path:
            top = path[-1]
            kind, left, right = gates[top]
            if top in lanes:
                path.pop()
            elif kind is GateKind.ONE:
                lanes[top] = (1 << count) - 1
            elif left == right:
                lanes[top] = 0
            elif left in lanes and right in lanes:
                lanes[top] = lanes[left] & lanes[right] if kind is GateKind.AND else lanes[left] ^ lanes[right]
            else:
                path += [x for x in (left, right) if x not in lanes]
        return lanes

    def _allow(self, leaves: Sequence[int]) -> Bools:
        """Returns the cases that a word and ranges allow."""
        cases = np.arange(1 << len(leaves))
        place = {leaf: i for i, leaf in enumerate(leaves)}
        result = np.ones(len(cases), np.bool_)
        words = [leaf for leaf in leaves if leaf in self._words]
        if words:
            said = sum(self._words[leaf].astype(np.int64) << place[leaf] for leaf in words)
            mask = sum(1 << place[leaf] for leaf in words)
            result &= np.isin(cases & mask, said)
        for number in {self._number_of[leaf] for leaf in leaves if leaf in self._number_of}:
            within, counts = self._numbers[number]
            least = sum((cases >> place[leaf] & 1) * counts[leaf] for leaf in counts if leaf in place)
            result &= least <= within.high
        return result


def synthesize(builder: Builder, table: Table, bits: int) -> tuple[Bit, ...]:
    """Returns the lowest `bits` bits of the values, in two's complement, as selections by one leaf after the other."""
    care = _lane(table.cases, np.ones(len(table.cases), np.int64))
    bit_of: dict[tuple[int, int, int], Bit] = {}

    def node(on: int, cared: int, level: int) -> Bit:
        """Returns the function that is 1 at `on`, 0 at the rest of `cared`, anything elsewhere; of the leaves below `level`."""
        if not on:
            return builder.zero
        if on == cared:
            return builder.one
        key = (on, cared, level)
        if key not in bit_of:
            half = 1 << (level - 1)
            mask = (1 << half) - 1
            low, high = (on & mask, cared & mask), (on >> half, cared >> half)
            if (low[0] ^ high[0]) & low[1] & high[1]:
                a, b = node(*low, level - 1), node(*high, level - 1)
                bit_of[key] = a ^ (table.leaves[level - 1] & (a ^ b))
            else:
                bit_of[key] = node(low[0] | high[0], low[1] | high[1], level - 1)
        return bit_of[key]

    return tuple(node(_lane(table.cases, table.values >> i & 1), care, len(table.leaves)) for i in range(bits))


def _alternating(leaf: int, count: int) -> int:
    """Returns the lane of leaf i: 2^i zeros, 2^i ones, and so on."""
    block = 1 << leaf
    return ((1 << count) - 1) // ((1 << 2 * block) - 1) * (((1 << block) - 1) << block)


def _lane(cases: NDArray[np.int64], bits: NDArray[np.int64]) -> int:
    """Returns the lane of these bits, one for each of the cases; 0 for every other case."""
    mask = np.zeros(int(cases[-1]) + 1 if len(cases) else 0, np.int64)
    mask[cases] = bits
    return pack(mask, 1)[0]
