"""The operators of the reference engine on columns: rounded rows, products and sums under either discipline.

Source: appendix A.2; constructions/engines/reference.py, which defines where results are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from constructions.engines.dense.column import ONE, Column, Numbers
from constructions.engines.dense.rounding import Rounder
from constructions.engines.weights import ZERO, Weight
from constructions.rows import Row
from constructions.walk import Values
from precision.format import Arithmetic, Discipline


class Operators:
    """Rounded operators for one arithmetic on one device."""

    def __init__(self, arithmetic: Arithmetic, device: torch.device) -> None:
        self.arithmetic = arithmetic
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.numbers = Numbers(arithmetic.format, device)
        self.rounder = Rounder(self.numbers, arithmetic.rounding)
        # A product of two numbers counted in quanta is counted in quanta²: this many places too many.
        self.shift = -arithmetic.format.quantum_exponent

    def round(self, column: Column) -> Column:
        """Returns the elements of the format that the numbers round to."""
        return self.rounder.round(column)

    def row(self, row: Row, bias: Weight, columns: Values[Column], length: int) -> Column:
        """Returns Σ weight · column + bias, rounded as the discipline says."""
        numbers = self.numbers
        if self.fused:
            terms = [(weight, columns[j]) for j, weight in row]
            lifted = Weight(bias.mantissa, bias.exponent + self.shift) if bias.mantissa else bias
            return self.round(numbers.linear(terms, lifted, length).times_power(-self.shift))
        products = (numbers.linear([(weight, columns[j])], ZERO, length) for j, weight in row)
        result = self.running_sum(products, length)
        if bias.mantissa:
            result = self.round(numbers.linear([(ONE, result)], bias, length))
        return result

    def rows(self, rows: Sequence[tuple[Row, Weight]], columns: Values[Column], length: int) -> list[Column]:
        """Returns each row; equal ones are computed once."""
        column_of = {(row, bias): self.row(row, bias, columns, length) for row, bias in dict.fromkeys(rows)}
        return [column_of[row] for row in rows]

    def dot(self, pairs: Sequence[tuple[Column, Column]], length: int) -> Column:
        """Returns Σ a · b over the pairs of columns, rounded as the discipline says."""
        numbers = self.numbers
        products = [numbers.multiply(a, b) for a, b in pairs]
        if self.fused:
            terms = [(ONE, product) for product in products]
            return self.round(numbers.linear(terms, ZERO, length).times_power(-self.shift))
        return self.running_sum(products, length)

    def running_sum(self, products: Iterable[Column], length: int) -> Column:
        """Rounds products, which are in quanta², and adds them up in order, with every sum rounded."""
        numbers = self.numbers
        result: Column | None = None
        for product in products:
            rounded = self.round(product.times_power(-self.shift))
            result = rounded if result is None else self.round(numbers.add(result, rounded))
        return numbers.zero(length) if result is None else result

    def product(self, a: Column, b: Column) -> Column:
        """Returns a · b, rounded."""
        return self.round(self.numbers.multiply(a, b).times_power(-self.shift))

    def sum(self, a: Column, b: Column) -> Column:
        """Returns a + b, rounded."""
        return self.round(self.numbers.add(a, b))

    def weighted_sum(self, weight: Column, value: Column, segment: Tensor, segments: int, largest: int) -> Column:
        """Returns for each segment the sum of its entries weight · value, rounded as the discipline says.

        segment: (entries,) in ascending order. largest: the most entries that a segment has.
        """
        numbers = self.numbers
        products = numbers.multiply(weight, value)
        if self.fused or largest == 1:
            total = numbers.segment_sum(products, segment, segments, largest)
            return self.round(total.times_power(-self.shift))
        terms = self.round(products.times_power(-self.shift))
        if self.arithmetic.format.is_fixed_point and terms.bound:
            terms = numbers.tighten(terms)
            if (terms.bound * largest) << terms.exponent <= self.arithmetic.format.max_quanta:
                return numbers.segment_sum(terms, segment, segments, largest)  # no sum is ever rounded
        first = torch.searchsorted(segment, torch.arange(segments, device=segment.device))
        counts = torch.bincount(segment, minlength=segments)
        result = numbers.zero(segments)
        for rank in range(largest):
            active = counts > rank
            addend = numbers.gather(terms, (first + rank).clamp_max(len(segment) - 1))
            addend = numbers.choose(active, addend, numbers.zero(segments))  # adding 0 is exact
            result = self.round(numbers.add(result, addend))
        return result
