"""A query's winners by the index, with their certificate, and what the head reads from them; compiled code.

The certificate is derived in index.py.
"""

from __future__ import annotations

import numpy as np

from constructions.engines.incremental.index import (
    ABSENT,
    ARENA_AT,
    ARENA_PLACE,
    COEFFICIENTS,
    FLAT,
    GREATEST,
    GROUP_FIELDS,
    GROUP_RUNS,
    GROUPS,
    GROUPS_AT,
    LEAST,
    LINEAR,
    LOOSE,
    MATCHING,
    NO_PREFERENCE,
    ONE_WINNER,
    ORDINARY,
    OUTPUT,
    PREFERENCE,
    QUADRATIC,
    ROOT,
    ROOTS,
    RUN_FIELDS,
    RUN_WINNERS,
    RUNS_AT,
    RUNS_LOOKED_AT,
    SCORE,
    SLACK,
    SPECIAL_KEYS,
    SPECIAL_WINNERS,
    SPECIALS,
    SQUARE,
    SQUARES,
    SUMS_AT,
    USED,
    VALUE,
    WINNERS,
    WINNING_RUNS,
    WINNING_SPECIALS,
    ZEROS,
    Index,
    apart,
    find_group,
    key_at,
    list_at,
    most_wished,
    power,
    real,
    run_key,
    score_into,
)
from constructions.engines.incremental.limbs import (
    BEST,
    DIFFERENCE,
    FRACTION_BITS,
    FREE,
    HALF_BITS,
    LOW_HALF,
    MODE,
    ONE,
    PREFERRED,
    SHARES,
    SHIFTED,
    SUM,
    TOP,
    ZERO,
    Words,
    add,
    add_product,
    add_weighted,
    clear,
    compiled,
    equal,
    extend,
    inlined,
    is_zero,
    less,
    magnitude,
    negate,
    round_into,
    shift_right,
    trailing_zeros,
    widths,
)
from constructions.engines.incremental.sums import evaluate

EXACT, FLOORED, BEYOND, UNSUITABLE = range(4)
RUN_CANDIDATES = 4  # first and second run below the wish, first and second above it


@inlined
def find_coefficients(ix: Index, h: int, code: Words, vec: Words, t: Words) -> None:
    """Q_i of each used register, in squared quanta."""
    at, (_, size) = ix.heads[h, COEFFICIENTS], widths(ix.shape)
    for i in range(ix.heads[h, USED]):
        at = evaluate(code, at, vec, t, FREE + i * size, ix.shape)


@inlined
def find_wish(ix: Index, q: int, s: int, t: Words, into: int) -> int:
    """v = Q/(2S) in quanta, S = −t[s…] > 0, rounded down, into W limbs; EXACT, FLOORED, or BEYOND: out of range and cut.

    S must be an odd number below 2^32 times a power of two; otherwise UNSUITABLE, and nothing is written.
    """
    limbs, size = widths(ix.shape)
    wide = 3 * limbs + 1
    magnitude(t, s, size, t, SHIFTED)
    k = trailing_zeros(t, SHIFTED, size)
    shift_right(t, SHIFTED, size, k)
    if not is_zero(t, SHIFTED + 1, size - 1) or t[SHIFTED] >> HALF_BITS != ZERO:
        return UNSUITABLE
    divisor = t[SHIFTED]
    left = ix.shape.numbers[FRACTION_BITS] - 1 - k
    clear(t, SHIFTED, wide)
    lost = False
    if left >= 0:  # Q·2^left is below 2^(128W + 64W), which fits
        add_weighted(t, SHIFTED, wide, t, q, size, 1, left)
        negative = t[SHIFTED + wide - 1] >> TOP == ONE
        if negative:
            negate(t, SHIFTED, wide)
    else:
        negative = magnitude(t, q, size, t, SHIFTED)
        lost = shift_right(t, SHIFTED, size, -left)
    if divisor != ONE:
        rest = ZERO
        for i in range(SHIFTED + wide - 1, SHIFTED - 1, -1):
            high = (rest << HALF_BITS) | (t[i] >> HALF_BITS)
            rest = high % divisor
            low = (rest << HALF_BITS) | (t[i] & LOW_HALF)
            t[i] = ((high // divisor) << HALF_BITS) | (low // divisor)
            rest = low % divisor
        lost = lost or rest != ZERO
    beyond = not is_zero(t, SHIFTED + limbs, wide - limbs) or t[SHIFTED + limbs - 1] >> (TOP - ONE) != ZERO
    if beyond:
        for i in range(SHIFTED, SHIFTED + limbs):
            t[i] = ~ZERO
        t[SHIFTED + limbs - 1] = ~ZERO >> np.uint64(2)
    for i in range(limbs):
        t[into + i] = t[SHIFTED + i]
    if negative:
        negate(t, into, limbs)
        if lost:  # one less
            for i in range(limbs):
                t[into + i] -= ONE
                if t[into + i] != ~ZERO:
                    break
    if beyond:
        return BEYOND
    return FLOORED if lost else EXACT


@inlined
def most_preferred(ix: Index, h: int, coefficient: float) -> int:
    """Where the ordinary key of the best linear preference has its preferred register."""
    head = ix.heads[h]
    return key_at(ix, h, head[LEAST] if coefficient < 0.0 else head[GREATEST]) + head[ROOT] * len(ix.shape.limbs)  # type: ignore[no-any-return]


@inlined
def shortfall(ix: Index, h: int, at: int, wish_kind: int, t: Words) -> float:
    """At least how much more than this key's an ordinary key's preference can be."""
    limbs, size = widths(ix.shape)
    head, q = ix.heads[h], ix.shape.numbers[FRACTION_BITS]
    if head[PREFERENCE] == NO_PREFERENCE:
        return 0.0
    if head[PREFERENCE] == LINEAR:
        coefficient = real(t, FREE + head[ROOT] * size, size, -2 * q)
        extreme = most_preferred(ix, h, coefficient)
        return abs(coefficient) * apart(ix, at + head[ROOT] * limbs, ix.store, extreme, t) * SLACK
    if wish_kind == BEYOND:
        return np.inf
    scale = -real(t, FREE + head[SQUARE] * size, size, -2 * q)
    # The wish lies within a quantum above PREFERRED. A key at distance e, none nearer than d: e² − d² = (e − d)·(e + d).
    behind = distance = apart(ix, at + head[ROOT] * limbs, t, PREFERRED, t) + power(-q)
    nearest = most_wished(ix, h, t)
    if nearest != ABSENT:
        behind = apart(ix, at + head[ROOT] * limbs, ix.store, nearest, t)
        distance += apart(ix, nearest, t, PREFERRED, t) + power(-q)
    return (scale * behind * distance + 2.0 * scale * head[LOOSE] * power(-q)) * SLACK  # type: ignore[no-any-return]


@inlined
def centre(ix: Index, h: int, wish: int, wish_kind: int, t: Words) -> float:
    """At least the score of an ordinary key with all its matching registers as wished, by the best preference."""
    limbs, size = widths(ix.shape)
    head, q = ix.heads[h], ix.shape.numbers[FRACTION_BITS]
    total, terms = 0.0, 0.0
    ordinary = key_at(ix, h, head[ORDINARY])
    for i in range(head[USED]):
        if ix.lists[list_at(ix, h, FLAT) + i] == 1:
            extend(ix.store, ordinary + i * limbs, limbs, t, DIFFERENCE, limbs)
            term = real(t, FREE + i * size, size, -2 * q) * real(t, DIFFERENCE, limbs, -q)
            total, terms = total + term, terms + abs(term)
    for d in range(head[MATCHING]):
        v = real(t, wish + d * limbs, limbs, -q)
        term = -real(t, FREE + ix.lists[list_at(ix, h, SQUARES) + d] * size, size, -2 * q) * v * v
        total, terms = total + term, terms + abs(term)
    if head[PREFERENCE] == LINEAR:
        coefficient = real(t, FREE + head[ROOT] * size, size, -2 * q)
        extreme = most_preferred(ix, h, coefficient)
        extend(ix.store, extreme, limbs, t, DIFFERENCE, limbs)
        term = coefficient * real(t, DIFFERENCE, limbs, -q)
        total, terms = total + term, terms + abs(term)
    elif head[PREFERENCE] == QUADRATIC:
        if wish_kind == BEYOND:
            return np.inf
        scale = -real(t, FREE + head[SQUARE] * size, size, -2 * q)
        reach = abs(real(t, PREFERRED, limbs, -q)) + power(-q)
        # The wish lies within a quantum above PREFERRED; the interval's width is a part of the error.
        term = scale * (reach * reach + head[LOOSE] * power(-q))
        nearest = most_wished(ix, h, t)
        if nearest != ABSENT:
            extend(ix.store, nearest, limbs, t, DIFFERENCE, limbs)
            at = real(t, DIFFERENCE, limbs, -q)
            linear = real(t, FREE + head[ROOT] * size, size, -2 * q) * at
            term = linear - scale * at * at + scale * head[LOOSE] * power(-q)
            terms += abs(linear) + scale * at * at
        total, terms = total + term, terms + abs(term)
    return total + terms * (SLACK - 1.0)


@inlined
def certify(ix: Index, h: int, length: int, lead: float, vec: Words, t: Words) -> bool:
    """Whether the winners at `length` keys are certain; then they are in ix.found.

    Needs the coefficients. lead: without roundings.
    """
    limbs, size = widths(ix.shape)
    head, lists, q = ix.heads[h], ix.lists, ix.shape.numbers[FRACTION_BITS]
    quantum = power(-q)
    needed = lead + 2.0 * quantum
    wish = FREE + head[USED] * size
    scores = wish + head[USED] * limbs
    # Wishes of the matching registers, and what the least mismatch costs
    mismatch = np.inf
    roots, squares, zeros = list_at(ix, h, ROOTS), list_at(ix, h, SQUARES), list_at(ix, h, ZEROS)
    for d in range(head[MATCHING]):
        q_at, s_at = FREE + lists[roots + d] * size, FREE + lists[squares + d] * size
        if t[s_at + size - 1] >> TOP != ONE or find_wish(ix, q_at, s_at, t, wish + d * limbs) != EXACT:
            return False
        # What keys and wish are multiples of
        granularity = power(min(lists[zeros + d], trailing_zeros(t, wish + d * limbs, limbs)) - q)
        mismatch = min(mismatch, -real(t, s_at, size, -2 * q) * granularity * granularity / SLACK)
    # Wish of the preferred register
    kind, wish_kind = head[PREFERENCE], EXACT
    if kind == QUADRATIC:
        s_at = FREE + head[SQUARE] * size
        if t[s_at + size - 1] >> TOP != ONE:
            return False
        wish_kind = find_wish(ix, FREE + head[ROOT] * size, s_at, t, PREFERRED)
        if wish_kind == UNSUITABLE:
            return False
        if head[LOOSE] == 1:
            needed += 2.0 * -real(t, s_at, size, -2 * q) * quantum * SLACK
    # Runs of the group, by rank: 0 and 1 may win, 2 and 3 stand for those behind
    found = ix.found
    group, _ = find_group(ix, h, wish, t)
    runs_here = 0
    places = (-1, -1, -1, -1)
    if group >= 0:
        runs_here = ix.groups[(head[GROUPS_AT] + group) * GROUP_FIELDS + GROUP_RUNS]
        if kind == NO_PREFERENCE:
            places = (0, -1, -1, -1)
        elif kind == LINEAR:
            c_at = FREE + head[ROOT] * size
            if t[c_at + size - 1] >> TOP == ONE:
                places = (0, -1, 1, -1)
            else:
                places = (runs_here - 1, -1, runs_here - 2, -1)
        else:
            low, high = 0, runs_here
            while low < high:
                middle = (low + high) // 2
                if less(t, PREFERRED, ix.store, run_key(ix, h, group, middle) + head[ROOT] * limbs, limbs):
                    high = middle
                else:
                    low = middle + 1
            places = (low - 1, low, low - 2, low + 1)
    # The best score
    best, best_run = ABSENT, ABSENT
    for rank in range(RUN_CANDIDATES):
        if 0 <= places[rank] < runs_here:
            start = ix.groups[(head[GROUPS_AT] + group) * GROUP_FIELDS + ARENA_PLACE]
            run = ix.arena[head[ARENA_AT] + start + places[rank]]
            found[RUNS_LOOKED_AT + rank] = run
            into = scores + rank * size
            score_into(ix, h, ix.runs[(head[RUNS_AT] + run) * RUN_FIELDS], vec, t, into)
            if best == ABSENT or less(t, best, t, into, size):
                best, best_run = into, rank
    run_best = best
    specials = list_at(ix, h, SPECIAL_KEYS)
    for i in range(head[SPECIALS]):
        into = scores + (RUN_CANDIDATES + i) * size
        score_into(ix, h, lists[specials + i], vec, t, into)
        if best == ABSENT or less(t, best, t, into, size):
            best = into
    if best == ABSENT:
        return False
    # Who has it, and the lead over who has not
    number, runs_won, specials_won, key, behind = 0, 0, 0, ABSENT, ABSENT
    for slot in range(RUN_CANDIDATES + head[SPECIALS]):
        into = scores + slot * size
        if slot < RUN_CANDIDATES and not 0 <= places[slot] < runs_here:
            continue
        if not equal(t, into, t, best, size):
            if behind == ABSENT or less(t, behind, t, into, size):
                behind = into
            continue
        if slot >= RUN_CANDIDATES:
            key = lists[specials + slot - RUN_CANDIDATES]
            found[SPECIAL_WINNERS + specials_won] = key
            specials_won += 1
            number += 1
        elif slot >= 2:
            return False
        else:
            r = (head[RUNS_AT] + found[RUNS_LOOKED_AT + slot]) * RUN_FIELDS
            key = ix.runs[r]
            found[RUN_WINNERS + runs_won] = found[RUNS_LOOKED_AT + slot]
            runs_won += 1
            number += ix.runs[r + 1]
    found[WINNERS], found[WINNING_RUNS], found[WINNING_SPECIALS], found[ONE_WINNER] = (
        number,
        runs_won,
        specials_won,
        key,
    )
    if behind != ABSENT and difference(t, best, behind, size, q) < needed * SLACK * SLACK:
        return False
    # Other groups
    top = real(t, best, size, -2 * q)
    if head[MATCHING] > 0 and head[GROUPS] > 0:
        if group >= 0:
            short = shortfall(ix, h, run_key(ix, h, group, places[best_run]), wish_kind, t)
            if not difference(t, best, run_best, size, q) + mismatch >= (short + needed) * SLACK:
                return False
        else:
            limit = centre(ix, h, wish, wish_kind, t)
            if not top + mismatch >= limit + (needed + abs(top) + abs(limit) + mismatch) * (SLACK - 1.0) + needed:
                return False
    # Saturation
    return top <= ix.largest[0] / SLACK and needed * SLACK - top <= ix.largest[0] / SLACK  # type: ignore[no-any-return]


@compiled
def difference(t: Words, a: int, b: int, size: int, q: int) -> float:
    """a − b for scores a ≥ b."""
    for i in range(size):
        t[BEST + i] = t[b + i]
    negate(t, BEST, size)
    add(t, BEST, t, a, size)
    return real(t, BEST, size, -2 * q)


@inlined
def read(ix: Index, h: int, length: int, one: int, vec: Words, t: Words) -> bool:
    """Writes the head's outputs, from the winners in ix.found; False if their share is not known. one: the place of 1 in vec."""
    limbs, size = widths(ix.shape)
    head, found = ix.heads[h], ix.found
    number = found[WINNERS]
    share = (2 * number + (1 if length > number else 0)) * limbs
    if number >= ix.shape.numbers[SHARES]:
        return False
    whole = number == 1 and equal(ix.shares, share, vec, one, limbs)
    for j in range(head[VALUE]):
        into = (head[OUTPUT] + j) * limbs
        offset = (head[USED] + head[SCORE] + j) * limbs
        if whole:
            at = key_at(ix, h, found[ONE_WINNER]) + offset
            for i in range(limbs):
                vec[into + i] = ix.store[at + i]
            continue
        clear(t, PREFERRED, limbs + 1)
        for w in range(found[WINNING_RUNS]):
            total = head[SUMS_AT] + (found[RUN_WINNERS + w] * head[VALUE] + j) * (limbs + 1)
            add(t, PREFERRED, ix.sums, total, limbs + 1)
        for w in range(found[WINNING_SPECIALS]):
            extend(ix.store, key_at(ix, h, found[SPECIAL_WINNERS + w]) + offset, limbs, t, DIFFERENCE, limbs + 1)
            add(t, PREFERRED, t, DIFFERENCE, limbs + 1)
        clear(t, SUM, size)
        add_product(t, SUM, size, t, PREFERRED, limbs + 1, ix.shares, share, limbs)
        round_into(t, SUM, size, ix.shape.numbers[FRACTION_BITS], ix.shape.numbers[MODE], vec, into, limbs)
    return True
