"""The plan of a model: its tokens and, block by block, gadgets, heads and linear units over named registers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from constructions.places import name_part, name_place
from constructions.wiring.affine import Affine, Number, as_affine
from constructions.wiring.lookup import Lookup
from constructions.wiring.needs import Need
from constructions.wiring.numbered import kinds


@dataclass(frozen=True)
class Unit:
    """One ReGLU unit: adds weight·ReLU(gate)·up to each register of `into`."""

    gate: Affine
    up: Affine
    into: Mapping[str, Number]


@dataclass(frozen=True)
class Gadget:
    """A named group of feed-forward units with the constants that they add.

    name: what it computes, for people. source: the lemma. constants: register → number added by the bias b_down.
    """

    name: str
    units: tuple[Unit, ...] = ()
    constants: Mapping[str, Number] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True)
class Component:
    """One coordinate of a head's key and query; the score is the sum of the products of all components."""

    key: Affine
    query: Affine


@dataclass(frozen=True)
class Head:
    """A named attention head over registers.

    reads: register written → form read at the attended position. needs: what it assumes of the registers before its block.
    lookup: what its score looks up; None for a head that nobody explained.
    """

    name: str
    components: tuple[Component, ...]
    reads: Mapping[str, Affine]
    source: str = ""
    needs: tuple[Need, ...] = ()
    lookup: Lookup | None = None


@dataclass(frozen=True)
class LinearUnit:
    """A named part of a linear recurrence.

    rows: register r → (carry, feed): h_t[r] = carry over h_{t−1} + feed over the registers at t; h_t[r] is added to r.
    Both are linear.
    """

    name: str
    rows: Mapping[str, tuple[Affine, Affine]]
    source: str = ""


@dataclass(frozen=True)
class BlockPlan:
    """The heads or linear units, and the gadgets of one block, in order."""

    heads: tuple[Head, ...]
    gadgets: tuple[Gadget, ...]
    linear_units: tuple[LinearUnit, ...] = ()


@dataclass(frozen=True)
class Embedding:
    """The fixed embeddings. words: one form-like row per token, register → number. position: register that l is added to.

    Raises ValueError for a token that is there twice or has no row, and for a row that fills the position's register.
    """

    vocabulary: tuple[str, ...]
    words: Sequence[Mapping[str, Number]]
    position: str

    def __post_init__(self) -> None:
        if len(self.vocabulary) != len(self.words):
            raise ValueError(f"{len(self.vocabulary)} tokens, but {len(self.words)} rows of the embedding")
        if len(set(self.vocabulary)) < len(self.vocabulary):
            twice = next(word for word, times in Counter(self.vocabulary).items() if times > 1)
            raise ValueError(f"the token {twice!r} is in the vocabulary twice")
        if any(row.get(self.position) for row in kinds(self.words)):
            word = next(word for word, row in zip(self.vocabulary, self.words, strict=True) if row.get(self.position))
            raise ValueError(f"the word {word!r} fills register {self.position!r}, which is that of the position")

    @property
    def registers(self) -> tuple[str, ...]:
        """Returns the registers that it fills, in the order of first filling; the position's is the last."""
        names: dict[str, None] = {}
        for row in kinds(self.words):
            names.update(dict.fromkeys(row))
        return (*names, self.position)


def registers_of(embedding: Embedding, blocks: Sequence[BlockPlan]) -> tuple[str, ...]:
    """Returns every register written anywhere, in the order of first writing. Raises ValueError for one that is only read."""
    names: dict[str, None] = dict.fromkeys(embedding.registers)
    for number, block in enumerate(blocks, start=1):
        for i, head in enumerate(block.heads, start=1):
            forms = [form for c in head.components for form in (c.key, c.query)] + list(head.reads.values())
            _check_known(forms, names, name_place(number, name_part("head", i, head.name)))
        for i, unit in enumerate(block.linear_units, start=1):
            feeds = [feed for _, feed in unit.rows.values()]
            _check_known(feeds, names, name_place(number, name_part("linear unit", i, unit.name)))
        for head in block.heads:
            names.update(dict.fromkeys(head.reads))
        states = dict.fromkeys(name for unit in block.linear_units for name in unit.rows)
        for i, unit in enumerate(block.linear_units, start=1):
            carries = [carry for carry, _ in unit.rows.values()]
            _check_known(carries, states, f"the state of {name_place(number, name_part('linear unit', i, unit.name))}")
        names.update(states)
        for i, gadget in enumerate(block.gadgets, start=1):
            forms = [form for unit in gadget.units for form in (unit.gate, unit.up)]
            _check_known(forms, names, name_place(number, name_part("gadget", i, gadget.name)))
        for gadget in block.gadgets:
            for relu_unit in gadget.units:
                names.update(dict.fromkeys(relu_unit.into))
            names.update(dict.fromkeys(gadget.constants))
    return tuple(names)


def _check_known(forms: Sequence[Affine], names: Mapping[str, None], where: str) -> None:
    for form in forms:
        for name in form.terms:
            if name not in names:
                raise ValueError(f"{where} reads register {name!r}, which nothing has written")


def refuse_clashes(embedding: Embedding, blocks: Sequence[BlockPlan]) -> None:
    """Refuses what is certainly a slip; parts that add up into one register are none. Raises ValueError, by name, for

    a register of the embedding (a word, a family, the position) that a part writes before the last feed-forward does;
    a part that stands twice in one block; and a register that holds a constant and nothing else, set by two gadgets.
    """
    embedded = {name for row in kinds(embedding.words) for name, value in row.items() if value} | {embedding.position}
    for number, block in enumerate(blocks, start=1):
        parts: list[tuple[str, Head | LinearUnit | Gadget, set[str]]] = [
            *(
                (name_place(number, name_part("head", i, h.name)), h, set(h.reads))
                for i, h in enumerate(block.heads, 1)
            ),
            *(
                (name_place(number, name_part("linear unit", i, u.name)), u, set(u.rows))
                for i, u in enumerate(block.linear_units, 1)
            ),
            *(
                (name_place(number, name_part("gadget", i, g.name)), g, _fill(g))
                for i, g in enumerate(block.gadgets, 1)
            ),
        ]
        for place, part, written in parts:
            output = number == len(blocks) and isinstance(part, Gadget)  # it writes words: the output head reads them
            if not output and (taken := sorted(embedded & written)):
                raise ValueError(
                    f"{place} writes register {taken[0]!r}, which is that of a word, of a family or of the position"
                )
        for i, (place, part, written) in enumerate(parts):
            for other, same, its in parts[:i]:
                if written and written == its and _content(part) == _content(same):
                    raise ValueError(f"{place} is the same as {other}: it would count twice")
    _refuse_double_constants(embedded, blocks)


def _fill(gadget: Gadget) -> set[str]:
    return {*gadget.constants, *(name for unit in gadget.units for name in unit.into)}


def _content(part: Head | LinearUnit | Gadget) -> object:
    """Returns a part without its name."""
    if isinstance(part, Head):
        return [(c.key, c.query) for c in part.components], part.reads
    return part.rows if isinstance(part, LinearUnit) else (part.units, part.constants)


def _refuse_double_constants(embedded: set[str], blocks: Sequence[BlockPlan]) -> None:
    computed = set(embedded)
    for block in blocks:
        computed.update(name for head in block.heads for name in head.reads)
        computed.update(name for unit in block.linear_units for name in unit.rows)
        computed.update(name for gadget in block.gadgets for unit in gadget.units for name in unit.into)
    setters: dict[str, str] = {}
    for number, block in enumerate(blocks, start=1):
        for i, gadget in enumerate(block.gadgets, start=1):
            place = name_place(number, name_part("gadget", i, gadget.name))
            for name in (name for name, value in gadget.constants.items() if value and name not in computed):
                if name in setters:
                    raise ValueError(f"{place} sets the constant {name!r}, as {setters[name]} does already")
                setters[name] = place


def constant(name: str, values: Mapping[str, Number]) -> Gadget:
    """Returns a gadget that adds constants through the bias (Lemma C.2 with W = 0)."""
    return Gadget(name, (), values, "Lemma C.2")


def linear(name: str, form: Affine | Number, into: str) -> Gadget:
    """Returns the gadget that adds a form to a register: a unit whose gate is the constant 1 (Lemma C.2)."""
    return Gadget(name, (Unit(as_affine(1), as_affine(form), {into: 1}),), {}, "Lemma C.2")
