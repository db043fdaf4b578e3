"""From named gadgets and heads to matrices.

A block is written as a list of gadgets (feed-forward units) and heads over named registers; `wire` lays the registers out as
coordinates and fills the matrices. The wiring plan stays beside the matrices for the dump and the trace; engines get only the
matrices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
from constructions.wiring.affine import Affine, Number, as_affine
from constructions.wiring.needs import Need
from constructions.wiring.numbered import Numbered, Powers, kinds
from precision.format import Format
from precision.rounding import round_fraction


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
    """One coordinate of a head's key and query; the score is the sum of the products of all components.

    meaning: what the product contributes to the score, for people.
    """

    key: Affine
    query: Affine
    meaning: str = ""


@dataclass(frozen=True)
class Head:
    """A named attention head over registers.

    reads: register written → form read at the attended position. needs: what it assumes of the registers before its block.
    """

    name: str
    components: tuple[Component, ...]
    reads: Mapping[str, Affine]
    source: str = ""
    needs: tuple[Need, ...] = ()


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
        """Those that it fills, in the order of first filling; the position's is the last."""
        names: dict[str, None] = {}
        for row in kinds(self.words):
            names.update(dict.fromkeys(row))
        return (*names, self.position)


def registers_of(embedding: Embedding, blocks: Sequence[BlockPlan]) -> tuple[str, ...]:
    """Every register written anywhere, in the order of first writing. Raises ValueError for one that is only read."""
    names: dict[str, None] = dict.fromkeys(embedding.registers)
    for number, block in enumerate(blocks, start=1):
        for head in block.heads:
            forms = [form for c in head.components for form in (c.key, c.query)] + list(head.reads.values())
            _check_known(forms, names, f"block {number}, head {head.name!r}")
        for unit in block.linear_units:
            _check_known([feed for _, feed in unit.rows.values()], names, f"block {number}, linear unit {unit.name!r}")
        for head in block.heads:
            names.update(dict.fromkeys(head.reads))
        states = dict.fromkeys(name for unit in block.linear_units for name in unit.rows)
        for unit in block.linear_units:
            _check_known(
                [carry for carry, _ in unit.rows.values()], states, f"the state of block {number}, {unit.name!r}"
            )
        names.update(states)
        for gadget in block.gadgets:
            forms = [form for unit in gadget.units for form in (unit.gate, unit.up)]
            _check_known(forms, names, f"block {number}, gadget {gadget.name!r}")
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
            *((f"block {number}, head {h.name!r}", h, set(h.reads)) for h in block.heads),
            *((f"block {number}, linear unit {u.name!r}", u, set(u.rows)) for u in block.linear_units),
            *((f"block {number}, gadget {g.name!r}", g, _filled(g)) for g in block.gadgets),
        ]
        for place, part, written in parts:
            output = number == len(blocks) and isinstance(part, Gadget)  # it writes words: the output head reads them
            if not output and (taken := sorted(embedded & written)):
                raise ValueError(
                    f"{place} writes register {taken[0]!r}, which is that of a word, of a family or of the position"
                )
        for i, (place, part, written) in enumerate(parts):
            for other, same, _ in parts[:i]:
                if written and _content(part) == _content(same):
                    raise ValueError(f"{place} is the same as {other}: it would count twice")
    _refuse_double_constants(embedded, blocks)


def _filled(gadget: Gadget) -> set[str]:
    return {*gadget.constants, *(name for unit in gadget.units for name in unit.into)}


def _content(part: Head | LinearUnit | Gadget) -> object:
    """All of a part but what it is called."""
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
        for gadget in block.gadgets:
            place = f"block {number}, gadget {gadget.name!r}"
            for name in (name for name, value in gadget.constants.items() if value and name not in computed):
                if name in setters:
                    raise ValueError(f"{place} sets the constant {name!r}, as {setters[name]} does already")
                setters[name] = place


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Errors inside name the place."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}, {error}") from error


class _Filler:
    """Fills matrix rows from forms; every number is rounded to the format or, if `exact`, must already lie in it."""

    def __init__(self, registers: Sequence[str], fmt: Format, exact: bool) -> None:
        self.index = {str(name): i for i, name in enumerate(registers)}  # plain strings are found faster
        self.format = fmt
        self.exact = exact
        # Integers up to here are elements that float64 holds: most weights are such.
        integers = fmt.is_fixed_point and fmt.quantum_exponent <= 0
        self.plain = min(int(fmt.max_value), 1 << 53) if integers else -1

    def number(self, value: Number) -> float:
        if value.denominator == 1 and abs(value.numerator) <= self.plain:
            return float(value.numerator)
        quanta = round_fraction(Fraction(value), self.format).quanta
        element = quanta * self.format.quantum
        if self.exact and element != value:
            raise ValueError(f"weight {value} is not an element of {self.format.name}")
        result = float(element)
        if Fraction(result) != element:
            if self.exact:
                raise ValueError(f"weight {element} needs more than float64's 53 significant digits")
            # A printed constant that saturates to 2^q − 2^−q: the nearest element that float64 holds below it.
            while abs(Fraction(result)) > abs(element):
                result = float(np.nextafter(result, 0.0))
        return result

    def vector(self, terms: Mapping[str, Number]) -> Matrix:
        row = np.zeros(len(self.index))
        for name, value in terms.items():
            try:
                row[self.index[name]] = self.number(value)
            except ValueError as error:
                raise ValueError(f"register {name!r}: {error}") from error
        return row

    def powers(self, rows: Powers) -> Mapping[str, Matrix] | None:
        """Register → what its rows have there; None where a number may be none that both the format and float64 hold."""
        columns: dict[str, Matrix] = {}
        for name, (factor, exponent) in rows.powers.items():
            quanta, most = factor / self.format.quantum, max(abs(rows.low), abs(rows.high)) ** exponent
            within = quanta.denominator == 1 and abs(quanta) * most <= self.format.max_quanta
            if not (self.format.is_fixed_point and within and abs(factor.numerator) * most < 1 << 53):
                return None
            columns[name] = (np.arange(rows.low, rows.high + 1) ** exponent).astype(np.float64) * float(factor)
        return columns

    def words(self, vocabulary: Sequence[str], rows: Sequence[Mapping[str, Number]], what: str) -> Matrix:
        table = np.zeros((len(self.index), len(rows))).T  # a register that no word fills takes no memory so
        start = 0
        for part in (*rows.families, rows.others) if isinstance(rows, Numbered) else (rows,):
            if isinstance(part, Powers) and (columns := self.powers(part)) is not None:
                for name, column in columns.items():
                    table[start : start + len(part), self.index[name]] = column
            else:
                for i, row in enumerate(part, start):
                    try:
                        table[i] = self.vector(row)
                    except ValueError as error:
                        raise ValueError(f"{what} of the word {vocabulary[i]!r}, {error}") from error
            start += len(part)
        return table

    def bias(self, values: Sequence[Number]) -> Matrix:
        with _at("its constant"):
            return np.array([self.number(value) for value in values], dtype=np.float64)

    def rows(self, forms: Sequence[Affine]) -> Matrix:
        return np.array([self.vector(form.terms) for form in forms]).reshape(len(forms), len(self.index))

    def head(self, head: Head) -> AttentionHead:
        constants = {f"a key, {c.key}": c.key for c in head.components}
        constants |= {f"a query, {c.query}": c.query for c in head.components}
        constants |= {f"what it reads into {name!r}, {form}": form for name, form in head.reads.items()}
        for what, form in constants.items():
            if form.constant:
                raise ValueError(
                    f"{what}, has a constant: attention has no bias, write constants with a register that holds 1"
                )
        with _at("query"):
            query = self.rows([c.query for c in head.components])
        with _at("key"):
            key = self.rows([c.key for c in head.components])
        with _at("value"):
            value = self.rows(list(head.reads.values()))
        out = [self.vector({name: 1}) for name in head.reads]
        return AttentionHead(query, key, value, np.array(out).reshape(len(out), len(self.index)).T.copy())

    def recurrence(self, units: Sequence[LinearUnit]) -> Recurrence | None:
        if not units:
            return None
        width = len(self.index)
        carry, feed = np.zeros((width, width)), np.zeros((width, width))
        for unit in units:
            with _at(f"linear unit {unit.name!r}"):
                for name, forms in unit.rows.items():
                    if any(form.constant for form in forms):
                        raise ValueError(
                            f"the state {name!r} has a constant: a recurrence has no bias, read a register that holds 1"
                        )
                    if carry[self.index[name]].any() or feed[self.index[name]].any():
                        raise ValueError(f"another one already keeps its state in {name!r}")
                    with _at(f"the state {name!r}"):
                        carry[self.index[name]], feed[self.index[name]] = (self.vector(form.terms) for form in forms)
        return Recurrence(carry, feed)

    def feed_forward(self, gadgets: Sequence[Gadget]) -> FeedForward:
        width, bias = len(self.index), dict[str, Fraction]()
        parts: dict[str, list[Matrix]] = {name: [np.zeros((0, width))] for name in ("gate", "up", "down")}
        biases: dict[str, list[Matrix]] = {name: [np.zeros(0)] for name in ("gate", "up")}
        for gadget in gadgets:
            with _at(f"gadget {gadget.name!r}"):
                for side, forms in (("gate", [u.gate for u in gadget.units]), ("up", [u.up for u in gadget.units])):
                    with _at(side):
                        parts[side].append(self.rows(forms))
                        biases[side].append(self.bias([form.constant for form in forms]))
                with _at("weight"):
                    down = np.array([self.vector(unit.into) for unit in gadget.units])
                parts["down"].append(down.reshape(len(gadget.units), width))
            for name, value in gadget.constants.items():
                bias[name] = bias.get(name, Fraction(0)) + Fraction(value)
        setters = {name: gadget.name for gadget in gadgets for name in gadget.constants}
        for name, value in bias.items():
            with _at(f"gadget {setters[name]!r}, constant"):
                self.vector({name: value})
        down_bias = self.vector(bias)
        gate, up, down = (np.concatenate(parts[name]) for name in ("gate", "up", "down"))
        gate_bias, up_bias = (np.concatenate(biases[name]) for name in ("gate", "up"))
        return FeedForward(gate, gate_bias, up, up_bias, down.T.copy(), down_bias)

    def block(self, number: int, plan: BlockPlan) -> Block:
        with _at(f"block {number}"):
            heads = []
            for head in plan.heads:
                with _at(f"head {head.name!r}"):
                    heads.append(self.head(head))
            return Block(tuple(heads), self.feed_forward(plan.gadgets), self.recurrence(plan.linear_units))


def wire(
    embedding: Embedding,
    blocks: Sequence[BlockPlan],
    unembed: Sequence[Mapping[str, Number]],
    fmt: Format,
    *,
    exact: bool = True,
    longest: int | None = None,
) -> tuple[Transformer, tuple[str, ...]]:
    """The matrices of a model, and the registers in the order of their coordinates.

    exact: whether every weight must be an element of `fmt`; otherwise weights are rounded to it (constructions as printed).
    longest: the most tokens that the constants were derived for, `Setting.length`; engines refuse longer sequences.
    Raises ValueError for an unknown register, a bias in a head, a weight outside the format, and what `refuse_clashes` finds.
    """
    registers = registers_of(embedding, blocks)
    refuse_clashes(embedding, blocks)
    filler, tokens = _Filler(registers, fmt, exact), embedding.vocabulary
    words = filler.words(tokens, embedding.words, "the embedding")
    return (
        Transformer(
            words=words,
            position=filler.vector({embedding.position: 1}),
            blocks=tuple(filler.block(number, plan) for number, plan in enumerate(blocks, start=1)),
            unembed=words if unembed is embedding.words else filler.words(tokens, unembed, "the output row"),
            longest=longest,
        ),
        registers,
    )


def constant(name: str, values: Mapping[str, Number]) -> Gadget:
    """A gadget that adds constants through the bias (Lemma C.2 with W = 0)."""
    return Gadget(name, (), values, "Lemma C.2")


def linear(name: str, form: Affine | Number, into: str) -> Gadget:
    """into += form: a unit whose gate is the constant 1 (Lemma C.2)."""
    return Gadget(name, (Unit(as_affine(1), as_affine(form), {into: 1}),), {}, "Lemma C.2")
