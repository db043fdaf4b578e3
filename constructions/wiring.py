"""From named gadgets and heads to matrices.

A block is written as a list of gadgets (feed-forward units) and heads over named registers; `wire` lays the registers out as
coordinates and fills the matrices. The wiring plan stays beside the matrices for the dump and the trace; engines get only the
matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from constructions.affine import Affine, Number, as_affine
from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
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

    reads: register written → form read at the attended position.
    """

    name: str
    components: tuple[Component, ...]
    reads: Mapping[str, Affine]
    source: str = ""


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
    """The fixed embeddings. words: one form-like row per token, register → number. position: register that l is added to."""

    vocabulary: tuple[str, ...]
    words: tuple[Mapping[str, Number], ...]
    position: str


def registers_of(embedding: Embedding, blocks: Sequence[BlockPlan]) -> tuple[str, ...]:
    """Every register written anywhere, in the order of first writing. Raises ValueError for one that is only read."""
    names: dict[str, None] = {}
    for row in embedding.words:
        names.update(dict.fromkeys(row))
    names[embedding.position] = None
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


class _Filler:
    """Fills matrix rows from forms; every number is rounded to the format or, if `exact`, must already lie in it."""

    def __init__(self, registers: Sequence[str], fmt: Format, exact: bool) -> None:
        self.index = {name: i for i, name in enumerate(registers)}
        self.format = fmt
        self.exact = exact
        # Integers up to here are elements that float64 holds: most of a vocabulary is made of them.
        integers = fmt.is_fixed_point and fmt.quantum_exponent <= 0
        self.plain = min(int(fmt.max_value), 1 << 53) if integers else -1

    def number(self, value: Number) -> float:
        if isinstance(value, int) and abs(value) <= self.plain:
            return float(value)
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
            row[self.index[name]] = self.number(value)
        return row

    def rows(self, forms: Sequence[Affine]) -> Matrix:
        return np.array([self.vector(form.terms) for form in forms]).reshape(len(forms), len(self.index))

    def head(self, head: Head) -> AttentionHead:
        for component in head.components:
            if component.key.constant or component.query.constant:
                raise ValueError(
                    f"head {head.name!r}: attention has no bias, write constants with a register that holds 1"
                )
        out = [self.vector({name: 1}) for name in head.reads]
        return AttentionHead(
            query=self.rows([c.query for c in head.components]),
            key=self.rows([c.key for c in head.components]),
            value=self.rows(list(head.reads.values())),
            out=np.array(out).reshape(len(out), len(self.index)).T.copy(),
        )

    def recurrence(self, units: Sequence[LinearUnit]) -> Recurrence | None:
        if not units:
            return None
        width = len(self.index)
        carry, feed = np.zeros((width, width)), np.zeros((width, width))
        for unit in units:
            for name, forms in unit.rows.items():
                if any(form.constant for form in forms):
                    raise ValueError(
                        f"linear unit {unit.name!r}: a recurrence has no bias, read a register that holds 1"
                    )
                if carry[self.index[name]].any() or feed[self.index[name]].any():
                    raise ValueError(f"linear unit {unit.name!r}: another one already keeps its state in {name!r}")
                carry[self.index[name]], feed[self.index[name]] = (self.vector(form.terms) for form in forms)
        return Recurrence(carry, feed)

    def feed_forward(self, gadgets: Sequence[Gadget]) -> FeedForward:
        units = [unit for gadget in gadgets for unit in gadget.units]
        bias: dict[str, Fraction] = {}
        for gadget in gadgets:
            for name, value in gadget.constants.items():
                bias[name] = bias.get(name, Fraction(0)) + Fraction(value)
        down = [self.vector(unit.into) for unit in units]
        return FeedForward(
            gate=self.rows([unit.gate for unit in units]),
            gate_bias=np.array([self.number(unit.gate.constant) for unit in units]),
            up=self.rows([unit.up for unit in units]),
            up_bias=np.array([self.number(unit.up.constant) for unit in units]),
            down=np.array(down).reshape(len(down), len(self.index)).T.copy(),
            down_bias=self.vector(bias),
        )


def wire(
    embedding: Embedding,
    blocks: Sequence[BlockPlan],
    unembed: Sequence[Mapping[str, Number]],
    fmt: Format,
    *,
    exact: bool = True,
) -> tuple[Transformer, tuple[str, ...]]:
    """The matrices of a model, and the registers in the order of their coordinates.

    exact: whether every weight must be an element of `fmt`; otherwise weights are rounded to it (constructions as printed).
    Raises ValueError for an unknown register, a bias in a head, or a weight outside the format.
    """
    registers = registers_of(embedding, blocks)
    filler = _Filler(registers, fmt, exact)
    words = np.array([filler.vector(row) for row in embedding.words])
    return (
        Transformer(
            words=words,
            position=filler.vector({embedding.position: 1}),
            blocks=tuple(
                Block(
                    tuple(filler.head(head) for head in block.heads),
                    filler.feed_forward(block.gadgets),
                    filler.recurrence(block.linear_units),
                )
                for block in blocks
            ),
            unembed=words if unembed is embedding.words else np.array([filler.vector(row) for row in unembed]),
        ),
        registers,
    )


def constant(name: str, values: Mapping[str, Number]) -> Gadget:
    """A gadget that adds constants through the bias (Lemma C.2 with W = 0)."""
    return Gadget(name, (), values, "Lemma C.2")


def linear(name: str, form: Affine | Number, into: str) -> Gadget:
    """into += form: a unit whose gate is the constant 1 (Lemma C.2)."""
    return Gadget(name, (Unit(as_affine(1), as_affine(form), {into: 1}),), {}, "Lemma C.2")
