"""A model's weights as the dense engine uses them: sparse rows of dyadic factors, rounded to the format once.

Source: section 3, definitions 3.1, 3.2 and 3.4; the rounding and the operators are those of the reference engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from constructions.engines.dense.column import Weight, weight_of
from constructions.engines.reference import Flags, FlagSite
from constructions.layers import AttentionHead, Block, Matrix, Recurrence, Transformer
from precision.format import Arithmetic
from precision.rounding import round_fraction

Row = tuple[tuple[int, Weight], ...]  # (coordinate, factor in quanta) in the order of coordinates, zeros left out


@dataclass(frozen=True)
class HeadWeights:
    """One attention head: rows over the registers."""

    query: tuple[Row, ...]
    key: tuple[Row, ...]
    value: tuple[Row, ...]


class StateRow(NamedTuple):
    """One register of a recurrence: its row over the states before and the registers now, end to end."""

    register: int
    row: Row


@dataclass(frozen=True)
class BlockWeights:
    """One block. out: register, row over the heads' outputs end to end. down: register, row over the units, bias."""

    heads: tuple[HeadWeights, ...]
    out: tuple[tuple[int, Row], ...]
    recurrence: tuple[StateRow, ...]
    gate: tuple[tuple[Row, Weight], ...]
    up: tuple[tuple[Row, Weight], ...]
    down: tuple[tuple[int, Row, Weight], ...]


@dataclass(frozen=True)
class ModelWeights:
    """A model in quanta. words: (vocabulary, d) integers by register. position: register → slope."""

    width: int
    vocabulary: int
    words: dict[int, list[int]]
    position: dict[int, int]
    blocks: tuple[BlockWeights, ...]
    unembed: tuple[Row, ...]


class _Loader:
    """Rounds weights; equal ones once, as models hold few different numbers."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.known: dict[float, int] = {}

    def quanta(self, weight: float) -> int:
        if weight not in self.known:
            rounded = round_fraction(Fraction(weight), self.arithmetic.format, self.arithmetic.rounding)
            self.known[weight] = rounded.quanta
        return self.known[weight]

    def weight(self, weight: float) -> Weight:
        return weight_of(self.quanta(weight))

    def row(self, row: Matrix) -> Row:
        entries = ((j, self.weight(float(row[j]))) for j in np.flatnonzero(row).tolist())
        return tuple((j, weight) for j, weight in entries if weight.mantissa)

    def rows(self, matrix: Matrix) -> tuple[Row, ...]:
        return tuple(self.row(row) for row in matrix)

    def biased(self, matrix: Matrix, bias: Matrix) -> tuple[tuple[Row, Weight], ...]:
        return tuple((self.row(row), self.weight(float(b))) for row, b in zip(matrix, bias, strict=True))

    def head(self, head: AttentionHead) -> HeadWeights:
        return HeadWeights(self.rows(head.query), self.rows(head.key), self.rows(head.value))

    def recurrence(self, recurrence: Recurrence) -> tuple[StateRow, ...]:
        joined = np.concatenate([recurrence.carry, recurrence.feed], axis=1)  # (d, 2d)
        rows = [StateRow(r, self.row(joined[r])) for r in np.flatnonzero(joined.any(axis=1)).tolist()]
        return tuple(row for row in rows if row.row)  # the state of all other registers stays 0

    def block(self, block: Block) -> BlockWeights:
        out = []
        if block.heads:
            joined = np.concatenate([head.out for head in block.heads], axis=1)  # (d, all value widths)
            out = [(r, self.row(joined[r])) for r in np.flatnonzero(joined.any(axis=1)).tolist()]
        ffn = block.feed_forward
        down = []
        for register, (row, bias) in enumerate(self.biased(ffn.down, ffn.down_bias)):
            if row or bias.mantissa:
                down.append((register, row, bias))
        return BlockWeights(
            heads=tuple(self.head(head) for head in block.heads),
            out=tuple(out),
            recurrence=() if block.recurrence is None else self.recurrence(block.recurrence),
            gate=self.biased(ffn.gate, ffn.gate_bias),
            up=self.biased(ffn.up, ffn.up_bias),
            down=tuple(down),
        )


def load(model: Transformer, arithmetic: Arithmetic) -> ModelWeights:
    """The weights of `model`, rounded to the format as the reference engine rounds them."""
    loader = _Loader(arithmetic)
    words: dict[int, list[int]] = {}
    for register in np.flatnonzero(model.words.any(axis=0)).tolist():
        words[register] = [loader.quanta(float(word)) for word in model.words[:, register]]
    return ModelWeights(
        width=model.width,
        vocabulary=len(model.words),
        words=words,
        position={r: loader.quanta(float(model.position[r])) for r in np.flatnonzero(model.position).tolist()},
        blocks=tuple(loader.block(block) for block in model.blocks),
        unembed=loader.rows(model.unembed),
    )


def coordinates(rows: Sequence[Row]) -> set[int]:
    """Every coordinate that some row reads."""
    return {j for row in rows for j, _ in row}


def weight_flags(model: Transformer, arithmetic: Arithmetic) -> Flags:
    """The flags of the weights that are no elements of the format: at position 0, before any token."""
    flags = Flags()
    for block, site, matrix in _weights(model):
        values, counts = np.unique(matrix, return_counts=True)
        count = sum(
            count
            for value, count in zip(values.tolist(), counts.tolist(), strict=True)
            if value and not _is_element(value, arithmetic)
        )
        if count:
            key = FlagSite("weight rounded", block, site)
            flags.counts[key] = flags.counts.get(key, 0) + count
            flags.first_position[key] = 0
    return flags


def _weights(model: Transformer) -> Iterator[tuple[int, str, Matrix]]:
    """Block, site and matrix of all weights, as the reference engine loads them."""
    yield 0, "words", model.words
    yield 0, "position", model.position
    for number, block in enumerate(model.blocks, start=1):
        for i, head in enumerate(block.heads):
            yield number, f"attn.{i}.query", head.query
            yield number, f"attn.{i}.key", head.key
            yield number, f"attn.{i}.value", head.value
        for head in block.heads:
            yield number, "attn.out", head.out
        ffn = block.feed_forward
        yield number, "ffn.down_bias", ffn.down_bias
        yield number, "ffn.down", ffn.down
        if block.recurrence is not None:
            yield number, "recurrence.carry", block.recurrence.carry
            yield number, "recurrence.feed", block.recurrence.feed
        yield number, "ffn.gate", ffn.gate
        yield number, "ffn.gate_bias", ffn.gate_bias
        yield number, "ffn.up", ffn.up
        yield number, "ffn.up_bias", ffn.up_bias
    yield len(model.blocks) + 1, "unembed", model.unembed


def _is_element(weight: float, arithmetic: Arithmetic) -> bool:
    """Whether the format holds the weight, so that rounding leaves it as it is."""
    fmt = arithmetic.format
    return round_fraction(Fraction(weight), fmt, arithmetic.rounding).quanta * fmt.quantum == Fraction(weight)
