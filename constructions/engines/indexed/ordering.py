"""Sorting integers of any width, and finding places among them.

Integers of 64 bits that lie close together are looked up in a table, and few different ones among themselves. Others are sorted
with their places in their last digits, as numpy sorts numbers some times as fast as places.
"""

from __future__ import annotations

from typing import Literal, cast

import numpy as np

from constructions.engines.indexed.mantissas import (
    SMALL,
    Array,
    Digits,
    Mantissas,
    bound_of,
    carried,
    less,
    shift_right,
)

TABLE = 4  # times as many entries as numbers: looking up is dearer in a larger table than sorting
SMALL_TABLE = 1 << 12  # is always worth it
NEAR = 32  # numbers among which halving them is faster than sorting the wishes
SAMPLE, FEW = 1 << 10, 16  # numbers to look at first; so many times fewer different ones


def unique(m: Mantissas) -> tuple[Mantissas, Array]:
    """Returns the different numbers in order, and the place of each number among them."""
    if isinstance(m, Digits):
        if (few := _unique_leads(m)) is not None:
            return few
        order = _order(m)
    elif len(m) == 0:
        return m, np.zeros(0, np.int64)
    else:
        least = int(m.min())
        offsets, span = m - least, int(m.max()) - least + 1
        if span <= max(TABLE * len(m), SMALL_TABLE):
            present = np.zeros(span, np.int64)
            present[offsets] = 1
            return np.flatnonzero(present) + least, (np.cumsum(present) - 1)[offsets]
        values = _few(m)
        if values is not None:
            return values, np.searchsorted(values, m)
        packed = _packed_order(offsets, span - 1)
        order = np.argsort(m) if packed is None else packed
    ordered = m[order]
    new = np.ones(len(m), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    inverse = np.empty(len(m), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return ordered[new], inverse


def _few(m: Array) -> Array | None:
    """Returns the different numbers in order if they are few: then it is faster to look each up than to sort the places."""
    sample = m[:: len(m) // SAMPLE + 1]
    if FEW * len(np.unique(sample)) > len(sample):
        return None
    ordered = np.sort(m)
    values: Array = ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))]
    return values if FEW * len(values) <= len(m) else None


def _unique_leads(m: Digits) -> tuple[Digits, Array] | None:
    """`unique`, if the first digits are few and tell the numbers apart."""
    leads = _lead(m, max(0, bound_of(m).bit_length() - 61))
    if len(m) < SAMPLE or (different := _few(leads)) is None:
        return None
    place = np.searchsorted(different, leads)
    one = np.empty(len(different), np.int64)  # a place of each
    one[place] = np.arange(len(m))
    values = Digits([row[one] for row in m.rows])
    return (values, place) if np.all(values[place] == m) else None


class Sorted:
    """Sorted numbers, to be searched many times."""

    def __init__(self, values: Mantissas) -> None:
        self.values = values
        self._below: Array | None = None  # how many values are less than least, least + 1, …
        if not isinstance(values, Digits) and len(values):
            self._least, span = int(values[0]), int(values[-1]) - int(values[0]) + 1
            if span <= max(TABLE * len(values), SMALL_TABLE):
                self._below = np.zeros(span + 1, np.int64)
                np.cumsum(np.bincount(values - self._least, minlength=span), out=self._below[1:])

    def below(self, wishes: Mantissas, *, equal: bool = False) -> Array:
        """Returns how many of the values are less than each wish, or equal to it."""
        values = self.values
        if isinstance(values, Digits) or isinstance(wishes, Digits):
            return _wide_below(values, wishes, equal=equal)
        if self._below is None:
            return _places(values, wishes, "right" if equal else "left")
        offsets = wishes - (self._least - equal)
        np.minimum(np.maximum(offsets, 0, out=offsets), len(self._below) - 1, out=offsets)
        counts: Array = self._below[offsets]
        return counts

    def below_within(self, wishes: Mantissas, low: Array, high: Array) -> Array:
        """Computes `below`, clipped to low … high; where it is already clipped, returns the nearest place there."""
        if self._below is not None or isinstance(self.values, Digits) or isinstance(wishes, Digits):
            return self.below(wishes)
        low, high = low.copy(), high.copy()
        if len(far := np.flatnonzero(high - low > NEAR)):
            low[far] = high[far] = _places(self.values, wishes[far], "left")
        return _bisect(self.values, wishes, low, high, equal=False)

    def find(self, wishes: Mantissas) -> Array:
        """Returns a place of each wish among the values, −1 if it is none of them."""
        place = np.minimum(self.below(wishes), len(self.values) - 1)
        return np.where(np.asarray(self.values[place] == wishes, bool), place, -1)


def _wide_below(values: Mantissas, wishes: Mantissas, *, equal: bool) -> Array:
    shift = max(0, max(bound_of(values), bound_of(wishes)).bit_length() - 61)
    leads, wish_leads = (_lead(m, shift) for m in (values, wishes))
    low, high = np.searchsorted(leads, wish_leads, "left"), np.searchsorted(leads, wish_leads, "right")
    return _bisect(values, wishes, low, high, equal=equal)  # these agree with the wish in all but their last digits


def _bisect(values: Mantissas, wishes: Mantissas, low: Array, high: Array, *, equal: bool) -> Array:
    """Returns how many of the values are less than each wish, or equal to it, of which it is known that it is from low to high.

    Changes these; where low is not less than high, it is the answer.
    """
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        value, wish = values[middle], wishes[open_]
        below = ~less(wish, value) if equal else less(value, wish)
        low[open_] = np.where(below, middle + 1, low[open_])
        high[open_] = np.where(below, high[open_], middle)
        open_ = open_[low[open_] < high[open_]]
    return low


def stable_order(numbers: Array, most: int) -> Array:
    """Returns the places in the order of numbers from 0 to `most`, equal ones as they stand."""
    packed = _packed_order(numbers, most)
    return np.argsort(numbers, kind="stable") if packed is None else packed


def _packed_order(numbers: Array, most: int) -> Array | None:
    """Returns the same, where a number and its place fit into 64 bits: numbers are sorted some times as fast as their places."""
    bits = max(len(numbers) - 1, 0).bit_length()
    if (most + 1) << bits >= SMALL:
        return None
    packed: Array = numbers << bits
    packed |= np.arange(len(numbers))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def _places(values: Array, wishes: Array, side: Literal["left", "right"]) -> Array:
    """Computes `np.searchsorted`. Sorts the wishes first if that is faster."""
    bits = max(len(wishes) - 1, 0).bit_length()
    bound = max(int(wishes.max()), -int(wishes.min())) if len(wishes) else 0
    if (bound + 1) << bits < SMALL:
        packed = wishes << bits
        packed |= np.arange(len(wishes))
        packed.sort()
        order, ordered = packed & ((1 << bits) - 1), packed >> bits
    else:
        order = np.argsort(wishes)
        ordered = wishes[order]
    result = np.empty(len(wishes), np.int64)
    result[order] = np.searchsorted(values, ordered, side)
    return result


def _lead(m: Mantissas, shift: int) -> Array:
    """⌊m / 2^shift⌋, which is below 2^61."""
    lead = shift_right(m, shift)
    return cast(Array, carried(list(lead.rows), 0) if isinstance(lead, Digits) else lead)


def _order(m: Digits) -> Array:
    """Returns the places in the order of their numbers."""
    order = np.argsort(_lead(m, max(0, bound_of(m).bit_length() - 61)))
    ordered = m[order]
    if np.any(less(ordered[1:], ordered[:-1])):
        return np.lexsort(m.rows)
    return order
