"""Sorting integers of any width, and finding places among them.

Integers of 64 bits that lie close together are looked up in a table. Others are sorted with their places in their last digits, as
numpy sorts numbers some times as fast as places.
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


def unique(m: Mantissas) -> tuple[Mantissas, Array]:
    """The different numbers in order, and the place of each number among them."""
    if not isinstance(m, Digits):
        table = _table(m, len(m))
        if table is None:
            return np.unique(m, return_inverse=True)
        least, span = table
        offsets = m - least
        present = np.zeros(span, np.int64)
        present[offsets] = 1
        return np.flatnonzero(present) + least, (np.cumsum(present) - 1)[offsets]
    order = _order(m)
    ordered = m[order]
    new = np.concatenate([np.ones(1, bool), ordered[1:] != ordered[:-1]])
    inverse = np.empty(len(m), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return ordered[new], inverse


def count_below(values: Mantissas, wishes: Mantissas, *, equal: bool = False) -> Array:
    """How many of the sorted values are less than each wish, or equal to it."""
    if not isinstance(values, Digits) and not isinstance(wishes, Digits):
        table = _table(values, len(values) + len(wishes))
        if table is None:
            return _places(values, wishes, "right" if equal else "left")
        least, span = table
        below = np.zeros(span + 1, np.int64)  # how many values are less than least, least + 1, …
        np.cumsum(np.bincount(values - least, minlength=span), out=below[1:])
        below_wish: Array = below[np.clip(wishes - least + (1 if equal else 0), 0, span)]
        return below_wish
    shift = max(0, max(bound_of(values), bound_of(wishes)).bit_length() - 61)
    leads, wanted = (_lead(m, shift) for m in (values, wishes))
    low, high = np.searchsorted(leads, wanted, "left"), np.searchsorted(leads, wanted, "right")
    while len(open_ := np.flatnonzero(low < high)):  # these values agree with the wish in all but their last digits
        middle = (low[open_] + high[open_]) // 2
        value, wish = values[middle], wishes[open_]
        below = ~less(wish, value) if equal else less(value, wish)
        low[open_] = np.where(below, middle + 1, low[open_])
        high[open_] = np.where(below, high[open_], middle)
    return low


def stable_order(numbers: Array, most: int) -> Array:
    """The places in the order of numbers from 0 to `most`, equal ones as they stand."""
    bits = len(numbers).bit_length()
    if (most + 1) << bits >= SMALL:
        return np.argsort(numbers, kind="stable")
    packed = numbers << bits
    packed |= np.arange(len(numbers))
    packed.sort()  # some times as fast as to sort places
    packed &= (1 << bits) - 1
    return packed


def _table(values: Array, places: int) -> tuple[int, int] | None:
    """The least value and how many integers there are from it to the largest, if a table of these is worth it."""
    if not len(values):
        return None
    least = int(values.min())
    span = int(values.max()) - least + 1
    return (least, span) if span <= TABLE * places else None


def _places(values: Array, wishes: Array, side: Literal["left", "right"]) -> Array:
    """As `np.searchsorted`, which is some times as fast if the wishes are sorted."""
    bits = len(wishes).bit_length()
    bound = max(int(wishes.max()), -int(wishes.min())) if len(wishes) else 0
    if (bound + 1) << bits >= SMALL:
        return np.searchsorted(values, wishes, side)
    packed = wishes << bits
    packed |= np.arange(len(wishes))
    packed.sort()
    result = np.empty(len(wishes), np.int64)
    result[packed & ((1 << bits) - 1)] = np.searchsorted(values, packed >> bits, side)
    return result


def _lead(m: Mantissas, shift: int) -> Array:
    """⌊m / 2^shift⌋, which is below 2^61."""
    lead = shift_right(m, shift)
    return cast(Array, carried(list(lead.rows), 0) if isinstance(lead, Digits) else lead)


def _order(m: Digits) -> Array:
    """The places in the order of their numbers."""
    order = np.argsort(_lead(m, max(0, bound_of(m).bit_length() - 61)), kind="stable")
    ordered = m[order]
    if np.any(less(ordered[1:], ordered[:-1])):
        return np.lexsort(m.rows)
    return order
