"""A query's winners by the index, with their certificate, and what the head reads from them; compiled code.

The certificate is derived in index.py.
"""

from __future__ import annotations

import numpy as np

from constructions.engines.incremental import fields
from constructions.engines.incremental.index import (
    SLACK,
    Index,
    find_group,
    head_of,
    key_at,
    list_at,
    preferred_by,
    register_at,
    run_at,
    run_key,
    score,
)
from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    NO,
    Number,
    Words,
    compiled,
    inlined,
    is_negative,
    load,
    low_limb,
    magnitude,
    number,
    quotient,
    remainder,
    resized,
    shifted_left,
    shifted_right,
    store,
    trailing_zeros,
    widths,
)
from constructions.engines.incremental.reals import power, real
from constructions.engines.incremental.sums import ORIGIN, evaluate

EXACT, FLOORED, BEYOND, UNSUITABLE = range(4)
RUN_CANDIDATES = 4  # first and second run below the wish, first and second above it


@compiled
def find_coefficients(ix: Index, h: int, code: Words, vec: Words, t: Words) -> None:
    """Q_i of each used register, in squared quanta."""
    at, exact = head_of(ix, h)[fields.COEFFICIENTS], ix.shape.exact
    for i in range(head_of(ix, h)[fields.USED]):
        coefficient, at = evaluate(code, at, vec, ix.shape, ORIGIN)
        store(t, fields.FREE + i * len(exact), coefficient, exact)


@inlined
def coefficient_of(ix: Index, register: int, t: Words) -> Number:
    """Q_i of a used register."""
    return load(t, fields.FREE + register * len(ix.shape.exact), ix.shape.exact)


@inlined
def find_wish(ix: Index, q: Number, s: Number) -> tuple[Number, int]:
    """v = Q/(2S) in quanta, S = −s > 0, rounded down to an element; EXACT, FLOORED, or BEYOND: out of range and cut.

    S must be an odd number below 2^32 times a power of two; otherwise UNSUITABLE.
    """
    element, widest, scale = ix.shape.element, ix.shape.widest, magnitude(s)
    k = trailing_zeros(scale)
    odd = shifted_right(scale, k)
    divisor = low_limb(odd)
    if odd != number(divisor, odd) or divisor >> 32 != 0:
        return number(0, element), UNSUITABLE
    left = ix.shape.numbers[FRACTION_BITS] - 1 - k
    dividend, lost = resized(magnitude(q), widest), False
    if left >= 0:  # Q·2^left is below 2^(128W + 64W), which fits
        dividend = shifted_left(dividend, left)
    else:
        lost = trailing_zeros(dividend) < -left
        dividend = shifted_right(dividend, -left)
    if divisor != 1:
        lost = lost or remainder(dividend, divisor) != 0
        dividend = quotient(dividend, divisor)
    largest = shifted_left(number(1, widest), 64 * len(element) - 2) - number(1, widest)
    beyond = largest < dividend
    if beyond:
        dividend = largest
    wish = resized(dividend, element)
    if is_negative(q):
        wish = -wish - number(1, element) if lost else -wish
    return wish, BEYOND if beyond else FLOORED if lost else EXACT


@inlined
def most_wished(ix: Index, h: int, wish: Number) -> int:
    """The ordinary key next to the wish, if all of them lie on one side of it; else ABSENT."""
    least, greatest = head_of(ix, h)[fields.LEAST], head_of(ix, h)[fields.GREATEST]
    if wish < preferred_by(ix, h, least):
        return least  # type: ignore[no-any-return]
    if preferred_by(ix, h, greatest) < wish:
        return greatest  # type: ignore[no-any-return]
    return fields.ABSENT


@inlined
def apart(ix: Index, a: Number, b: Number) -> float:
    """How far an element is from another."""
    return abs(real(resized(a, ix.shape.long) - resized(b, ix.shape.long), -ix.shape.numbers[FRACTION_BITS]))


@inlined
def best_linear(ix: Index, h: int, coefficient: float) -> Number:
    """The preferred register of the ordinary key of the best linear preference."""
    head = head_of(ix, h)
    return preferred_by(ix, h, head[fields.LEAST] if coefficient < 0.0 else head[fields.GREATEST])


@inlined
def shortfall(ix: Index, h: int, own: Number, wish: Number, wish_kind: int, t: Words) -> float:
    """At least how much more an ordinary key's preference can be than that of one whose preferred register is `own`."""
    head, q = head_of(ix, h), ix.shape.numbers[FRACTION_BITS]
    if head[fields.PREFERENCE] == fields.NO_PREFERENCE:
        return 0.0
    if head[fields.PREFERENCE] == fields.LINEAR:
        coefficient = real(coefficient_of(ix, head[fields.ROOT], t), -2 * q)
        return abs(coefficient) * apart(ix, own, best_linear(ix, h, coefficient)) * SLACK
    if wish_kind == BEYOND:
        return np.inf
    scale = -real(coefficient_of(ix, head[fields.SQUARE], t), -2 * q)
    # The wish lies within a quantum above `wish`. A key at distance e, none nearer than d: e² − d² = (e − d)·(e + d).
    behind = distance = apart(ix, own, wish) + power(-q)
    nearest = most_wished(ix, h, wish)
    if nearest != fields.ABSENT:
        behind = apart(ix, own, preferred_by(ix, h, nearest))
        distance += apart(ix, preferred_by(ix, h, nearest), wish) + power(-q)
    return (scale * behind * distance + 2.0 * scale * head[fields.LOOSE] * power(-q)) * SLACK  # type: ignore[no-any-return]


@inlined
def centre(ix: Index, h: int, wishes: int, wish: Number, wish_kind: int, t: Words) -> float:
    """At least the score of an ordinary key with all its matching registers as wished, by the best preference."""
    head, q, element = head_of(ix, h), ix.shape.numbers[FRACTION_BITS], ix.shape.element
    total, terms = 0.0, 0.0
    ordinary = key_at(ix, h, head[fields.ORDINARY])
    for i in range(head[fields.USED]):
        if ix.lists[list_at(ix, h, fields.FLAT) + i] == 1:
            term = real(coefficient_of(ix, i, t), -2 * q) * real(register_at(ix, ordinary, i), -q)
            total, terms = total + term, terms + abs(term)
    for d in range(head[fields.MATCHING]):
        v = real(load(t, wishes + d * len(element), element), -q)
        term = -real(coefficient_of(ix, ix.lists[list_at(ix, h, fields.SQUARES) + d], t), -2 * q) * v * v
        total, terms = total + term, terms + abs(term)
    if head[fields.PREFERENCE] == fields.LINEAR:
        coefficient = real(coefficient_of(ix, head[fields.ROOT], t), -2 * q)
        term = coefficient * real(best_linear(ix, h, coefficient), -q)
        total, terms = total + term, terms + abs(term)
    elif head[fields.PREFERENCE] == fields.QUADRATIC:
        if wish_kind == BEYOND:
            return np.inf
        scale = -real(coefficient_of(ix, head[fields.SQUARE], t), -2 * q)
        reach = abs(real(wish, -q)) + power(-q)
        # The wish lies within a quantum above `wish`; the interval's width is a part of the error.
        term = scale * (reach * reach + head[fields.LOOSE] * power(-q))
        nearest = most_wished(ix, h, wish)
        if nearest != fields.ABSENT:
            at = real(preferred_by(ix, h, nearest), -q)
            linear = real(coefficient_of(ix, head[fields.ROOT], t), -2 * q) * at
            term = linear - scale * at * at + scale * head[fields.LOOSE] * power(-q)
            terms += abs(linear) + scale * at * at
        total, terms = total + term, terms + abs(term)
    return total + terms * (SLACK - 1.0)


@inlined
def find_matching_wishes(ix: Index, h: int, wishes: int, t: Words) -> tuple[bool, float]:
    """What the matching registers should be goes to `t`; whether these are elements. And what the least mismatch costs."""
    head, lists, q, limbs = head_of(ix, h), ix.lists, ix.shape.numbers[FRACTION_BITS], len(ix.shape.element)
    roots, squares, zeros = list_at(ix, h, fields.ROOTS), list_at(ix, h, fields.SQUARES), list_at(ix, h, fields.ZEROS)
    mismatch = np.inf
    for d in range(head[fields.MATCHING]):
        s = coefficient_of(ix, lists[squares + d], t)
        if not is_negative(s):
            return False, 0.0
        v, kind = find_wish(ix, coefficient_of(ix, lists[roots + d], t), s)
        if kind != EXACT:
            return False, 0.0
        store(t, wishes + d * limbs, v, ix.shape.element)
        ix.reals[head[fields.REALS_AT] + fields.WISH_REALS + d] = real(v, -q)
        # What keys and wish are multiples of
        granularity = power(min(lists[zeros + d], trailing_zeros(v)) - q)
        mismatch = min(mismatch, -real(s, -2 * q) * granularity * granularity / SLACK)
    return True, mismatch


@inlined
def find_candidates(ix: Index, h: int, group: int, runs: int, wish: Number, t: Words) -> tuple[int, int, int, int]:
    """Which of a group's runs, by rank: 0 and 1 may win, 2 and 3 stand for those behind. Some may lie outside the group."""
    head = head_of(ix, h)
    if head[fields.PREFERENCE] == fields.NO_PREFERENCE or group < 0:
        return 0, -1, -1, -1
    if head[fields.PREFERENCE] == fields.LINEAR:
        if is_negative(coefficient_of(ix, head[fields.ROOT], t)):
            return 0, -1, 1, -1
        return runs - 1, -1, runs - 2, -1
    low, high = 0, runs
    while low < high:
        middle = (low + high) // 2
        if wish < register_at(ix, run_key(ix, h, group, middle), head[fields.ROOT]):
            high = middle
        else:
            low = middle + 1
    return low - 1, low, low - 2, low + 1


@inlined
def take_winners(ix: Index, h: int, scores: int, best: Number, t: Words) -> tuple[bool, Number]:
    """Who has the best score goes to ix.found; False if that is no candidate. And the next score, `best` if all have that."""
    head, found, lists, exact = head_of(ix, h), ix.found, ix.lists, ix.shape.exact
    winners, runs_won, specials_won, key, behind = 0, 0, 0, fields.ABSENT, best
    for slot in range(RUN_CANDIDATES + head[fields.SPECIALS]):
        if slot < RUN_CANDIDATES and found[fields.RUNS_LOOKED_AT + slot] == fields.ABSENT:
            continue
        here = load(t, scores + slot * len(exact), exact)
        if here != best:
            if behind == best or behind < here:
                behind = here
        elif slot >= RUN_CANDIDATES:
            key = lists[list_at(ix, h, fields.SPECIAL_KEYS) + slot - RUN_CANDIDATES]
            found[fields.SPECIAL_WINNERS + specials_won] = key
            specials_won += 1
            winners += 1
        elif slot >= 2:
            return False, best
        else:
            r = (head[fields.RUNS_AT] + found[fields.RUNS_LOOKED_AT + slot]) * fields.RUN_FIELDS
            key = ix.runs[r]
            found[fields.RUN_WINNERS + runs_won] = found[fields.RUNS_LOOKED_AT + slot]
            runs_won += 1
            winners += ix.runs[r + fields.RUN_KEYS]
    found[fields.WINNERS], found[fields.ONE_WINNER] = winners, key
    found[fields.WINNING_RUNS], found[fields.WINNING_SPECIALS] = runs_won, specials_won
    return True, behind


@compiled
def certify(ix: Index, h: int, code: Words, lead: float, vec: Words, t: Words) -> bool:
    """Whether it is certain who wins; then they are in ix.found. Needs the coefficients. lead: without roundings."""
    limbs, size = widths(ix.shape)
    head, found, q = head_of(ix, h), ix.found, ix.shape.numbers[FRACTION_BITS]
    quantum, exact = power(-q), ix.shape.exact
    needed = lead + 2.0 * quantum
    wishes = fields.FREE + head[fields.USED] * size
    scores = wishes + head[fields.USED] * limbs
    exact_wishes, mismatch = find_matching_wishes(ix, h, wishes, t)
    if not exact_wishes:
        return False
    # Wish of the preferred register
    wish, wish_kind = number(0, ix.shape.element), EXACT
    if head[fields.PREFERENCE] == fields.QUADRATIC:
        s = coefficient_of(ix, head[fields.SQUARE], t)
        if not is_negative(s):
            return False
        wish, wish_kind = find_wish(ix, coefficient_of(ix, head[fields.ROOT], t), s)
        if wish_kind == UNSUITABLE:
            return False
        if head[fields.LOOSE] == 1:
            needed += 2.0 * -real(s, -2 * q) * quantum * SLACK
    # The best score
    group, _ = find_group(ix, h, wishes, t, NO)
    runs = ix.groups[(head[fields.GROUPS_AT] + group) * fields.GROUP_FIELDS + fields.GROUP_RUNS] if group >= 0 else 0
    places = find_candidates(ix, h, group, runs, wish, t)
    best, best_at, nobody = number(0, exact), fields.ABSENT, True
    for rank in range(RUN_CANDIDATES):
        found[fields.RUNS_LOOKED_AT + rank] = fields.ABSENT
        if 0 <= places[rank] < runs:
            at = run_key(ix, h, group, places[rank])
            found[fields.RUNS_LOOKED_AT + rank] = run_at(ix, h, group, places[rank])
            here = score(ix, h, at, code, vec, t)
            store(t, scores + rank * size, here, exact)
            if nobody or best < here:
                best, best_at, nobody = here, at, False
    run_best, specials = best, list_at(ix, h, fields.SPECIAL_KEYS)
    for i in range(head[fields.SPECIALS]):
        here = score(ix, h, key_at(ix, h, ix.lists[specials + i]), code, vec, t)
        store(t, scores + (RUN_CANDIDATES + i) * size, here, exact)
        if nobody or best < here:
            best, nobody = here, False
    if nobody:
        return False
    # The lead over who is behind
    alone, behind = take_winners(ix, h, scores, best, t)
    if not alone or (behind != best and real(best - behind, -2 * q) < needed * SLACK * SLACK):
        return False
    # Other groups
    top = real(best, -2 * q)
    if head[fields.MATCHING] > 0 and head[fields.GROUPS] > 0:
        if group >= 0:
            short = shortfall(ix, h, register_at(ix, best_at, head[fields.ROOT]), wish, wish_kind, t)
            if not real(best - run_best, -2 * q) + mismatch >= (short + needed) * SLACK:
                return False
        else:
            limit = centre(ix, h, wishes, wish, wish_kind, t)
            if not top + mismatch >= limit + (needed + abs(top) + abs(limit) + mismatch) * (SLACK - 1.0) + needed:
                return False
    # Saturation
    return top <= ix.largest[0] / SLACK and needed * SLACK - top <= ix.largest[0] / SLACK  # type: ignore[no-any-return]
