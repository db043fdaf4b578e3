"""A model whose vocabulary is described, not listed: families of numbers by polynomials, and finitely many special words.

So the certificate of a model for n = 10^12 is made from as many numbers as one for n = 4.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice, zip_longest
from math import prod

import numpy as np

from constructions.layers import Transformer
from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.rows import Layer, Row, Weight
from constructions.wiring.exact import exact_layers
from constructions.wiring.numbered import Family, Numbered, Powers
from constructions.wiring.wire import BlockPlan, Embedding, as_held, refuse_clashes, registers_of
from precision.format import Arithmetic
from verify.algebra.polynomial import ONE, Number, Polynomial, atom, constant, total
from verify.rounding.rows import exact, of_matrices, sparse

NUMBER = "v"


@dataclass(frozen=True)
class NumberFamily:
    """The tokens low … high: number v has polynomials in the atom `v` in these coordinates."""

    low: int
    high: int
    rows: Mapping[int, Polynomial]

    @property
    def texts(self) -> dict[int, str]:
        """Its rows as text."""
        return {i: str(p) for i, p in sorted(self.rows.items())}


def vocabulary(model: ExactModel) -> object:
    """Returns how tokens embed, the ranges of numbers left out."""
    rows = {name: numbers.rows for name, numbers in model.families.items()}
    return rows, model.specials, model.position


def first_difference(model: ExactModel, other: ExactModel) -> str:
    """Returns the first place at which the weights of two models differ; "" if they are the same."""
    if vocabulary(model) != vocabulary(other):
        return "the vocabulary"
    for number, (mine, its) in enumerate(zip_longest(model.layers, other.layers)):
        if mine is None or its is None:
            return name_place(number + 1)
        for h, (head, its_head) in enumerate(zip_longest(mine.heads, its.heads)):
            if head != its_head:
                return model.head(number, h)
        if mine.recurrence != its.recurrence:
            return name_place(number + 1, RECURRENCE)
        if mine.out != its.out:
            return name_place(number + 1, ATTENTION)
        for u, (unit, its_unit) in enumerate(zip_longest(mine.feed_forward.units, its.feed_forward.units)):
            if unit != its_unit:
                return name_place(number + 1, FEED_FORWARD, name_part("unit", u + 1))
        if mine.feed_forward != its.feed_forward:
            return name_place(number + 1, FEED_FORWARD, "what units write")
    return ""


@dataclass(frozen=True)
class ExactModel:
    """A Transformer with a described vocabulary.

    registers: the coordinates' names, used only to print. families: name → its numbers; of one family alone, the name is empty.
    specials: word → its row. position: what is added for each position. heads: of each block the names of its heads, used only to
    print. The output head is the embedding. Where weights are forms of n, the model stands for an interval of sizes.
    """

    registers: tuple[str, ...]
    families: Mapping[str, NumberFamily]
    specials: Mapping[str, Row]
    position: Row
    layers: tuple[Layer, ...]
    arithmetic: Arithmetic
    heads: tuple[tuple[str, ...], ...] = field(default=(), compare=False)

    def head(self, block: int, number: int) -> str:
        """Returns what a head is called; block, number: from 0."""
        names = self.heads[block] if block < len(self.heads) else ()
        return name_place(block + 1, name_part("head", number + 1, names[number] if number < len(names) else ""))

    @cached_property
    def read_by_output(self) -> frozenset[int]:
        """Coordinates that logits are made of."""
        of_numbers = (numbers.rows for numbers in self.families.values())
        of_words = ((i for i, _ in row) for row in self.specials.values())
        return frozenset(chain(*of_numbers, *of_words))

    def live(self, block: int, *, feed_forward: bool = False) -> frozenset[int]:
        """Returns the coordinates that are read or added to after this block, which counts from 0; or from its feed-forward on."""
        used = self.read_by_output
        if feed_forward:
            used |= self.layers[block].read(feed_forward_only=True)
        return used.union(*(layer.read() for layer in self.layers[block + 1 :]))

    def weights(self) -> Iterator[tuple[str, Weight]]:
        """Yields every weight, with its place."""
        for word, row in self.specials.items():
            yield from ((f"the embedding of {word}", weight) for _, weight in row)
        yield from (("the embedding of positions", weight) for _, weight in self.position)
        for number, layer in enumerate(self.layers):
            yield from ((f"the weights of {name_place(number + 1)}", weight) for weight in layer.weights())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every number of the model, its registers' names left out."""
        numbers = [f"{family.low} {family.high} {family.texts}" for family in self.families.values()]
        parts = [f"{self.arithmetic} {' '.join(numbers)}", f"{dict(self.specials)} {self.position}"]
        parts += map(str, self.layers)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def describe_numbers(rows: Sequence[Mapping[int, Number]], low: int, high: int) -> NumberFamily:
    """Describes the numbers low … high by polynomials in v of degree 2 at most. Raises ValueError if some row is on none."""
    polynomials: dict[int, Polynomial] = {}
    v = atom(NUMBER) - constant(low)
    for i in sorted({i for row in rows for i in row}):
        column = [Fraction(row.get(i, 0)) for row in rows]
        first = column[0]
        slope = column[1] - first if len(column) > 1 else Fraction(0)
        bend = (column[2] - 2 * column[1] + first) / 2 if len(column) > 2 else Fraction(0)
        polynomials[i] = total([constant(first), v * (slope - bend), v * v * bend])
        for j, value in enumerate(column):
            if polynomials[i].substitute({NUMBER: constant(low + j)}) != constant(value):
                raise ValueError(
                    f"the embedding of numbers is no quadratic polynomial: number {low + j}, coordinate {i}"
                )
    return NumberFamily(low, high, polynomials)


def described(
    model: Transformer,
    arithmetic: Arithmetic,
    registers: Sequence[str],
    vocabulary: Sequence[str],
    families: Sequence[Family],
    heads: tuple[tuple[str, ...], ...] = (),
) -> ExactModel:
    """Returns a model of which the first rows are these families. Raises ValueError for an untied output head."""
    if model.unembed is not model.words and not np.array_equal(model.unembed, model.words):
        raise ValueError("the output head is not the embedding")
    numbers = sum(map(len, families))
    words = {word: sparse(row) for word, row in zip(vocabulary[numbers:], model.words[numbers:], strict=True)}
    rows = iter([{i: exact(float(row[i])) for i in np.flatnonzero(row).tolist()} for row in model.words[:numbers]])
    number_families = {f.name: describe_numbers([*islice(rows, len(f))], f.low, f.high) for f in families}
    layers = tuple(map(of_matrices, model.blocks))
    position = sparse(model.position)
    return ExactModel(tuple(registers), number_families, words, position, layers, arithmetic, heads)


def planned(
    embedding: Embedding,
    blocks: Sequence[BlockPlan],
    arithmetic: Arithmetic,
    families: Sequence[Family],
    *,
    rounded: bool,
) -> ExactModel:
    """Describes the exact layers that `wire` fills the matrices from. rounded: weights are rounded to the format.

    families: of the whole vocabulary; the embedding may list fewer of their numbers, as the powers that their rows are do not
    depend on how many there are. Raises ValueError if they are not those of the embedding.
    """
    registers = registers_of(embedding, blocks)
    refuse_clashes(embedding, blocks)
    index = {name: i for i, name in enumerate(registers)}
    words = embedding.words if isinstance(embedding.words, Numbered) else Numbered((), tuple(embedding.words))
    if len(words.families) != len(families):
        told = f"the embedding has {len(words.families)} families of numbers (`Powers` in `Numbered`)"
        raise ValueError(f"{told}, and the dossier's `families` has {len(families)}")
    numbers = {f.name: _numbers(f, of.powers, index) for f, of in zip(families, words.families, strict=True)}
    others = [tuple(sorted((index[name], exact(w)) for name, w in row.items() if w)) for row in words.others]
    specials = dict(zip(embedding.vocabulary[len(embedding.vocabulary) - len(others) :], others, strict=True))
    layers = exact_layers(registers, blocks)
    layers = as_held(layers, arithmetic.format) if rounded else layers
    position = ((index[embedding.position], 1),)
    layers = tuple(layer.changed(exact) for layer in layers)
    return ExactModel(registers, numbers, specials, position, layers, arithmetic, names_of_heads(blocks))


def names_of_heads(blocks: Sequence[BlockPlan]) -> tuple[tuple[str, ...], ...]:
    """Returns the names of the heads of each block."""
    return tuple(tuple(head.name for head in block.heads) for block in blocks)


def _numbers(family: Family, powers: Mapping[str, tuple[Number, int]], index: Mapping[str, int]) -> NumberFamily:
    """Returns a family of one or two numbers as a line through them."""
    if isinstance(family.high, int) and family.high - family.low < 2:
        rows = [
            {index[name]: exact(c) for name, c in row.items() if c} for row in Powers(family.low, family.high, powers)
        ]
        return describe_numbers(rows, family.low, family.high)
    indexed_powers = {index[name]: (exact(factor), exponent) for name, (factor, exponent) in powers.items() if factor}
    of_v = {
        i: prod([atom(NUMBER)] * exponent, start=ONE) * factor
        for i, (factor, exponent) in sorted(indexed_powers.items())
    }
    return NumberFamily(family.low, family.high, of_v)
