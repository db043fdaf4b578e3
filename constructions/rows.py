"""A layer as sparse rows: of exact numbers as a plan has them, or of a block's matrices as somebody reads them.

A layer has sparse rows over coordinates. In a certificate for many n a weight may depend on n, so nothing here asks more of it than
whether it is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from constructions.layers import Block, Matrix

Weight: TypeAlias = Any
"""A number: exact, in a certificate a polynomial of n, in an engine quanta of a format. It is false if it is 0, and only then."""
Row: TypeAlias = tuple[tuple[int, Weight], ...]
"""(coordinate, weight) in the order of coordinates, zeros left out."""
Written: TypeAlias = tuple[tuple[int, Row], ...]
"""Register → what it is made of, in the order of coordinates."""
Cycle: TypeAlias = tuple[tuple[int, int], ...]
"""Registers, each with a sign: its state is the sign times the state before of the register before it, the first's of the last."""
Change: TypeAlias = Callable[[Weight], Weight]


@dataclass(frozen=True)
class UnitRows:
    """One ReGLU unit."""

    gate: Row
    gate_bias: Weight
    up: Row
    up_bias: Weight

    def __repr__(self) -> str:
        """Writes it as a dataclass does, in half the time: digests of weights are of this text."""
        return f"Unit(gate={self.gate!r}, gate_bias={self.gate_bias!r}, up={self.up!r}, up_bias={self.up_bias!r})"


@dataclass(frozen=True)
class Sublayer:
    """A feed-forward sublayer. down: register, weights over units, bias."""

    units: tuple[UnitRows, ...]
    down: tuple[tuple[int, Row, Weight], ...]

    @cached_property
    def readers(self) -> Mapping[tuple[int, ...], Sequence[int]]:
        """The units, by the registers that they read."""
        readers: dict[tuple[int, ...], list[int]] = {}
        for i, unit in enumerate(self.units):
            readers.setdefault(tuple(coordinates((unit.gate, unit.up))), []).append(i)
        return readers

    def without(self, registers: frozenset[int]) -> tuple[Sublayer, frozenset[int]]:
        """Returns the sublayer without its rows for these registers, and the numbers of the units that no row reads then."""
        down = tuple(item for item in self.down if item[0] not in registers)
        read = {i for _, row, _ in down for i, _ in row}
        return Sublayer(self.units, down), frozenset(range(len(self.units))) - read


@dataclass(frozen=True)
class HeadRows:
    """A head without W_O."""

    query: tuple[Row, ...]
    key: tuple[Row, ...]
    value: tuple[Row, ...]


@dataclass(frozen=True)
class Recurrent:
    """The rows of a linear recurrence: over the states before, and over the registers."""

    carry: Written
    feed: Written

    def states(self) -> Iterator[tuple[int, Row, Row]]:
        """Yields the registers with a state, in order, and the two rows of each."""
        carry, feed = dict(self.carry), dict(self.feed)
        for i in sorted(carry.keys() | feed.keys()):
            yield i, carry.get(i, ()), feed.get(i, ())

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The registers with a state, in least sets: each reads no state but its own and those of the sets before it."""
        waiting = {i: [j for j, _ in carry] for i, carry, _ in self.states()}
        groups = list[tuple[int, ...]]()
        while waiting:
            ready: list[tuple[int, ...]] = [
                (i,) for i, read in waiting.items() if all(j == i or j not in waiting for j in read)
            ]
            # If every register left reads another one, the least closed set is a cycle.
            for group in ready or [min((_closed(i, waiting) for i in waiting), key=len)]:
                groups.append(group)
                for i in group:
                    del waiting[i]
        return tuple(groups)

    def cycles(self) -> list[Cycle]:
        """Returns the cycles of A, a permutation of registers with signs. A register carried on unchanged belongs to a sum."""
        before = {i: row[0] for i, row in self.carry if len(row) == 1 and row[0][1] in (1, -1)}
        result = []
        for least in sorted(before):  # register of a cycle, so that each cycle is met once
            path = [least]
            while (source := before[path[-1]][0]) in before and source > least and source not in path:
                path.append(source)
            if source == least and before[least] != (least, 1):
                result.append(tuple((i, before[i][1]) for i in reversed(path)))
        return result

    def end_to_end(self, width: int) -> Written:
        """Returns the rows of each state as one, over `width` states before and then as many registers now."""
        return tuple((i, (*carry, *((width + j, w) for j, w in feed))) for i, carry, feed in self.states())


@dataclass(frozen=True)
class Layer:
    """A block. out: each register's row over the values that the heads read, in order."""

    heads: tuple[HeadRows, ...]
    out: Written
    feed_forward: Sublayer
    recurrence: Recurrent | None = None

    def weights(self) -> Iterator[Weight]:
        """Yields every weight that is not zero, and the zeros among the biases."""
        weights: list[Weight] = []

        def keep(weight: Weight) -> Weight:
            weights.append(weight)
            return weight

        self.changed(keep)
        yield from weights

    def changed(self, change: Change) -> Layer:
        """Returns the layer with another weight in place of each, in a fixed order."""

        def row(entries: Row) -> Row:
            return tuple([(i, change(w)) for i, w in entries])  # a generator takes half as long again

        def changed_rows(rows: Written) -> Written:
            return tuple([(i, row(entries)) for i, entries in rows])

        heads = tuple(
            HeadRows(tuple(map(row, h.query)), tuple(map(row, h.key)), tuple(map(row, h.value))) for h in self.heads
        )
        ffn = self.feed_forward
        units = tuple(UnitRows(row(u.gate), change(u.gate_bias), row(u.up), change(u.up_bias)) for u in ffn.units)
        down = tuple((i, row(entries), change(bias)) for i, entries, bias in ffn.down)
        recurrence = self.recurrence and Recurrent(
            changed_rows(self.recurrence.carry), changed_rows(self.recurrence.feed)
        )
        return Layer(heads, changed_rows(self.out), Sublayer(units, down), recurrence)

    def read(self, *, feed_forward_only: bool = False) -> frozenset[int]:
        """Returns the coordinates that the layer reads, or adds to."""
        ffn = self.feed_forward
        rows = [row for unit in ffn.units for row in (unit.gate, unit.up)]
        coordinates = {i for i, _, _ in ffn.down}
        if not feed_forward_only:
            rows += [row for head in self.heads for rows in (head.query, head.key, head.value) for row in rows]
            coordinates |= {i for i, _ in self.out}
            if self.recurrence is not None:
                rows += [row for _, row in self.recurrence.feed]
                coordinates |= {i for i, _ in (*self.recurrence.carry, *self.recurrence.feed)}
        return frozenset(coordinates.union(i for row in rows for i, _ in row))


def _closed(register: int, waiting: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """Returns the register with all those waiting that it reads, directly or by way of others."""
    closed, fresh = {register}, [register]
    while fresh:
        for j in waiting[fresh.pop()]:
            if j in waiting and j not in closed:
                closed.add(j)
                fresh.append(j)
    return tuple(sorted(closed))


def coordinates(rows: Iterable[Row]) -> list[int]:
    """Returns every coordinate that some row reads, in order."""
    return sorted({j for row in rows for j, _ in row})


def matrix_rows(matrix: Matrix, number: Callable[[float], Weight]) -> tuple[Row, ...]:
    """Returns the rows of a matrix. number: what reads a weight."""
    rows: list[list[tuple[int, Weight]]] = [[] for _ in matrix]
    i, j = np.nonzero(matrix)
    for row, coordinate, entry in zip(i.tolist(), j.tolist(), matrix[i, j].tolist(), strict=True):
        if weight := number(entry):
            rows[row].append((coordinate, weight))
    return tuple(map(tuple, rows))


def block_rows(block: Block, number: Callable[[float], Weight]) -> Layer:
    """Returns a block's matrices as rows. number: what reads a weight."""

    def rows(matrix: Matrix) -> tuple[Row, ...]:
        return matrix_rows(matrix, number)

    def rows_by_register(matrix: Matrix) -> Written:
        return tuple((i, row) for i, row in enumerate(rows(matrix)) if row)

    ffn, recurrence = block.feed_forward, block.recurrence
    heads = tuple(HeadRows(rows(head.query), rows(head.key), rows(head.value)) for head in block.heads)
    out = np.concatenate([head.out for head in block.heads], axis=1) if block.heads else np.zeros((0, 0))
    gate_bias, up_bias, down_bias = (map(number, bias.tolist()) for bias in (ffn.gate_bias, ffn.up_bias, ffn.down_bias))
    units = map(UnitRows, rows(ffn.gate), gate_bias, rows(ffn.up), up_bias)
    down = ((i, row, bias) for i, (row, bias) in enumerate(zip(rows(ffn.down), down_bias, strict=True)) if row or bias)
    return Layer(
        heads,
        rows_by_register(out),
        Sublayer(tuple(units), tuple(down)),
        None
        if recurrence is None
        else Recurrent(rows_by_register(recurrence.carry), rows_by_register(recurrence.feed)),
    )
