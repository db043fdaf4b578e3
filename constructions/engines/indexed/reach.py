"""At which queries no partial sum of a score leaves the format, whichever key it is of: a bound over boxes of queries.

The sum of a score's first products is linear in the query, so over a box of queries it is largest, and least, at a corner. So all
corners with all keys bound it in the box; where they leave the format, the box is halved. Sums are taken in float64 and kept away
from the ends of the format by more than they can err: a query that is said to stay within does, of any other nothing is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from constructions.engines.indexed.column import Column
from constructions.engines.indexed.mantissas import DIGIT_BITS, Array, Digits

MOST_CORNERS = 64
MOST_REACH = 2**500  # products of numbers up to this are far from the ends of float64
SURPLUS = 2.0**-40  # of the sum of magnitudes; rounding to 53 bits adds up to far less over MOST_PRODUCTS
MOST_PRODUCTS = 1 << 10


def distinct(keys: Sequence[Column]) -> Array:
    """Returns each different key once, almost: in float64. Shape: (coordinate, key)."""
    return np.unique(_floats(keys), axis=1)


def sums_stay_within(queries: Sequence[Column], keys: Array, largest: Fraction) -> Array:
    """Returns a mask of the queries whose partial sums of products with any key stay within ±largest.

    queries: a column for each coordinate. keys: see `distinct`. No coordinate exceeds ±largest.
    """
    wishes = _floats(queries)  # (coordinate, query)
    within = np.zeros(wishes.shape[1], bool)
    if not 0 < largest < MOST_REACH or len(queries) > MOST_PRODUCTS:
        return within
    most = np.max(np.abs(keys), axis=1)
    waiting = [np.arange(wishes.shape[1])]
    while waiting:
        box = waiting.pop()
        low, high = wishes[:, box].min(axis=1), wishes[:, box].max(axis=1)
        if _fits(low, high, keys, most, float(largest)):
            within[box] = True
            continue
        width = (high - low) * most
        split = int(np.argmax(width))
        upper = wishes[split, box] > low[split] + (high[split] - low[split]) / 2
        if width[split] > 0 and upper.any() and not upper.all():
            waiting += [box[upper], box[~upper]]
    return within


def _fits(low: Array, high: Array, keys: Array, most: Array, largest: float) -> bool:
    """Returns whether the sums stay within at every corner of the box from `low` to `high`. most: magnitudes of the keys."""
    ends = [(a,) if a == b else (a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    if 1 << sum(len(end) > 1 for end in ends) > MOST_CORNERS:
        return False
    room = largest - SURPLUS * (largest + float(np.sum(np.maximum(np.abs(low), np.abs(high)) * most)))
    for corner in itertools.product(*ends):
        total = np.zeros(keys.shape[1])
        for factor, row in zip(corner, keys, strict=True):
            total += factor * row
            if float(total.max()) > room or float(total.min()) < -room:
                return False
    return True


def _floats(columns: Sequence[Column]) -> Array:
    """Returns the nearest float64 numbers, or almost. Shape: (coordinate, place)."""
    return np.array([_float(column) for column in columns])


def _float(column: Column) -> Array:
    m = column.m
    total = np.zeros(len(column))
    for i, row in enumerate(m.rows if isinstance(m, Digits) else (m,)):
        total += np.ldexp(row.astype(np.float64), DIGIT_BITS * i + column.e)
    return total
