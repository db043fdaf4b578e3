"""Exact dyadic columns: one register at many positions, computed with numpy and never rounded by accident.

A column holds mantissas m and one exponent e, for the values m·2^e. Mantissas are int64 while a bound proves that nothing can
overflow, and digits of wide numbers otherwise (mantissas.py), so every operation is exact by construction. Factors of two common to
the whole column move into the exponent: scores scaled by 2^50 cost no digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from constructions.engines.indexed.mantissas import (
    SMALL,
    Array,
    Digits,
    Mantissas,
    Total,
    bit,
    bound_of,
    concatenate,
    from_integers,
    integers,
    less,
    narrowed,
    shift_right,
    trailing_zeros,
    where,
)
from constructions.engines.indexed.ordering import unique
from precision.format import Arithmetic, Rounding
from precision.rounding import round_shifted


class Column:
    """Values m·2^e. Shapes: m (positions,). bound: at least every |m|. Columns are never changed in place."""

    __slots__ = ("bound", "e", "m")

    def __init__(self, m: Mantissas, e: int, bound: int) -> None:
        self.m, self.e, self.bound = m, e, bound

    def __len__(self) -> int:
        return len(self.m)

    @property
    def is_zero(self) -> bool:
        """Whether every value is 0."""
        return self.bound == 0

    def take(self, index: Array) -> Column:
        """The values at the given places, or where a mask is true."""
        if self.is_zero:
            return zeros(int(np.count_nonzero(index)) if index.dtype == np.bool_ else len(index))
        return Column(self.m[index], self.e, self.bound)

    def at(self, place: int) -> Fraction:
        """One value."""
        return Fraction(int(self.m[place])) * Fraction(2) ** self.e

    def scaled_to(self, e: int) -> Mantissas:
        """The mantissas for a smaller exponent e."""
        shift = self.e - e
        if self.is_zero:
            return self.m
        if shift < 0:
            raise ValueError(f"a column of exponent {self.e} has no mantissas for exponent {e}")
        if shift == 0:
            return self.m
        bound = self.bound << shift
        if bound < SMALL and not isinstance(self.m, Digits):
            shifted: Array = self.m << shift
            return shifted
        total = Total()
        total.add(self.m, self.bound, 1 << shift)
        return total.result(0, bound, len(self))

    def to_quanta(self, quantum_exponent: int) -> list[int]:
        """The values as integers in units of 2^quantum_exponent. Raises ValueError if they are no integers then."""
        return self.scaled_to(quantum_exponent).tolist()


def normalised(m: Mantissas, e: int) -> Column:
    """A column with its common factors of two in the exponent and the narrowest mantissas."""
    trailing = trailing_zeros(m) if len(m) else -1
    if trailing < 0:
        return zeros(len(m))
    if trailing:
        m = shift_right(m, trailing)
        e += trailing
    m = narrowed(m)
    return Column(m, e, bound_of(m))


def of_integers(numbers: Sequence[int] | Array, e: int) -> Column:
    """Python integers times 2^e."""
    return normalised(from_integers(np.array(numbers, object)), e)


def zeros(length: int) -> Column:
    """A column of zeros."""
    return Column(np.zeros(length, np.int64), 0, 0)


def constant(value: Fraction, length: int) -> Column:
    """A column that holds `value`, a dyadic rational, everywhere."""
    mantissa, e = dyadic(value)
    if abs(mantissa) < SMALL:
        return Column(np.full(length, mantissa, np.int64), e, abs(mantissa))
    return Column(from_integers(np.array([mantissa], object))[np.zeros(length, np.int64)], e, abs(mantissa))


def dyadic(value: Fraction) -> tuple[int, int]:
    """The odd mantissa and the exponent of a dyadic rational; (0, 0) for 0. Raises ValueError for another number."""
    if value == 0:
        return 0, 0
    down = value.denominator.bit_length() - 1
    if value.denominator != 1 << down:
        raise ValueError(f"{value} is not a dyadic rational")
    up = (value.numerator & -value.numerator).bit_length() - 1
    return value.numerator >> up, up - down


def concatenated(a: Column, b: Column) -> Column:
    """The values of one column, then those of another."""
    if a.is_zero and b.is_zero:
        return zeros(len(a) + len(b))
    e = min(column.e for column in (a, b) if not column.is_zero)
    parts = [column.m if column.is_zero else column.scaled_to(e) for column in (a, b)]
    bound = max(column.bound << (column.e - e) for column in (a, b) if not column.is_zero)
    return Column(concatenate(*parts), e, bound)


def classes(columns: Iterable[Column], length: int) -> Array:
    """A number for each place; places where all columns agree have the same one, from 0 on without gaps."""
    found = np.zeros(length, np.int64)
    for column in columns:
        if len(column) and np.any(column.m != column.m[0]):
            values, value = unique(column.m)
            _, found = np.unique(found * len(values) + value, return_inverse=True)
    return found


def from_floats(values: NDArray[np.float64]) -> Column:
    """The exact values of float64 numbers. Raises ValueError for infinities and NaN."""
    if not np.all(np.isfinite(values)):
        raise ValueError("infinities and NaN have no exact value")
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    used = exponent[mantissa != 0]
    if len(used) == 0:
        return zeros(len(values))
    trailing = 53
    while trailing and np.any(mantissa & ((1 << trailing) - 1)):
        trailing -= 1
    mantissa >>= trailing
    e = int(used.min()) - 53 + trailing
    shift = np.where(mantissa != 0, exponent - 53 + trailing - e, 0)
    if int(shift.max()) + int(np.abs(mantissa).max()).bit_length() <= 62:
        return normalised(mantissa << shift, e)
    return of_integers(mantissa.astype(object) << shift.astype(object), e)


def combine(terms: Sequence[tuple[Fraction, Column]], offset: Fraction, length: int) -> Column:
    """Σ weight·column + offset, exactly."""
    parts = [(dyadic(w), column) for w, column in terms if w and not column.is_zero]
    offset_mantissa, offset_e = dyadic(offset)
    exponents = [we + column.e for (_, we), column in parts] + ([offset_e] if offset_mantissa else [])
    if not exponents:
        return zeros(length)
    e = min(exponents)
    total = abs(offset_mantissa) << (offset_e - e) if offset_mantissa else 0
    for (wm, we), column in parts:
        total += (abs(wm) * column.bound) << (we + column.e - e)
    added = offset_mantissa << (offset_e - e) if offset_mantissa else 0
    if not parts:
        return constant(offset, length)
    factors = [wm << (we + column.e - e) for (wm, we), column in parts]
    if total < SMALL and not any(isinstance(column.m, Digits) for _, column in parts):
        result: Array | None = None
        for factor, (_, column) in zip(factors, parts, strict=True):
            assert not isinstance(column.m, Digits)
            term = column.m if factor == 1 else column.m * factor
            result = term if result is None else result + term
        assert result is not None
        return normalised(result + added if added else result, e)
    summed = Total()
    for factor, (_, column) in zip(factors, parts, strict=True):
        summed.add(column.m, column.bound, factor)
    return normalised(summed.result(added, total, length), e)


def multiply(a: Column, b: Column) -> Column:
    """The products of two columns, exactly."""
    if a.is_zero or b.is_zero:
        return zeros(len(a))
    bound = a.bound * b.bound
    if bound < SMALL and not isinstance(a.m, Digits) and not isinstance(b.m, Digits):
        return normalised(a.m * b.m, a.e + b.e)
    total = Total()
    total.add_product(a.m, a.bound, b.m, b.bound)
    return normalised(total.result(0, bound, len(a)), a.e + b.e)


def extremes(a: Column, b: Column) -> tuple[Column, Column]:
    """The smaller and the larger of two columns at each place."""
    e = min(a.e, b.e)
    first, second = a.scaled_to(e), b.scaled_to(e)
    below = less(first, second)
    return normalised(where(below, first, second), e), normalised(where(below, second, first), e)


def positive_part(a: Column) -> Column:
    """ReLU."""
    if isinstance(a.m, Digits):
        return normalised(where(a.m > 0, a.m, 0), a.e)
    return normalised(np.maximum(a.m, 0), a.e)


def rounded(a: Column, arithmetic: Arithmetic) -> tuple[Column, Array | None]:
    """`a` rounded to the format, and the places that saturated, if any. Not for STOCHASTIC."""
    fmt = arithmetic.format
    shift = fmt.quantum_exponent - a.e
    if fmt.is_fixed_point and shift <= 0 and a.bound << -shift <= fmt.max_quanta:
        return a, None
    nearest_even = fmt.is_fixed_point and arithmetic.rounding is Rounding.NEAREST_EVEN
    if nearest_even and shift > 0 and (a.bound >> shift) + 1 <= fmt.max_quanta:
        # A half, less the least digit unless the integer part is odd: the integer part of the sum is the nearest, ties to even.
        half = 1 << (shift - 1)
        odd = bit(a.m, shift)
        if a.bound + half < SMALL and not isinstance(a.m, Digits):
            return normalised((a.m + (odd + (half - 1))) >> shift, fmt.quantum_exponent), None
        total = Total()
        total.add(a.m, a.bound, 1)
        total.add(odd, 1, 1)
        raised = total.result(half - 1, a.bound + half, len(a))
        return normalised(shift_right(raised, shift), fmt.quantum_exponent), None
    values = integers(a.m)
    if shift < 0:
        values = values * (1 << -shift)
    results = [round_shifted(v, max(shift, 0), fmt, arithmetic.rounding) for v in values.tolist()]
    saturated = np.flatnonzero(np.array([r.saturated for r in results], bool))
    column = of_integers([r.quanta for r in results], fmt.quantum_exponent)
    return column, saturated if len(saturated) else None
