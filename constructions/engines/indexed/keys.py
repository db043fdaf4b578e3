"""The ordinary keys of a head in the order in which winners are searched among them.

Keys are grouped by all dimensions that must match exactly; within a group they stand in order of position. The last dimension, the
*preference*, is searched in this order; that it rises or falls with the position in every group is checked here.
All of it depends on the keys alone, so that queries come in pieces, and as many as want.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import Column
from constructions.engines.indexed.mantissas import Array, Mantissas, divisible, shift_right
from constructions.engines.indexed.ordering import Sorted, stable_order, unique
from constructions.engines.indexed.squares import Dimension


class Seen(NamedTuple):
    """What queries see of the group that they match.

    wanted: the group, −1 if no key is in it. start, stop: order[start:stop] are the keys of it that the query sees. representable:
    whether the query is a multiple of the granularity in each dimension, so that mismatches can be bounded.
    """

    wanted: Array
    start: Array
    stop: Array
    representable: Array


class Grouped:
    """The ordinary keys by the values of all matching dimensions, then by position.

    order: the keys; group: of each of them. length: of all keys, special ones included. registers: those that all keys of a group
    agree in.
    """

    def __init__(self, matching: Sequence[Dimension], ordinary: Array, length: int) -> None:
        self.length = length
        self.registers = {register for d in matching for register in (d.root, d.square)}
        self._steps: list[
            tuple[int, Sorted, Sorted | None]
        ] = []  # exponent and values of a dimension; groups until then
        group = np.zeros(len(ordinary), np.int64)
        for number, d in enumerate(matching):
            keys = d.keys.take(ordinary)
            values, place = unique(keys.m)
            if number:
                present, group = unique(group * len(values) + place)  # renumbered: below the number of keys
                self._steps.append((keys.e, Sorted(values), Sorted(present)))
            else:
                group = place
                self._steps.append((keys.e, Sorted(values), None))
        by_group = stable_order(group, len(ordinary)) if matching else np.arange(len(ordinary))
        self.order, self.group = ordinary[by_group], group[by_group]
        self._starts = np.append(beginnings(self.group), len(group))
        # Positions rise within a group, so what a query sees of it is a prefix.
        self._places = Sorted(self.group * (length + 1) + self.order)

    def seen(self, queries: Sequence[Column], visible: Array) -> Seen:
        """Returns the keys below `visible` that queries may match. queries: a column for each dimension that is compared."""
        wanted, representable = np.zeros(len(visible), np.int64), np.ones(len(visible), bool)
        for column, (e, values, present) in zip(queries, self._steps, strict=True):
            number, multiple = look_up(column, e, values)
            representable &= multiple
            if present is None:
                wanted = number
            else:
                combined = present.find(wanted * len(values.values) + number)
                wanted = np.where((wanted >= 0) & (number >= 0), combined, -1)
        if not self._steps:
            return Seen(wanted, wanted, self._places.below(visible), representable)
        start, exists = self._starts[wanted], wanted >= 0
        stop = self._places.below_within(wanted * (self.length + 1) + visible, start, self._starts[wanted + 1])
        return Seen(wanted, start * exists, stop * exists, representable)


def look_up(queries: Column, e: int, values: Sorted) -> tuple[Array, Array]:
    """Returns the place of each query among the values of exponent e, −1 if absent; and whether it is a multiple of 2^e."""
    if queries.is_zero or queries.e >= e:
        return values.find(queries.scaled_to(e)), np.ones(len(queries), bool)
    m = queries.m
    fits = divisible(m, e - queries.e)
    return np.where(fits, values.find(shift_right(m, e - queries.e)), -1), fits


class Preferred:
    """The preference of keys that are grouped.

    keys, defect: of the dimension, in that order. falls: whether it falls with the position. distinct: in a group, no keys agree.
    """

    def __init__(self, preference: Dimension, grouped: Grouped, direction: int, rank: Array, values: Mantissas) -> None:
        self.dimension = preference
        self.keys = preference.keys.take(grouped.order).packed()
        self.defect = preference.defect.take(grouped.order).packed()
        self.falls = direction < 0
        self._values, self._width = Sorted(values), len(values) + 1
        composite = grouped.group * self._width + (len(values) - 1 - rank if self.falls else rank)
        self._composite = Sorted(composite)
        begins = beginnings(composite)
        self.distinct = len(begins) == len(composite)
        if not self.distinct:
            sizes = np.diff(begins, append=len(composite))
            self._begins = np.repeat(begins, sizes)  # of the run that each place is in
            self._ends = np.repeat(begins + sizes, sizes)

    def runs(self, queries: Column, seen: Seen) -> list[tuple[Array, Array]]:
        """Runs of equal keys next to each query's wish, within its group and prefix: below, above, and the ones after these.

        Ranges into the order, empty where there is none. The first two touch.
        """
        start, stop = seen.start, seen.stop
        goal = count_at_most(self._values, self.dimension.keys.e, queries)  # the first rank above the wish
        if self.falls:
            goal = self._width - 1 - goal
        middle = self._composite.below_within(seen.wanted * self._width + goal, start, stop)
        middle = np.minimum(np.maximum(middle, start, out=middle), stop, out=middle)
        lower, upper = self._run_below(middle, start), self._run_above(middle, stop)
        return [lower, upper, self._run_below(lower[0], start), self._run_above(upper[1], stop)]

    def _run_below(self, end: Array, start: Array) -> tuple[Array, Array]:
        before = np.maximum(end - 1, 0)
        begin = before if self.distinct else self._begins[before]
        return np.minimum(np.maximum(begin, start, out=begin), end, out=begin), end

    def _run_above(self, begin: Array, stop: Array) -> tuple[Array, Array]:
        last = np.minimum(begin + 1, stop)
        if not self.distinct:
            last = np.minimum(self._ends[np.minimum(begin, len(self._ends) - 1)], stop)
        return begin, last


def preferred(preference: Dimension, grouped: Grouped) -> Preferred | None:
    """None if keys do not rise, or fall, with the position in every group, or if keys are equal and score differently."""
    values, rank = unique(preference.keys.take(grouped.order).m)
    if not is_function_of(preference.defect.take(grouped.order), rank):
        return None
    direction = direction_of(grouped.group, rank)
    return Preferred(preference, grouped, direction, rank, values) if direction else None


def beginnings(ordered: Array) -> Array:
    """Returns where each run of equal numbers begins, the first one included."""
    return np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)


def direction_of(group: Array, rank: Array) -> int:
    """1 if ranks never fall within a group, −1 if they never rise, otherwise 0."""
    steps = np.where(group[1:] == group[:-1], rank[1:] - rank[:-1], 0)
    if np.all(steps >= 0):
        return 1
    return -1 if np.all(steps <= 0) else 0


def is_function_of(column: Column, rank: Array) -> bool:
    """Returns whether places of equal rank, from 0 on, hold equal values."""
    if column.is_zero:
        return True
    one = np.zeros(int(rank.max(initial=0)) + 1, np.int64)  # a place of each rank
    one[rank] = np.arange(len(rank))
    return bool(column.equals(column.take(one[rank])).all())


def count_at_most(values: Sorted, e: int, queries: Column) -> Array:
    """Returns how many of the values of exponent e are at most each query."""
    thresholds = queries.scaled_to(e) if queries.is_zero or queries.e >= e else shift_right(queries.m, e - queries.e)
    return values.below(thresholds, equal=True)
