"""One attention head of the indexed engine: a chunk of queries against all keys so far that may still win.

What the certificate gives: the winners' rounded scores lead by γ with l·e^−γ < 2^−(q + 2), 2^−q the quantum. Under `fused` a
loser's weight, below half a quantum, rounds to 0, and each of m tied winners has a weight 1/(m + ε), 0 ≤ ε < 2^−(q + 2), with
ε = 0 only if there are no losers. No element or midpoint but 1/m itself lies that close to 1/m, so the weight rounds like 1/m, or
like numbers just below 1/m. Under `sequential` a loser's exponential rounds to 0 and a winner's is 1. There, a column is certified
only if no product and no partial sum in its scores can saturate, as the query and the ranges of the keys show, and a tie only if
no product needs rounding, or every winner has the same key, so that all its products are rounded alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import (
    Column,
    at_most,
    combine,
    concatenated,
    extremes,
    multiply,
    normalised,
    of_integers,
    zeros,
)
from constructions.engines.indexed.forgetting import Dropped, drop
from constructions.engines.indexed.mantissas import Array, concatenate, integers, running_sums
from constructions.engines.indexed.nearest import Keys
from constructions.engines.indexed.operators import Operators
from constructions.engines.indexed.pieces import Joined
from constructions.engines.indexed.reach import distinct, sums_stay_within
from constructions.engines.indexed.squares import ends
from constructions.engines.indexed.winners import Winners
from constructions.engines.weights import ZERO
from constructions.places import name_part, name_place
from constructions.rows import HeadRows, Row, coordinates
from precision.softmax import softmax
from precision.winners import vanishing_lead, winners_share
from precision.winners_array import winners_shares


class KeysForgotten(RuntimeError):
    """A query needs keys that were dropped: its column can be had only from a run that keeps them all."""


@dataclass(frozen=True)
class Memory:
    """What a head still has to know of the keys so far.

    count: how many there were, dropped ones included. registers: residual-stream register → its values at the keys that are kept,
    in order of position. ranges: the least and the largest number of each key row, over all keys. dropped: None if every key is
    kept.
    """

    count: int = 0
    registers: Mapping[int, Column] = field(default_factory=dict)
    ranges: tuple[tuple[Fraction, Fraction], ...] = ()
    dropped: Dropped | None = None

    @property
    def kept(self) -> int:
        """Returns how many keys are kept."""
        return len(next(iter(self.registers.values()))) if self.count else 0


class Attended(NamedTuple):
    """What a head read at some positions, a column for each of its value rows; which of these softmax columns were certified.

    winners: who won these, their places counted among the keys that are kept; None if nobody was searched.
    """

    outputs: list[Column]
    certified: Array
    winners: Winners | None


class Head:
    """One head over all keys so far: those that its memory kept, and those of a chunk, after them.

    keys: its registers at all of these. length: of the chunk. site: the name of the head, for what saturates.
    """

    def __init__(
        self, operators: Operators, head: HeadRows, site: str, memory: Memory, keys: Joined, length: int
    ) -> None:
        self.operators, self.head, self.site, self.memory, self.keys = operators, head, site, memory, keys
        self.scored, self.read = coordinates(head.key), coordinates(head.value)
        self.before, self.number = memory.kept, memory.kept + length
        self.count = memory.count + length
        self.key = [self._row(row, f"key[{c}]").packed() for c, row in enumerate(head.key)]
        self.ranges = tuple(_range(row, memory.ranges[c : c + 1]) for c, row in enumerate(self.key))
        self.value = [self._row(row, f"value[{j}]").packed() for j, row in enumerate(head.value)]
        self.lead = vanishing_lead(self.count if operators.fused else 0, operators.fraction_bits)
        self.lead += 2 * self._rounded_operations * operators.arithmetic.format.quantum
        self.searched: Keys | None = None
        if self._is_bilinear():
            self.searched = Keys([keys[i] for i in self.scored], list(keys.pieces.values()), self.number)
        self._order: Array | None = None  # of the keys of the last winners
        self._sums: dict[int, Column] = {}  # up to each key in this order, of a value row, by its number

    def attend(self, stream: Sequence[Column], begin: int) -> Attended:
        """Reads for some positions of the chunk, `begin` and the next. stream: the residual stream there. Raises KeysForgotten."""
        operators, memory, length = self.operators, self.memory, len(stream[0])
        query = [
            operators.row(row, stream, ZERO, length, f"{self.site}.query[{c}]") for c, row in enumerate(self.head.query)
        ]
        visible = np.arange(begin + 1, begin + length + 1)
        positions = memory.count + visible
        coefficients = self._coefficients(query, length)
        winners = None
        if self.searched is not None:
            largest = operators.arithmetic.format.max_value
            winners = self.searched.winners(coefficients, self.before + visible, self.lead, largest)
        if winners is None:
            outputs, certified = [zeros(length) for _ in self.value], np.zeros(length, bool)
        else:
            certified = winners.certified.copy()
            if memory.dropped is not None:
                certified &= memory.dropped.is_beaten(dict(zip(self.scored, coefficients, strict=True)), self.lead)
                certified &= winners.tie == 0  # a dropped key ties with the others
            if not operators.fused:
                if not self._exact_scores(query):
                    certified &= (winners.number == 1) | self._are_alike(winners)
                certified &= self._stays_within(query, length)
            losers = winners.number < positions
            outputs = [self._read(j, winners, certified, losers) for j in range(len(self.value))]
        failed = np.flatnonzero(~certified)
        if len(failed):
            if memory.dropped is not None:
                block, _, number = self.site.split(".")
                head = name_place(int(block), name_part("head", int(number) + 1))
                raise KeysForgotten(
                    f"{head} at position {positions[failed[0]]} has no certificate without keys that were dropped"
                )
            outputs = self._by_definition(failed, self.before + begin, query, outputs)
        self._last = coefficients, winners
        return Attended(outputs, certified, winners)

    # The keys

    def remembered(self, *, forget: bool) -> Memory:
        """Returns what is to be remembered of all keys so far. forget: keys that provably cannot win again are dropped.

        Kept is every register that may be the root of a square.
        """
        indices = {*self.scored, *self.read} or {0}  # one of them tells how many keys there are
        others = [i for i in self.keys if i not in indices]
        searched = self.searched or Keys([self.keys[i] for i in self.scored], (), self.number)
        roots = searched.structure.possible_roots([self.keys.pieces[i] for i in others])
        registers = {i: self.keys[i].packed() for i in sorted({*indices, *(others[place] for place in roots)})}
        memory = Memory(self.count, registers, self.ranges, self.memory.dropped)
        coefficients, winners = self._last
        if not forget or winners is None or winners.preference is None:
            return memory
        place = np.array([len(coefficients[0]) - 1])
        return self._forget(memory, winners, {i: c.take(place) for i, c in zip(self.scored, coefficients, strict=True)})

    def _forget(self, memory: Memory, winners: Winners, last: Mapping[int, Column]) -> Memory:
        """Returns the memory without the keys that a later one beats, if the chunk's last query is one that lets it beat them."""
        if self.searched is None:
            raise TypeError("there is no self.searched")
        if winners.preference is None:
            raise TypeError("there is no winners.preference")
        root, square = (self.scored[i] for i in winners.preference)
        grouped = winners.grouped
        others = set(self.searched.structure.varying) - {*winners.preference, *grouped.registers}
        alike = None if others else (grouped.order, grouped.group)
        outcome = drop({i: memory.registers[i] for i in self.scored}, root, square, alike)
        if outcome is None:
            return memory
        keep, new = outcome
        dropped = new if memory.dropped is None else new.joined(memory.dropped)
        if dropped is None or not dropped.is_beaten(last, self.lead).all():
            return memory
        return replace(memory, registers={i: c.take(keep) for i, c in memory.registers.items()}, dropped=dropped)

    def _row(self, row: Row, name: str) -> Column:
        """Returns a row of the keys' or the values' matrix at all keys; what saturates is counted for those of the chunk."""
        return self.operators.row(row, self.keys, ZERO, self.number, f"{self.site}.{name}", self.before)

    # Certificates

    @property
    def _rounded_operations(self) -> int:
        """Rounding moves a score by a quantum at most for each operation that is rounded.

        That is one under `fused`, and the products under `sequential`, where sums are exact, since nothing saturates.
        """
        return 1 if self.operators.fused else len(self.head.query)

    def _is_bilinear(self) -> bool:
        """Returns whether the scores Σ_c key_c·query_c are a bilinear form in the registers that the key weights read, then
        rounded.
        """
        fmt = self.operators.arithmetic.format
        if not fmt.is_fixed_point:
            return False  # a float format may round scores by much more than a quantum
        if not self.operators.fused and self.lead > fmt.max_value:
            return (
                False  # a difference of scores saturates too; at −max_value it must be out of the softmax just the same
            )
        # A rounded key is no longer the linear form that the structure is read from.
        return all(self._is_linear(self.head.key[c], row) for c, row in enumerate(self.key))

    def _stays_within(self, query: Sequence[Column], length: int) -> Array:
        """Returns a mask of the queries at which no product key_c·query_c and no partial sum saturates, whichever the key is."""
        fmt = self.operators.arithmetic.format
        largest = fmt.max_value - self._rounded_operations * fmt.quantum
        low, high, within, alone = zeros(length), zeros(length), np.ones(length, bool), np.ones(length, bool)
        for column, (first, last) in zip(query, self.ranges, strict=True):
            least, most = extremes(*(combine([(end, column)], Fraction(0), length) for end in (first, last)))
            low, high = (self.operators.sum(a, b, length) for a, b in ((low, least), (high, most)))
            for bound in (least, low):
                within &= ~at_most(bound, -largest)
            for bound in (most, high):
                within &= at_most(bound, largest)
            alone &= ~at_most(least, -largest) & at_most(most, largest)
        doubtful = np.flatnonzero(alone & ~within)
        if len(doubtful) and self.memory.dropped is None:  # else what dropped keys come to is not known
            within[doubtful] = sums_stay_within(
                [column.take(doubtful) for column in query], self._distinct_keys, largest
            )
        return within

    @cached_property
    def _distinct_keys(self) -> Array:
        return distinct(self.key)

    def _is_linear(self, weights: Row, row: Column) -> bool:
        """Returns whether `row` is what the weights make of the registers, without any rounding."""
        terms = [(self.operators.weight(w), self.keys[i]) for i, w in weights]
        if self._is_exact(terms):
            return True
        exact = combine(terms, Fraction(0), len(row))
        return exact.e == row.e and bool(np.all(exact.m == row.m))

    def _is_exact(self, terms: Sequence[tuple[Fraction, Column]]) -> bool:
        """Returns whether all sums of these terms surely lie in the format: each is a multiple of the quantum, none is too
        large.
        """
        fmt = self.operators.arithmetic.format
        largest = [abs(weight) * column.reach for weight, column in terms]
        steps = [weight * Fraction(2) ** column.e / fmt.quantum for weight, column in terms if not column.is_zero]
        return sum(largest) <= fmt.max_value and all(step.denominator == 1 for step in steps)

    def _coefficients(self, query: Sequence[Column], length: int) -> list[Column]:
        """Returns what each of the registers that the key weights read is multiplied with, at each query."""
        terms: dict[int, list[tuple[Fraction, Column]]] = {i: [] for i in self.scored}
        for row, column in zip(self.head.key, query, strict=True):
            for i, weight in row:
                terms[i].append((self.operators.weight(weight), column))
        return [combine(of_register, Fraction(0), length) for of_register in terms.values()]

    def _exact_scores(self, query: Sequence[Column]) -> bool:
        """Returns whether no product of a score needs rounding."""
        bits = self.operators.fraction_bits
        return all(q.is_zero or k.is_zero or q.e + k.e >= -bits for q, k in zip(query, self.key, strict=True))

    def _are_alike(self, winners: Winners) -> Array:
        """Returns a mask of the queries whose winners are ordinary keys with equal rows."""
        low, high, order = winners.low, winners.high, winners.order
        changes = np.zeros(len(order), bool)  # from the key before
        for row in self.key:
            ordered = row.take(order).m
            changes[1:] |= ordered[1:] != ordered[:-1]
        kind = np.cumsum(changes)
        first = np.minimum(low, len(order) - 1)
        alike = (high > low) & (kind[first] == kind[np.maximum(high - 1, first)])
        alike &= ~winners.special_wins.any(axis=0) & (winners.tie == 0)
        return np.asarray(alike)

    # Reading

    def _read(self, j: int, winners: Winners, certified: Array, losers: Array) -> Column:
        """Returns the attention-weighted sum of one value row; `certified` loses the queries for which several terms get
        rounded.

        losers: at which queries other keys are there that vanish.
        """
        value = self.value[j]
        if value.is_zero:
            return zeros(len(certified))
        operators, arithmetic = self.operators, self.operators.arithmetic
        result = value.take(winners.one_of_them)
        number = winners.number
        one = 1 << operators.fraction_bits
        mixed = np.flatnonzero(
            certified & ((number > 1) | (losers & (winners_share(1, arithmetic, losers=True) != one)))
        )
        if len(mixed) == 0:
            return result
        total = self._sum(j, value, winners, mixed)
        if not operators.fused:  # each product is rounded
            terms = self._sum(~j, Column((value.m != 0).astype(np.int64), 0, 1), winners, mixed)
            certified[mixed[~at_most(terms, Fraction(1))]] = False
        kinds, kind = np.unique(np.where(total.m != 0, 2 * number[mixed] + losers[mixed], 2), return_inverse=True)
        shares = winners_shares(kinds // 2, kinds % 2 == 1, arithmetic)
        products = multiply(total, of_integers(shares, -operators.fraction_bits).take(kind))
        return _place(operators.round(products, f"{self.site}.sum[{j}]"), mixed, result)

    def _sum(self, name: int, value: Column, winners: Winners, queries: Array) -> Column:
        """Returns the sum of the winners' values. name: of the value, by which its running sums are known once they are made."""
        one = Fraction(1)
        if winners.order is not self._order:
            self._order, self._sums = winners.order, {}
        if name not in self._sums:
            self._sums[name] = _running_sums(value.take(winners.order))
        sums = self._sums[name]
        parts = [(one, sums.take(winners.high[queries])), (-one, sums.take(winners.low[queries]))]
        for wins, place in zip(winners.special_wins[:, queries], winners.special.tolist(), strict=True):
            parts.append((value.at(place), Column(wins.astype(np.int64), 0, 1)))
        if np.any(tie := winners.tie[queries]):
            parts.append((one, _running_sums(value).take(tie)))
        return combine(parts, Fraction(0), len(queries))

    def _by_definition(
        self, failed: Array, begin: int, query: Sequence[Column], outputs: Sequence[Column]
    ) -> list[Column]:
        """`outputs` with some columns by definition. failed: their queries. begin: how many keys stand before the first query."""
        e = self.operators.arithmetic.format.quantum_exponent
        keys, values = self._quanta
        results = np.zeros((len(values), len(failed)), object)
        for i, k in enumerate(failed.tolist()):
            wish = [int(column.m[k]) << (column.e - e) for column in query]
            scores = [self.operators.dot(wish, column) for column in keys[:, : begin + k + 1].T]
            weights = softmax(scores, self.operators.arithmetic).weights
            places = [h for h, weight in enumerate(weights) if weight]
            shares = [weights[h] for h in places]
            for j, row in enumerate(values):
                results[j, i] = self.operators.dot(shares, row[places])
        return [_place(of_integers(row, e), failed, output) for row, output in zip(results, outputs, strict=True)]

    @cached_property
    def _quanta(self) -> tuple[Array, list[Array]]:
        """The rows of keys, (row, key), and those of values, as Python integers in quanta."""
        e = self.operators.arithmetic.format.quantum_exponent
        keys = np.array([integers(column.scaled_to(e)) for column in self.key], object)
        return keys.reshape(len(self.key), self.number), [integers(column.scaled_to(e)) for column in self.value]


def _place(some: Column, places: Array, among: Column) -> Column:
    """Returns the column with others' values at some places."""
    index = np.arange(len(among))
    index[places] = len(among) + np.arange(len(places))
    both = concatenated(among, some).take(index)
    return normalised(both.m, both.e)


def _range(column: Column, before: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Returns the least and the largest number of a column and of what stood before it."""
    low, high = ends(column)
    for least, most in before:
        low, high = min(low, least), max(high, most)
    return low, high


def _running_sums(values: Column) -> Column:
    """Returns the sum of the values before each place, and of all."""
    sums = concatenate([np.zeros(1, np.int64), running_sums(values.m, values.bound)])
    return Column(sums, values.e, values.bound * len(values))
