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

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import Column, at_most, combine, dyadic, multiply, normalised, zeros
from constructions.engines.indexed.keys import Grouped, Preferred, Seen, preferred
from constructions.engines.indexed.mantissas import Array, Mantissas, less, where
from constructions.engines.indexed.squares import (
    MOST_SPECIAL,
    Dimension,
    Register,
    Structure,
    choose_preference,
)
from constructions.engines.indexed.winners import Found, Winners, over_runs, run_starts


class _Candidates(NamedTuple):
    """One candidate for the win at each query, a set of keys of equal score. score: unit·(score − c(query)). present: or none."""

    score: Column
    present: Array


class _Order(NamedTuple):
    """Keys that are ready to be searched. unit: makes unit·score dyadic, in spite of the 4S in a square's completion."""

    matching: Sequence[Dimension]
    preference: Dimension | None
    grouped: Grouped
    preferred: Preferred | None
    unit: int


class Keys:
    """All keys of a head. registers: those that scores read. pool: registers in which roots of squares are looked for."""

    def __init__(self, registers: Sequence[Column], pool: Sequence[Register], length: int) -> None:
        self.length = length
        self.structure = Structure(registers, pool, length)
        self._orders: dict[tuple[tuple[int, Fraction], ...], _Order | None] = {}

    def winners(
        self, coefficients: Sequence[Column], visible: Array, lead: Fraction, largest: Fraction
    ) -> Winners | None:
        """Returns the winners of some queries, or None if the scores do not have the structure.

        coefficients: Q_i of each register, over these queries. visible: each query sees the keys below visible[query]; it never
        falls. lead: what winners must lead by, not 0. largest: scores beyond ±largest saturate.
        """
        special = self.structure.special
        if len(special) > MOST_SPECIAL or len(special) == self.length:
            return None
        dimensions = self.structure.dimensions(coefficients)
        order = None if dimensions is None else self._order(dimensions)
        if dimensions is None or order is None:
            return None
        begins, unit = None, order.unit
        if order.matching:  # else each key more is one of the group
            others = [column for i, column in enumerate(coefficients) if i not in self.structure.equal]
            begins = run_starts(_wishes(order.matching, coefficients), others, len(visible))
        if begins is None:
            return self._search(dimensions, order, coefficients, visible, lead, largest).winners
        shifts = [(unit * value, coefficients[i]) for i, value in self.structure.equal.items()]
        shift = combine(shifts, Fraction(0), len(visible))

        def search(places: Array) -> Found:
            some = [column.take(places) for column in coefficients]
            return self._search(dimensions, order, some, visible[places], lead, largest)

        return over_runs(begins, shift, unit * (lead - largest), unit * largest, search)

    def _search(
        self,
        dimensions: Sequence[Dimension],
        order: _Order,
        coefficients: Sequence[Column],
        visible: Array,
        lead: Fraction,
        largest: Fraction,
    ) -> Found:
        special, (matching, preference, grouped, best_first, unit) = self.structure.special, order
        wishes = dict(zip((d.square for d in dimensions), _wishes(dimensions, coefficients), strict=True))
        seen = grouped.seen([wishes[d.square] for d in matching], visible)
        wish = zeros(len(visible)) if preference is None else wishes[preference.square]
        ranges = [(seen.start, seen.stop)] if best_first is None else best_first.runs(wish, seen)
        centre = self._centre(coefficients, dimensions, wishes, unit, len(visible))
        candidates = [_run(best_first, wish, low, high, unit) for low, high in ranges]
        candidates += [self._special_key(coefficients, centre, key, visible, unit) for key in special.tolist()]
        outside = _outside(matching, preference, wish, unit)
        certified, wins, best = _decide(candidates, unit * (lead + 2 * _defect_reach(preference)), outside)
        total = combine([(Fraction(1), best), (Fraction(1), centre)], Fraction(0), len(visible))
        certified &= seen.representable & _within_range(total, unit * lead, unit * largest)
        certified &= ~wins[2 : len(ranges)].any(axis=0)  # what lies after a run of the second rank was not looked at
        highest = combine([(Fraction(1), total)], 2 * unit * _defect_reach(preference), len(visible))
        some = np.asarray(wins.any(axis=0), bool)
        beneath = _is_beneath(highest, some, seen, outside, centre, -unit * largest)
        low, high = (np.where(beneath, 0, end) for end in _join(ranges, wins))
        searched = None if preference is None or preference.root < 0 else (preference.root, preference.square)
        winners = Winners(
            certified | beneath,
            grouped,
            low,
            high,
            special,
            wins[len(ranges) :] & ~beneath,
            np.where(beneath, visible, 0),
            searched,
        )
        return Found(winners, np.stack([seen.stop, np.searchsorted(special, visible)]), total)

    def _order(self, dimensions: Sequence[Dimension]) -> _Order | None:
        """Returns the keys sorted for these dimensions; None if they cannot be searched so. It is made once."""
        which = tuple((d.square, d.scale) for d in dimensions)
        if which not in self._orders:
            self._orders[which] = self._sort(dimensions)
        return self._orders[which]

    def _sort(self, dimensions: Sequence[Dimension]) -> _Order | None:
        ordinary = self.structure.ordinary
        preference = choose_preference(dimensions, ordinary)
        matching = [d for d in dimensions if d is not preference]
        if any(not d.defect.is_zero for d in matching):
            return None
        grouped = Grouped(matching, ordinary, self.length)
        best_first = None if preference is None else preferred(preference, grouped)
        if preference is not None and best_first is None:
            return None
        unit = lcm(*(abs(dyadic(d.scale)[0]) for d in dimensions))
        return _Order(matching, preference, grouped, best_first, unit)

    def _centre(
        self,
        coefficients: Sequence[Column],
        dimensions: Sequence[Dimension],
        wishes: Mapping[int, Column],
        unit: int,
        queries: int,
    ) -> Column:
        """unit·c(query): what the score of an ordinary key is without the distances, namely Σ_flat Q_i·x_i + Σ_j Q_j²/(4S_j)."""
        constants = [(unit * value, coefficients[i]) for i, value in self.structure.flat.items()]
        completions = [(unit / (4 * d.scale), multiply(wishes[d.square], wishes[d.square])) for d in dimensions]
        return combine(constants + completions, Fraction(0), queries)

    def _special_key(
        self, coefficients: Sequence[Column], centre: Column, key: int, visible: Array, unit: int
    ) -> _Candidates:
        """Returns a special key, scored by the bilinear form itself."""
        terms = [
            (unit * register.at(key), c) for register, c in zip(self.structure.registers, coefficients, strict=True)
        ]
        return _Candidates(combine([*terms, (Fraction(-1), centre)], Fraction(0), len(visible)), visible > key)


def _wishes(dimensions: Sequence[Dimension], coefficients: Sequence[Column]) -> list[Column]:
    """Returns what queries want of each dimension."""
    return [coefficients[d.root] if d.root >= 0 else zeros(len(coefficients[d.square])) for d in dimensions]


def _run(best_first: Preferred | None, wish: Column, low: Array, high: Array, unit: int) -> _Candidates:
    """Returns a run of equal keys of the group: order[low:high]."""
    present = high > low
    if best_first is None or not present.any():
        return _Candidates(zeros(len(low)), present)
    place, preference = np.minimum(low, len(best_first.keys) - 1), best_first.dimension
    distance = combine([(Fraction(1), best_first.keys.take(place)), (Fraction(-1), wish)], Fraction(0), len(low))
    cost = [
        (-unit / (4 * preference.scale), multiply(distance, distance)),
        (-unit * preference.scale, best_first.defect.take(place)),
    ]
    return _Candidates(combine(cost, Fraction(0), len(low)), present)


def _defect_reach(preference: Dimension | None) -> Fraction:
    """Returns how far a defect of the preferred square can move a score, up or down."""
    if preference is None:
        return Fraction(0)
    return preference.scale * preference.defect.bound * Fraction(2) ** preference.defect.e


def _outside(matching: Sequence[Dimension], preference: Dimension | None, wish: Column, unit: int) -> Fraction | None:
    """Returns what unit·(score − c(query)) is at most for an ordinary key of another group; None if there is just one group by
    design.
    """
    if not matching:
        return None
    least_mismatch = min(d.granularity**2 / (4 * d.scale) for d in matching)
    best = Fraction(0) if preference is None else -preference.least_cost(wish)
    return unit * (_defect_reach(preference) + best - least_mismatch)


def _decide(
    candidates: Sequence[_Candidates], needed: Fraction, outside: Fraction | None
) -> tuple[Array, Array, Column]:
    """Returns whether the best candidates lead all others and `outside` by `needed`; which ones they are; and their score, 0 if
    none.

    Derivation of the defects' part in `needed`: the keys after the runs of the second rank lie further from the wish, so they beat
    these runs at most by the difference of two defects, twice `_defect_reach`; a lead over the runs is thus one over them.
    """
    e = min(c.score.e for c in candidates)
    unit = Fraction(2) ** e
    bound = max(c.score.bound << (c.score.e - e) if c.score.bound else 0 for c in candidates)
    scores = [c.score.scaled_to(e) if c.present.any() else None for c in candidates]
    best: Mantissas = np.zeros(len(candidates[0].present), np.int64)
    some = np.zeros(len(best), bool)
    for score, (_, present) in zip(scores, candidates, strict=True):
        if score is not None:
            best = where(present & (~some | less(best, score)), score, best) if some.any() else score
            some = some | present
    threshold = ceil(needed / unit)
    behind = combine([(Fraction(1), Column(best, e, bound))], -threshold * unit, len(some)).scaled_to(e)
    certified, wins = some, []
    for score, (_, present) in zip(scores, candidates, strict=True):
        wins.append(present if score is None else present & np.asarray(score == best, bool))
        if score is not None:
            certified = certified & (~present | wins[-1] | ~less(behind, score))
    if outside is not None:
        certified = certified & ~less(best, ceil((needed + outside) / unit))
    return certified, np.stack(wins), normalised(where(some, best, 0), e)


def _within_range(total: Column, lead: Fraction, largest: Fraction) -> Array:
    """Returns whether neither a winner of this score nor, against it, a loser that saturates at −largest is moved too far by
    saturation.
    """
    return at_most(total, largest) & ~at_most(total, lead - largest)


def _is_beneath(
    highest: Column, some: Array, seen: Seen, outside: Fraction | None, centre: Column, least: Fraction
) -> Array:
    """Returns where every score is at most `least`, so that all of them round to it.

    highest: at least each score of the candidates, where there are `some`, and of the keys after them, which a defect may lift
    above the runs of the second rank. outside: see `_outside`; it says nothing of queries that are not representable.
    """
    beneath = at_most(highest, least)
    if outside is None:
        return beneath & some
    of_others = combine([(Fraction(1), centre)], outside, len(centre))
    return (beneath | ~some) & seen.representable & at_most(of_others, least)


def _join(ranges: Sequence[tuple[Array, Array]], wins: Array) -> tuple[Array, Array]:
    """Returns the range of all winners among the runs of the first rank, which touch."""
    low, high = (np.where(wins[0], end, 0) for end in ranges[0])
    if len(ranges) > 1:
        low = np.where(wins[0], low, np.where(wins[1], ranges[1][0], 0))
        high = np.where(wins[1], ranges[1][1], high)
    return low, high
