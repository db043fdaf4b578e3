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

from constructions.engines.incremental import fields
from constructions.engines.incremental.index import (
    SLACK,
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
    at, into, exact = head[fields.COEFFICIENTS], head[fields.REALS_AT] + fields.WISH_REALS + head[fields.USED], 0
    for i in range(head[fields.USED]):
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
    head, lists, reals, q = head_of(ix, h), ix.lists, head_of(ix, h)[fields.REALS_AT], ix.shape.numbers[FRACTION_BITS]
    wishes, coefficients = reals + fields.WISH_REALS, reals + fields.WISH_REALS + head[fields.USED]
    shared, sizes, mismatch = 0.0, 0.0, np.inf
    at = key_at(ix, h, head[fields.ORDINARY])
    for i in range(head[fields.USED]):
        if lists[list_at(ix, h, fields.FLAT) + i] == 1:
            term = ix.reals[coefficients + i] * real(register_at(ix, at, i), -q)
            shared, sizes = shared + term, sizes + abs(term)
    for d in range(head[fields.MATCHING]):
        root, square = lists[list_at(ix, h, fields.ROOTS) + d], lists[list_at(ix, h, fields.SQUARES) + d]
        r, s = ix.reals[coefficients + root], -ix.reals[coefficients + square]
        if not s > 0.0 or exact >> root & exact >> square & 1 == 0:
            return False, 0.0, 0.0, 0.0
        v = r / (2.0 * s)
        if not divides(v, 2.0 * s, r):
            return False, 0.0, 0.0, 0.0
        grain = power(lists[list_at(ix, h, fields.ZEROS) + d] - q)
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
    at, coefficients = key_at(ix, h, key), head[fields.REALS_AT] + fields.WISH_REALS + head[fields.USED]
    for j in range(head[fields.USED]):
        term = ix.reals[coefficients + j] * real(register_at(ix, at, j), -q)
        here, size = here + term, size + abs(term)
    return here, size * ERROR


@inlined
def take_winner(ix: Index, h: int, run: int, special: int, tied: int) -> None:
    """Who wins goes to ix.found: a special key, or else a run, and with it a special key that ties."""
    found = ix.found
    if special >= 0:
        found[fields.WINNERS], found[fields.ONE_WINNER] = 1, special
        found[fields.WINNING_RUNS], found[fields.WINNING_SPECIALS] = 0, 1
        found[fields.SPECIAL_WINNERS] = special
    else:
        winner = (head_of(ix, h)[fields.RUNS_AT] + run) * fields.RUN_FIELDS
        found[fields.WINNERS], found[fields.ONE_WINNER] = ix.runs[winner + fields.RUN_KEYS], ix.runs[winner]
        found[fields.WINNING_RUNS], found[fields.WINNING_SPECIALS], found[fields.RUN_WINNERS] = 1, 0, run
        if tied >= 0:
            found[fields.WINNERS] += 1
            found[fields.WINNING_SPECIALS], found[fields.SPECIAL_WINNERS] = 1, tied


@inlined
def decided_by_floats(ix: Index, h: int, code: Words, lead: float, vec: Words, t: Words) -> bool:
    """Whether it is certain which run or special key wins; then it is in ix.found. lead: as in `certify`."""
    head, lists, reals, quantum = (
        head_of(ix, h),
        ix.lists,
        head_of(ix, h)[fields.REALS_AT],
        power(-ix.shape.numbers[FRACTION_BITS]),
    )
    if head[fields.NARROW] == 0 or head[fields.INEXACT] > 0 or head[fields.USED] > MANTISSA:
        return False
    needed = (lead + 2.0 * quantum) * SLACK
    exact_wishes, mismatch, shared, sizes = find_common(ix, h, find_real_coefficients(ix, h, code, vec))
    if not exact_wishes:
        return False
    scale, slope, wish, defect = 0.0, 0.0, 0.0, 0.0
    coefficients = reals + fields.WISH_REALS + head[fields.USED]
    if head[fields.PREFERENCE] == fields.QUADRATIC:
        scale = -ix.reals[coefficients + head[fields.SQUARE]]
        if not scale > 0.0:
            return False
        wish = ix.reals[coefficients + head[fields.ROOT]] / (2.0 * scale)
        defect = 2.0 * scale * quantum * head[fields.LOOSE] * SLACK
    elif head[fields.PREFERENCE] == fields.LINEAR:
        slope = ix.reals[coefficients + head[fields.ROOT]]
    # The best run of the group
    group, _ = find_group(ix, h, fields.FREE, t, YES)
    best, blur, own, run = -np.inf, 0.0, 0.0, fields.ABSENT
    if group >= 0:
        g = (head[fields.GROUPS_AT] + group) * fields.GROUP_FIELDS
        count, first = ix.groups[g + fields.GROUP_RUNS], head[fields.ARENA_REALS_AT] + ix.groups[g + fields.ARENA_PLACE]
        if head[fields.PREFERENCE] == fields.QUADRATIC:
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
    behind, special, tied, specials = -np.inf, fields.ABSENT, fields.ABSENT, list_at(ix, h, fields.SPECIAL_KEYS)
    for i in range(head[fields.SPECIALS]):
        here, size = real_score(ix, h, lists[specials + i])
        if group >= 0 and special < 0 and tied < 0 and abs(here - best) <= size + blur:
            tied = lists[specials + i]
            at = key_at(ix, h, ix.runs[(head[fields.RUNS_AT] + run) * fields.RUN_FIELDS])
            if score(ix, h, at, code, vec, t) != score(ix, h, key_at(ix, h, tied), code, vec, t):
                return False
        elif here > best:
            behind, best, blur, special = max(behind, best + blur), here, size, lists[specials + i]
        else:
            behind = max(behind, here + size)
    if not best - blur - behind >= needed:
        return False
    # Other groups: the best preference that there may be, and at least one mismatch
    if head[fields.MATCHING] > 0 and head[fields.GROUPS] > (1 if group >= 0 else 0):
        least, greatest = ix.reals[reals + fields.LEAST_REAL], ix.reals[reals + fields.GREATEST_REAL]
        wished = greatest if slope > 0.0 else least
        if head[fields.PREFERENCE] == fields.QUADRATIC:
            wished = min(max(wish, least), greatest)
        elif head[fields.PREFERENCE] == fields.NO_PREFERENCE:
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
