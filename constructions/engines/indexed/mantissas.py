"""Integers of any width at many places, exactly: int64 where they fit, else digits of 30 bits, each a numpy array.

A wide number is Σ d_i·2^(30 i). All digits but the last are from 0 to 2^30 − 1, the last one has the sign and is below 2^61. Sums
and products are taken digit by digit; what is added up is bounded beforehand, so that nothing leaves 64 bits, and carried then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SMALL = 1 << 62  # below this, numbers are int64, with room for one addition
DIGIT_BITS = 30
_BASE, _MASK = 1 << DIGIT_BITS, (1 << DIGIT_BITS) - 1
_LAST = 1 << 61  # the last digit is below this
_KINDS = tuple((kind, int(np.iinfo(kind).max)) for kind in (np.int8, np.int16, np.int32, np.int64))
_FEW = 64  # numbers of which a common factor is looked for at once


class Digits:
    """Wide numbers. rows: their digits, the lowest first; shape of each: (places,), int64. Never changed in place."""

    __slots__ = ("rows",)
    __array_ufunc__ = None  # numpy leaves comparisons to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Sequence[Array]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return len(self.rows[0])

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        """Returns the numbers at these places; at a single one, a Python integer."""
        digits = [row[index] for row in self.rows]
        if np.ndim(digits[0]) == 0:
            return sum(int(digit) << DIGIT_BITS * i for i, digit in enumerate(digits))
        return Digits(digits)

    def tolist(self) -> list[int]:
        """Python integers."""
        numbers: list[int] = integers(self).tolist()
        return numbers

    def __lt__(self, other: Mantissas | int) -> Array:
        return less(self, other)

    def __le__(self, other: Mantissas | int) -> Array:
        return ~less(other, self)

    def __gt__(self, other: Mantissas | int) -> Array:
        return less(other, self)

    def __ge__(self, other: Mantissas | int) -> Array:
        return ~less(self, other)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        result = np.ones(len(self), bool)
        for x, y in zip(*_align(self, other), strict=True):
            result &= x == y
        return result

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return ~(self == other)


Mantissas: TypeAlias = Array | Digits
"""int64 numbers, or digits."""


def packed(m: Mantissas, bound: int) -> Mantissas:
    """Returns the same numbers in as few bytes as hold them; `widened` gives them back. bound: at least every magnitude."""
    if isinstance(m, Digits):
        return Digits([*(row.astype(np.int32) for row in m.rows[:-1]), _fitting(m.rows[-1], bound_of(m.rows[-1]))])
    return _fitting(m, bound)


def widened(m: Mantissas) -> Mantissas:
    """Returns the mantissas in 64 bits, as all operations here take them."""
    if isinstance(m, Digits):
        return m if all(row.dtype == np.int64 for row in m.rows) else Digits([row.astype(np.int64) for row in m.rows])
    return m if m.dtype == np.int64 else m.astype(np.int64)


def _fitting(row: Array, bound: int) -> Array:
    kind = next(kind for kind, most in _KINDS if bound <= most)
    return row.astype(kind, copy=False)


def integers(m: Mantissas) -> Array:
    """Returns the mantissas as Python integers, in an array of objects."""
    if not isinstance(m, Digits):
        return m.astype(object)
    total = m.rows[-1].astype(object)
    for row in m.rows[-2::-1]:
        total = total * _BASE + row
    return total


def from_integers(numbers: Array) -> Mantissas:
    """Returns Python integers as mantissas, as narrow as they allow. Shapes: (places,), object."""
    bound = max((max(int(numbers.max()), -int(numbers.min())) if len(numbers) else 0), 0)
    if bound < SMALL:
        return numbers.astype(np.int64)
    count = _rows_for(bound)
    rows = [((numbers >> DIGIT_BITS * i) & _MASK).astype(np.int64) for i in range(count - 1)]
    return Digits([*rows, (numbers >> DIGIT_BITS * (count - 1)).astype(np.int64)])


def least_and_most(m: Mantissas) -> tuple[int, int]:
    """Returns the least and the largest of the numbers."""
    if not isinstance(m, Digits):
        return int(m.min()), int(m.max())
    ends = []
    for extreme in (np.min, np.max):
        places, end = np.arange(len(m)), 0
        for row in m.rows[::-1]:
            digit = int(extreme(row[places]))
            places, end = places[row[places] == digit], (end << DIGIT_BITS) + digit
        ends.append(end)
    return ends[0], ends[1]


def bound_of(m: Mantissas) -> int:
    """Returns an upper bound of every magnitude: the largest one for int64, hardly more for digits."""
    last, below = (m.rows[-1], DIGIT_BITS * (len(m.rows) - 1)) if isinstance(m, Digits) else (m, 0)
    most, least = int(np.maximum.reduce(last)), int(np.minimum.reduce(last))  # `max` takes longer of a few numbers
    return max(((most + 1) << below) - 1, -least << below)


def narrowed(m: Mantissas) -> Mantissas:
    """Returns the same in as few digits as will do."""
    while isinstance(m, Digits) and _rows_for(bound := bound_of(m)) < max(2, len(m.rows)):
        m = carried(list(m.rows), bound)
    return m


def trailing_zeros(m: Mantissas) -> int:
    """Returns how often 2 divides all of them; −1 if all are 0."""
    for i, row in enumerate(m.rows if isinstance(m, Digits) else (m,)):
        some = row if len(row) <= _FEW else row[:: len(row) // _FEW + 1]
        common = int(np.bitwise_or.reduce(some))
        if not common & 1 and some is not row:  # otherwise these few numbers have no common factor already
            common = int(np.bitwise_or.reduce(row))
        if common:
            return DIGIT_BITS * i + (common & -common).bit_length() - 1
    return -1


def shift_right(m: Mantissas, places: int) -> Mantissas:
    """⌊m / 2^places⌋."""
    if not isinstance(m, Digits):
        return m >> min(places, 63)
    whole = min(places // DIGIT_BITS, len(m.rows) - 1)
    rows, bits = m.rows[whole:], places - DIGIT_BITS * whole
    if len(rows) == 1 or bits == 0:
        return Digits([*rows[:-1], rows[-1] >> min(bits, 63)])
    upper = [(row & ((1 << bits) - 1)) << (DIGIT_BITS - bits) for row in rows[1:]]
    return Digits([*((row >> bits) | high for row, high in zip(rows, upper, strict=False)), rows[-1] >> bits])


def bit(m: Mantissas, place: int) -> Array:
    """Returns the binary digit of value 2^place, in two's complement."""
    shifted = shift_right(m, place)
    return (shifted.rows[0] if isinstance(shifted, Digits) else shifted) & 1


def divisible(m: Mantissas, places: int) -> Array:
    """Returns whether 2^places divides each number."""
    if not isinstance(m, Digits):
        return np.asarray(m & ((1 << places) - 1) == 0 if places < 63 else m == 0)
    whole = min(places // DIGIT_BITS, len(m.rows) - 1)
    result = divisible(m.rows[whole], places - DIGIT_BITS * whole)
    for row in m.rows[:whole]:
        result &= row == 0
    return result


def less(a: Mantissas | int, b: Mantissas | int) -> Array:
    """Returns whether a < b at each place."""
    x, y = _align(a, b)
    result: Array = np.asarray(x[0] < y[0])
    for digit, other in zip(x[1:], y[1:], strict=True):
        result = (digit < other) | ((digit == other) & result)
    return result


def where(condition: Array, a: Mantissas | int, b: Mantissas | int) -> Mantissas:
    """a where the condition holds, elsewhere b."""
    rows = [np.where(condition, x, y) for x, y in zip(*_align(a, b), strict=True)]
    return Digits(rows) if len(rows) > 1 else rows[0]


def concatenate(parts: Sequence[Mantissas]) -> Mantissas:
    """Returns the numbers of the first, then those of the second, and so on."""
    count = max(map(_count, parts))
    rows = [np.concatenate(row) for row in zip(*(_digits(part, count) for part in parts), strict=True)]
    return Digits(rows) if len(rows) > 1 else rows[0]


class Total:
    """Adds up multiples and products of mantissas."""

    def __init__(self) -> None:
        self._rows: list[Array | None] = []
        self._reach: list[int] = []

    def add(self, m: Mantissas, bound: int, factor: int) -> None:
        """factor·m. bound: at least every magnitude."""
        sign, rest, place = (1 if factor > 0 else -1), abs(factor), 0
        while rest and not rest & _MASK:
            rest, place = rest >> DIGIT_BITS, place + 1
        one = rest < _BASE
        while rest:
            piece = rest & _MASK
            rows, reach = _split(m, bound, _LAST // piece if one else _BASE)
            for i, (row, most) in enumerate(zip(rows, reach, strict=True)):
                if piece:
                    self._put(place + i, row if sign * piece == 1 else row * (sign * piece), most * piece)
            rest, place = rest >> DIGIT_BITS, place + 1

    def add_product(self, a: Mantissas, a_bound: int, b: Mantissas, b_bound: int) -> None:
        """a·b."""
        (x, x_reach), (y, y_reach) = _split(a, a_bound, _BASE), _split(b, b_bound, _BASE)
        for i, row in enumerate(x):
            for j, other in enumerate(y):
                self._put(i + j, row * other, x_reach[i] * y_reach[j])

    def result(self, offset: int, bound: int, length: int) -> Mantissas:
        """Returns the total and an offset, as narrow as the bound on its magnitudes allows."""
        place = 0
        while offset:
            piece = offset if abs(offset) < _BASE else offset & _MASK
            self._put(place, np.full(length, piece), abs(piece))
            offset, place = (offset - piece) >> DIGIT_BITS, place + 1
        return carried([np.zeros(length, np.int64) if row is None else row for row in self._rows], bound)

    def _put(self, place: int, row: Array, most: int) -> None:
        while len(self._rows) <= place:
            self._rows.append(None)
            self._reach.append(0)
        if self._reach[place] + most >= SMALL:
            self._carry()
        total = self._rows[place]
        self._rows[place] = row if total is None else total + row
        self._reach[place] += most

    def _carry(self) -> None:
        """Leaves room everywhere."""
        self._rows.append(None)
        self._reach.append(0)
        for i in range(len(self._rows) - 1):
            row = self._rows[i]  # with what was carried from below
            if row is None or self._reach[i] < _BASE:
                continue
            above = self._rows[i + 1]
            self._rows[i + 1] = row >> DIGIT_BITS if above is None else above + (row >> DIGIT_BITS)
            self._rows[i] = row & _MASK
            self._reach[i + 1] += (self._reach[i] >> DIGIT_BITS) + 1
            self._reach[i] = _BASE


def difference(a: Mantissas, b: Mantissas, bound: int) -> Mantissas:
    """a − b. bound: at least every magnitude of both."""
    if 2 * bound < SMALL and not isinstance(a, Digits) and not isinstance(b, Digits):
        return np.asarray(a - b)
    total = Total()
    total.add(a, bound, 1)
    total.add(b, bound, -1)
    return total.result(0, 2 * bound, len(a))


def running_sums(m: Mantissas, bound: int) -> Mantissas:
    """Returns the sum of the numbers up to each place."""
    most = bound * len(m)
    if not isinstance(m, Digits) and most < SMALL:
        sums: Array = np.cumsum(m)
        return sums
    rows, _ = _split(m, bound, SMALL // (2 * len(m) + 2))
    return carried([np.cumsum(row) for row in rows], most)


def _rows_for(bound: int) -> int:
    return 1 if bound < SMALL else 1 + -(-(bound.bit_length() - 61) // DIGIT_BITS)


def _split(m: Mantissas, bound: int, limit: int) -> tuple[list[Array], list[int]]:
    """Digits of which the last is at most the limit, and what each is at most."""
    rows = list(m.rows) if isinstance(m, Digits) else [m]
    below = DIGIT_BITS * (len(rows) - 1)
    most = (bound >> below) + (1 if len(rows) > 1 else 0)
    while most > limit:
        last = rows.pop()
        rows += [last & _MASK, last >> DIGIT_BITS]
        most = (most >> DIGIT_BITS) + 1
    return rows, [_MASK] * (len(rows) - 1) + [most]


def carried(rows: list[Array], bound: int) -> Mantissas:
    """Digits of any size carried. bound: at least every magnitude of the whole."""
    count = _rows_for(bound)
    if not rows:
        raise ValueError("nothing was added up")
    for i in range(len(rows) - 1):
        above = rows[i] >> DIGIT_BITS
        above += rows[i + 1]
        rows[i], rows[i + 1] = rows[i] & _MASK, above
    while len(rows) > count:
        last = rows.pop()
        rows[-1] = rows[-1] + (last << DIGIT_BITS)
    while len(rows) < count:
        last = rows.pop()
        rows += [last & _MASK, last >> DIGIT_BITS]
    return Digits(rows) if count > 1 else rows[0]


def _align(a: Any, b: Any) -> tuple[list[Any], list[Any]]:
    """Pads both to the same number of digits. A Python integer has digits, too."""
    count = max(_count(a), _count(b))
    return _digits(a, count), _digits(b, count)


def _count(m: Any) -> int:
    if isinstance(m, int):
        return _rows_for(abs(m))
    return len(m.rows) if isinstance(m, Digits) else 1


def _digits(m: Any, count: int) -> list[Any]:
    if isinstance(m, int):
        return [(m >> DIGIT_BITS * i) & _MASK for i in range(count - 1)] + [m >> DIGIT_BITS * (count - 1)]
    rows = list(m.rows) if isinstance(m, Digits) else [m]
    while len(rows) < count:
        last = rows.pop()
        rows += [last & _MASK, last >> DIGIT_BITS]
    return rows
