"""A model's weights as the engines use them: sparse rows of dyadic factors, rounded to the format once.

Source: section 3, definitions 3.1, 3.2 and 3.4. The rounding is that of `reference`, which reads weights by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from constructions.layers import Matrix, Transformer
from constructions.rows import Layer, Row, block_rows, matrix_rows
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

    def __bool__(self) -> bool:
        return self.mantissa != 0


def weight_of(integer: int) -> Weight:
    """Returns the integer as an odd mantissa and an exponent."""
    if integer == 0:
        return ZERO
    exponent = (integer & -integer).bit_length() - 1
    return Weight(integer >> exponent, exponent)


ZERO = Weight(0, 0)


def _unique(weights: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    """Returns the different numbers, ascending, and which one stands where. Runs of equal ones in a column are looked up once."""
    columns = weights.T
    begins = [np.flatnonzero(np.append(True, column[1:] != column[:-1])[: len(column)]) for column in columns]
    leads = [column[begin] for column, begin in zip(columns, begins, strict=True)]
    numbers = np.unique(np.concatenate([weights[:0].ravel(), *leads]))
    places = np.empty(columns.shape, np.int64)
    for row, lead, begin in zip(places, leads, begins, strict=True):
        row[:] = np.repeat(np.searchsorted(numbers, lead), np.diff(begin, append=len(row)))
    return numbers, places.T


def column_of(quanta: Sequence[int], places: NDArray[np.int64]) -> tuple[int, NDArray[Any]]:
    """Returns zeros, and mantissas that are these numbers of quanta by 2^zeros; in 64 bits if all are of 62."""
    held = np.flatnonzero(np.bincount(places, minlength=len(quanta)))
    numbers = [quanta[place] for place in held.tolist()]
    common = reduce(or_, numbers, 0)
    zeros = max(0, (common & -common).bit_length() - 1)
    mantissas = [number >> zeros for number in numbers]
    short = max(map(abs, mantissas), default=0) < 1 << 62
    table = np.zeros(len(quanta), np.int64 if short else object)
    table[held] = mantissas
    return zeros, table[places]


class Weights:
    """The weights of a model under one arithmetic; each kind is read when it is first asked for. Equal ones are rounded once."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        self.model, self.arithmetic = model, arithmetic
        self._known: dict[float, Weight] = {0.0: ZERO}  # models hold few different numbers
        self._fraction_bits = -arithmetic.format.quantum_exponent
        self._equally_spaced = arithmetic.format.is_fixed_point and self._fraction_bits >= 0

    def weight(self, weight: float) -> Weight:
        """Returns one weight as the format holds it."""
        if weight not in self._known:
            self._known[weight] = weight_of(self._quanta(weight))
        return self._known[weight]

    def distinct(self, weights: Matrix) -> tuple[list[int], NDArray[np.int64]]:
        """Returns the different numbers of an array, ascending, in quanta as the format holds them; and which one stands where."""
        numbers, places = _unique(weights)
        if not self._equally_spaced:
            return [self._quanta(number) for number in numbers.tolist()], places
        # Most are integers, or multiples of some 2^−bits, which many numbers are quickly asked for at once.
        bits = np.where(numbers == np.rint(numbers), 0, min(self._fraction_bits, 30))
        whole = np.ldexp(numbers, bits)
        easy = (whole == np.rint(whole)) & (np.abs(whole) < 2.0**62)
        shifts, most = (self._fraction_bits - bits).tolist(), self.arithmetic.format.max_quanta
        integers = np.where(easy, whole, 0).astype(np.int64).tolist()
        quanta = [integer << shift for integer, shift in zip(integers, shifts, strict=True)]
        hard = {*np.flatnonzero(~easy).tolist(), *(i for i, number in enumerate(quanta) if not -most <= number <= most)}
        for i in hard:
            quanta[i] = self._quanta(float(numbers[i]))
        return quanta, places

    def _quanta(self, weight: float) -> int:
        if self._equally_spaced:
            numerator, denominator = weight.as_integer_ratio()
            quanta, rest = divmod(numerator << self._fraction_bits, denominator)
            if not rest and abs(quanta) <= self.arithmetic.format.max_quanta:  # an element: most are
                return quanta
        return round_fraction(Fraction(weight), self.arithmetic.format, self.arithmetic.rounding).quanta

    @cached_property
    def embedding(self) -> tuple[list[int], list[int], NDArray[np.int64]]:
        """The registers that words fill, and `distinct` of the words there."""
        used = np.flatnonzero(self.model.words.any(axis=0)).tolist()
        return used, *self.distinct(self.model.words[:, used])

    @cached_property
    def output(self) -> tuple[list[int], list[int], NDArray[np.int64]]:
        """The registers that the output head reads, and `distinct` of its weights there."""
        if self.model.unembed is self.model.words:
            return self.embedding
        used = np.flatnonzero(self.model.unembed.any(axis=0)).tolist()
        return used, *self.distinct(self.model.unembed[:, used])

    @cached_property
    def words(self) -> dict[int, list[int]]:
        """Register → the embedding of each word there, in quanta; without the registers that are 0 in all."""
        used, quanta, places = self.embedding
        return {register: [quanta[p] for p in places[:, i].tolist()] for i, register in enumerate(used)}

    @cached_property
    def position(self) -> dict[int, int]:
        """Register → the slope of the position's embedding, in quanta; without zeros."""
        return {register: weight.quanta for register, weight in self._rows(self.model.position[None])[0]}

    @cached_property
    def blocks(self) -> tuple[Layer, ...]:
        """The blocks in order."""
        return tuple(block_rows(block, self.weight) for block in self.model.blocks)

    @cached_property
    def unembed(self) -> tuple[Row, ...]:
        """The output head: for each token, its row over the registers."""
        return self._rows(self.model.unembed)

    def _rows(self, matrix: Matrix) -> tuple[Row, ...]:
        return matrix_rows(matrix, self.weight)
