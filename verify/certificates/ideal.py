"""The ideal model, as an engine of its own: exact rationals, and attention that averages the keys of largest score.

It shares nothing with the checker or with the engines but the matrices, and what decoding is told and returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from constructions.engines import Decoded, Decoding
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
    return [sum([w * x[j] for j, w in row if x[j]]) for row in rows]


@dataclass(frozen=True)
class _Affine:
    """Rows and their constants."""

    rows: Rows
    constants: Vector

    def value_at(self, x: Vector) -> Vector:
        return [value + c for value, c in zip(_times(self.rows, x), self.constants, strict=True)]


def _affine(matrix: Matrix, constants: Matrix) -> _Affine:
    return _Affine(_rows(matrix), [_number(float(c)) for c in constants])


@dataclass(frozen=True)
class _FeedForward:
    gate: _Affine
    up: _Affine
    down: _Affine

    @staticmethod
    def from_matrices(weights: FeedForward) -> _FeedForward:
        gate, up = _affine(weights.gate, weights.gate_bias), _affine(weights.up, weights.up_bias)
        return _FeedForward(gate, up, _affine(weights.down, weights.down_bias))

    def value_at(self, x: Vector) -> Vector:
        pairs = zip(self.gate.value_at(x), self.up.value_at(x), strict=True)
        hidden = [gate * up if gate > 0 else 0 for gate, up in pairs]
        return [value + old for value, old in zip(self.down.value_at(hidden), x, strict=True)]


@dataclass
class _IdealHead:
    query: Rows
    key: Rows
    value: Rows
    out: Rows
    keys: list[list[Number]] = field(default_factory=list)  # by component, then by position
    values: list[Vector] = field(default_factory=list)

    def read(self, x: Vector) -> Vector:
        """Returns what the next position reads, as W_O writes it."""
        self.keys = self.keys or [[] for _ in self.key]
        for component, number in zip(self.keys, _times(self.key, x), strict=True):
            component.append(number)
        self.values.append(_times(self.value, x))
        scores: list[Number] = [0] * len(self.values)
        for number, component in zip(_times(self.query, x), self.keys, strict=True):
            if number:
                scores = [score + number * other for score, other in zip(scores, component, strict=True)]
        best = max(scores)
        winners = [value for value, score in zip(self.values, scores, strict=True) if score == best]
        return _times(self.out, [_mean(column) for column in zip(*winners, strict=True)])


@dataclass
class _Recurrence:
    carry: Rows
    feed: Rows
    state: Vector = ()

    def read(self, x: Vector) -> Vector:
        """Returns the state after the next position."""
        state = self.state or [0] * len(self.carry)
        self.state = [a + b for a, b in zip(_times(self.carry, state), _times(self.feed, x), strict=True)]
        return self.state


def _mixers(block: Block) -> list[_IdealHead | _Recurrence]:
    if block.recurrence is not None:
        return [_Recurrence(_rows(block.recurrence.carry), _rows(block.recurrence.feed))]
    return [_IdealHead(_rows(head.query), _rows(head.key), _rows(head.value), _rows(head.out)) for head in block.heads]


class IdealModel:
    """A model's matrices as exact rows, and what it has read."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self._mixers = [_mixers(block) for block in model.blocks]
        self._feed_forwards = [_FeedForward.from_matrices(block.feed_forward) for block in model.blocks]
        self._words = _rows(model.unembed)
        self._position = 0

    def append(self, token: int) -> tuple[list[Vector], int]:
        """Appends a token. Returns the registers there after the embedding and each sublayer, as a Step has them, and the
        argmax.
        """
        self._position += 1
        embedded = zip(self._model.words[token], self._model.position, strict=True)
        x: Vector = [_number(float(w)) + self._position * _number(float(p)) for w, p in embedded]
        history = [x]
        for mixers, feed_forward in zip(self._mixers, self._feed_forwards, strict=True):
            x = [sum(column) for column in zip(x, *(mixer.read(x) for mixer in mixers), strict=True)]
            history.append(x)
            x = feed_forward.value_at(x)
            history.append(x)
        logits = _times(self._words, x)
        return history, logits.index(max(logits))

    def run(self, tokens: Sequence[int]) -> tuple[list[list[Vector]], list[int]]:
        """Returns a text from its beginning: what `append` says of each position."""
        afresh = IdealModel(self._model)
        steps = [afresh.append(token) for token in tokens]
        return [history for history, _ in steps], [following for _, following in steps]


def decode(asked: Decoding) -> Decoded:
    """Decodes token by token, as engines do. Nothing is rounded, so neither the format nor the length matters."""
    ideal, sequence, read = IdealModel(asked.model), list(asked.prompt), 0
    longest = len(sequence) + asked.limit
    while len(sequence) < longest:
        following = [ideal.append(token)[1] for token in sequence[read:]][-1]
        read = len(sequence)
        sequence.append(following)
        if following in asked.stop:
            break
        sequence.extend(asked.respond(sequence))
        asked.tick(len(sequence))
    return Decoded(sequence[len(asked.prompt) :], None, "ideal")
