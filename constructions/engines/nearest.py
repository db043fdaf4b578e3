"""Who wins a softmax column, found by sorting, with a certificate that nobody else has any weight.

The score of key k' for query k is Σ_i Q_i(k)·x_i(k') over the registers i that the key matrix reads. Where, among the keys that are
alike in everything else, some registers are squares of others and their coefficient is a negative constant −S, this is

    score = c(k) − Σ_j S_j·(x_j(k') − v_j(k))²,   v_j = Q_j / (2·S_j),

a nearest-neighbour problem. Keys that differ elsewhere (position 1, the end of a prompt) are *special*: few, and scored one by
one. All dimensions j but one must match exactly; keys are grouped by them. The last one, the *preference*, is searched in sorted
order within the group, among the keys that the causal mask leaves. What the squares hide is checked, never assumed: that
x_s = x_j² (or its rounding), that coefficients are constant, that the preference is monotone within each group.

The certificate of a query: the winner's exact score leads every other key's by so much that all others round to weight 0 together,
where keys outside the group are bounded by the least possible mismatch. A query that fails it is left to be computed densely.
Nothing here knows what a head is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from constructions.engines.column import Array, Column, combine, constant, dyadic, multiply, normalised

MOST_SPECIAL = 16  # special keys are scored one by one; more of them means that the keys have another structure


@dataclass(frozen=True)
class Winners:
    """The winning keys of each query, where certified.

    certified: (queries,) bool. order: keys sorted by group. low, high: the winners are order[low:high], empty if only special
    keys win. special: the special keys; special_wins: (special, queries) bool.
    """

    certified: Array
    order: Array
    low: Array
    high: Array
    special: Array
    special_wins: Array

    @property
    def number(self) -> Array:
        """How many keys tie for the win."""
        count: Array = self.high - self.low + self.special_wins.sum(axis=0)
        return count


@dataclass(frozen=True)
class _Dimension:
    """Keys at 2S·x, queries at Q: the distance costs (2S·x − Q)²/(4S). defect: x_s − x², 0 where x_s is the exact square."""

    scale: Fraction
    keys: Column
    queries: Column
    defect: Column

    @property
    def granularity(self) -> Fraction:
        """Keys 2S·x are multiples of this; so a mismatch of such a query costs at least granularity²/(4S)."""
        return Fraction(2) ** self.keys.e


def find_winners(
    registers: Sequence[Column],
    coefficients: Sequence[Column],
    pool: Sequence[Column],
    visible: Array,
    lead: Fraction,
    largest: Fraction,
) -> Winners | None:
    """The winners of every query, or None if the scores do not have the structure.

    registers: the key registers. coefficients: Q_i of each. pool: registers in which roots of squares are looked for. visible: each
    query sees the keys below visible[query]. lead: what the winner must lead by. largest: scores beyond ±largest saturate.
    """
    length, queries = len(registers[0]), len(visible)
    flat, special = _split_special(registers, length)
    if flat is None:
        return None
    ordinary = np.setdiff1d(np.arange(length), special)
    if len(ordinary) == 0:
        return None
    dimensions = _complete_squares(registers, coefficients, flat, pool, ordinary)
    if dimensions is None:
        return None
    odd = lcm(*(abs(dyadic(d.scale)[0]) for d in dimensions)) if dimensions else 1
    representative = int(ordinary[0])
    centre = combine(
        [(odd * registers[i].at(representative), coefficients[i]) for i in flat]
        + [(odd / (4 * d.scale), multiply(d.queries, d.queries)) for d in dimensions],
        Fraction(0),
        queries,
    )
    preference = _choose_preference(dimensions, ordinary)
    matching = [d for d in dimensions if d is not preference]
    if any(not d.defect.is_zero for d in matching):
        return None
    groups, wanted, representable = _group(matching, ordinary, queries)
    order_in = np.argsort(groups, kind="stable")
    order, group = ordinary[order_in], groups[order_in]
    start = np.searchsorted(group, wanted, side="left")
    by_position = group * (length + 1) + order
    stop = np.searchsorted(by_position, wanted * (length + 1) + visible, side="left")
    found = wanted >= 0
    start, stop = np.where(found, start, 0), np.where(found, np.maximum(stop, start), 0)

    slots: list[Column] = []
    present: list[Array] = []
    if preference is None:
        ranges = [(start, stop)]
        slots.append(constant(Fraction(0), queries))
        present.append(stop > start)
        slack = Fraction(0)
    else:
        runs = _nearest_runs(preference, order, group, wanted, start, stop)
        if runs is None:
            return None
        ranges = runs
        for low, high in runs:
            exists = high > low
            key = order[np.where(exists, low, 0)]
            distance = combine([(Fraction(1), preference.keys.take(key)), (Fraction(-1), preference.queries)], Fraction(0), queries)
            slots.append(
                combine(
                    [
                        (-odd / (4 * preference.scale), multiply(distance, distance)),
                        (-odd * preference.scale, preference.defect.take(key)),
                    ],
                    Fraction(0),
                    queries,
                )
            )
            present.append(exists)
        slack = 2 * preference.scale * preference.defect.bound * Fraction(2) ** preference.defect.e
    for key in special:
        score = combine(
            [(odd * register.at(int(key)), c) for register, c in zip(registers, coefficients, strict=True)], Fraction(0), queries
        )
        slots.append(combine([(Fraction(1), score), (Fraction(-1), centre)], Fraction(0), queries))
        present.append(visible > key)
    outside = None
    if matching:
        cost = min(d.granularity**2 / (4 * d.scale) for d in matching)
        defect = slack / 2
        outside = odd * (defect - cost)

    e = min(slot.e for slot in slots)
    needed = odd * (lead + slack) / Fraction(2) ** e
    threshold = -(-needed.numerator // needed.denominator)
    scores, low_end = _stack([slot.scaled_to(e) for slot in slots], present, threshold)
    best = scores.max(axis=0)
    wins = (scores == best) & (best > low_end)
    runner_up = np.where(wins, low_end, scores).max(axis=0)
    certified = wins.any(axis=0) & representable
    certified &= (best - runner_up) >= threshold
    if outside is not None:
        limit = outside / Fraction(2) ** e
        certified &= (best - (-(-limit.numerator // limit.denominator))) >= threshold
    runs_count = len(ranges)
    if runs_count > 1:  # a second run may not win: what lies behind it was not looked at
        certified &= ~wins[2:runs_count].any(axis=0)
        first, second = wins[0], wins[1]
        low = np.where(first, ranges[0][0], np.where(second, ranges[1][0], 0))
        high = np.where(second, ranges[1][1], np.where(first, ranges[0][1], 0))
    else:
        low, high = np.where(wins[0], start, 0), np.where(wins[0], stop, 0)
    total = combine(
        [(Fraction(1), normalised(np.where(wins.any(axis=0), best, 0), e)), (Fraction(1), centre)], Fraction(0), queries
    )
    # Neither the winner nor, against it, a loser that saturates at −largest may be moved by the ends of the range.
    certified &= at_most(total, odd * largest) & ~at_most(total, odd * (lead - largest))
    return Winners(certified, order, low, high, special, wins[runs_count:])


def _split_special(registers: Sequence[Column], length: int) -> tuple[list[int] | None, Array]:
    """The registers that are constant but for a few keys, and those keys; None if there are too many."""
    flat: list[int] = []
    special: set[int] = set()
    for i, register in enumerate(registers):
        different = np.flatnonzero(register.m != register.m[length // 2])
        if len(different) <= MOST_SPECIAL // 2 and len(different) < length - 1:
            flat.append(i)
            special.update(int(k) for k in different)
    if len(special) > MOST_SPECIAL:
        return None, np.zeros(0, np.int64)
    return flat, np.array(sorted(special), np.int64)


def _complete_squares(
    registers: Sequence[Column], coefficients: Sequence[Column], flat: Sequence[int], pool: Sequence[Column], ordinary: Array
) -> list[_Dimension] | None:
    """The dimensions x_j with their squares x_s, together with all registers that vary; None if some register is neither."""
    varying = [i for i in range(len(registers)) if i not in flat]
    roots: dict[int, tuple[Column, Column, Fraction, int]] = {}  # square → root, defect, scale, root among the registers or −1
    for s in varying:
        coefficient = coefficients[s]
        if len(coefficient) == 0 or not np.all(coefficient.m == coefficient.m[0]) or coefficient.m[0] >= 0:
            continue
        candidates = [(registers[j], j) for j in varying if j != s] + [(column, -1) for column in pool]
        for root, j in candidates:
            defect = _square_defect(root, registers[s], ordinary)
            if defect is not None:
                roots[s] = (root, defect, -coefficient.at(0), j)
                break
    linear = [i for i in varying if i not in roots]
    dimensions = []
    used: set[int] = set()
    for root, defect, scale, j in roots.values():
        if j in used or j in roots:
            return None
        used.add(j)
        queries = coefficients[j] if j >= 0 else constant(Fraction(0), len(coefficients[0]))
        keys = combine([(2 * scale, root)], Fraction(0), len(root))
        dimensions.append(_Dimension(scale, keys, queries, defect))
        used.discard(-1)
    if any(i not in used and not coefficients[i].is_zero for i in linear):
        return None
    return dimensions


def _square_defect(root: Column, square: Column, ordinary: Array) -> Column | None:
    """square − root² if it is zero, or as small as a rounding, at all ordinary keys; otherwise None."""
    probe = ordinary[:: max(1, len(ordinary) // 8)]
    for places in (probe, None):
        if places is None:
            chosen_root, chosen_square = root, square
        else:
            chosen_root, chosen_square = root.take(places), square.take(places)
        exact = multiply(chosen_root, chosen_root)
        defect = combine([(Fraction(1), chosen_square), (Fraction(-1), exact)], Fraction(0), len(chosen_square))
        if places is None:
            rest = np.zeros(len(root), bool)
            rest[ordinary] = True
            defect = normalised(np.where(rest, defect.m, 0), defect.e)
        if not defect.is_zero and (square.e <= 2 * root.e or defect.bound * Fraction(2) ** defect.e > Fraction(2) ** square.e):
            return None
    return defect


def _choose_preference(dimensions: Sequence[_Dimension], ordinary: Array) -> _Dimension | None:
    """The dimension to be searched rather than matched: one that rises from key to key, else the one with the least cost of a miss."""
    for d in dimensions:
        values = d.keys.m[ordinary]
        if len(values) > 1 and bool(np.all(values[1:] > values[:-1])):
            return d
    inexact = [d for d in dimensions if not d.defect.is_zero]
    if inexact:
        return inexact[0]
    if len(dimensions) < 2:
        return None
    return min(dimensions, key=lambda d: d.granularity**2 / d.scale)


def _group(matching: Sequence[_Dimension], ordinary: Array, queries: int) -> tuple[Array, Array, Array]:
    """Group numbers of the ordinary keys, the group each query wants (−1: no such key), and whether mismatches can be bounded."""
    groups = np.zeros(len(ordinary), np.int64)
    wanted = np.zeros(queries, np.int64)
    representable = np.ones(queries, bool)
    for d in matching:
        keys = d.keys.take(ordinary)
        values, inverse = np.unique(keys.m, return_inverse=True)
        number, ok = _look_up(d.queries, keys.e, values)
        representable &= ok
        groups = groups * len(values) + inverse
        wanted = np.where((wanted >= 0) & (number >= 0), wanted * len(values) + number, -1)
        present, groups = np.unique(groups, return_inverse=True)
        place = np.minimum(np.searchsorted(present, wanted), len(present) - 1)
        wanted = np.where((wanted >= 0) & (present[place] == wanted), place, -1)
    return groups, wanted, representable


def _look_up(queries: Column, e: int, values: Array) -> tuple[Array, Array]:
    """The place of each query in the sorted `values` of exponent e, −1 if absent; and whether it is a multiple of 2^e."""
    if queries.is_zero:
        mantissas, ok = queries.m, np.ones(len(queries), bool)
    elif queries.e >= e:
        mantissas, ok = queries.scaled_to(e), np.ones(len(queries), bool)
    else:
        shift = e - queries.e
        step = 1 << shift
        m = queries.m if shift < 62 and queries.m.dtype != object else queries.m.astype(object)
        ok = np.asarray(m % step == 0, bool)
        mantissas = m >> shift if shift < 62 or m.dtype == object else m * 0
    if mantissas.dtype == object and values.dtype != object:
        limit = int(max(abs(int(values[0])), abs(int(values[-1])))) + 1
        mantissas = np.array([int(m) if -limit <= m <= limit else limit for m in mantissas], np.int64)
    place = np.minimum(np.searchsorted(values, mantissas), len(values) - 1)
    return np.where(ok & (values[place] == mantissas), place, -1), ok


def _nearest_runs(
    preference: _Dimension, order: Array, group: Array, wanted: Array, start: Array, stop: Array
) -> list[tuple[Array, Array]] | None:
    """Runs of equal keys next to each query's wish, within its group and prefix: below, above, and the ones behind these.

    Ranges into `order`, empty where there is none. None if some group's keys do not rise or fall with the position.
    """
    keys = preference.keys.take(order)
    values, rank = np.unique(keys.m, return_inverse=True)
    same = group[1:] == group[:-1]
    steps = np.where(same, rank[1:] - rank[:-1], 0)
    # Keys that compare equal must score equally.
    defect = preference.defect.take(order)
    if not defect.is_zero:
        by_rank = np.argsort(rank, kind="stable")
        neighbours = rank[by_rank][1:] == rank[by_rank][:-1]
        sorted_defects = defect.m[by_rank]
        if np.any(neighbours & (sorted_defects[1:] != sorted_defects[:-1])):
            return None
    below = _count_at_most(values, keys.e, preference.queries)
    if np.all(steps >= 0):
        goal = below
    elif np.all(steps <= 0):
        rank = len(values) - 1 - rank
        goal = len(values) - below
    else:
        return None
    width = len(values) + 1
    composite = group * width + rank
    base = wanted * width
    middle = np.clip(np.searchsorted(composite, base + goal, side="left"), start, stop)

    def run_below(end: Array) -> tuple[Array, Array]:
        exists = end > start
        last = rank[np.where(exists, end - 1, 0)]
        begin = np.maximum(np.searchsorted(composite, base + last, side="left"), start)
        return np.where(exists, begin, 0), np.where(exists, end, 0)

    def run_above(begin: Array) -> tuple[Array, Array]:
        exists = begin < stop
        first = rank[np.where(exists, begin, 0)]
        end = np.minimum(np.searchsorted(composite, base + first, side="right"), stop)
        return np.where(exists, begin, 0), np.where(exists, end, 0)

    lower, upper = run_below(middle), run_above(middle)
    lower_2 = run_below(np.where(lower[1] > lower[0], lower[0], start))
    upper_2 = run_above(np.where(upper[1] > upper[0], upper[1], stop))
    return [lower, upper, lower_2, upper_2]


def _count_at_most(values: Array, e: int, queries: Column) -> Array:
    """How many of the sorted `values` of exponent e are at most each query."""
    low = min(e, queries.e)
    scaled = Column(values, e, int(max(abs(int(values[0])), abs(int(values[-1]))))).scaled_to(low)
    wishes = queries.scaled_to(low)
    if scaled.dtype != object and wishes.dtype != object:
        return np.searchsorted(scaled, wishes, side="right")
    distinct, inverse = np.unique(wishes.astype(object), return_inverse=True)
    return np.searchsorted(scaled.astype(object), distinct, side="right")[inverse]


def at_most(a: Column, limit: Fraction) -> Array:
    """Whether each value is at most `limit`."""
    scaled = limit / Fraction(2) ** a.e
    floor = scaled.numerator // scaled.denominator
    if floor >= a.bound:
        return np.ones(len(a), bool)
    if floor < -a.bound:
        return np.zeros(len(a), bool)
    return np.asarray(a.m <= floor, bool)


def _stack(slots: Sequence[Array], present: Sequence[Array], threshold: int) -> tuple[Array, int]:
    """The slots' scores, and a number that stands for an absent slot: below all scores by more than the threshold."""
    bound = max(max(abs(int(slot.max())), abs(int(slot.min()))) for slot in slots)
    low_end = -2 * (bound + 1) - threshold
    wide = any(slot.dtype == object for slot in slots) or low_end <= -(1 << 61)
    rows = [np.where(there, slot.astype(object) if wide else slot, low_end) for slot, there in zip(slots, present, strict=True)]
    return np.stack(rows), low_end
