"""The winners of a head's queries; those of many like queries in a row from two of them.

Derivation: a score is linear in the query. Let a run of queries want the same group, see the same keys of it and the same
special keys, and let each of them lie between the ends: q = first + t·(last − first), 0 ≤ t ≤ 1. Then what holds of scores at
both ends holds in between: that the same keys win, that they tie, that each other key of the group and each special key is
behind by some lead, and that the winners' score is within some bounds. A key of another group, seen or not, is compared by what
distances cost: at least a number that holds for all wishes from the least to the largest, against the winners' cost, which is
convex in the query and so nowhere above both ends. So two certificates of the same winners serve for the whole run.
Coefficients of registers that are the same at all keys need not lie between those of the ends: they shift all scores alike, so
only the bounds are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import Column, at_most, combine, extremes
from constructions.engines.indexed.keys import Grouped
from constructions.engines.indexed.mantissas import Array

SHORTER = 3  # times fewer runs than queries, to be worth the search at both of their ends


@dataclass(frozen=True)
class Winners:
    """The winning keys of each query, where certified; elsewhere the entries mean nothing.

    certified: (queries,) bool. grouped: the ordinary keys, sorted by group, their order among it. low, high: the winners are
    order[low:high], empty if only special keys win. special: the special keys; special_wins: (special, queries) bool. tie:
    (queries,), how many keys there are, the first ones, where all of them tie as every score saturates; elsewhere 0. preference:
    which of the registers are the root and the square by which the winner is searched; None if none are, or the root is none of
    them.
    """

    certified: Array
    grouped: Grouped
    low: Array
    high: Array
    special: Array
    special_wins: Array
    tie: Array
    preference: tuple[int, int] | None = None

    @property
    def order(self) -> Array:
        """The ordinary keys, sorted by group."""
        return self.grouped.order

    @property
    def number(self) -> Array:
        """Returns how many keys tie for the win."""
        count: Array = self.high - self.low + self.special_wins.sum(axis=0) + self.tie
        return count

    @property
    def one_of_them(self) -> Array:
        """A key that wins, for each query."""
        key: Array = self.order[np.where(self.high > self.low, self.low, 0)]
        for wins, place in zip(self.special_wins, self.special, strict=True):
            key = np.where(wins & (self.high == self.low), place, key)
        return np.where(self.tie > 0, 0, key)

    @property
    def rows(self) -> tuple[Array, ...]:
        """All that has an entry for each query, in its last axis."""
        return self.certified, self.low, self.high, self.tie, self.special_wins

    def with_rows(self, rows: Sequence[Array]) -> Winners:
        """Returns the winners of other queries; `rows` says which query each one takes them from."""
        certified, low, high, tie, special_wins = rows
        return replace(self, certified=certified, low=low, high=high, tie=tie, special_wins=special_wins)


class Found(NamedTuple):
    """Winners, and what each query sees. seen: (2, queries), the last place of its group, and how many special keys.

    total: unit·(the winners' score), for some unit.
    """

    winners: Winners
    seen: Array
    total: Column


def run_starts(wishes: Sequence[Column], coefficients: Sequence[Column], length: int) -> Array | None:
    """Returns where runs begin in which each query lies between the first and the last, and all want the same; None if they are
    many.

    wishes: what they want, as far as it says of which group. coefficients: in a run, each is constant, or it is one that rises or
    falls by equal steps from the first query of all to the last.
    """
    new = np.zeros(length, bool)
    new[:1] = True
    for column in (*wishes, *(column for column in coefficients if not column.is_even())):
        new[1:] |= column.changes()
        if np.count_nonzero(new) * SHORTER > length:
            return None
    return np.flatnonzero(new)


def over_runs(
    begins: Array, shift: Column, least: Fraction, most: Fraction, search: Callable[[Array], Found]
) -> Winners:
    """Returns the winners of all queries, from those at the ends of runs. search: of queries at some places, in any order.

    shift: what all scores of a query are shifted by, times the unit. least, most: a winner is above and at most that, with it.
    """
    lengths, number = np.diff(begins, append=len(shift)), len(begins)
    ends = np.concatenate([begins, begins + lengths - 1])
    winners, seen, total = search(ends)
    same = winners.certified[:number] & (winners.tie[:number] == 0)
    for row in (*winners.rows, seen):
        equal = row[..., :number] == row[..., number:]
        same &= equal if equal.ndim == 1 else equal.all(axis=0)
    run = np.repeat(np.arange(number), lengths)
    alike = same[run]
    if not shift.is_even():
        own = combine([(Fraction(1), total), (Fraction(-1), shift.take(ends))], Fraction(0), 2 * number)
        low, high = extremes(own.take(np.arange(number)), own.take(np.arange(number, 2 * number)))
        low, high = (
            combine([(Fraction(1), c.take(run)), (Fraction(1), shift)], Fraction(0), len(run)) for c in (low, high)
        )
        alike &= at_most(high, most) & ~at_most(low, least)
    rows = [row[..., run] for row in winners.rows]
    if len(rest := np.flatnonzero(~alike)):
        for row, its in zip(rows, search(rest).winners.rows, strict=True):
            row[..., rest] = its
    return winners.with_rows(rows)
