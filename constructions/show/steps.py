"""What each token of a run left behind, for the trace: registers and attention patterns.

The registers of every sublayer are those of the engine that ran, and all engines have the same. A softmax column is what the
reference engine has by definition: all scores of the column, exactly, rounded, and their correctly rounded softmax. Where some
lead clearly, these share 1 alike (precision/winners.py). Nobody pays for columns that are not shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constructions.engines.known import Stream, read_text
from constructions.engines.weights import Weights
from constructions.layers import Transformer
from constructions.rows import HeadRows, Layer, Row
from precision.format import Arithmetic, Discipline, Rounding
from precision.softmax import softmax
from precision.winners import vanishing_lead, winners_share

Integers = NDArray[Any]  # Python integers
Pattern = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Steps:
    """What the tokens of a run left behind, bit for bit as `constructions.engines.reference.Step` has it.

    streams: by sublayer, that of the embedding first; streams[sublayer][register][place], the place from 0, is in quanta.
    heads: by block. next_tokens: the argmax at each position.
    """

    streams: Sequence[Stream]
    heads: Sequence[Sequence[_ShownHead]]
    next_tokens: Sequence[int]
    weights: Weights

    def attention(self, position: int) -> Sequence[Sequence[Pattern]]:
        """Returns the attention pattern of each head of each block at a position, which counts from 1."""
        return [[head.pattern(position) for head in block] for block in self.heads]

    def reading(self, block: int, number: int, position: int) -> Sequence[int]:
        """Returns what a head reads there, before W_O, in quanta. block, number, position: from 1."""
        return self.heads[block - 1][number - 1].reading(position)

    @cached_property
    def layers(self) -> Sequence[Layer]:
        """The blocks, with weights as integers in quanta."""
        return [layer.changed(lambda weight: weight.quanta) for layer in self.weights.blocks]

    def argmax(self, registers: Sequence[int]) -> int:
        """Returns the token that the output head makes of these registers, in quanta: the first of the likeliest."""
        factors = [(column, registers[j]) for column, j in enumerate(self._outputs[0]) if registers[j]]
        logits = _dot(self._outputs[1], factors, self.weights.arithmetic, len(self.weights.model.unembed))
        return int(np.argmax(logits))

    @cached_property
    def _outputs(self) -> tuple[Sequence[int], Sequence[Integers]]:
        """Returns the registers that the output head reads, and the column of each, in quanta."""
        unembed = self.weights.model.unembed
        used = np.flatnonzero(unembed.any(axis=0)).tolist()
        numbers, places = self.weights.distinct(unembed[:, used])
        return used, list(np.array(numbers, object)[places].T)


def observed(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> Steps:
    """Returns the registers and the attention of a run over these tokens.

    Raises ValueError for another arithmetic than R_p to the nearest.
    """
    if not arithmetic.format.is_fixed_point or arithmetic.rounding is not Rounding.NEAREST_EVEN:
        raise ValueError("the trace knows fixed point, rounded to the nearest with ties to even")
    weights, known = Weights(model, arithmetic), read_text(model, arithmetic, tokens)
    heads = [
        [_ShownHead(head, arithmetic, known.streams[2 * i]) for head in layer.heads]
        for i, layer in enumerate(weights.blocks)
    ]
    return Steps(known.streams, heads, known.next_tokens, weights)


@dataclass(frozen=True, eq=False)
class _ShownHead:
    """One head: its weights, and the registers before it."""

    weights: HeadRows
    arithmetic: Arithmetic
    before: Stream
    patterns: dict[int, Pattern] = field(default_factory=dict)  # that were asked for

    def pattern(self, position: int) -> Pattern:
        """Returns the pairs (position, weight) with a weight other than 0. position: of the query. Positions count from 1."""
        if position not in self.patterns:
            self.patterns[position] = self._pattern(position - 1)
        return self.patterns[position]

    def reading(self, position: int) -> Sequence[int]:
        """Returns Σ weight·value over the pattern, before W_O, in quanta. position: that asks, from 1."""
        pattern = self.pattern(position)
        seen = [[register[k - 1] for k, _ in pattern] for register in self.before]
        weights = list(enumerate(weight for _, weight in pattern))
        values = [_dot(seen, _factors(row), self.arithmetic, len(pattern)) for row in self.weights.value]
        return [int(_dot([*value[:, None]], weights, self.arithmetic, 1)[0]) for value in values]

    def _pattern(self, place: int) -> Pattern:
        wishes = [_dot([[register[place]] for register in self.before], row, self.arithmetic) for row in self._queries]
        factors = [(j, int(wish[0])) for j, wish in enumerate(wishes) if wish[0]]
        keys = [row[: place + 1] for row in self._keys]
        if self.arithmetic.discipline is Discipline.FUSED and (pattern := self._clear_pattern(keys, factors, place)):
            return pattern
        scores = _dot(keys, factors, self.arithmetic, place + 1)
        shares = softmax(scores.tolist(), self.arithmetic).weights
        return tuple((k, weight) for k, weight in enumerate(shares, start=1) if weight)

    def _clear_pattern(self, keys: Sequence[Integers], factors: Sequence[tuple[int, int]], place: int) -> Pattern:
        """Returns the pattern of a column whose winners lead clearly before scores are rounded; else nothing."""
        fmt = self.arithmetic.format
        shift = -fmt.quantum_exponent
        exact = sum((keys[j] * factor for j, factor in factors), np.full(place + 1, 0, object))
        top = exact.max()
        wins = exact == top
        rest = exact[~wins]
        gap = (
            math.ceil(vanishing_lead(len(rest), shift) / fmt.quantum) + 2 << shift
        )  # rounding moves less than a quantum
        most = fmt.max_quanta << shift
        if len(rest) and not (top - rest.max() >= gap and gap - most <= top <= most):
            return ()
        share = winners_share(int(wins.sum()), self.arithmetic, losers=len(rest) > 0)
        return tuple((int(k) + 1, share) for k in np.flatnonzero(wins)) if share else ()

    @property
    def _queries(self) -> Sequence[Sequence[tuple[int, int]]]:
        return [_factors(row) for row in self.weights.query]

    @cached_property
    def _keys(self) -> Sequence[Integers]:
        """The key rows at all positions."""
        return [_dot(self.before, _factors(row), self.arithmetic) for row in self.weights.key]


def _factors(row: Row) -> list[tuple[int, int]]:
    return [(j, weight.quanta) for j, weight in row]


def _dot(
    columns: Sequence[Sequence[int] | Integers],
    factors: Sequence[tuple[int, int]],
    arithmetic: Arithmetic,
    length: int | None = None,
) -> Integers:
    """Returns Σ column[j]·factor, rounded once, or after every product and sum. length: of the columns."""
    shift = -arithmetic.format.quantum_exponent
    result = np.full(len(columns[0]) if length is None else length, 0, object)
    for j, factor in factors:
        product = np.asarray(columns[j], object) * factor
        if arithmetic.discipline is Discipline.FUSED:
            result = result + product
        else:
            result = _round(result + _round(product, shift, arithmetic), 0, arithmetic)
    return _round(result, shift, arithmetic) if arithmetic.discipline is Discipline.FUSED else result


def _round(values: Integers, shift: int, arithmetic: Arithmetic) -> Integers:
    """Rounds values / 2^shift to the nearest integer, ties to even, saturated to the format's range."""
    if shift > 0:
        values = (values + ((1 << (shift - 1)) - 1) + ((values >> shift) & 1)) >> shift
    most = arithmetic.format.max_quanta
    return np.minimum(np.maximum(values, -most), most)
