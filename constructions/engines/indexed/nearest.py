"""Who wins a softmax column, found by sorting, with a certificate that nobody else has any weight.

The score of key k' for query k is Σ_i Q_i(k)·x_i(k') over the registers i that the key matrix reads. Where, among the keys that are
alike in everything else, some registers are squares of others and their coefficient is a negative constant −S, this is

    score = c(k) − Σ_j S_j·(x_j(k') − v_j(k))²,   v_j = Q_j / (2·S_j),

a nearest-neighbour problem. Keys that differ elsewhere (position 1, the end of a prompt) are *special*: few, and scored one by
one. All dimensions j but one must match exactly; keys are grouped by them. The last one, the *preference*, is searched in sorted
order within the group, among the keys that the causal mask leaves. What the squares hide is checked, never assumed: that
x_s = x_j² (or its rounding), that coefficients are constant, that the preference is monotone within each group.

The certificate of a query: the winner's exact score leads every other key's by so much that all others round to weight 0 together,
where keys outside the group are bounded by the least possible mismatch. Where not even the best score is above the least element of
the format, −largest, all of them round to it, and all keys tie. A query that fails both is left to be computed densely.
Nothing here knows what a head is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import Column, combine, dyadic, multiply, normalised, zeros
from constructions.engines.indexed.mantissas import (
    Array,
    Mantissas,
    bound_of,
    divisible,
    less,
    shift_right,
    where,
)
from constructions.engines.indexed.ordering import count_below, stable_order, unique
from constructions.engines.indexed.squares import (
    MOST_SPECIAL,
    Dimension,
    choose_preference,
    complete_squares,
    split_special,
)


@dataclass(frozen=True)
class Winners:
    """The winning keys of each query, where certified; elsewhere the entries mean nothing.

    certified: (queries,) bool. order: the ordinary keys, sorted by group. low, high: the winners are order[low:high], empty if only
    special keys win. special: the special keys; special_wins: (special, queries) bool. tie: (queries,), how many keys there are,
    the first ones, where all of them tie as every score saturates; elsewhere 0. preference: which of the registers are the root
    and the square by which the winner is searched; None if none are, or the root is none of them.
    """

    certified: Array
    order: Array
    low: Array
    high: Array
    special: Array
    special_wins: Array
    tie: Array
    preference: tuple[int, int] | None = None

    @property
    def number(self) -> Array:
        """How many keys tie for the win."""
        count: Array = self.high - self.low + self.special_wins.sum(axis=0) + self.tie
        return count

    @property
    def one_of_them(self) -> Array:
        """A key that wins, for each query."""
        key: Array = self.order[np.where(self.high > self.low, self.low, 0)]
        for wins, place in zip(self.special_wins, self.special, strict=True):
            key = np.where(wins & (self.high == self.low), place, key)
        return np.where(self.tie > 0, 0, key)


@dataclass(frozen=True)
class _Groups:
    """The ordinary keys by the values of all matching dimensions.

    order: the keys, sorted by group, then by position; group: of each of them. wanted: the group that a query matches, −1 if no key
    does. start, stop: order[start:stop] are the keys of that group that the query sees. representable: whether the query is a
    multiple of the granularity in each dimension, so that mismatches can be bounded.
    """

    order: Array
    group: Array
    wanted: Array
    start: Array
    stop: Array
    representable: Array


class _Candidates(NamedTuple):
    """One candidate for the win at each query, a set of keys of equal score. score: unit·(score − c(query)). present: or none."""

    score: Column
    present: Array


def find_winners(
    registers: Sequence[Column],
    coefficients: Sequence[Column],
    pool: Sequence[Column],
    length: int,
    visible: Array,
    lead: Fraction,
    largest: Fraction,
) -> Winners | None:
    """The winners of every query, or None if the scores do not have the structure.

    registers: the key registers. coefficients: Q_i of each, over the queries. pool: registers in which roots of squares are looked
    for. length: the number of keys. visible: each query sees the keys below visible[query]. lead: what winners must lead by, not 0.
    largest: scores beyond ±largest saturate.
    """
    flat, special = split_special(registers, length)
    if len(special) > MOST_SPECIAL or len(special) == length:
        return None
    ordinary = np.delete(np.arange(length), special)
    dimensions = complete_squares(registers, coefficients, flat, pool, ordinary, len(visible))
    if dimensions is None:
        return None
    preference = choose_preference(dimensions, ordinary)
    matching = [d for d in dimensions if d is not preference]
    if any(not d.defect.is_zero for d in matching):
        return None
    unit = lcm(*(abs(dyadic(d.scale)[0]) for d in dimensions))  # makes unit·score dyadic, in spite of the 4S below
    centre = _centre(registers, coefficients, flat, dimensions, int(ordinary[0]), unit, len(visible))
    groups = _group(matching, ordinary, length, visible)
    ranges = [(groups.start, groups.stop)] if preference is None else _nearest_runs(preference, groups)
    if ranges is None:
        return None
    candidates = [_run(preference, groups.order, low, high, unit) for low, high in ranges]
    candidates += [_special_key(registers, coefficients, centre, int(key), visible, unit) for key in special]
    outside = _outside(matching, preference, unit)
    certified, wins, best = _decide(candidates, unit * (lead + 2 * _defect_reach(preference)), outside)
    total = combine([(Fraction(1), best), (Fraction(1), centre)], Fraction(0), len(visible))
    certified &= groups.representable & _within_range(total, unit * lead, unit * largest)
    certified &= ~wins[2 : len(ranges)].any(axis=0)  # what lies behind a run of the second rank was not looked at
    highest = combine([(Fraction(1), total)], 2 * unit * _defect_reach(preference), len(visible))
    some = np.asarray(wins.any(axis=0), bool)
    beneath = _is_beneath(highest, some, groups, outside, centre, -unit * largest)
    low, high = (np.where(beneath, 0, end) for end in _join(ranges, wins))
    searched = None if preference is None or preference.root < 0 else (preference.root, preference.square)
    return Winners(
        certified | beneath,
        groups.order,
        low,
        high,
        special,
        wins[len(ranges) :] & ~beneath,
        np.where(beneath, visible, 0),
        searched,
    )


def _group(matching: Sequence[Dimension], ordinary: Array, length: int, visible: Array) -> _Groups:
    """Sorts the ordinary keys into groups, and finds what each query sees of the group that it matches."""
    groups = np.zeros(len(ordinary), np.int64)
    wanted = np.zeros(len(visible), np.int64)
    representable = np.ones(len(visible), bool)
    for d in matching:
        keys = d.keys.take(ordinary)
        values, inverse = unique(keys.m)
        number, multiple = _look_up(d.queries, keys.e, values)
        representable &= multiple
        groups = groups * len(values) + inverse
        wanted = np.where((wanted >= 0) & (number >= 0), wanted * len(values) + number, -1)
        present, groups = unique(groups)  # renumbered: below the number of keys
        place = np.minimum(count_below(present, wanted), len(present) - 1)
        wanted = np.where((wanted >= 0) & (present[place] == wanted), place, -1)
    by_group = stable_order(groups, len(ordinary))
    order, group = ordinary[by_group], groups[by_group]
    starts = np.append(_beginnings(group), len(group))
    start = starts[wanted]
    # Positions rise within a group, so what a query sees of it is a prefix.
    stop = count_below(group * (length + 1) + order, wanted * (length + 1) + visible)
    found = wanted >= 0
    start, stop = np.where(found, start, 0), np.where(found, stop, 0)
    return _Groups(order, group, wanted, start, stop, representable)


def _look_up(queries: Column, e: int, values: Mantissas) -> tuple[Array, Array]:
    """The place of each query in the sorted `values` of exponent e, −1 if absent; and whether it is a multiple of 2^e."""
    fits = np.ones(len(queries), bool)
    if queries.is_zero or queries.e >= e:
        wanted = queries.scaled_to(e)
    else:
        wanted = shift_right(queries.m, e - queries.e)
        fits = divisible(queries.m, e - queries.e)
    place = np.minimum(count_below(values, wanted), len(values) - 1)
    return np.where(fits & np.asarray(values[place] == wanted, bool), place, -1), fits


def _nearest_runs(preference: Dimension, groups: _Groups) -> list[tuple[Array, Array]] | None:
    """Runs of equal keys next to each query's wish, within its group and prefix: below, above, and the ones behind these.

    Ranges into the order, empty where there is none. The first two touch. None if keys do not rise, or fall, with the position in
    every group, or if keys are equal and score differently.
    """
    group, wanted, start, stop = groups.group, groups.wanted, groups.start, groups.stop
    keys = preference.keys.take(groups.order)
    values, rank = unique(keys.m)
    if not _is_function_of(preference.defect.take(groups.order), rank):
        return None
    below = _count_at_most(values, keys.e, preference.queries)
    direction = _direction(group, rank)
    if direction == 0:
        return None
    if direction > 0:
        goal = below  # the first rank above the wish
    else:
        rank, goal = len(values) - 1 - rank, len(values) - below
    width = len(values) + 1
    composite = group * width + rank
    middle = np.minimum(np.maximum(count_below(composite, wanted * width + goal), start), stop)
    beginnings = _beginnings(composite)
    sizes = np.diff(beginnings, append=len(composite))
    begins = np.repeat(beginnings, sizes)  # of the run that each place is in
    ends = np.repeat(beginnings + sizes, sizes)

    def run_below(end: Array) -> tuple[Array, Array]:
        exists = end > start
        begin = np.maximum(begins[end - 1], start)  # at −1, of the last place, which is not used
        return begin * exists, end * exists

    def run_above(begin: Array) -> tuple[Array, Array]:
        exists = begin < stop
        end = np.minimum(ends[begin * exists], stop)
        return begin * exists, end * exists

    lower, upper = run_below(middle), run_above(middle)
    lower_2 = run_below(np.where(lower[1] > lower[0], lower[0], start))
    upper_2 = run_above(np.where(upper[1] > upper[0], upper[1], stop))
    return [lower, upper, lower_2, upper_2]


def _beginnings(ordered: Array) -> Array:
    """Where each run of equal numbers begins, the first one included."""
    return np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)


def _direction(group: Array, rank: Array) -> int:
    """1 if ranks never fall within a group, −1 if they never rise, otherwise 0."""
    steps = np.where(group[1:] == group[:-1], rank[1:] - rank[:-1], 0)
    if np.all(steps >= 0):
        return 1
    return -1 if np.all(steps <= 0) else 0


def _is_function_of(column: Column, rank: Array) -> bool:
    """Whether places of equal rank hold equal values."""
    if column.is_zero:
        return True
    by_rank = np.argsort(rank, kind="stable")
    ranks, values = rank[by_rank], column.m[by_rank]
    return not np.any((ranks[1:] == ranks[:-1]) & (values[1:] != values[:-1]))


def _count_at_most(values: Mantissas, e: int, queries: Column) -> Array:
    """How many of the sorted `values` of exponent e are at most each query."""
    low = min(e, queries.e)
    scaled = Column(values, e, bound_of(values)).scaled_to(low)
    return count_below(scaled, queries.scaled_to(low), equal=True)


def _centre(
    registers: Sequence[Column],
    coefficients: Sequence[Column],
    flat: Sequence[int],
    dimensions: Sequence[Dimension],
    ordinary_key: int,
    unit: int,
    queries: int,
) -> Column:
    """unit·c(query): what the score of an ordinary key is without the distances, namely Σ_flat Q_i·x_i + Σ_j Q_j²/(4S_j)."""
    constants = [(unit * registers[i].at(ordinary_key), coefficients[i]) for i in flat]
    completions = [(unit / (4 * d.scale), multiply(d.queries, d.queries)) for d in dimensions]
    return combine(constants + completions, Fraction(0), queries)


def _run(preference: Dimension | None, order: Array, low: Array, high: Array, unit: int) -> _Candidates:
    """A run of equal keys of the group: order[low:high]."""
    present = high > low
    if preference is None:
        return _Candidates(zeros(len(low)), present)
    key = order[np.where(present, low, 0)]
    distance = combine(
        [(Fraction(1), preference.keys.take(key)), (Fraction(-1), preference.queries)], Fraction(0), len(low)
    )
    cost = [
        (-unit / (4 * preference.scale), multiply(distance, distance)),
        (-unit * preference.scale, preference.defect.take(key)),
    ]
    return _Candidates(combine(cost, Fraction(0), len(low)), present)


def _special_key(
    registers: Sequence[Column],
    coefficients: Sequence[Column],
    centre: Column,
    key: int,
    visible: Array,
    unit: int,
) -> _Candidates:
    """A special key, scored by the bilinear form itself."""
    terms = [(unit * register.at(key), c) for register, c in zip(registers, coefficients, strict=True)]
    return _Candidates(combine([*terms, (Fraction(-1), centre)], Fraction(0), len(visible)), visible > key)


def _defect_reach(preference: Dimension | None) -> Fraction:
    """How far a defect of the preferred square can move a score, up or down."""
    if preference is None:
        return Fraction(0)
    return preference.scale * preference.defect.bound * Fraction(2) ** preference.defect.e


def _outside(matching: Sequence[Dimension], preference: Dimension | None, unit: int) -> Fraction | None:
    """What unit·(score − c(query)) is at most for an ordinary key of another group; None if there is just one group by design."""
    if not matching:
        return None
    least_mismatch = min(d.granularity**2 / (4 * d.scale) for d in matching)
    best = Fraction(0) if preference is None else -preference.least_cost
    return unit * (_defect_reach(preference) + best - least_mismatch)


def _decide(
    candidates: Sequence[_Candidates], needed: Fraction, outside: Fraction | None
) -> tuple[Array, Array, Column]:
    """Whether the best candidates lead all others and `outside` by `needed`; which ones they are; and their score, 0 if none.

    Derivation of the defects' part in `needed`: the keys behind the runs of the second rank lie further from the wish, so they beat
    these runs at most by the difference of two defects, twice `_defect_reach`; a lead over the runs is thus one over them.
    """
    e = min(c.score.e for c in candidates)
    unit = Fraction(2) ** e
    bound = max(c.score.bound << (c.score.e - e) if c.score.bound else 0 for c in candidates)
    scores = [c.score.scaled_to(e) for c in candidates]
    best, some = scores[0], candidates[0].present
    for score, (_, present) in zip(scores[1:], candidates[1:], strict=True):
        best = where(present & (~some | less(best, score)), score, best)
        some = some | present
    threshold = ceil(needed / unit)
    behind = combine([(Fraction(1), Column(best, e, bound))], -threshold * unit, len(some)).scaled_to(e)
    certified, wins = some, []
    for score, (_, present) in zip(scores, candidates, strict=True):
        wins.append(present & np.asarray(score == best, bool))
        certified = certified & (~present | wins[-1] | ~less(behind, score))
    if outside is not None:
        certified = certified & ~less(best, threshold + ceil(outside / unit))
    return certified, np.stack(wins), normalised(where(some, best, 0), e)


def _within_range(total: Column, lead: Fraction, largest: Fraction) -> Array:
    """Whether neither a winner of this score nor, against it, a loser that saturates at −largest is moved too far by saturation."""
    return at_most(total, largest) & ~at_most(total, lead - largest)


def _is_beneath(
    highest: Column, some: Array, groups: _Groups, outside: Fraction | None, centre: Column, least: Fraction
) -> Array:
    """Where every score is at most `least`, so that all of them round to it.

    highest: at least each score of the candidates, where there are `some`, and of the keys behind them, which a defect may lift
    above the runs of the second rank. outside: see `_outside`; it says nothing of queries that are not representable.
    """
    beneath = at_most(highest, least)
    if outside is None:
        return beneath & some
    of_others = combine([(Fraction(1), centre)], outside, len(centre))
    return (beneath | ~some) & groups.representable & at_most(of_others, least)


def _join(ranges: Sequence[tuple[Array, Array]], wins: Array) -> tuple[Array, Array]:
    """The range of all winners among the runs of the first rank, which touch."""
    low, high = (np.where(wins[0], end, 0) for end in ranges[0])
    if len(ranges) > 1:
        low = np.where(wins[0], low, np.where(wins[1], ranges[1][0], 0))
        high = np.where(wins[1], ranges[1][1], high)
    return low, high


def at_most(a: Column, limit: Fraction) -> Array:
    """Whether each value is at most `limit`."""
    scaled = limit / Fraction(2) ** a.e
    floor = scaled.numerator // scaled.denominator
    if floor >= a.bound:
        return np.ones(len(a), bool)
    if floor < -a.bound:
        return np.zeros(len(a), bool)
    return ~less(floor, a.m)
