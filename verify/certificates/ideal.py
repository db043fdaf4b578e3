"""The ideal model, as an engine of its own: exact rationals, and attention that averages the keys of largest score.

It shares nothing with the checker or with the engines but the matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.layers import Block, FeedForward, Matrix, Transformer

Number = int | Fraction  # an int where it is one: those calculate ten times as fast
Vector = Sequence[Number]
Rows = list[list[tuple[int, Number]]]


def _number(weight: float) -> Number:
    return int(weight) if weight.is_integer() else Fraction(weight)


def _mean(values: Sequence[Number]) -> Number:
    whole = Fraction(sum(values), len(values)) if len(values) > 1 else values[0]
    return whole.numerator if whole.denominator == 1 else whole


def _rows(matrix: Matrix) -> Rows:
    return [[(j, _number(float(row[j]))) for j in np.flatnonzero(row).tolist()] for row in matrix]


def _times(rows: Rows, x: Vector) -> Vector:
    return [sum(w * x[j] for j, w in row if x[j]) for row in rows]


def _dot(a: Vector, b: Vector) -> Number:
    return sum(x * y for x, y in zip(a, b, strict=True) if x and y)


@dataclass(frozen=True)
class _Affine:
    """Rows and their constants."""

    rows: Rows
    constants: Vector

    def at(self, x: Vector) -> Vector:
        return [value + c for value, c in zip(_times(self.rows, x), self.constants, strict=True)]


def _affine(matrix: Matrix, constants: Matrix) -> _Affine:
    return _Affine(_rows(matrix), [_number(float(c)) for c in constants])


@dataclass(frozen=True)
class _FeedForward:
    gate: _Affine
    up: _Affine
    down: _Affine

    @staticmethod
    def of(weights: FeedForward) -> _FeedForward:
        gate, up = _affine(weights.gate, weights.gate_bias), _affine(weights.up, weights.up_bias)
        return _FeedForward(gate, up, _affine(weights.down, weights.down_bias))

    def at(self, x: Vector) -> Vector:
        pairs = zip(self.gate.at(x), self.up.at(x), strict=True)
        hidden = [gate * up if gate > 0 else 0 for gate, up in pairs]
        return [value + old for value, old in zip(self.down.at(hidden), x, strict=True)]


@dataclass(frozen=True)
class _Head:
    query: Rows
    key: Rows
    value: Rows
    out: Rows

    def reads(self, stream: Sequence[Vector]) -> Iterator[Vector]:
        """What each position reads, as W_O writes it."""
        queries, keys, values = ([_times(rows, x) for x in stream] for rows in (self.query, self.key, self.value))
        for k, query in enumerate(queries):
            scores = [_dot(query, key) for key in keys[: k + 1]]
            best = max(scores)
            winners = [value for value, score in zip(values, scores, strict=False) if score == best]
            yield _times(self.out, [_mean(column) for column in zip(*winners, strict=True)])


@dataclass(frozen=True)
class _Recurrence:
    carry: Rows
    feed: Rows

    def reads(self, stream: Sequence[Vector]) -> Iterator[Vector]:
        """The state behind each position."""
        state: Vector = [0] * len(self.carry)
        for x in stream:
            state = [a + b for a, b in zip(_times(self.carry, state), _times(self.feed, x), strict=True)]
            yield state


def _mixers(block: Block) -> list[_Head | _Recurrence]:
    if block.recurrence is not None:
        return [_Recurrence(_rows(block.recurrence.carry), _rows(block.recurrence.feed))]
    return [_Head(*map(_rows, (head.query, head.key, head.value, head.out))) for head in block.heads]


class IdealModel:
    """A model's matrices as exact rows."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self._mixers = [_mixers(block) for block in model.blocks]
        self._feed_forwards = [_FeedForward.of(block.feed_forward) for block in model.blocks]
        self._words = _rows(model.unembed)

    def run(self, tokens: Sequence[int]) -> tuple[list[list[Vector]], list[int]]:
        """At each position the registers behind the embedding and each sublayer, as a Step has them; and the argmax there."""
        model = self._model
        stream: list[Vector] = [
            [
                _number(float(w)) + position * _number(float(p))
                for w, p in zip(model.words[token], model.position, strict=True)
            ]
            for position, token in enumerate(tokens, start=1)
        ]
        history: list[list[Vector]] = [[x] for x in stream]
        for mixers, feed_forward in zip(self._mixers, self._feed_forwards, strict=True):
            found = [mixer.reads(stream) for mixer in mixers]
            stream = [[sum(column) for column in zip(x, *map(next, found), strict=True)] for x in stream]
            for past, x in zip(history, stream, strict=True):
                past.append(x)
            stream = [feed_forward.at(x) for x in stream]
            for past, x in zip(history, stream, strict=True):
                past.append(x)
        logits = [_times(self._words, x) for x in stream]
        return history, [row.index(max(row)) for row in logits]
