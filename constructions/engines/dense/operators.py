"""The operators of the reference engine on columns: rounded rows, products and sums under either discipline.

Each is told the `Site` of its results, which notes what is rounded.

Source: appendix A.2; constructions/engines/reference.py, which defines where results are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from constructions.engines.dense.column import ONE, Column, Numbers
from constructions.engines.dense.flags import Site
from constructions.engines.dense.rounding import Rounder
from constructions.engines.weights import ZERO, Weight
from constructions.rows import Row
from constructions.walk import Values
from precision.format import Arithmetic, Discipline


class Exactness(NamedTuple):
    """digits: no step rounds a digit away, though steps may saturate. everything: no step rounds at all."""

    digits: bool
    everything: bool


class Operators:
    """Rounded operators for one arithmetic on one device."""

    def __init__(self, arithmetic: Arithmetic, device: torch.device) -> None:
        self.arithmetic = arithmetic
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.numbers = Numbers(arithmetic.format, device)
        self.rounder = Rounder(self.numbers, arithmetic.rounding)
        # A product of two numbers counted in quanta is counted in quanta²: this many places too many.
        self.shift = -arithmetic.format.quantum_exponent

    def round(self, column: Column, site: Site) -> Column:
        """Returns the elements of the format that the numbers round to."""
        site.note(column)
        return self.rounder.round(column)

    def row(self, row: Row, bias: Weight, columns: Values[Column], length: int, site: Site) -> Column:
        """Returns Σ weight · column + bias, rounded as the discipline says."""
        numbers = self.numbers
        if self.fused:
            terms = [(weight, columns[j]) for j, weight in row]
            lifted = Weight(bias.mantissa, bias.exponent + self.shift) if bias.mantissa else bias
            return self.round(numbers.linear(terms, lifted, length).times_power(-self.shift), site)
        products = (numbers.linear([(weight, columns[j])], ZERO, length) for j, weight in row)
        result = self.running_sum(products, length, site)
        if bias.mantissa:
            result = self.round(numbers.linear([(ONE, result)], bias, length), site)
        return result

    def rows(
        self, rows: Sequence[tuple[Row, Weight]], columns: Values[Column], length: int, site: Site
    ) -> list[Column]:
        """Returns each row; equal ones are computed once."""
        equal: dict[tuple[Row, Weight], list[int]] = {}
        for i, row in enumerate(rows):
            equal.setdefault(row, []).append(i)
        column_of = {(row, bias): self.row(row, bias, columns, length, site[i]) for (row, bias), i in equal.items()}
        return [column_of[row] for row in rows]

    def dot(self, pairs: Sequence[tuple[Column, Column]], length: int, site: Site) -> Column:
        """Returns Σ a · b over the pairs of columns, rounded as the discipline says."""
        numbers = self.numbers
        products = [numbers.multiply(a, b) for a, b in pairs]
        if self.fused:
            terms = [(ONE, product) for product in products]
            return self.round(numbers.linear(terms, ZERO, length).times_power(-self.shift), site)
        return self.running_sum(products, length, site)

    def dot_exactness(self, pairs: Sequence[tuple[Column, Column]]) -> Exactness:
        """Returns whether bounds show that `dot` loses no digit, and does not saturate, whichever positions are paired."""
        tight = [(self.numbers.tighten(a), self.numbers.tighten(b)) for a, b in pairs]
        tight = [(a, b) for a, b in tight if a.bound and b.bound]  # 0 is exact, whatever its exponent
        exponents = [a.exponent + b.exponent - self.shift for a, b in tight]
        exponent = min(exponents, default=0)
        # All products and partial sums are multiples of the least unit, and no larger than all magnitudes together.
        bound = sum((a.bound * b.bound) << (e - exponent) for (a, b), e in zip(tight, exponents, strict=True))
        fmt = self.numbers.format
        digits = exponent >= 0 and (fmt.is_fixed_point or bound.bit_length() <= fmt.significand_bits)
        return Exactness(digits, digits and bound << exponent <= fmt.max_quanta)

    def running_sum(self, products: Iterable[Column], length: int, site: Site) -> Column:
        """Rounds products, which are in quanta², and adds them up in order, with every sum rounded."""
        numbers = self.numbers
        result: Column | None = None
        for product in products:
            rounded = self.round(product.times_power(-self.shift), site)
            result = rounded if result is None else self.round(numbers.add(result, rounded), site)
        return numbers.zero(length) if result is None else result

    def product(self, a: Column, b: Column, site: Site) -> Column:
        """Returns a · b, rounded."""
        return self.round(self.numbers.multiply(a, b).times_power(-self.shift), site)

    def sum(self, a: Column, b: Column, site: Site) -> Column:
        """Returns a + b, rounded."""
        return self.round(self.numbers.add(a, b), site)

    def weighted_sum(
        self, weight: Column, value: Column, segment: Tensor, segments: int, largest: int, site: Site
    ) -> Column:
        """Returns for each segment the sum of its entries weight · value, rounded as the discipline says.

        segment: (entries,) in ascending order. largest: the most entries that a segment has. site: that of the segments.
        """
        numbers = self.numbers
        products = numbers.multiply(weight, value)
        if self.fused or largest == 1:
            total = numbers.segment_sum(products, segment, segments, largest)
            return self.round(total.times_power(-self.shift), site)
        terms = self.round(products.times_power(-self.shift), site.restrict(segment))
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
            result = self.round(numbers.add(result, addend), site)
        return result
