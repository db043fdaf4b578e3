"""What each token of a run left behind, for the trace: registers from the indexed engine, attention patterns when asked for.

The registers of every sublayer are those that `indexed` ran on, and all engines have the same. A pattern is what the reference
engine has by definition: all scores of a column, exactly, rounded, and their correctly rounded softmax; here the scores of one
column are numpy operations on Python integers, and nobody pays for columns that are not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from constructions.engines.indexed.column import Column
from constructions.layers import AttentionHead, Matrix, Transformer
from precision.format import Arithmetic, Discipline, Rounding
from precision.rounding import round_fraction
from precision.softmax import softmax

Integers = NDArray[Any]  # Python integers
Pattern = tuple[tuple[int, int], ...]


class Step(Protocol):
    """One token: see `constructions.engines.reference.Step`."""

    @property
    def registers(self) -> Sequence[Sequence[int]]: ...
    @property
    def attention(self) -> Sequence[Sequence[Pattern]]: ...
    @property
    def next_token(self) -> int: ...


def observed_steps(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> list[Step]:
    """A step for each token, by a run of the indexed engine. Raises ValueError for another arithmetic than R_p to the nearest."""
    if not arithmetic.format.is_fixed_point or arithmetic.rounding is not Rounding.NEAREST_EVEN:
        raise ValueError("the trace knows fixed point, rounded to the nearest with ties to even")
    from constructions.engines import indexed

    exponent = arithmetic.format.quantum_exponent
    sublayers: list[Integers] = []

    def keep(block: int, sublayer: str, columns: Sequence[Column]) -> None:
        sublayers.append(np.array([column.to_quanta(exponent) for column in columns], object).T)

    found = indexed.run(model, arithmetic, tokens, observe=keep)
    heads = [
        [_Head.of(head, arithmetic, before) for head in block.heads]
        for block, before in zip(model.blocks, sublayers[::2], strict=False)
    ]
    return [_Step(sublayers, heads, place, int(token)) for place, token in enumerate(found.next_tokens)]


@dataclass(frozen=True, eq=False)
class _Step:
    """place: the position from 0. heads: by block."""

    sublayers: Sequence[Integers]
    heads: Sequence[Sequence[_Head]]
    place: int
    next_token: int

    @property
    def registers(self) -> Sequence[Sequence[int]]:
        return [table[self.place] for table in self.sublayers]

    @cached_property
    def attention(self) -> Sequence[Sequence[Pattern]]:
        return [[head.pattern(self.place) for head in block] for block in self.heads]


@dataclass(frozen=True, eq=False)
class _Head:
    """Keys and queries of all positions in quanta. Shapes: (positions, score width)."""

    keys: Integers
    queries: Integers
    arithmetic: Arithmetic

    @staticmethod
    def of(head: AttentionHead, arithmetic: Arithmetic, before: Integers) -> _Head:
        return _Head(_rows(head.key, before, arithmetic), _rows(head.query, before, arithmetic), arithmetic)

    def pattern(self, place: int) -> Pattern:
        """(position from 1, weight) where the weight is not 0."""
        factors = [(j, q) for j, q in enumerate(self.queries[place]) if q]
        scores = _dot(self.keys[: place + 1], factors, self.arithmetic)
        weights = softmax(scores.tolist(), self.arithmetic).weights
        return tuple((k, weight) for k, weight in enumerate(weights, start=1) if weight)


def _rows(matrix: Matrix, vectors: Integers, arithmetic: Arithmetic) -> Integers:
    """Every row of a matrix on every vector. Shapes: (rows, d), (positions, d) → (positions, rows)."""
    rows = [
        [(int(j), round_fraction(Fraction(float(row[j])), arithmetic.format).quanta) for j in np.flatnonzero(row)]
        for row in matrix
    ]
    return np.array([_dot(vectors, row, arithmetic) for row in rows], object).reshape(len(rows), len(vectors)).T


def _dot(vectors: Integers, factors: Sequence[tuple[int, int]], arithmetic: Arithmetic) -> Integers:
    """Σ vector[j]·factor over the factors (j, factor), rounded once, or after every product and sum."""
    shift = -arithmetic.format.quantum_exponent
    result = np.full(len(vectors), 0, object)
    if arithmetic.discipline is Discipline.FUSED:
        for j, factor in factors:
            result = result + vectors[:, j] * factor
        return _rounded(result, shift, arithmetic)
    for j, factor in factors:
        result = _rounded(result + _rounded(vectors[:, j] * factor, shift, arithmetic), 0, arithmetic)
    return result


def _rounded(values: Integers, shift: int, arithmetic: Arithmetic) -> Integers:
    """values / 2^shift to the nearest, ties to even, saturated."""
    if shift > 0:
        values = (values + ((1 << (shift - 1)) - 1) + ((values >> shift) & 1)) >> shift
    most = arithmetic.format.max_quanta
    return np.minimum(np.maximum(values, -most), most)
