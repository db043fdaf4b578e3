"""The layers of a model by rows of exact weights, zeros left out: from matrices, or from the plan that matrices are made of.

A plan's numbers need not fit into float64. A weight is a number, or an affine form of the size n where one model stands for an
interval of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.layers import Block, FeedForward, Matrix
from constructions.wiring.affine import Affine
from constructions.wiring.wire import BlockPlan, Gadget, LinearUnit
from verify.certificates.growing import Growing
from verify.certificates.polynomial import Number, Polynomial, constant
from verify.certificates.symbolic import Size, as_weight

Weight = Number | Polynomial
Row = tuple[tuple[int, Weight], ...]  # (coordinate, weight)
Written = tuple[tuple[int, Row], ...]  # register → what it is made of
Change = Callable[[Weight], Weight]


@dataclass(frozen=True)
class Unit:
    """One ReGLU unit."""

    gate: Row
    gate_bias: Weight
    up: Row
    up_bias: Weight


@dataclass(frozen=True)
class Sublayer:
    """A feed-forward sublayer. down: register, weights over units, bias."""

    units: tuple[Unit, ...]
    down: tuple[tuple[int, Row, Weight], ...]

    def without(self, registers: frozenset[int]) -> tuple[Sublayer, frozenset[int]]:
        """What writes to other registers; and the units that nothing is read from then."""
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


@dataclass(frozen=True)
class Layer:
    """A block. out: each register's row over the values that the heads read, in order."""

    heads: tuple[HeadRows, ...]
    out: Written
    feed_forward: Sublayer
    recurrence: Recurrent | None = None

    def weights(self) -> Iterator[Weight]:
        """Every weight that is not zero, and the zeros among the biases."""
        found: list[Weight] = []

        def keep(weight: Weight) -> Weight:
            found.append(weight)
            return weight

        self.changed(keep)
        yield from found

    def changed(self, change: Change) -> Layer:
        """With another weight in place of each, in a fixed order."""

        def row(entries: Row) -> Row:
            return tuple((i, change(w)) for i, w in entries)

        def written(rows: Written) -> Written:
            return tuple((i, row(entries)) for i, entries in rows)

        heads = tuple(
            HeadRows(tuple(map(row, h.query)), tuple(map(row, h.key)), tuple(map(row, h.value))) for h in self.heads
        )
        ffn = self.feed_forward
        units = tuple(Unit(row(u.gate), change(u.gate_bias), row(u.up), change(u.up_bias)) for u in ffn.units)
        down = tuple((i, row(entries), change(bias)) for i, entries, bias in ffn.down)
        recurrence = self.recurrence and Recurrent(written(self.recurrence.carry), written(self.recurrence.feed))
        return Layer(heads, written(self.out), Sublayer(units, down), recurrence)

    def read(self, *, feed_forward_only: bool = False) -> frozenset[int]:
        """Coordinates that it reads or adds to."""
        ffn = self.feed_forward
        rows = [row for unit in ffn.units for row in (unit.gate, unit.up)]
        found = {i for i, _, _ in ffn.down}
        if not feed_forward_only:
            rows += [row for head in self.heads for rows in (head.query, head.key, head.value) for row in rows]
            found |= {i for i, _ in self.out}
            if self.recurrence is not None:
                rows += [row for _, row in self.recurrence.feed]
                found |= {i for i, _ in (*self.recurrence.carry, *self.recurrence.feed)}
        return frozenset(found.union(i for row in rows for i, _ in row))


def exact(value: float | Number) -> Any:
    """The number, an int where it is one: those calculate ten times as fast."""
    if isinstance(value, Size):
        weight = as_weight(value)
        return weight if isinstance(weight, Polynomial) else exact(weight)
    if isinstance(value, Growing):
        return value
    number = Fraction(value)
    if isinstance(number.numerator, Size):
        raise TypeError(f"{number.numerator} has become part of a number")
    return number.numerator if number.denominator == 1 else number


def as_polynomial(weight: Weight) -> Polynomial:
    """The weight as a polynomial in n."""
    return weight if isinstance(weight, Polynomial) else constant(weight)


def sparse(row: Matrix) -> Row:
    """The entries of a matrix row that are not zero."""
    return tuple((int(i), exact(float(row[i]))) for i in np.flatnonzero(row))


def of_matrices(block: Block) -> Layer:
    """A block's rows."""
    heads = tuple(
        HeadRows(*(tuple(map(sparse, matrix)) for matrix in (head.query, head.key, head.value))) for head in block.heads
    )
    out = np.concatenate([head.out for head in block.heads], axis=1) if block.heads else np.zeros((0, 0))
    recurrence = None
    if block.recurrence is not None:
        recurrence = Recurrent(_written(block.recurrence.carry), _written(block.recurrence.feed))
    return Layer(heads, _written(out), _sublayer(block.feed_forward), recurrence)


def _written(matrix: Matrix) -> Written:
    return tuple((int(i), sparse(matrix[i])) for i in np.flatnonzero(matrix.any(axis=1)))


def _sublayer(weights: FeedForward) -> Sublayer:
    units = tuple(
        Unit(sparse(gate), exact(float(a)), sparse(up), exact(float(b)))
        for gate, a, up, b in zip(weights.gate, weights.gate_bias, weights.up, weights.up_bias, strict=True)
    )
    written = np.flatnonzero(weights.down.any(axis=1) | (weights.down_bias != 0)).tolist()
    down = tuple((i, sparse(weights.down[i]), exact(float(weights.down_bias[i]))) for i in written)
    return Sublayer(units, down)


def of_plan(plan: BlockPlan, index: Mapping[str, int]) -> Layer:
    """The rows that `wire` would lay out as a block's matrices. index: register → coordinate."""

    def row(terms: Mapping[str, Number]) -> Row:
        return tuple(sorted((index[name], exact(w)) for name, w in terms.items() if w))

    def forms(found: Sequence[Affine]) -> tuple[Row, ...]:
        return tuple(row(form.terms) for form in found)

    heads = tuple(
        HeadRows(
            forms([c.query for c in head.components]),
            forms([c.key for c in head.components]),
            forms(list(head.reads.values())),
        )
        for head in plan.heads
    )
    out: dict[int, list[tuple[int, Weight]]] = {}
    for number, name in enumerate(name for head in plan.heads for name in head.reads):
        out.setdefault(index[name], []).append((number, 1))
    written = tuple(sorted((i, tuple(entries)) for i, entries in out.items()))
    return Layer(heads, written, _gadgets(plan.gadgets, index, row), _recurrent(plan.linear_units, index, row))


def _gadgets(
    gadgets: Sequence[Gadget], index: Mapping[str, int], row: Callable[[Mapping[str, Number]], Row]
) -> Sublayer:
    units: list[Unit] = []
    down: dict[int, list[tuple[int, Weight]]] = {}
    bias: dict[int, Number] = {}
    for gadget in gadgets:
        for unit in gadget.units:
            for i, weight in row(unit.into):
                down.setdefault(i, []).append((len(units), weight))
            gate, up = unit.gate, unit.up
            units.append(Unit(row(gate.terms), exact(gate.constant), row(up.terms), exact(up.constant)))
        for name, value in gadget.constants.items():
            bias[index[name]] = bias.get(index[name], 0) + exact(value)
    written = sorted(down.keys() | {i for i, value in bias.items() if value})
    return Sublayer(tuple(units), tuple((i, tuple(down.get(i, ())), exact(bias.get(i, 0))) for i in written))


def _recurrent(
    units: Sequence[LinearUnit], index: Mapping[str, int], row: Callable[[Mapping[str, Number]], Row]
) -> Recurrent | None:
    if not units:
        return None
    rows = sorted((index[name], forms) for unit in units for name, forms in unit.rows.items())
    carry = tuple((i, entries) for i, (form, _) in rows if (entries := row(form.terms)))
    return Recurrent(carry, tuple((i, entries) for i, (_, form) in rows if (entries := row(form.terms))))
