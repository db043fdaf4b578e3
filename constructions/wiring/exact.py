"""Exact layers: the one product of a plan. Matrices are filled from them, and they are what is certified, explained and hashed.

A layer has sparse rows over coordinates. A weight is an exact number; in a certificate for many n it may depend on n, so nothing
here asks more of it than whether it is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias

from constructions.places import name_part, name_place
from constructions.wiring.affine import Affine
from constructions.wiring.plan import BlockPlan, Gadget, Head, LinearUnit

Weight: TypeAlias = Any
"""A number; in a certificate a polynomial of n, too."""
Row: TypeAlias = tuple[tuple[int, Weight], ...]
"""(coordinate, weight) in the order of coordinates, zeros left out."""
Written: TypeAlias = tuple[tuple[int, Row], ...]
"""Register → what it is made of, in the order of coordinates."""
Change: TypeAlias = Callable[[Weight], Weight]


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
        weights: list[Weight] = []

        def keep(weight: Weight) -> Weight:
            weights.append(weight)
            return weight

        self.changed(keep)
        yield from weights

    def changed(self, change: Change) -> Layer:
        """With another weight in place of each, in a fixed order."""

        def row(entries: Row) -> Row:
            return tuple([(i, change(w)) for i, w in entries])  # a generator takes half as long again

        def written(rows: Written) -> Written:
            return tuple([(i, row(entries)) for i, entries in rows])

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
        coordinates = {i for i, _, _ in ffn.down}
        if not feed_forward_only:
            rows += [row for head in self.heads for rows in (head.query, head.key, head.value) for row in rows]
            coordinates |= {i for i, _ in self.out}
            if self.recurrence is not None:
                rows += [row for _, row in self.recurrence.feed]
                coordinates |= {i for i, _ in (*self.recurrence.carry, *self.recurrence.feed)}
        return frozenset(coordinates.union(i for row in rows for i, _ in row))


@contextmanager
def at(place: str) -> Iterator[None]:
    """Errors inside name the place."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}, {error}") from error


def exact_layers(registers: Sequence[str], blocks: Sequence[BlockPlan]) -> tuple[Layer, ...]:
    """The layers of these blocks. registers: in the order of their coordinates.

    Raises ValueError for a constant where there is no bias, in a head or a recurrence, and for a state that is kept twice.
    """
    index = {str(name): i for i, name in enumerate(registers)}  # plain strings are found faster
    layers = []
    for number, block in enumerate(blocks, start=1):
        with at(name_place(number)):
            layers.append(_layer(block, index))
    return tuple(layers)


def _layer(plan: BlockPlan, index: Mapping[str, int]) -> Layer:
    heads = []
    for number, head in enumerate(plan.heads, start=1):
        with at(name_part("head", number, head.name)):
            heads.append(_head(head, index))
    out: dict[int, list[tuple[int, Weight]]] = {}
    for j, name in enumerate(name for head in plan.heads for name in head.reads):
        out.setdefault(index[name], []).append((j, 1))
    written = tuple(sorted((i, tuple(entries)) for i, entries in out.items()))
    return Layer(tuple(heads), written, _feed_forward(plan.gadgets, index), _recurrent(plan.linear_units, index))


def _row(terms: Mapping[str, Weight], index: Mapping[str, int]) -> Row:
    entries = [(index[name], weight) for name, weight in terms.items() if weight]
    if len(entries) > 1:
        entries.sort(key=itemgetter(0))
    return tuple(entries)


def _rows(forms: Sequence[Affine], index: Mapping[str, int]) -> tuple[Row, ...]:
    return tuple(_row(form.terms, index) for form in forms)


def _head(head: Head, index: Mapping[str, int]) -> HeadRows:
    constants = {f"a key, {c.key}": c.key for c in head.components if c.key.constant}
    constants |= {f"a query, {c.query}": c.query for c in head.components if c.query.constant}
    constants |= {f"what it reads into {name!r}, {form}": form for name, form in head.reads.items() if form.constant}
    for what in constants:
        raise ValueError(f"{what}, has a constant: attention has no bias, write constants with a register that holds 1")
    query, key = ([getattr(c, side) for c in head.components] for side in ("query", "key"))
    return HeadRows(_rows(query, index), _rows(key, index), _rows([*head.reads.values()], index))


def _feed_forward(gadgets: Sequence[Gadget], index: Mapping[str, int]) -> Sublayer:
    units: list[Unit] = []
    down: dict[int, list[tuple[int, Weight]]] = {}
    bias: dict[int, Weight] = {}
    for gadget in gadgets:
        for unit in gadget.units:
            for i, weight in _row(unit.into, index):
                down.setdefault(i, []).append((len(units), weight))
            gate, up = unit.gate, unit.up
            units.append(Unit(_row(gate.terms, index), gate.constant, _row(up.terms, index), up.constant))
        for name, value in gadget.constants.items():
            i = index[name]
            bias[i] = bias[i] + value if i in bias else value
    written = sorted(down.keys() | {i for i, value in bias.items() if value})
    return Sublayer(tuple(units), tuple((i, tuple(down.get(i, ())), bias.get(i, 0)) for i in written))


def _recurrent(units: Sequence[LinearUnit], index: Mapping[str, int]) -> Recurrent | None:
    if not units:
        return None
    carry, feed = dict[int, Row](), dict[int, Row]()
    for number, unit in enumerate(units, start=1):
        with at(name_part("linear unit", number, unit.name)):
            for name, forms in unit.rows.items():
                if any(form.constant for form in forms):
                    raise ValueError(
                        f"the state {name!r} has a constant: a recurrence has no bias, read a register that holds 1"
                    )
                i = index[name]
                if carry.get(i) or feed.get(i):
                    raise ValueError(f"another one already keeps its state in {name!r}")
                carry[i], feed[i] = _rows(forms, index)
    return Recurrent(*(tuple(sorted((i, row) for i, row in rows.items() if row)) for rows in (carry, feed)))
