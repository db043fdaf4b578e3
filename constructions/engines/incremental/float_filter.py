"""A float filter: a query's winners by floats with error bounds, where these are certain; compiled code.

The certificate is the one that index.py derives, of a run, a special key, or one of each that tie. A float stands for each
coefficient, wish and register, with a relative error below 2^−49. Lead and costs are sums of few of their products; ERROR
times the sizes of what was added up bounds what all roundings together do. Where that leaves a doubt, nothing is said:
certificate.py is exact.
  - Matching registers: the wish v = Q/(2S) is an exact float, which is checked, and so are the keys' values.
  - Within a group the preference −S·(x − v)² rises towards the wish and falls behind it: who leads its neighbours leads all.
"""

from __future__ import annotations

import numpy as np

from constructions.engines.incremental.index import (
    ABSENT,
    ARENA_PLACE,
    ARENA_REALS_AT,
    COEFFICIENTS,
    FLAT,
    FREE,
    GREATEST_REAL,
    GROUP_FIELDS,
    GROUP_RUNS,
    GROUPS,
    GROUPS_AT,
    INEXACT,
    LEAST_REAL,
    LINEAR,
    LOOSE,
    MATCHING,
    NARROW,
    NO_PREFERENCE,
    ONE_WINNER,
    ORDINARY,
    PREFERENCE,
    QUADRATIC,
    REALS_AT,
    ROOT,
    ROOTS,
    RUN_FIELDS,
    RUN_KEYS,
    RUN_WINNERS,
    RUNS_AT,
    SLACK,
    SPECIAL_KEYS,
    SPECIAL_WINNERS,
    SPECIALS,
    SQUARE,
    SQUARES,
    USED,
    WINNERS,
    WINNING_RUNS,
    WINNING_SPECIALS,
    WISH_REALS,
    ZEROS,
    Index,
    find_group,
    head_of,
    key_at,
    list_at,
    register_at,
    run_at,
    score,
)
from constructions.engines.incremental.limbs import FRACTION_BITS, YES, Words, inlined, significant_bits
from constructions.engines.incremental.reals import ERROR, MANTISSA, divides, lowest_bit, power, real
from constructions.engines.incremental.sums import ORIGIN, add_up, evaluate


@inlined
def find_real_coefficients(ix: Index, h: int, code: Words, vec: Words) -> int:
    """The floats of Q_i of each used register; which of them are exact, as bits."""
    head, q = head_of(ix, h), ix.shape.numbers[FRACTION_BITS]
    at, into, exact = head[COEFFICIENTS], head[REALS_AT] + WISH_REALS + head[USED], 0
    for i in range(head[USED]):
        if code[at] == 1:
            part, following = add_up(code, at + 2, vec, ix.shape, ORIGIN)
            ix.reals[into + i] = real(part, code[at + 1] - 2 * q)
            if significant_bits(part) <= MANTISSA:
                exact |= 1 << i
        else:
            total, following = evaluate(code, at, vec, ix.shape, ORIGIN)
            ix.reals[into + i] = real(total, -2 * q)
        at = following
    return exact


@inlined
def preferred_lead(x: float, y: float, wish: float, scale: float, slope: float) -> float:
    """At least by how much x is preferred to y: −S·(x − v)² to −S·(y − v)², or slope·x to slope·y if the scale is 0."""
    size = abs(x) + abs(y)
    apart = abs(x - y) - size * ERROR
    if scale == 0.0:
        return abs(slope) * apart if (slope > 0.0) == (x > y) else -1.0
    nearer = (2.0 * wish - x - y if x > y else x + y - 2.0 * wish) - (size + 2.0 * abs(wish)) * ERROR
    return scale * apart * nearer if apart > 0.0 and nearer > 0.0 else -1.0


@inlined
def nearest_place(ix: Index, start: int, count: int, wish: float) -> int:
    """Which of the floats in ascending order is next to the wish, or next but one for want of digits."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if wish < ix.arena_reals[start + middle]:
            high = middle
        else:
            low = middle + 1
    if low == count or (low > 0 and wish - ix.arena_reals[start + low - 1] < ix.arena_reals[start + low] - wish):
        return low - 1
    return low


@inlined
def find_common(ix: Index, h: int, exact: int) -> tuple[bool, float, float, float]:
    """Whether wishes are exact; what the least mismatch costs; what all keys share that match and are ordinary, and its size."""
    head, lists, reals, q = head_of(ix, h), ix.lists, head_of(ix, h)[REALS_AT], ix.shape.numbers[FRACTION_BITS]
    wishes, coefficients = reals + WISH_REALS, reals + WISH_REALS + head[USED]
    shared, sizes, mismatch = 0.0, 0.0, np.inf
    at = key_at(ix, h, head[ORDINARY])
    for i in range(head[USED]):
        if lists[list_at(ix, h, FLAT) + i] == 1:
            term = ix.reals[coefficients + i] * real(register_at(ix, at, i), -q)
            shared, sizes = shared + term, sizes + abs(term)
    for d in range(head[MATCHING]):
        root, square = lists[list_at(ix, h, ROOTS) + d], lists[list_at(ix, h, SQUARES) + d]
        r, s = ix.reals[coefficients + root], -ix.reals[coefficients + square]
        if not s > 0.0 or exact >> root & exact >> square & 1 == 0:
            return False, 0.0, 0.0, 0.0
        v = r / (2.0 * s)
        if not divides(v, 2.0 * s, r):
            return False, 0.0, 0.0, 0.0
        grain = power(lists[list_at(ix, h, ZEROS) + d] - q)
        if v != 0.0:
            grain = min(grain, lowest_bit(v))
        mismatch = min(mismatch, s * grain * grain / SLACK)
        shared, sizes = shared + s * v * v, sizes + s * v * v
        ix.reals[wishes + d] = v
    return True, mismatch, shared, sizes


@inlined
def real_score(ix: Index, h: int, key: int) -> tuple[float, float]:
    """The score of a key, and an error bound."""
    head, q, here, size = head_of(ix, h), ix.shape.numbers[FRACTION_BITS], 0.0, 0.0
    at, coefficients = key_at(ix, h, key), head[REALS_AT] + WISH_REALS + head[USED]
    for j in range(head[USED]):
        term = ix.reals[coefficients + j] * real(register_at(ix, at, j), -q)
        here, size = here + term, size + abs(term)
    return here, size * ERROR


@inlined
def take_winner(ix: Index, h: int, run: int, special: int, tied: int) -> None:
    """Who wins goes to ix.found: a special key, or else a run, and with it a special key that ties."""
    found = ix.found
    if special >= 0:
        found[WINNERS], found[ONE_WINNER], found[WINNING_RUNS], found[WINNING_SPECIALS] = 1, special, 0, 1
        found[SPECIAL_WINNERS] = special
    else:
        winner = (head_of(ix, h)[RUNS_AT] + run) * RUN_FIELDS
        found[WINNERS], found[ONE_WINNER] = ix.runs[winner + RUN_KEYS], ix.runs[winner]
        found[WINNING_RUNS], found[WINNING_SPECIALS], found[RUN_WINNERS] = 1, 0, run
        if tied >= 0:
            found[WINNERS], found[WINNING_SPECIALS], found[SPECIAL_WINNERS] = ix.runs[winner + RUN_KEYS] + 1, 1, tied


@inlined
def decided_by_floats(ix: Index, h: int, code: Words, lead: float, vec: Words, t: Words) -> bool:
    """Whether it is certain which run or special key wins; then it is in ix.found. lead: as in `certify`."""
    head, lists, reals, quantum = (
        head_of(ix, h),
        ix.lists,
        head_of(ix, h)[REALS_AT],
        power(-ix.shape.numbers[FRACTION_BITS]),
    )
    if head[NARROW] == 0 or head[INEXACT] > 0 or head[USED] > MANTISSA:
        return False
    needed = (lead + 2.0 * quantum) * SLACK
    exact_wishes, mismatch, shared, sizes = find_common(ix, h, find_real_coefficients(ix, h, code, vec))
    if not exact_wishes:
        return False
    scale, slope, wish, defect = 0.0, 0.0, 0.0, 0.0
    coefficients = reals + WISH_REALS + head[USED]
    if head[PREFERENCE] == QUADRATIC:
        scale = -ix.reals[coefficients + head[SQUARE]]
        if not scale > 0.0:
            return False
        wish, defect = ix.reals[coefficients + head[ROOT]] / (2.0 * scale), 2.0 * scale * quantum * head[LOOSE] * SLACK
    elif head[PREFERENCE] == LINEAR:
        slope = ix.reals[coefficients + head[ROOT]]
    # The best run of the group
    group, _ = find_group(ix, h, FREE, t, YES)
    best, blur, own, run = -np.inf, 0.0, 0.0, ABSENT
    if group >= 0:
        g = (head[GROUPS_AT] + group) * GROUP_FIELDS
        count, first = ix.groups[g + GROUP_RUNS], head[ARENA_REALS_AT] + ix.groups[g + ARENA_PLACE]
        if head[PREFERENCE] == QUADRATIC:
            place = nearest_place(ix, first, count, wish)
        else:
            place = count - 1 if slope > 0.0 else 0
        own, run = ix.arena_reals[first + place], run_at(ix, h, group, place)
        for beside in (place - 1, place + 1):
            if not 0 <= beside < count:
                continue
            if not preferred_lead(own, ix.arena_reals[first + beside], wish, scale, slope) - defect >= needed:
                return False
        term = scale * own * (2.0 * wish - own) + slope * own
        best = shared + term
        blur = (sizes + scale * abs(own) * (2.0 * abs(wish) + abs(own)) + abs(slope * own)) * ERROR + defect
    # Special keys; one may win together with the run
    behind, special, tied, specials = -np.inf, ABSENT, ABSENT, list_at(ix, h, SPECIAL_KEYS)
    for i in range(head[SPECIALS]):
        here, size = real_score(ix, h, lists[specials + i])
        if group >= 0 and special < 0 and tied < 0 and abs(here - best) <= size + blur:
            tied = lists[specials + i]
            at = key_at(ix, h, ix.runs[(head[RUNS_AT] + run) * RUN_FIELDS])
            if score(ix, h, at, code, vec, t) != score(ix, h, key_at(ix, h, tied), code, vec, t):
                return False
        elif here > best:
            behind, best, blur, special = max(behind, best + blur), here, size, lists[specials + i]
        else:
            behind = max(behind, here + size)
    if not best - blur - behind >= needed:
        return False
    # Other groups: the best preference that there may be, and at least one mismatch
    if head[MATCHING] > 0 and head[GROUPS] > (1 if group >= 0 else 0):
        least, greatest = ix.reals[reals + LEAST_REAL], ix.reals[reals + GREATEST_REAL]
        wished = greatest if slope > 0.0 else least
        if head[PREFERENCE] == QUADRATIC:
            wished = min(max(wish, least), greatest)
        elif head[PREFERENCE] == NO_PREFERENCE:
            wished = own
        if group >= 0 and special < 0:
            apart = abs(own - wished) + (abs(own) + abs(wished)) * ERROR
            further = abs(own + wished - 2.0 * wish) + (abs(own) + abs(wished) + 2.0 * abs(wish)) * ERROR
            short = (scale * apart * further + abs(slope) * apart) * SLACK + defect
            if not mismatch - short >= needed:
                return False
        else:
            limit = shared + scale * wished * (2.0 * wish - wished) + slope * wished - mismatch
            size = sizes + scale * abs(wished) * (2.0 * abs(wish) + abs(wished)) + abs(slope * wished) + mismatch
            if not best - blur - (limit + size * ERROR + defect) >= needed:
                return False
    # Saturation
    if not (best + blur <= ix.largest[0] / SLACK and needed - best + blur <= ix.largest[0] / SLACK):
        return False
    take_winner(ix, h, run, special, tied)
    return True
