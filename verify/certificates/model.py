"""A model whose vocabulary is described, not listed: families of numbers by polynomials, and finitely many special words.

So the certificate of a model for n = 10^12 is made from as many numbers as one for n = 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.layers import Block, Matrix, Transformer
from precision.format import Arithmetic
from verify.certificates.polynomial import Polynomial, atom, constant, total

NUMBER = "v"
Row = tuple[tuple[int, Fraction], ...]  # (coordinate, weight), zeros left out


@dataclass(frozen=True)
class Numbers:
    """The tokens low … high: number v has polynomials in the atom `v` in these coordinates."""

    low: int
    high: int
    rows: Mapping[int, Polynomial]


@dataclass(frozen=True)
class Model:
    """A Transformer with a described vocabulary.

    registers: the coordinates' names, used only to print. specials: word → its row. position: what is added for each position.
    The output head is the embedding.
    """

    registers: tuple[str, ...]
    numbers: Numbers
    specials: Mapping[str, Row]
    position: Row
    blocks: tuple[Block, ...]
    arithmetic: Arithmetic

    def live(self, block: int, *, feed_forward: bool = False) -> frozenset[int]:
        """Coordinates that are read or added to behind this block (from 0), or by its feed-forward too, or by the output head."""
        used = set(self.numbers.rows) | {i for row in self.specials.values() for i, _ in row}
        for number, later in enumerate(self.blocks[block:], start=block):
            ffn = later.feed_forward
            if number > block or feed_forward:
                used |= _columns(ffn.gate) | _columns(ffn.up) | _columns(ffn.down.T) | _columns(ffn.down_bias[None])
            if number > block:
                for head in later.heads:
                    used |= _columns(head.query) | _columns(head.key) | _columns(head.value) | _columns(head.out.T)
        return frozenset(used)


def _columns(matrix: Matrix) -> set[int]:
    """Those that are not zero."""
    return set(np.flatnonzero(matrix.any(axis=0)).tolist())


def sparse(row: Matrix) -> Row:
    """The entries of a matrix row that are not zero, exactly."""
    return tuple((int(i), Fraction(float(row[i]))) for i in np.flatnonzero(row))


def describe_numbers(rows: Matrix, low: int, high: int) -> Numbers:
    """Numbers low … high, of which the first are given: at most quadratic in v, and all the given rows agree.

    Raises ValueError if a row does not.
    """
    found: dict[int, Polynomial] = {}
    v = atom(NUMBER) - constant(low)
    for i in np.flatnonzero(rows.any(axis=0)).tolist():
        column = [Fraction(float(value)) for value in rows[:, i]]
        first = column[0]
        slope = column[1] - first if len(column) > 1 else Fraction(0)
        bend = (column[2] - 2 * column[1] + first) / 2 if len(column) > 2 else Fraction(0)
        found[i] = total([constant(first), v * (slope - bend), v * v * bend])
        for j, value in enumerate(column):
            if found[i].substitute({NUMBER: constant(low + j)}) != constant(value):
                raise ValueError(
                    f"the embedding of numbers is no quadratic polynomial: number {low + j}, coordinate {i}"
                )
    return Numbers(low, high, found)


def described(
    model: Transformer,
    arithmetic: Arithmetic,
    registers: Sequence[str],
    vocabulary: Sequence[str],
    numbers: int,
    n: int,
) -> Model:
    """A model of which the first `numbers` rows are the numbers 1, 2, …, up to n. Raises ValueError for an untied output head."""
    if model.unembed is not model.words and not np.array_equal(model.unembed, model.words):
        raise ValueError("the output head is not the embedding")
    specials = {word: sparse(row) for word, row in zip(vocabulary[numbers:], model.words[numbers:], strict=True)}
    return Model(
        tuple(registers),
        describe_numbers(model.words[:numbers], 1, n),
        specials,
        sparse(model.position),
        model.blocks,
        arithmetic,
    )
