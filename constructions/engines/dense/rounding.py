"""Rounding of columns, and where it saturates or meets a tie: the twin of `round_shifted`.

Source: appendix A.2 and precision/rounding.py, the definition that this repeats for whole columns.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from constructions.engines.dense.column import NARROW, Column, Numbers, Objects
from precision.format import Rounding
from precision.rounding import round_shifted


class Rounder:
    """Rounds columns to the format of `numbers`."""

    def __init__(self, numbers: Numbers, rounding: Rounding) -> None:
        if rounding is Rounding.STOCHASTIC:
            raise ValueError("the engines round deterministically; stochastic rounding needs random numbers")
        self.numbers = numbers
        self.format = numbers.format
        self.rounding = rounding

    def round(self, column: Column) -> Column:
        """Returns the elements of the format that the numbers round to; `Rounded.quanta` of the definition."""
        if self.is_exact(column):
            return column
        column = self.numbers.tighten(column)
        if self.is_exact(column):
            return column
        if column.narrow is None:
            return self._round_wide(column)
        rounded = self._round_narrow(column.narrow, column)
        if rounded.bound << rounded.exponent <= self.format.max_quanta:
            return rounded
        rounded = self.numbers.tighten(rounded)
        if rounded.bound << rounded.exponent <= self.format.max_quanta:
            return rounded
        return self._clamp(rounded)

    def is_exact(self, column: Column) -> bool:
        """Returns whether the bound shows that the column holds elements of the format."""
        if column.bound == 0:
            return True
        fmt = self.format
        if column.exponent < 0 or column.bound << column.exponent > fmt.max_quanta:
            return False
        return fmt.is_fixed_point or column.bound.bit_length() <= fmt.significand_bits

    def flagged(self, column: Column) -> tuple[Tensor, Tensor] | None:
        """Returns where rounding saturates and where it meets a tie, `Rounded.saturated` and `Rounded.tie`, each (positions,)
        bool.

        None where bounds show that nothing is rounded.
        """
        if self.is_exact(column):
            return None
        column = self.numbers.tighten(column)
        if self.is_exact(column):
            return None
        return self._saturates(column), self._is_tie(column)

    def _saturates(self, column: Column) -> Tensor:
        """Returns where rounding saturates. Derivation: after the largest element L the next one would be L + step. Rounding is
        monotone, so a number saturates beyond the point between them from which numbers round up."""
        largest = self.format.max_quanta
        step = 1 << max(0, largest.bit_length() - self.format.significand_bits)
        nearest = self.rounding is not Rounding.TOWARD_ZERO
        point = 2 * largest + (step if nearest else 2 * step)  # in halves of a quantum
        halves = _magnitude(column).times_power(1)
        if self.rounding is Rounding.NEAREST_EVEN and largest // step % 2 == 0:
            # The point itself is a tie that goes down to L.
            return ~self.numbers.at_least(_negative(halves), -point)
        return self.numbers.at_least(halves, point)

    def _is_tie(self, column: Column) -> Tensor:
        """Returns where rounding meets a tie. Derivation: a number that loses its last d digits is a tie if these are 1 and then
        zeros. Without them it must be below the largest element, which has no neighbour above."""
        numbers, magnitude = self.numbers, _magnitude(column)
        nothing = torch.zeros(len(column), dtype=torch.bool, device=numbers.device)
        fraction = max(0, -column.exponent)  # digits below one quantum
        if self.rounding is Rounding.TOWARD_ZERO:
            return nothing
        if magnitude.narrow is None:
            mantissas = magnitude.objects(magnitude.exponent)
            drop: int | Objects = fraction
            if not self.format.is_fixed_point:  # there, numbers of more digits are too large for ties
                drop = np.maximum(_bit_lengths(mantissas) - self.format.significand_bits, fraction)
            half = (np.array(1, dtype=object) << drop) >> 1
            below = (mantissas & (2 * half - 1)) == half
            tie = torch.from_numpy((below & (drop > 0)).astype(np.bool_)).to(numbers.device)
            whole = numbers.from_objects(mantissas - half, column.exponent)
        else:
            if fraction > 62:
                return nothing  # below 2^62 / 2^63
            data = magnitude.narrow
            digits = torch.full_like(data, fraction)
            if not self.format.is_fixed_point:
                digits = (_bit_length(data) - self.format.significand_bits).clamp_min(fraction)
            unit = torch.ones_like(data) << digits
            tie = (data & (unit - 1) == unit >> 1) & (digits > 0)
            whole = Column(data - (unit >> 1), column.exponent, max(column.bound, 1 << 61))
        return tie & ~numbers.at_least(whole, self.format.max_quanta)

    def _round_narrow(self, data: Tensor, column: Column) -> Column:
        """Rounds to the digits of the format, without its largest element."""
        fmt, exponent = self.format, column.exponent
        surplus = max(0, column.bound.bit_length() + exponent - fmt.significand_bits)
        if fmt.is_fixed_point or surplus == 0:
            # All steps are one quantum. (In fixed point a larger number saturates, whatever its digits.)
            if exponent >= 0:
                return column
            if -exponent > 62:
                return self.numbers.zero(len(data))  # below 2^62 / 2^63
            rounded = self._drop(data, -exponent)
            return Column(rounded, 0, (column.bound >> -exponent) + 1)
        # Floating point: the number of digits to drop is the position's own.
        magnitude = data.abs()
        step = (_bit_length(magnitude) + (exponent - fmt.significand_bits)).clamp_min(0)  # in quanta, log2
        drop = step - exponent
        out_exponent = max(exponent, 0)
        digits = self._drop(data, drop.clamp(0, 62)) << (step - out_exponent).clamp_min(0)
        digits = torch.where(drop > 62, 0, digits)
        rounded = torch.where(drop <= 0, data, digits) if exponent >= 0 else digits
        # Rounding upwards at most doubles a number.
        bound = 2 * column.bound if exponent >= 0 else ((column.bound >> -exponent) + 1) * 2
        return Column(rounded, out_exponent, bound)

    def _drop(self, data: Tensor, digits: int | Tensor) -> Tensor:
        """Rounds data / 2^digits to integers in the rounding mode. digits: from 0 to 62."""
        if isinstance(digits, int) and digits == 0:
            return data
        magnitude = data.abs()
        whole = magnitude >> digits
        rest = magnitude - (whole << digits)
        if self.rounding is not Rounding.TOWARD_ZERO:
            denominator = 1 << digits if isinstance(digits, int) else torch.ones_like(data) << digits
            # rest against half the denominator, without doubling what may be 2^62.
            other = denominator - rest
            up = rest > other
            if self.rounding is Rounding.NEAREST_EVEN:
                up |= (rest == other) & (whole & 1 == 1)
            else:
                up |= rest == other
            whole = whole + up
        return torch.where(data < 0, -whole, whole)

    def _clamp(self, column: Column) -> Column:
        """Saturates a column of integers."""
        largest = self.format.max_quanta
        if largest < NARROW and column.bound << column.exponent < NARROW:
            if column.narrow is None:
                raise TypeError("there is no column.narrow")
            data = (column.narrow << column.exponent).clamp(-largest, largest)
            return Column(data, 0, largest)
        return self.numbers.from_objects(np.clip(column.objects(0), -largest, largest))

    def _round_wide(self, column: Column) -> Column:
        """Rounds Python integers: by shifts in fixed point, otherwise by the definition, equal ones once."""
        shift, left_shift = max(0, -column.exponent), max(0, column.exponent)
        numbers = column.objects(column.exponent)
        fmt = self.format
        if fmt.is_fixed_point and self.rounding is Rounding.NEAREST_EVEN:
            if shift:
                # Ties to even: half a step less one unit, and one more if the whole part is odd, carries when it should.
                odd = (numbers >> shift) & 1
                numbers = (numbers + ((1 << (shift - 1)) - 1) + odd) >> shift
            elif left_shift:
                numbers = numbers << left_shift
            if column.bound << left_shift > fmt.max_quanta << shift:
                numbers = np.clip(numbers, -fmt.max_quanta, fmt.max_quanta)
            return self.numbers.from_objects(numbers)
        quanta_of: dict[int, int] = {}
        rounded = []
        for number in numbers.tolist():
            quanta = quanta_of.get(number)
            if quanta is None:
                quanta = round_shifted(number << left_shift, shift, fmt, self.rounding).quanta
                quanta_of[number] = quanta
            rounded.append(quanta)
        return self.numbers.from_objects(np.array(rounded, dtype=object))


def _bit_length(magnitude: Tensor) -> Tensor:
    """Returns the bit lengths of non-negative int64."""
    _, length = torch.frexp(magnitude.to(torch.float64))
    length = length.to(torch.int64)
    length -= ((magnitude >> (length - 1).clamp_min(0)) == 0).to(torch.int64)  # where the float was rounded up
    return length


def _bit_lengths(magnitudes: Objects) -> Objects:
    """Returns the bit lengths of Python integers."""
    lengths: Objects = np.array([number.bit_length() for number in magnitudes.tolist()], dtype=object)
    return lengths


def _magnitude(column: Column) -> Column:
    """Returns the absolute values."""
    if column.narrow is not None:
        return Column(column.narrow.abs(), column.exponent, column.bound)
    return Column(None, column.exponent, column.bound, wide=np.abs(column.objects(column.exponent)))


def _negative(column: Column) -> Column:
    """Returns the numbers with the other sign."""
    if column.narrow is not None:
        return Column(-column.narrow, column.exponent, column.bound)
    return Column(None, column.exponent, column.bound, wide=-column.objects(column.exponent))
