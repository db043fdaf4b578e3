"""Exact arithmetic on columns of integers: what the dense engine computes with.

Source: appendix A.2; rounding.py rounds the results.

A *column* is one coordinate at many positions. Most coordinates of a construction are small integers times one power of two, so a
column is an int64 tensor of mantissas, one exponent and a bound on the mantissas. An operation whose result provably fits in 62
bits runs on the tensor; integer addition is associative, so nothing depends on the order in which a device adds. Where
the bound is too large it is first replaced by the true maximum, and then, if need be, the operation runs on Python integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from constructions.engines.weights import ZERO, Weight, weight_of
from precision.format import Format

Objects = npt.NDArray[np.object_]

# Mantissas below this leave room for a sign and for one carry.
NARROW = 1 << 62


class Column:
    """Integers mantissa · 2^exponent, counted in quanta of a format.

    narrow: (positions,) int64 mantissas, or None where they do not fit. wide: (positions,) Python integers, then.
    bound: no |mantissa| is larger. tight: bound and exponent are the best possible ones.
    """

    __slots__ = ("bound", "exponent", "narrow", "tight", "wide")

    def __init__(
        self, narrow: Tensor | None, exponent: int, bound: int, *, wide: Objects | None = None, tight: bool = False
    ) -> None:
        self.narrow = narrow
        self.wide = wide
        self.exponent = exponent
        self.bound = bound
        self.tight = tight or bound == 0

    def __len__(self) -> int:
        return len(self.narrow) if self.narrow is not None else len(self._objects())

    @property
    def data(self) -> Tensor:
        """Returns the mantissas, where they are known to be narrow."""
        if self.narrow is None:
            raise TypeError("a column of wide numbers")
        return self.narrow

    def _objects(self) -> Objects:
        if self.wide is None:
            raise TypeError("a column of narrow numbers")
        return self.wide

    def times_power(self, places: int) -> Column:
        """Returns this column times 2^places, exactly."""
        if self.bound == 0 or places == 0:
            return self
        return Column(self.narrow, self.exponent + places, self.bound, wide=self.wide, tight=self.tight)

    def objects(self, exponent: int) -> Objects:
        """Returns the mantissas as Python integers, for an exponent not above this column's."""
        if self.narrow is not None:
            numbers: Objects = self.narrow.cpu().numpy().astype(object)
        else:
            numbers = self._objects()
        if self.bound == 0 or self.exponent == exponent:
            return numbers
        shifted: Objects = numbers << (self.exponent - exponent)
        return shifted

    def quanta(self) -> Objects:
        """Returns the values of an integer column (positions,), as Python integers."""
        return self.objects(0)


ONE = Weight(1, 0)


class Numbers:
    """The exact operators on columns, for one format and device."""

    def __init__(self, fmt: Format, device: torch.device) -> None:
        self.format = fmt
        self.device = device
        self._zeros: dict[int, Tensor] = {}

    # Making columns

    def zero(self, length: int) -> Column:
        """Returns a column of zeros."""
        if length not in self._zeros:
            self._zeros[length] = torch.zeros(length, dtype=torch.int64, device=self.device)
        return Column(self._zeros[length], 0, 0)

    def constant(self, integer: int, length: int) -> Column:
        """Returns a column of equal integers."""
        mantissa, exponent = weight_of(integer)
        if mantissa == 0:
            return self.zero(length)
        if abs(mantissa) < NARROW:
            data = torch.full((length,), mantissa, dtype=torch.int64, device=self.device)
            return Column(data, exponent, abs(mantissa), tight=True)
        return Column(None, exponent, abs(mantissa), wide=np.full(length, mantissa, dtype=object), tight=True)

    def from_tensor(self, integers: Tensor, bound: int) -> Column:
        """Makes a column of int64 integers (positions,), none larger than `bound` < 2^62 in magnitude."""
        return Column(integers, 0, bound)

    def from_objects(self, integers: Objects, exponent: int = 0) -> Column:
        """Makes the narrowest column that holds these Python integers times 2^exponent."""
        if len(integers) == 0:
            return self.zero(0)
        magnitudes = np.abs(integers)
        digits = int(np.bitwise_or.reduce(magnitudes))
        if digits == 0:
            return self.zero(len(integers))
        zeros = (digits & -digits).bit_length() - 1
        bound = int(np.maximum.reduce(magnitudes)) >> zeros
        mantissas = integers >> zeros if zeros else integers
        if bound < NARROW:
            data = torch.from_numpy(mantissas.astype(np.int64)).to(self.device)
            return Column(data, exponent + zeros, bound, tight=True)
        return Column(None, exponent + zeros, bound, wide=mantissas, tight=True)

    def from_floats(self, values: npt.NDArray[np.float64]) -> Column:
        """Makes a column of elements of the format, given as float64 values."""
        significand, exponents = np.frexp(values)
        mantissas = np.ldexp(significand, 53).astype(np.int64)
        lowest = mantissas & -mantissas
        zeros = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1
        present = mantissas != 0
        if not present.any():
            return self.zero(len(values))
        shifts = np.where(present, exponents - 53 - self.format.quantum_exponent + zeros, 0)
        mantissas = np.where(present, mantissas >> zeros.clip(0), 0)
        exponent = int(shifts[present].min())
        shifts = np.where(present, shifts - exponent, 0)
        if int(shifts.max()) + 53 > 62:
            return self.from_objects(mantissas.astype(object) << shifts.astype(object), exponent)
        mantissas <<= shifts
        return Column(torch.from_numpy(mantissas).to(self.device), exponent, int(np.abs(mantissas).max()))

    # Exact operators

    def tighten(self, column: Column) -> Column:
        """Returns this column with the least bound and the largest exponent that its numbers allow."""
        if column.tight or column.narrow is None:
            return column
        data = column.narrow
        least, most = (int(bound) for bound in data.aminmax()) if len(data) else (0, 0)
        bound, exponent = max(-least, most), 0
        if bound:
            zeros = self._zeros_at_the_end(data)
            column.narrow = data >> zeros if zeros else data
            bound, exponent = bound >> zeros, column.exponent + zeros
        column.bound, column.exponent, column.tight = bound, exponent, True
        return column

    def _zeros_at_the_end(self, data: Tensor) -> int:
        """Returns how many binary digits at the end are 0 in all of the numbers, not all of which are 0."""
        if self.device.type == "cpu":
            digits = int(np.bitwise_or.reduce(data.numpy()))  # a number and its negative end in as many
            return (digits & -digits).bit_length() - 1
        lowest = data & -data
        return int(torch.where(lowest == 0, NARROW, lowest).min()).bit_length() - 1

    def linear(self, terms: Sequence[tuple[Weight, Column]], constant: Weight, length: int) -> Column:
        """Returns Σ weight · column + constant, exactly."""
        present = [(weight, column) for weight, column in terms if weight.mantissa and column.bound]
        if not present:
            return self.constant(constant.mantissa, length).times_power(constant.exponent)
        if len(present) == 1 and constant.mantissa == 0:
            (weight, column) = present[0]
            if weight.mantissa == 1:
                return column.times_power(weight.exponent)
        exponent, bound = _span(present, constant)
        if bound >= NARROW and not all(column.tight for _, column in present):
            return self.linear([(weight, self.tighten(column)) for weight, column in present], constant, length)
        addend = constant.mantissa << (constant.exponent - exponent) if constant.mantissa else 0
        if bound >= NARROW:
            total = np.full(length, addend, dtype=object)
            for weight, column in present:
                total = total + column.objects(column.exponent) * _factor(weight, column, exponent)
            return self.from_objects(total, exponent)
        ((weight, column), *others) = present
        factor = _factor(weight, column, exponent)
        result = column.data if factor == 1 else column.data * factor
        for weight, column in others:
            result = torch.add(result, column.data, alpha=_factor(weight, column, exponent))
        return Column(result + addend if addend else result, exponent, bound)

    def add(self, a: Column, b: Column) -> Column:
        """Returns a + b, exactly."""
        return self.linear([(ONE, a), (ONE, b)], ZERO, len(a))

    def subtract(self, a: Column, b: Column) -> Column:
        """Returns a − b, exactly."""
        return self.linear([(ONE, a), (Weight(-1, 0), b)], ZERO, len(a))

    def multiply(self, a: Column, b: Column) -> Column:
        """Returns the products position by position, exactly; in units of quantum²."""
        if a.bound == 0 or b.bound == 0:
            return self.zero(len(a))
        if a.bound * b.bound >= NARROW:
            a, b = self.tighten(a), self.tighten(b)
        exponent, bound = a.exponent + b.exponent, a.bound * b.bound
        if bound == 0:
            return self.zero(len(a))
        if bound < NARROW:
            return Column(a.data * b.data, exponent, bound)
        return self.from_objects(a.objects(a.exponent) * b.objects(b.exponent), exponent)

    def positive_part(self, column: Column) -> Column:
        """Returns max(x, 0) at each position."""
        if column.narrow is not None:
            return Column(column.narrow.clamp_min(0), column.exponent, column.bound)
        return self.from_objects(np.maximum(column.objects(column.exponent), 0), column.exponent)

    def gather(self, column: Column, index: Tensor) -> Column:
        """Returns the entries at `index`, an int64 tensor."""
        if column.bound == 0:
            return self.zero(len(index))
        if column.narrow is not None:
            return Column(column.narrow[index], column.exponent, column.bound)
        return self.from_objects(column.objects(column.exponent)[index.cpu().numpy()], column.exponent)

    def scatter(self, column: Column, index: Tensor, length: int) -> Column:
        """Returns so many numbers, those of the column at `index`, which has no place twice, and 0 elsewhere."""
        if column.bound == 0:
            return self.zero(length)
        if column.narrow is not None:
            data = torch.zeros(length, dtype=torch.int64, device=self.device)
            data[index] = column.narrow
            return Column(data, column.exponent, column.bound, tight=column.tight)
        wide = np.zeros(length, dtype=object)
        wide[index.cpu().numpy()] = column.objects(column.exponent)
        return self.from_objects(wide, column.exponent)

    def part(self, column: Column, entries: slice) -> Column:
        """Returns the entries of a slice."""
        if column.narrow is not None:
            return Column(column.narrow[entries], column.exponent, column.bound)
        return self.from_objects(column.objects(column.exponent)[entries], column.exponent)

    def equal(self, a: Column, b: Column) -> bool:
        """Returns whether all the numbers are equal."""
        difference = self.subtract(a, b)
        if difference.narrow is None:
            return False
        return not bool(difference.narrow.any())

    def concatenate(self, columns: Sequence[Column]) -> Column:
        """Returns the columns one after the other."""
        if len(columns) == 1:
            return columns[0]
        present = [column for column in columns if column.bound]
        if not present:
            return self.zero(sum(len(column) for column in columns))
        exponent = min(column.exponent for column in present)
        bound = max(column.bound << (column.exponent - exponent) for column in present)
        if bound >= NARROW:
            return self.from_objects(np.concatenate([column.objects(exponent) for column in columns]), exponent)
        return Column(torch.cat([_align(column, exponent) for column in columns]), exponent, bound)

    def segment_sum(self, column: Column, segment: Tensor, segments: int, largest: int) -> Column:
        """Sums of the entries of equal `segment`, exactly; `largest`: the most entries that a segment has."""
        if largest == 1 and len(segment) == segments:
            return column  # entry i is segment i
        if column.bound * largest >= NARROW:
            column = self.tighten(column)
        bound = column.bound * largest
        if bound == 0:
            return self.zero(segments)
        if bound < NARROW:
            total = torch.zeros(segments, dtype=torch.int64, device=self.device)
            return Column(total.index_add_(0, segment, column.data), column.exponent, bound)
        sums = np.zeros(segments, dtype=object)
        np.add.at(sums, segment.cpu().numpy(), column.objects(column.exponent))
        return self.from_objects(sums, column.exponent)

    def prefix_sums(self, column: Column) -> Column:
        """Returns the exact sums of the entries before each place, one more than there are entries."""
        if column.bound * len(column) >= NARROW:
            column = self.tighten(column)
        bound = column.bound * len(column)
        if bound == 0:
            return self.zero(len(column) + 1)
        if bound < NARROW:
            sums = torch.zeros(len(column) + 1, dtype=torch.int64, device=self.device)
            torch.cumsum(column.data, 0, out=sums[1:])
            return Column(sums, column.exponent, bound)
        entries = column.objects(column.exponent)
        return self.from_objects(np.cumsum(np.concatenate([np.zeros(1, dtype=object), entries])), column.exponent)

    def segment_max(self, column: Column, segment: Tensor, segments: int) -> Column:
        """Returns the largest entry of each segment; every segment has an entry."""
        if column.bound == 0:
            return self.zero(segments)
        if column.narrow is not None:
            top = torch.full((segments,), -NARROW, dtype=torch.int64, device=self.device)
            top = top.scatter_reduce_(0, segment, column.narrow, "amax")
            return Column(top, column.exponent, column.bound)
        largest: list[int | None] = [None] * segments
        for i, value in zip(segment.tolist(), column.objects(column.exponent).tolist(), strict=True):
            best = largest[i]
            largest[i] = value if best is None or value > best else best
        return self.from_objects(np.array(largest, dtype=object), column.exponent)

    def at_least(self, column: Column, least: int) -> Tensor:
        """Returns where the numbers are at least the integer `least`, (positions,) bool."""
        if column.bound == 0:
            return torch.full((len(column),), least <= 0, device=self.device)
        # m · 2^e >= least is m >= ⌈least / 2^e⌉.
        threshold = -(-least >> column.exponent) if column.exponent >= 0 else least << -column.exponent
        if column.narrow is None:
            comparison = (column.objects(column.exponent) >= threshold).astype(np.bool_)
            return torch.from_numpy(comparison).to(self.device)
        if abs(threshold) > NARROW:
            return torch.full((len(column),), threshold < 0, device=self.device)
        return column.narrow >= threshold

    def kinds(self, columns: Sequence[Column], length: int) -> Tensor:
        """Returns integers (positions,), equal exactly where all the columns have equal numbers."""
        kinds = torch.zeros(length, dtype=torch.int64, device=self.device)
        kinds_below = 1
        for column in columns:
            column = self.tighten(column)
            if column.narrow is not None and 2 * column.bound < NARROW // length:
                digit, base = column.narrow + column.bound, 2 * column.bound + 1
            else:
                digit, base = self._ranks(column), length
            if kinds_below * base >= NARROW:
                kinds, kinds_below = torch.unique(kinds, return_inverse=True)[1], length
            kinds, kinds_below = kinds * base + digit, kinds_below * base
        return kinds

    def _ranks(self, column: Column) -> Tensor:
        """Returns integers from 0 to positions − 1, equal exactly where the numbers are equal."""
        if column.narrow is not None:
            ranks: Tensor = torch.unique(column.narrow, return_inverse=True)[1]
            return ranks
        places: dict[int, int] = {}
        rank_of_each = [places.setdefault(number, len(places)) for number in column.objects(column.exponent).tolist()]
        return torch.tensor(rank_of_each, dtype=torch.int64, device=self.device)

    def choose(self, condition: Tensor, a: Column, b: Column) -> Column:
        """Returns a where `condition` holds, otherwise b."""
        exponent, bound = _span([(ONE, column) for column in (a, b) if column.bound], ZERO)
        if bound >= NARROW:
            values = np.where(condition.cpu().numpy(), a.objects(exponent), b.objects(exponent))
            return self.from_objects(values, exponent)
        bound = max(column.bound << (column.exponent - exponent) if column.bound else 0 for column in (a, b))
        return Column(torch.where(condition, _align(a, exponent), _align(b, exponent)), exponent, bound)

    def floats(self, column: Column) -> Tensor | None:
        """Returns the values (not quanta) in float64 within 2^-52 relative; None where their size could overflow or underflow."""
        exponent = column.exponent + self.format.quantum_exponent
        if column.bound and not (exponent > -450 and column.bound.bit_length() + exponent < 450):
            return None
        if column.bound == 0:
            return torch.zeros(len(column), dtype=torch.float64, device=self.device)
        if column.narrow is not None:
            return column.narrow.to(torch.float64) * 2.0**exponent
        values = np.ldexp(column.objects(column.exponent).astype(np.float64), exponent)
        return torch.from_numpy(values).to(self.device)


def _span(terms: Sequence[tuple[Weight, Column]], constant: Weight) -> tuple[int, int]:
    """Returns the exponent common to all terms, and a bound on their sum in its units."""
    exponents = [weight.exponent + column.exponent for weight, column in terms]
    if constant.mantissa:
        exponents.append(constant.exponent)
    exponent = min(exponents, default=0)
    bound = abs(constant.mantissa) << (constant.exponent - exponent) if constant.mantissa else 0
    for weight, column in terms:
        bound += (abs(weight.mantissa) * column.bound) << (weight.exponent + column.exponent - exponent)
    return exponent, bound


def _factor(weight: Weight, column: Column, exponent: int) -> int:
    """Returns the integer by which the column's mantissas enter a sum with this exponent."""
    return weight.mantissa << (weight.exponent + column.exponent - exponent)


def _align(column: Column, exponent: int) -> Tensor:
    """Returns the mantissas for a smaller exponent, where they are known to fit."""
    if column.bound == 0 or column.exponent == exponent:
        return column.data
    return column.data << (column.exponent - exponent)
