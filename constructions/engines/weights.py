"""A model's weights as the engines use them: sparse rows of dyadic factors, rounded to the format once.

Source: section 3, definitions 3.1, 3.2 and 3.4. The rounding is that of `reference`, which reads weights by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constructions.layers import AttentionHead, Block, Matrix, Recurrence, Transformer
from precision.format import Arithmetic
from precision.rounding import round_fraction


class Weight(NamedTuple):
    """mantissa · 2^exponent quanta, mantissa odd; (0, 0) is zero."""

    mantissa: int
    exponent: int

    @property
    def quanta(self) -> int:
        """The same as one integer."""
        return self.mantissa << self.exponent


def weight_of(integer: int) -> Weight:
    """The integer as an odd mantissa and an exponent."""
    if integer == 0:
        return ZERO
    exponent = (integer & -integer).bit_length() - 1
    return Weight(integer >> exponent, exponent)


ZERO = Weight(0, 0)
Row = tuple[tuple[int, Weight], ...]  # (coordinate, weight) in the order of coordinates, zeros left out


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
    """One block. gate, up: row over the registers, bias. out: register, row over the heads' outputs end to end.

    down: register, row over the units, bias. What neither `out` nor `recurrence` nor `down` lists is 0.
    """

    heads: tuple[HeadWeights, ...]
    out: tuple[tuple[int, Row], ...]
    recurrence: tuple[StateRow, ...]
    gate: tuple[tuple[Row, Weight], ...]
    up: tuple[tuple[Row, Weight], ...]
    down: tuple[tuple[int, Row, Weight], ...]

    @cached_property
    def units(self) -> dict[tuple[int, ...], list[int]]:
        """The feed-forward's units, by the registers that they read."""
        units: dict[tuple[int, ...], list[int]] = {}
        for i, ((gate, _), (up, _)) in enumerate(zip(self.gate, self.up, strict=True)):
            units.setdefault(tuple(coordinates((gate, up))), []).append(i)
        return units


class Weights:
    """The weights of a model under one arithmetic; each kind is read when it is first asked for. Equal ones are rounded once."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        self.model, self.arithmetic = model, arithmetic
        self._known: dict[float, Weight] = {0.0: ZERO}  # models hold few different numbers
        self._fraction_bits = -arithmetic.format.quantum_exponent
        self._equally_spaced = arithmetic.format.is_fixed_point and self._fraction_bits >= 0

    def weight(self, weight: float) -> Weight:
        """One weight as the format holds it."""
        if weight not in self._known:
            self._known[weight] = weight_of(self._quanta(weight))
        return self._known[weight]

    def distinct(self, weights: Matrix) -> tuple[list[int], NDArray[np.int64]]:
        """The different numbers of an array, ascending, in quanta as the format holds them; and which one stands where."""
        numbers, places = np.unique(weights, return_inverse=True)
        if not self._equally_spaced:
            return [self._quanta(number) for number in numbers.tolist()], places.reshape(weights.shape)
        # Most are multiples of some 2^−bits, which many numbers are quickly asked for at once.
        bits = min(self._fraction_bits, 30)
        whole = np.ldexp(numbers, bits)
        easy = (whole == np.rint(whole)) & (np.abs(whole) < 2.0**62)
        shift, most = self._fraction_bits - bits, self.arithmetic.format.max_quanta
        quanta = [integer << shift for integer in np.where(easy, whole, 0).astype(np.int64).tolist()]
        hard = {*np.flatnonzero(~easy).tolist(), *(i for i, number in enumerate(quanta) if not -most <= number <= most)}
        for i in hard:
            quanta[i] = self._quanta(float(numbers[i]))
        return quanta, places.reshape(weights.shape)

    def _quanta(self, weight: float) -> int:
        if self._equally_spaced:
            numerator, denominator = weight.as_integer_ratio()
            quanta, rest = divmod(numerator << self._fraction_bits, denominator)
            if not rest and abs(quanta) <= self.arithmetic.format.max_quanta:  # an element: most are
                return quanta
        return round_fraction(Fraction(weight), self.arithmetic.format, self.arithmetic.rounding).quanta

    @cached_property
    def words(self) -> dict[int, list[int]]:
        """Register → the embedding of each word there, in quanta; without the registers that are 0 in all."""
        words = self.model.words
        used = np.flatnonzero(words.any(axis=0)).tolist()
        quanta, places = self.distinct(words[:, used])
        return {register: [quanta[p] for p in places[:, i].tolist()] for i, register in enumerate(used)}

    @cached_property
    def position(self) -> dict[int, int]:
        """Register → the slope of the position's embedding, in quanta; without zeros."""
        return {register: weight.quanta for register, weight in self._rows(self.model.position[None])[0]}

    @cached_property
    def blocks(self) -> tuple[BlockWeights, ...]:
        """The blocks in order."""
        return tuple(self._block(block) for block in self.model.blocks)

    @cached_property
    def unembed(self) -> tuple[Row, ...]:
        """The output head: for each token, its row over the registers."""
        return self._rows(self.model.unembed)

    def _rows(self, matrix: Matrix) -> tuple[Row, ...]:
        rows: list[list[tuple[int, Weight]]] = [[] for _ in matrix]
        i, j = np.nonzero(matrix)
        for row, coordinate, number in zip(i.tolist(), j.tolist(), matrix[i, j].tolist(), strict=True):
            weight = self.weight(number)
            if weight.mantissa:
                rows[row].append((coordinate, weight))
        return tuple(map(tuple, rows))

    def _biased(self, matrix: Matrix, bias: Matrix) -> tuple[tuple[Row, Weight], ...]:
        return tuple(zip(self._rows(matrix), map(self.weight, bias.tolist()), strict=True))

    def _present(self, matrix: Matrix) -> Iterator[tuple[int, Row]]:
        """The rows that are not 0 once they are rounded, with their numbers."""
        return ((r, row) for r, row in enumerate(self._rows(matrix)) if row)

    def _head(self, head: AttentionHead) -> HeadWeights:
        return HeadWeights(self._rows(head.query), self._rows(head.key), self._rows(head.value))

    def _recurrence(self, recurrence: Recurrence) -> tuple[StateRow, ...]:
        joined = np.concatenate([recurrence.carry, recurrence.feed], axis=1)  # (d, 2d)
        return tuple(StateRow(register, row) for register, row in self._present(joined))

    def _block(self, block: Block) -> BlockWeights:
        ffn = block.feed_forward
        down = enumerate(self._biased(ffn.down, ffn.down_bias))
        return BlockWeights(
            heads=tuple(self._head(head) for head in block.heads),
            out=tuple(self._present(np.concatenate([head.out for head in block.heads], axis=1))) if block.heads else (),
            recurrence=() if block.recurrence is None else self._recurrence(block.recurrence),
            gate=self._biased(ffn.gate, ffn.gate_bias),
            up=self._biased(ffn.up, ffn.up_bias),
            down=tuple((register, row, bias) for register, (row, bias) in down if row or bias.mantissa),
        )


def coordinates(rows: Iterable[Row]) -> list[int]:
    """Every coordinate that some row reads, in order."""
    return sorted({j for row in rows for j, _ in row})
