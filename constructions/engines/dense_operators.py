"""The operators of the reference engine on columns: rounded rows, products and sums under either discipline.

Source: appendix A.2; constructions/engines/reference.py, which defines where results are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from constructions.engines.dense_column import ONE, Column, Numbers, Weight
from constructions.engines.dense_weights import Row
from precision.format import Arithmetic, Discipline

_ZERO = Weight(0, 0)


class Operators:
    """Rounded operators for one arithmetic on one device."""

    def __init__(self, arithmetic: Arithmetic, device: torch.device) -> None:
        self.arithmetic = arithmetic
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.numbers = Numbers(arithmetic.format, arithmetic.rounding, device)
        # A product of two numbers counted in quanta is counted in quanta²: this many places too many.
        self.shift = -arithmetic.format.quantum_exponent

    def row(self, row: Row, bias: Weight, columns: Sequence[Column], length: int) -> Column:
        """Σ weight · column + bias, rounded as the discipline says."""
        numbers = self.numbers
        if self.fused:
            terms = [(weight, columns[j]) for j, weight in row]
            lifted = Weight(bias.mantissa, bias.exponent + self.shift) if bias.mantissa else bias
            return numbers.round(numbers.linear(terms, lifted, length).shifted(-self.shift))
        products = (numbers.linear([(weight, columns[j])], _ZERO, length) for j, weight in row)
        result = self.running_sum(products, length)
        if bias.mantissa:
            result = numbers.round(numbers.linear([(ONE, result)], bias, length))
        return result

    def rows(self, rows: Iterable[tuple[Row, Weight]], columns: Sequence[Column], length: int) -> list[Column]:
        """Each row; equal ones are computed once."""
        known: dict[tuple[Row, Weight], Column] = {}
        results = []
        for row, bias in rows:
            result = known.get((row, bias))
            if result is None:
                result = known[row, bias] = self.row(row, bias, columns, length)
            results.append(result)
        return results

    def dot(self, pairs: Sequence[tuple[Column, Column]], length: int) -> Column:
        """Σ a · b over the pairs of columns, rounded as the discipline says."""
        numbers = self.numbers
        products = [numbers.multiply(a, b) for a, b in pairs]
        if self.fused:
            terms = [(ONE, product) for product in products]
            return numbers.round(numbers.linear(terms, _ZERO, length).shifted(-self.shift))
        return self.running_sum(products, length)

    def running_sum(self, products: Iterable[Column], length: int) -> Column:
        """Products in quanta², each rounded and then added up in order with every sum rounded."""
        numbers = self.numbers
        result: Column | None = None
        for product in products:
            rounded = numbers.round(product.shifted(-self.shift))
            result = rounded if result is None else numbers.round(numbers.add(result, rounded))
        return numbers.zero(length) if result is None else result

    def product(self, a: Column, b: Column) -> Column:
        """a · b, rounded."""
        return self.numbers.round(self.numbers.multiply(a, b).shifted(-self.shift))

    def sum(self, a: Column, b: Column) -> Column:
        """a + b, rounded."""
        return self.numbers.round(self.numbers.add(a, b))

    def weighted_sum(self, weight: Column, value: Column, segment: Tensor, segments: int, largest: int) -> Column:
        """For each segment the sum of its entries weight · value, rounded as the discipline says.

        segment: (entries,) in ascending order. largest: the most entries that a segment has.
        """
        numbers = self.numbers
        products = numbers.multiply(weight, value)
        if self.fused or largest == 1:
            total = numbers.segment_sum(products, segment, segments, largest)
            return numbers.round(total.shifted(-self.shift))
        terms = numbers.round(products.shifted(-self.shift))
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
            result = numbers.choose(active, numbers.round(numbers.add(result, addend)), result)
        return result
