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
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import (
    Column,
    combine,
    concatenated,
    extremes,
    multiply,
    normalised,
    of_integers,
    zeros,
)
from constructions.engines.indexed.forgetting import Dropped, drop
from constructions.engines.indexed.mantissas import Array, concatenate, integers, least_and_most, running_sums
from constructions.engines.indexed.nearest import Winners, at_most, find_winners
from constructions.engines.indexed.operators import Operators
from constructions.engines.indexed.squares import possible_roots
from constructions.engines.weights import ZERO, HeadWeights, Row, coordinates
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
        """How many keys are kept."""
        return len(next(iter(self.registers.values()))) if self.count else 0


class Attended(NamedTuple):
    """What a head read, a column for each of its value rows; which of the chunk's softmax columns were certified.

    winners: who won these, their places counted among the keys that are kept; None if nobody was searched.
    """

    outputs: list[Column]
    certified: Array
    memory: Memory
    winners: Winners | None


Joined = dict[tuple[int, int], tuple[Column, Column, Column]]
"""Columns of kept keys and of a chunk's, by the identity of both: heads that read the same register share it.

An entry is the joined column and its two parts: while these live, no other column can have their identity.
"""


class Head:
    """One head under one arithmetic. number: its block, for the names of sites."""

    def __init__(self, operators: Operators, head: HeadWeights, site: str) -> None:
        self.operators, self.head, self.site = operators, head, site
        self.scored, self.read = coordinates(head.key), coordinates(head.value)

    def attend(
        self, memory: Memory, stream: Sequence[Column], joined: Joined, *, remember: bool, forget: bool
    ) -> Attended:
        """Reads for a chunk of positions, and what is to be remembered of all keys so far, if anybody will ask.

        stream: the residual stream over the chunk. forget: keys that provably cannot win again are dropped. Raises KeysForgotten.
        """
        operators, head, site = self.operators, self.head, self.site
        length = len(stream[0])
        keys = _join(memory, stream, joined)
        kept = memory.kept
        query = [operators.row(row, stream, ZERO, length, f"{site}.query[{c}]") for c, row in enumerate(head.query)]
        key = [
            operators.row(row, keys, ZERO, kept + length, f"{site}.key[{c}]", kept) for c, row in enumerate(head.key)
        ]
        value = [
            operators.row(row, keys, ZERO, kept + length, f"{site}.value[{j}]", kept)
            for j, row in enumerate(head.value)
        ]
        ranges = [_range(row, memory.ranges[c : c + 1]) for c, row in enumerate(key)]
        visible = np.arange(kept + 1, kept + length + 1)
        seen = np.arange(memory.count + 1, memory.count + length + 1)
        lead = vanishing_lead(memory.count + length if operators.fused else 0, operators.fraction_bits)
        lead += 2 * self._rounded_operations * operators.arithmetic.format.quantum
        coefficients = self._coefficients(query, length)
        winners = None
        if self._is_bilinear(key, keys, lead):
            scored = [keys[i] for i in self.scored]
            largest = operators.arithmetic.format.max_value
            winners = find_winners(scored, coefficients, list(keys.values()), kept + length, visible, lead, largest)
        if winners is None:
            outputs, certified = [zeros(length) for _ in value], np.zeros(length, bool)
        else:
            certified = winners.certified.copy()
            if memory.dropped is not None:
                certified &= memory.dropped.is_beaten(dict(zip(self.scored, coefficients, strict=True)), lead)
                certified &= winners.tie == 0  # a dropped key ties with the others
            if not operators.fused:
                certified &= (winners.number == 1) | self._exact_scores(query, key) | _are_alike(key, winners)
                certified &= self._stays_within(query, ranges, length)
            losers = winners.number < seen
            outputs = [
                self._read(column, winners, certified, losers, f"{site}.sum[{j}]") for j, column in enumerate(value)
            ]
        failed = np.flatnonzero(~certified)
        if len(failed):
            if memory.dropped is not None:
                raise KeysForgotten(
                    f"head {site} at position {seen[failed[0]]} has no certificate without keys that were dropped"
                )
            outputs = self._by_definition(certified, kept, query, key, value, outputs)
        if not remember:
            return Attended(outputs, certified, Memory(), winners)
        after = self._memory(memory, length, keys, ranges)
        if forget and winners is not None and winners.preference is not None:
            root, square = (self.scored[i] for i in winners.preference)
            last = {i: c.take(np.array([length - 1])) for i, c in zip(self.scored, coefficients, strict=True)}
            after = self._forget(after, root, square, last, lead)
        return Attended(outputs, certified, after, winners)

    # The keys

    def _memory(
        self,
        memory: Memory,
        length: int,
        keys: Mapping[int, Column],
        ranges: Sequence[tuple[Fraction, Fraction]],
    ) -> Memory:
        """The memory with all of the chunk's keys in it, and with every register that may be the root of a square."""
        wanted = {*self.scored, *self.read} or {0}  # one of them tells how many keys there are
        others = [i for i in keys if i not in wanted]
        roots = possible_roots([keys[i] for i in self.scored], [keys[i] for i in others])
        registers = {i: keys[i] for i in sorted({*wanted, *(others[place] for place in roots)})}
        return Memory(memory.count + length, registers, tuple(ranges), memory.dropped)

    def _forget(self, memory: Memory, root: int, square: int, last: Mapping[int, Column], lead: Fraction) -> Memory:
        """The memory without the keys that a later one beats, if the chunk's last query is one that lets it beat them."""
        found = drop({i: memory.registers[i] for i in self.scored}, root, square)
        if found is None:
            return memory
        keep, new = found
        dropped = new if memory.dropped is None else new.joined(memory.dropped)
        if dropped is None or not dropped.is_beaten(last, lead).all():
            return memory
        return replace(memory, registers={i: c.take(keep) for i, c in memory.registers.items()}, dropped=dropped)

    # Certificates

    @property
    def _rounded_operations(self) -> int:
        """Rounding moves a score by a quantum at most for each operation that is rounded.

        That is one under `fused`, and the products under `sequential`, where sums are exact, since nothing saturates.
        """
        return 1 if self.operators.fused else len(self.head.query)

    def _is_bilinear(self, key: Sequence[Column], keys: Mapping[int, Column], lead: Fraction) -> bool:
        """Whether the scores Σ_c key_c·query_c are a bilinear form in the registers that the key weights read, then rounded."""
        fmt = self.operators.arithmetic.format
        if not fmt.is_fixed_point:
            return False  # a float format may round scores by much more than a quantum
        if not self.operators.fused and lead > fmt.max_value:
            return (
                False  # a difference of scores saturates too; at −max_value it must be out of the softmax just the same
            )
        # A rounded key is no longer the linear form that the structure is read from.
        return all(self._is_linear(self.head.key[c], keys, row) for c, row in enumerate(key))

    def _stays_within(self, query: Sequence[Column], ranges: Sequence[tuple[Fraction, Fraction]], length: int) -> Array:
        """At which queries no product key_c·query_c and no sum of the first of them saturates, whichever the key."""
        fmt = self.operators.arithmetic.format
        largest = fmt.max_value - self._rounded_operations * fmt.quantum
        low, high, within = zeros(length), zeros(length), np.ones(length, bool)
        for column, ends in zip(query, ranges, strict=True):
            least, most = extremes(*(combine([(end, column)], Fraction(0), length) for end in ends))
            low, high = (self.operators.sum(a, b, length) for a, b in ((low, least), (high, most)))
            for bound in (least, low):
                within &= ~at_most(bound, -largest)
            for bound in (most, high):
                within &= at_most(bound, largest)
        return within

    def _is_linear(self, weights: Row, keys: Mapping[int, Column], row: Column) -> bool:
        """Whether `row` is what the weights make of the registers, without any rounding."""
        exact = combine([(self.operators.weight(w), keys[i]) for i, w in weights], Fraction(0), len(row))
        return exact.e == row.e and bool(np.all(exact.m == row.m))

    def _coefficients(self, query: Sequence[Column], length: int) -> list[Column]:
        """What each of the registers that the key weights read is multiplied with, at each query."""
        terms: dict[int, list[tuple[Fraction, Column]]] = {i: [] for i in self.scored}
        for row, column in zip(self.head.key, query, strict=True):
            for i, weight in row:
                terms[i].append((self.operators.weight(weight), column))
        return [combine(of_register, Fraction(0), length) for of_register in terms.values()]

    def _exact_scores(self, query: Sequence[Column], key: Sequence[Column]) -> bool:
        """Whether no product of a score needs rounding."""
        bits = self.operators.fraction_bits
        return all(q.is_zero or k.is_zero or q.e + k.e >= -bits for q, k in zip(query, key, strict=True))

    # Reading

    def _read(self, value: Column, winners: Winners, certified: Array, losers: Array, site: str) -> Column:
        """The attention-weighted sum of one value row; `certified` loses the queries for which several terms get rounded.

        losers: at which queries other keys are there that vanish.
        """
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
        total = _sums(value, winners, mixed)
        if not operators.fused:  # each product is rounded
            terms = _sums(Column((value.m != 0).astype(np.int64), 0, 1), winners, mixed)
            certified[mixed[~at_most(terms, Fraction(1))]] = False
        kinds, kind = np.unique(np.where(total.m != 0, 2 * number[mixed] + losers[mixed], 2), return_inverse=True)
        shares = winners_shares(kinds // 2, kinds % 2 == 1, arithmetic)
        products = multiply(total, of_integers(shares, -operators.fraction_bits).take(kind))
        return _placed(operators.round(products, site), mixed, result)

    def _by_definition(
        self,
        certified: Array,
        kept: int,
        query: Sequence[Column],
        key: Sequence[Column],
        value: Sequence[Column],
        outputs: Sequence[Column],
    ) -> list[Column]:
        """`outputs` with the softmax columns of the queries that have no certificate computed by definition."""
        e = self.operators.arithmetic.format.quantum_exponent
        failed = np.flatnonzero(~certified)
        keys = np.array([integers(column.scaled_to(e)) for column in key], object)
        keys = keys.reshape(len(key), kept + len(certified))
        values = [integers(column.scaled_to(e)) for column in value]
        results = np.zeros((len(value), len(failed)), object)
        for i, k in enumerate(failed.tolist()):
            wish = [int(column.m[k]) << (column.e - e) for column in query]
            scores = [self.operators.dot(zip(wish, column, strict=True)) for column in keys[:, : kept + k + 1].T]
            weights = [(h, w) for h, w in enumerate(softmax(scores, self.operators.arithmetic).weights) if w]
            for j, row in enumerate(values):
                results[j, i] = self.operators.dot((w, row[h]) for h, w in weights)
        return [_placed(of_integers(row, e), failed, output) for row, output in zip(results, outputs, strict=True)]


def _are_alike(key: Sequence[Column], winners: Winners) -> Array:
    """At which queries all winners are ordinary keys, each row of which is the same at all of them."""
    low, high, order = winners.low, winners.high, winners.order
    changes = np.zeros(len(order), bool)  # from the key before
    for row in key:
        ordered = row.m[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    kind = np.cumsum(changes)
    first = np.minimum(low, len(order) - 1)
    alike = (high > low) & (kind[first] == kind[np.maximum(high - 1, first)])
    alike &= ~winners.special_wins.any(axis=0) & (winners.tie == 0)
    return np.asarray(alike)


def _placed(some: Column, places: Array, among: Column) -> Column:
    """The column with others' values at some places."""
    index = np.arange(len(among))
    index[places] = len(among) + np.arange(len(places))
    both = concatenated(among, some).take(index)
    return normalised(both.m, both.e)


def _range(column: Column, before: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """The least and the largest number of a column and of what stood before it."""
    unit = Fraction(2) ** column.e
    low, high = (unit * end for end in least_and_most(column.m))
    for least, most in before:
        low, high = min(low, least), max(high, most)
    return low, high


def _join(memory: Memory, stream: Sequence[Column], joined: Joined) -> dict[int, Column]:
    """The registers at all keys: those that are kept, then the chunk's."""
    if not memory.count:
        return dict(enumerate(stream))
    found = {}
    for i, column in memory.registers.items():
        both = (id(column), id(stream[i]))
        if both not in joined:
            joined[both] = concatenated(column, stream[i]), column, stream[i]
        found[i], *_ = joined[both]
    return found


def _sums(value: Column, winners: Winners, queries: Array) -> Column:
    """The sum of the winners' values."""
    one = Fraction(1)
    parts = [(one, _range_sums(value.take(winners.order), winners.low[queries], winners.high[queries]))]
    for wins, place in zip(winners.special_wins[:, queries], winners.special.tolist(), strict=True):
        parts.append((value.at(place), Column(wins.astype(np.int64), 0, 1)))
    if np.any(tie := winners.tie[queries]):
        parts.append((one, _range_sums(value, np.zeros_like(tie), tie)))
    return combine(parts, Fraction(0), len(queries))


def _range_sums(values: Column, low: Array, high: Array) -> Column:
    """Σ values[low:high] for each range."""
    sums = concatenate(np.zeros(1, np.int64), running_sums(values.m, values.bound))
    cumulative = Column(sums, values.e, values.bound * len(values))
    return combine([(Fraction(1), cumulative.take(high)), (Fraction(-1), cumulative.take(low))], Fraction(0), len(low))
