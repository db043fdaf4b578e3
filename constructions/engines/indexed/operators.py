"""The operators of the indexed engine: exact on columns, rounded as the arithmetic says, with a count of what saturates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from constructions.engines.indexed.column import Column, linear, rounded, zeros
from constructions.engines.indexed.mantissas import Array
from constructions.engines.weights import Weight
from constructions.rows import Row
from precision.format import Arithmetic, Discipline
from precision.rounding import round_shifted

NONE = (0, 0)  # to be added


class Operators:
    """Rounds weights, affine rows and dot products; one for each run over a chunk of positions.

    times: how many positions each place of its columns stands for, if not one.
    """

    def __init__(self, arithmetic: Arithmetic, times: Array | None = None) -> None:
        self.arithmetic = arithmetic
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.fraction_bits = -arithmetic.format.quantum_exponent
        self.saturations: dict[str, int] = {}
        self._times = times

    def for_many(self, times: Array) -> Operators:
        """Returns operators for columns whose places stand for several positions each. Counts saturations into this object."""
        result = Operators(self.arithmetic, times)
        result.saturations = self.saturations
        return result

    def counted(self, places: Array, number: int) -> Array:
        """Returns how many positions each of `number` new places stands for, if the columns' places go to these."""
        if self._times is None:
            return np.bincount(places, minlength=number)
        return np.bincount(places, self._times, number).astype(np.int64)  # below 2^53: exact

    def positions(self, places: Array) -> int:
        """Returns how many positions these places stand for."""
        return len(places) if self._times is None else int(self._times[places].sum())

    def round(self, column: Column, site: str, since: int = 0) -> Column:
        """Returns the column rounded. Saturations are counted from the place `since` on: those before it were counted before."""
        result, saturated = rounded(column, self.arithmetic)
        if saturated is None:
            return result
        counted = saturated[saturated >= since]
        if number := self.positions(counted):
            self.saturations[site] = self.saturations.get(site, 0) + number
        return result

    def row(
        self,
        weights: Row,
        columns: Sequence[Column] | Mapping[int, Column],
        bias: Weight,
        length: int,
        site: str,
        since: int = 0,
    ) -> Column:
        """Returns one row of an affine map under the discipline."""
        unit = -self.fraction_bits
        terms = [(mantissa, exponent + unit, columns[j]) for j, (mantissa, exponent) in weights]
        offset = bias.mantissa, bias.exponent + unit
        if self.fused:
            return self.round(linear(terms, offset, length), site, since)
        result = zeros(length)
        for term in terms:
            product = self.round(linear([term], NONE, length), site, since)
            result = self.round(self.sum(result, product, length), site, since)
        return self.round(linear([(1, 0, result)], offset, length), site, since) if bias.mantissa else result

    @staticmethod
    def sum(a: Column, b: Column, length: int) -> Column:
        """Returns the exact sum of two columns."""
        if a.is_zero or b.is_zero:
            return b if a.is_zero else a
        return linear([(1, 0, a), (1, 0, b)], NONE, length)

    def weight(self, weight: Weight) -> Fraction:
        """Returns its value."""
        return weight.quanta * self.arithmetic.format.quantum

    def dot(self, weights: Iterable[int], values: Iterable[int]) -> int:
        """Returns Σ w·v in quanta, rounded under the discipline. weights, values: in quanta, integers of Python."""
        fmt, rounding, shift = self.arithmetic.format, self.arithmetic.rounding, self.fraction_bits
        if self.fused:
            return round_shifted(sum(map(mul, weights, values)), shift, fmt, rounding).quanta
        result = 0
        for weight, value in zip(weights, values, strict=True):
            if weight and value:
                product = round_shifted(weight * value, shift, fmt, rounding).quanta
                result = round_shifted(result + product, 0, fmt, rounding).quanta
        return result
