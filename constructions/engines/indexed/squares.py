"""What the registers of a head's keys are to one another: constants, squares, and keys that stand apart.

A score is Σ_i Q_i·x_i over the registers that the key matrix reads. A register that is another's square, x_s = x_j² or its
rounding, with a negative constant coefficient −S, makes with it a *dimension*: −S·(x_j − v_j)² but for a constant, v_j = Q_j/(2S).
Registers that are constant but for a few keys are *flat*, and these keys *special*. All of it is read off the numbers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from constructions.engines.indexed.column import Column, combine, multiply, normalised
from constructions.engines.indexed.mantissas import Array, Mantissas, least_and_most, where

MOST_SPECIAL = 16  # special keys are scored one by one; more of them means that the keys have another structure
MOST_EXCEPTIONS = MOST_SPECIAL // 2  # of one register


class Register(Protocol):
    """A column, or one that is joined of its parts only if all of it is asked for."""

    @property
    def e(self) -> int: ...
    def take(self, index: Array, /) -> Column: ...
    def whole(self) -> Column: ...


@dataclass(frozen=True)
class Dimension:
    """Keys at 2S·x, a query at Q: the distance costs (2S·x − Q)²/(4S). defect: x_s − x², 0 where x_s is the exact square.

    root, square: which of the registers x and x_s are; −1 for a root that is none of them.
    """

    root: int
    square: int
    scale: Fraction
    keys: Column
    defect: Column

    @property
    def granularity(self) -> Fraction:
        """Keys 2S·x are multiples of this; so a mismatch of a query that is one, too, costs at least granularity²/(4S)."""
        return Fraction(2) ** self.keys.e

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest key."""
        return ends(self.keys)

    def least_cost(self, queries: Column) -> Fraction:
        """Returns what any key's distance from any of these queries costs at least: all keys may lie on one side of them."""
        (low, high), (first, last) = self.ends, ends(queries)
        return max(low - last, first - high, Fraction(0)) ** 2 / (4 * self.scale)


def ends(column: Column) -> tuple[Fraction, Fraction]:
    """Returns the least and the largest value."""
    low, high = (end * Fraction(2) ** column.e for end in least_and_most(column.m))
    return low, high


def split_special(registers: Sequence[Column], length: int) -> tuple[list[int], Array]:
    """Returns the registers that are constant but for a few keys, and those keys. At all other keys each of these registers is
    constant.
    """
    flat: list[int] = []
    special: set[int] = set()
    for i, register in enumerate(registers):
        different = np.flatnonzero(register.m != _common(register.m))
        if len(different) <= MOST_EXCEPTIONS and 2 * len(different) < length:
            flat.append(i)
            special.update(int(k) for k in different)
    return flat, np.array(sorted(special), np.int64)


def _common(values: Mantissas) -> int:
    """Returns the value of all but MOST_EXCEPTIONS places, if there is one: then most of any 2·MOST_EXCEPTIONS + 1 places hold
    it.
    """
    places = np.linspace(0, len(values) - 1, min(len(values), 2 * MOST_EXCEPTIONS + 1)).astype(np.int64)
    (value, _) = Counter(values[places[::-1]].tolist()).most_common(1)[0]
    return int(value)


class Structure:
    """What the registers of a head's keys are to one another. pool: further registers in which roots of squares are looked for.

    flat: the registers that are constant but for a few keys, each with its value at the others; equal: those that are constant at
    all keys. special: these few keys, in order.
    ordinary: the others. length: of all keys.
    """

    def __init__(self, registers: Sequence[Column], pool: Sequence[Register], length: int) -> None:
        self.registers, self.pool = registers, pool
        flat, self.special = split_special(registers, length)
        self.ordinary = np.delete(np.arange(length), self.special)
        self.flat = {i: registers[i].at(int(self.ordinary[0])) if len(self.ordinary) else Fraction(0) for i in flat}
        self.equal = {
            i: value
            for i, value in self.flat.items()
            if all(registers[i].at(k) == value for k in self.special.tolist())
        }
        self.varying = [i for i in range(len(registers)) if i not in self.flat]
        self._roots: dict[int, tuple[int, Column, Column] | None] = {}
        self._dimensions: dict[tuple[tuple[int, Fraction], ...], list[Dimension] | None] = {}

    def dimensions(self, coefficients: Sequence[Column]) -> list[Dimension] | None:
        """Returns the dimensions x_j with their squares x_s, together all registers that are not flat; None if some register is
        neither.

        coefficients: Q_i of each register, over some queries. Equal dimensions are the same objects.
        """
        scales: dict[int, Fraction] = {}
        for s in self.varying:
            if any(root is not None and root[0] == s for root in map(self._roots.get, scales)):
                continue  # 0 and 1 are squares of each other
            m = coefficients[s].m
            if m[0] < 0 and np.all(m == m[0]) and self._root(s) is not None:
                scales[s] = -coefficients[s].at(0)
        key = tuple(scales.items())
        if key not in self._dimensions:
            self._dimensions[key] = self._complete(scales)
        dimensions = self._dimensions[key]
        if dimensions is None:
            return None
        covered = {*scales, *(d.root for d in dimensions)}
        if any(i not in covered and not coefficients[i].is_zero for i in self.varying):
            return None
        return dimensions

    def _root(self, s: int) -> tuple[int, Column, Column] | None:
        """Returns the register whose square this one is (−1 for one of the pool), its values, and the defect; None if there is
        none.
        """
        if s not in self._roots:
            others = ((-1, *pair) for pair in self._among(self.pool, s))
            self._roots[s] = next(itertools.chain(self._own_roots(s), others), None)
        return self._roots[s]

    def _own_roots(self, s: int) -> Iterator[tuple[int, Column, Column]]:
        root = self._roots.get(s)
        if root is not None and root[0] >= 0:
            yield root
            return
        for j in self.varying:
            if j != s:
                yield from ((j, *pair) for pair in self._among([self.registers[j]], s))

    def _among(self, roots: Iterable[Register], s: int) -> Iterator[tuple[Column, Column]]:
        for root in roots:
            defect = square_defect(root, self.registers[s], self.ordinary)
            if defect is not None:
                yield root.whole(), defect

    def possible_roots(self, others: Sequence[Register]) -> list[int]:
        """Returns the registers that may be the root of a square that has none among the registers, as far as these keys tell."""
        if not self.registers or len(self.registers[0]) <= MOST_SPECIAL:
            return list(range(len(others)))  # so few keys do not tell
        rootless = [self.registers[s] for s in self.varying if next(self._own_roots(s), None) is None]
        return [
            place
            for place, root in enumerate(others)
            if any(square_defect(root, square, self.ordinary) is not None for square in rootless)
        ]

    def _complete(self, scales: Mapping[int, Fraction]) -> list[Dimension] | None:
        dimensions: list[Dimension] = []
        for s, scale in scales.items():
            triple = self._root(s)
            if triple is None:
                raise TypeError("there is no found")
            j, root, defect = triple
            if j >= 0 and (j in scales or any(d.root == j for d in dimensions)):
                return None
            keys = combine([(2 * scale, root)], Fraction(0), len(root))
            dimensions.append(Dimension(j, s, scale, keys, defect))
        return dimensions


def square_defect(root: Register, square: Column, ordinary: Array) -> Column | None:
    """square − root² if it is zero, or as small as a rounding, at all ordinary keys; otherwise None."""
    exact = square.e <= 2 * root.e
    probe = ordinary[:: max(1, len(ordinary) // 8)]  # a few integers tell most pairs apart, without a column
    few, of = root.take(probe), square.take(probe)
    e = min(2 * few.e, of.e, square.e)
    most = 0 if exact else 1 << (square.e - e)
    if any(abs(s - (r * r << 2 * few.e - e)) > most for r, s in zip(few.m.tolist(), of.to_quanta(e), strict=True)):
        return None
    whole = root.whole()
    defect = combine([(Fraction(1), square), (Fraction(-1), multiply(whole, whole))], Fraction(0), len(square))
    if defect.is_zero:
        return defect
    rest = np.zeros(len(square), bool)
    rest[ordinary] = True
    defect = normalised(where(rest, defect.m, 0), defect.e)
    if not defect.is_zero and (exact or defect.bound * Fraction(2) ** defect.e > Fraction(2) ** square.e):
        return None
    return defect


def choose_preference(dimensions: Sequence[Dimension], ordinary: Array) -> Dimension | None:
    """Returns the dimension to be searched, not matched: of those that rise from key to key, or else of all, the cheapest to
    miss.

    One alone is matched if it falls anywhere: only keys that never fall are searched.
    """
    rising = [d for d in dimensions if _rises(d.keys.m[ordinary])]
    inexact = [d for d in rising or dimensions if not d.defect.is_zero]
    if not rising and not inexact and len(dimensions) < 2:
        return next((d for d in dimensions if _never_falls(d.keys.m[ordinary])), None)
    return min(inexact or rising or dimensions, key=lambda d: d.granularity**2 / d.scale)


def _rises(values: Mantissas) -> bool:
    return len(values) > 1 and bool(np.all(values[1:] > values[:-1]))


def _never_falls(values: Mantissas) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))
