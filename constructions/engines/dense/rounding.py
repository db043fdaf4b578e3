"""Rounding of columns: the twin of `round_shifted`.

Source: appendix A.2 and precision/rounding.py, the definition that this repeats for whole columns.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from constructions.engines.dense.column import NARROW, Column, Numbers
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
            data = (column.data << column.exponent).clamp(-largest, largest)
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
