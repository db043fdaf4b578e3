"""Exact dyadic columns: one register at many positions, computed with numpy and never rounded by accident.

A column holds mantissas m and one exponent e, for the values m·2^e. Mantissas are int64 while a bound proves that nothing can
overflow, and digits of wide numbers otherwise (mantissas.py), so every operation is exact by construction. Factors of two common to
the whole column move into the exponent: scores scaled by 2^50 cost no digits. Where the bound allows, sums and products take 16 or
32 bits, and a column that is kept is packed into as few bytes as hold it; who asks for mantissas gets them in 64.
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
    packed,
    shift_right,
    trailing_zeros,
    where,
    widened,
)
from constructions.engines.indexed.ordering import unique
from precision.format import Arithmetic, Rounding
from precision.rounding import round_shifted

_ZERO = bytes(8)  # of an integer


class Column:
    """Values m·2^e. Shapes: m (positions,). bound: at least every |m|. Columns are never changed in place."""

    __slots__ = ("_m", "bound", "e")

    def __init__(self, m: Mantissas, e: int, bound: int) -> None:
        self._m, self.e, self.bound = m, e, bound

    def __len__(self) -> int:
        return len(self._m)

    @property
    def m(self) -> Mantissas:
        """The mantissas, ready to compute with."""
        return widened(self._m)

    def as_kind(self, kind: type[np.signedinteger]) -> Array:
        """Returns the mantissas as integers of this kind, which hold them. Not for digits."""
        if isinstance(self._m, Digits):
            raise TypeError("self._m is a Digits")
        return self._m.astype(kind, copy=False)

    def packed(self) -> Column:
        """Returns the same in less memory."""
        return zeros(len(self)) if self.is_zero else Column(packed(self._m, self.bound), self.e, self.bound)

    @property
    def is_zero(self) -> bool:
        """Returns whether every value is 0."""
        return self.bound == 0

    def take(self, index: Array) -> Column:
        """Returns the values at the given places, or where a mask is true."""
        if self.is_zero:
            return zeros(int(np.count_nonzero(index)) if index.dtype == np.bool_ else len(index))
        return Column(self._m[index], self.e, self.bound)

    def whole(self) -> Column:
        """Itself: nothing of it is left out."""
        return self

    def at(self, place: int) -> Fraction:
        """Returns one value."""
        return _times_power(int(self._m[place]), self.e)

    @property
    def reach(self) -> Fraction:
        """Returns an upper bound of every magnitude."""
        return _times_power(self.bound, self.e)

    def equals(self, other: Column) -> Array:
        """Returns a mask of the places at which both hold the same value."""
        if self.e == other.e and not isinstance(self._m, Digits) and not isinstance(other._m, Digits):
            return np.equal(self._m, other._m)
        e = min(self.e, other.e)
        return np.asarray(self.scaled_to(e) == other.scaled_to(e), bool)

    def changes(self) -> Array:
        """Returns a mask of the values that differ from the one before."""
        if self.is_zero:
            return np.zeros(max(len(self) - 1, 0), bool)
        return np.asarray(self._m[1:] != self._m[:-1], bool)

    def is_even(self) -> bool:
        """Returns whether it rises, or falls, by equal steps. Of wide numbers that is not found out."""
        if len(self) < 3 or self.is_zero:
            return True
        m = self.m
        return not isinstance(m, Digits) and bool(m[1] - m[0] == m[2] - m[1] and np.all(m[1:] - m[:-1] == m[1] - m[0]))

    def scaled_to(self, e: int) -> Mantissas:
        """Returns the mantissas for a smaller exponent e."""
        shift, m = self.e - e, self.m
        if self.is_zero:
            return m
        if shift < 0:
            raise ValueError(f"a column of exponent {self.e} has no mantissas for exponent {e}")
        if shift == 0:
            return m
        bound = self.bound << shift
        if bound < SMALL and not isinstance(m, Digits):
            shifted: Array = m << shift
            return shifted
        total = Total()
        total.add(m, self.bound, 1 << shift)
        return total.result(0, bound, len(self))

    def to_quanta(self, quantum_exponent: int) -> list[int]:
        """Returns the values as integers in units of 2^quantum_exponent. Raises ValueError if they are no integers then."""
        return self.scaled_to(quantum_exponent).tolist()


def _times_power(number: int, e: int) -> Fraction:
    """Returns number·2^e, in a third of the time that a power and a product of Fractions take."""
    return Fraction(number << e) if e >= 0 else Fraction(number, 1 << -e)


def normalised(m: Mantissas, e: int) -> Column:
    """Returns a column with its common factors of two in the exponent and the narrowest mantissas."""
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
    """Returns a column of zeros, all of them in one place."""
    return Column(np.ndarray(length, np.int64, _ZERO, strides=(0,)), 0, 0)


def constant(value: Fraction, length: int) -> Column:
    """Returns a column that holds `value`, a dyadic rational, everywhere."""
    return _constant(*dyadic(value), length)


def _constant(mantissa: int, e: int, length: int) -> Column:
    """mantissa·2^e everywhere; the mantissa odd or 0."""
    if abs(mantissa) < SMALL:
        return Column(np.ndarray(length, np.int64, np.int64(mantissa).tobytes(), strides=(0,)), e, abs(mantissa))
    return Column(from_integers(np.array([mantissa], object))[np.zeros(length, np.int64)], e, abs(mantissa))


def dyadic(value: Fraction) -> tuple[int, int]:
    """Returns the odd mantissa and the exponent of a dyadic rational; (0, 0) for 0. Raises ValueError for another number."""
    if value == 0:
        return 0, 0
    down = value.denominator.bit_length() - 1
    if value.denominator != 1 << down:
        raise ValueError(f"{value} is not a dyadic rational")
    up = (value.numerator & -value.numerator).bit_length() - 1
    return value.numerator >> up, up - down


def concatenated(*columns: Column) -> Column:
    """Returns the values of one column, then those of the next."""
    if len(columns) == 1:
        return columns[0]
    others = [column for column in columns if not column.is_zero]
    if not others:
        return zeros(sum(map(len, columns)))
    e = min(column.e for column in others)
    bound = max(column.bound << (column.e - e) for column in others)
    stored = [np.broadcast_to(np.int8(0), len(c)) if c.is_zero else c._m for c in columns]
    narrow = [m for m in stored if not isinstance(m, Digits)]
    if all(column.e == e for column in others) and len(narrow) == len(columns):
        return Column(np.concatenate(narrow), e, bound)
    return Column(concatenate([column.scaled_to(e) for column in columns]), e, bound)


def classes(columns: Iterable[Column], length: int) -> Array:
    """Returns a number for each place; places where all columns agree have the same one, from 0 on without gaps."""
    class_of = np.zeros(length, np.int64)
    for column in columns:
        m = column.m
        if len(column) and np.any(m != m[0]):
            values, value = unique(m)
            _, class_of = unique(class_of * len(values) + value)
    return class_of


def from_floats(values: NDArray[np.float64]) -> Column:
    """Returns the exact values of float64 numbers. Raises ValueError for infinities and NaN."""
    if not values.any():
        return zeros(len(values))
    if not np.all(np.isfinite(values)):
        raise ValueError("infinities and NaN have no exact value")
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    used = exponent[mantissa != 0]
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
    """Returns Σ weight·column + offset, exactly."""
    return linear([(*dyadic(weight), column) for weight, column in terms], dyadic(offset), length)


def linear(terms: Sequence[tuple[int, int, Column]], offset: tuple[int, int], length: int) -> Column:
    """Returns Σ w·2^e·column + the offset, an odd mantissa and an exponent, or (0, 0); exactly."""
    parts = [(w, e + column.e, column) for w, e, column in terms if w and not column.is_zero]
    if not parts:
        return _constant(*offset, length)
    added, offset_e = offset
    least = min([offset_e if added else parts[0][1], *(e for _, e, _ in parts)])
    added = added << (offset_e - least) if added else 0
    scaled = [(w << (e - least), column) for w, e, column in parts]
    total = abs(added) + sum(abs(factor) * column.bound for factor, column in scaled)
    if total < SMALL and not any(isinstance(column._m, Digits) for _, column in scaled):
        kind = _narrowest(total)
        numbers = [(factor, column.as_kind(kind)) for factor, column in scaled]
        return normalised(_weighted_sum(numbers, added), least)
    summed = Total()
    for factor, column in scaled:
        summed.add(column.m, column.bound, factor)
    return normalised(summed.result(added, total, length), least)


def _narrowest(bound: int) -> type[np.signedinteger]:
    """Integers that hold numbers up to the bound, with room for one addition. The narrower they are, the faster."""
    return np.int16 if bound < 1 << 14 else np.int32 if bound < 1 << 30 else np.int64


def _weighted_sum(terms: Sequence[tuple[int, Array]], added: int) -> Array:
    """Returns Σ factor·numbers + added, where nothing leaves their kind. It is summed up in place: a new array costs more than a
    sum.
    """
    (factor, numbers), *others = sorted(terms, key=lambda term: abs(term[0]) == 1)  # products first
    result, own = (numbers, False) if factor == 1 else (numbers * factor, True)
    for factor, numbers in others:
        if abs(factor) == 1:
            result = (np.add if factor > 0 else np.subtract)(result, numbers, out=result if own else None)
            own = True
        else:
            result += numbers * factor
    return np.add(result, added, out=result if own else None) if added else result


def multiply(a: Column, b: Column) -> Column:
    """Returns the products of two columns, exactly."""
    if a.is_zero or b.is_zero:
        return zeros(len(a))
    bound = a.bound * b.bound
    if bound < SMALL and not isinstance(a._m, Digits) and not isinstance(b._m, Digits):
        kind = _narrowest(bound)
        return normalised(a.as_kind(kind) * b.as_kind(kind), a.e + b.e)
    total = Total()
    total.add_product(a.m, a.bound, b.m, b.bound)
    return normalised(total.result(0, bound, len(a)), a.e + b.e)


def extremes(a: Column, b: Column) -> tuple[Column, Column]:
    """Returns the smaller and the larger of two columns at each place."""
    e = min(a.e, b.e)
    first, second = a.scaled_to(e), b.scaled_to(e)
    below = less(first, second)
    return normalised(where(below, first, second), e), normalised(where(below, second, first), e)


def positive_part(a: Column) -> Column:
    """ReLU."""
    if isinstance(a._m, Digits):
        return normalised(where(a.m > 0, a.m, 0), a.e)
    return a if a.is_zero or a._m.min() >= 0 else normalised(np.maximum(a._m, 0), a.e)


def at_most(a: Column, limit: Fraction) -> Array:
    """Returns whether each value is at most `limit`."""
    scaled = limit / Fraction(2) ** a.e
    floor = scaled.numerator // scaled.denominator
    if floor >= a.bound:
        return np.ones(len(a), bool)
    if floor < -a.bound:
        return np.zeros(len(a), bool)
    m = a.m
    return ~less(floor, m) if isinstance(m, Digits) else np.less_equal(m, floor)


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
        if a.bound + half < SMALL and not isinstance(a._m, Digits):
            m = a.as_kind(_narrowest(a.bound + half))
            raised = bit(m, shift)
            raised += half - 1
            raised += m
            raised >>= shift
            return normalised(raised, fmt.quantum_exponent), None
        total = Total()
        total.add(a.m, a.bound, 1)
        total.add(bit(a.m, shift), 1, 1)
        whole = total.result(half - 1, a.bound + half, len(a))
        return normalised(shift_right(whole, shift), fmt.quantum_exponent), None
    values = integers(a.m)
    if shift < 0:
        values = values * (1 << -shift)
    results = [round_shifted(v, max(shift, 0), fmt, arithmetic.rounding) for v in values.tolist()]
    saturated = np.flatnonzero(np.array([r.saturated for r in results], bool))
    column = of_integers([r.quanta for r in results], fmt.quantum_exponent)
    return column, saturated if len(saturated) else None
