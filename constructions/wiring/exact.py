"""Exact layers: the one product of a plan. Matrices are filled from them, and they are what is certified, explained and hashed.

A weight is an exact number; in a certificate for many n it may depend on n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from constructions.places import name_part, name_place
from constructions.rows import HeadRows, Layer, Recurrent, Row, Sublayer, UnitRows, Weight
from constructions.wiring.affine import Affine
from constructions.wiring.plan import BlockPlan, Gadget, Head, LinearUnit


@dataclass
class at:
    """Errors inside name the place. With `contextmanager` it takes three times as long, and filling a model asks for thousands."""

    place: str

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError):
            raise ValueError(f"{self.place}, {error}") from error


def exact_layers(registers: Sequence[str], blocks: Sequence[BlockPlan]) -> tuple[Layer, ...]:
    """Returns the layers of these blocks. registers: in the order of their coordinates.

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
    units: list[UnitRows] = []
    down: dict[int, list[tuple[int, Weight]]] = {}
    bias: dict[int, Weight] = {}
    for gadget in gadgets:
        for unit in gadget.units:
            for i, weight in _row(unit.into, index):
                down.setdefault(i, []).append((len(units), weight))
            gate, up = unit.gate, unit.up
            units.append(UnitRows(_row(gate.terms, index), gate.constant, _row(up.terms, index), up.constant))
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
