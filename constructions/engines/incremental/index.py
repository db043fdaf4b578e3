"""The index of one head's keys, in compiled code: a key is put in, a query finds the keys that win its softmax column.

The score of a key is Σ_i Q_i·x_i over the registers i that the key weights read. A *structure*
(structure.py) sorts these:
  flat      the same at every ordinary key; keys that differ there are *special*, and scored one by one
  matching  x_j with a register x_s = x_j², whose coefficient −S is negative: −S·(x_j − v)² + const, v = Q_j/(2S)
  preferred one such pair whose square may be off by a quantum, or one register by itself (linear), or none
Keys are grouped by the matching registers (a hash table) and sorted within a group by the preferred one, in runs of
equal keys. What the structure says is checked at each key that comes in; the first that breaks it takes the structure
away.

The certificate of a query. All scores below are exact; rounding moves each by at most a quantum.
  - Candidates: the special keys; in the group with x_j = v, the two runs on each side of the wish (the first two, if
  linear). The best
    of them must lead the others by `lead`, and must not be a second run. Keys behind a second run are further from the
    wish, so they beat it by no more than two defects of a square: they trail by `lead` if it trails by 2·S·quantum
    more.
  - A key of another group misses some v by at least g, the power of two that all x_j and v are multiples of, and loses S·g², while
    its preference gains at most what separates the candidate's preference from the best possible one: that at the wish, or at the
    key next to it if all keys lie on one side.
  - Neither the winner nor, against it, a loser at −largest is moved by saturation.
Only differences of exact scores become floats, with a relative error below 2^−49; the margins below leave 2^−40 for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    ZEROS_OF_ZERO,
    Number,
    Shape,
    Words,
    compiled,
    inlined,
    is_zero,
    load,
    magnitude,
    number,
    product,
    resized,
    rounded,
    shifted_left,
    significant_bits,
    store,
    to_float,
    trailing_zeros,
    widths,
)
from constructions.engines.incremental.reals import ERROR, MANTISSA, bits_of, real
from constructions.engines.incremental.sums import weigh

MOST_SPECIAL = 16
MOST_EXCEPTIONS = 8  # of one register
FIELDS = 40
# Of a head: what it is
USED, SCORE, VALUE, QUERY, VALUES, OUTPUT, COEFFICIENTS, ROWS = range(8)
STORE_AT, STRIDE, GROUPS_AT, RUNS_AT, SUMS_AT, TABLE_AT, TABLE_MASK, ARENA_AT, LISTS_AT = range(8, 17)
# … its structure, and what it holds
STRUCTURED, ORDINARY, SPECIALS, MATCHING, PREFERENCE, ROOT, SQUARE, LOOSE = range(17, 25)
GROUPS, RUNS, ARENA, LEAST, GREATEST, INEXACT, HOPELESS, NEXT_TRY, TRIES = range(25, 34)
NARROW, SUMMED, REALS_AT, ARENA_REALS_AT = range(34, 38)
ABSENT = cast(int, np.int64(-1))  # of numpy, as the regions are
NO_PREFERENCE, QUADRATIC, LINEAR = range(3)
# Lists of a head: six with an entry for each register, then the special keys, and MOST_SPECIAL places behind these the inexact ones
SLOTS, FLAT, EXCEPTIONS, ROOTS, SQUARES, ZEROS, SPECIAL_KEYS = cast(Sequence[int], np.arange(7))
# What `certify` finds: how many winners, runs and special keys that win, one of them; where the runs and the special keys that win
# begin, and the runs that were looked at
WINNERS, WINNING_RUNS, WINNING_SPECIALS, ONE_WINNER, RUN_WINNERS, SPECIAL_WINNERS, RUNS_LOOKED_AT = 0, 1, 2, 3, 4, 8, 32
FOUND_FIELDS = 40
# (first key, place in the arena, runs, room); (first key, number of keys, place of the sums of their values if there are several)
GROUP_FIELDS, RUN_FIELDS = 4, 3
ARENA_PLACE, GROUP_RUNS, GROUP_ROOM = 1, 2, 3
RUN_KEYS, RUN_SUMS = 1, 2
# Floats of a head: the least and the greatest preferred register; what a query wishes of the matching ones, and its coefficients
LEAST_REAL, GREATEST_REAL, WISH_REALS = 0, 1, 2
SLACK = 1.0 + 2.0**-40
# The scratch array: the largest element, then for each used register its coefficient, of A limbs; then the wishes, and the scores
LARGEST, FREE = cast(int, np.int64(0)), cast(int, np.int64(8))


class Index(NamedTuple):
    """The heads' indices side by side. found: see WINNERS.

    store: per key the used registers and the value. shares: weights of m tied winners, at 2m without and 2m +
    1 with losers. reals: see LEAST_REAL; per group its matching registers. arena_reals: the preferred register of each run
    in the arena.
    """

    heads: Any
    lists: Any
    store: Words
    groups: Any
    runs: Any
    sums: Words
    table: Any
    arena: Any
    reals: Any
    arena_reals: Any
    shares: Words
    found: Any
    shape: Shape
    largest: Any


@inlined
def list_at(ix: Index, h: int, which: int) -> int:
    """Where one of the head's lists begins."""
    return ix.heads[h, LISTS_AT] + which * ix.heads[h, USED]  # type: ignore[no-any-return]


@inlined
def key_at(ix: Index, h: int, key: int) -> int:
    """Where a key is stored."""
    return ix.heads[h, STORE_AT] + key * ix.heads[h, STRIDE]  # type: ignore[no-any-return]


@inlined
def group_reals(ix: Index, h: int) -> int:
    """Where the floats of the head's groups begin."""
    return ix.heads[h, REALS_AT] + WISH_REALS + 2 * ix.heads[h, USED]  # type: ignore[no-any-return]


@inlined
def register_at(ix: Index, at: int, register: int) -> Number:
    """A register of the key that is stored there."""
    return load(ix.store, at + register * len(ix.shape.element), ix.shape.element)


@inlined
def square_fit(ix: Index, at: int, root: int, square: int) -> int:
    """1 if x_square = x_root² at this key, 2 if it is at most a quantum off, otherwise 0."""
    fraction_bits, exact = ix.shape.numbers[FRACTION_BITS], ix.shape.exact
    x, y = register_at(ix, at, root), register_at(ix, at, square)
    if (
        2 * significant_bits(x) <= MANTISSA
        and significant_bits(y) <= MANTISSA
        and to_float(x) ** 2 == real(y, fraction_bits)
    ):
        return 1
    defect = product(x, x, exact) - shifted_left(resized(y, exact), fraction_bits)
    if is_zero(defect):
        return 1
    return 0 if shifted_left(number(1, exact), fraction_bits) < magnitude(defect) else 2


@inlined
def find_group(ix: Index, h: int, wish: int, t: Words, narrow: bool) -> tuple[int, int]:
    """The group with these values of the matching registers, −1 if there is none; and its place in the table, or a free one.

    Floats tell different values apart; narrow: equal ones are equal values. Otherwise `t` has the values.
    """
    shape, head = ix.shape.element, ix.heads[h]
    limbs, matching, digest = len(shape), head[MATCHING], np.uint64(0x9E3779B97F4A7C15)
    wished = head[REALS_AT] + WISH_REALS
    for d in range(matching):
        digest = (digest ^ np.uint64(bits_of(ix.reals[wished + d]) & 0x7FFFFFFFFFFFFFFF)) * np.uint64(
            0xD6E8FEB86659FD93
        )
        digest ^= digest >> np.uint64(32)
    mask, base, roots, known = head[TABLE_MASK], head[TABLE_AT], list_at(ix, h, ROOTS), group_reals(ix, h)
    place = np.int64(digest & np.uint64(0x7FFFFFFF)) & mask
    while True:
        group = ix.table[base + place] - 1
        if group < 0:
            return -1, place
        same = True
        for d in range(matching):
            if ix.reals[known + group * matching + d] != ix.reals[wished + d]:
                same = False
                break
        if same and not narrow:
            at = key_at(ix, h, ix.groups[(head[GROUPS_AT] + group) * GROUP_FIELDS])
            for d in range(matching):
                if register_at(ix, at, ix.lists[roots + d]) != load(t, wish + d * limbs, shape):
                    same = False
                    break
        if same:
            return group, place
        place = (place + 1) & mask


@compiled
def compare(ix: Index, h: int, at: int, other: int) -> int:
    """−1, 0 or 1: how one stored key's preference stands to another's."""
    if ix.heads[h, PREFERENCE] == NO_PREFERENCE:
        return 0
    for register in (ix.heads[h, ROOT], ix.heads[h, SQUARE]):
        x, y = register_at(ix, at, register), register_at(ix, other, register)
        if x != y:
            return -1 if x < y else 1
    return 0


@inlined
def order_of(ix: Index, h: int, x: float, at: int, y: float, other: int) -> int:
    """The same, of keys whose preferred registers are near these floats."""
    if abs(x - y) > (abs(x) + abs(y)) * ERROR:
        return -1 if x < y else 1
    return compare(ix, h, at, other)


@inlined
def run_key(ix: Index, h: int, group: int, place: int) -> int:
    """Where the first key of a group's run is stored."""
    start = ix.groups[(ix.heads[h, GROUPS_AT] + group) * GROUP_FIELDS + ARENA_PLACE]
    run = ix.arena[ix.heads[h, ARENA_AT] + start + place]
    return key_at(ix, h, ix.runs[(ix.heads[h, RUNS_AT] + run) * RUN_FIELDS])


@inlined
def add_values(ix: Index, h: int, key: int, run: int) -> None:
    """The key's values go into the sums of its run, each of W + 1 limbs; a run of a single key has none."""
    (limbs, _), head, long = widths(ix.shape), ix.heads[h], ix.shape.long
    r, offset = (head[RUNS_AT] + run) * RUN_FIELDS, head[USED] * limbs
    at, first = key_at(ix, h, key) + offset, key_at(ix, h, ix.runs[r]) + offset
    alone = ix.runs[r + RUN_KEYS] == 1
    if alone:
        ix.runs[r + RUN_SUMS] = head[SUMMED]
        head[SUMMED] += 1
    ix.runs[r + RUN_KEYS] += 1
    for j in range(head[VALUE]):
        place = head[SUMS_AT] + (ix.runs[r + RUN_SUMS] * head[VALUE] + j) * (limbs + 1)
        total = resized(register_at(ix, first, j), long) if alone else load(ix.sums, place, long)
        store(ix.sums, place, total + resized(register_at(ix, at, j), long), long)


@inlined
def join_group(ix: Index, h: int, group: int, key: int, x: float) -> None:
    """The key joins its run in the group, or becomes a new one. x: its preferred register."""
    head = ix.heads[h]
    g = (head[GROUPS_AT] + group) * GROUP_FIELDS
    at, count = key_at(ix, h, key), ix.groups[g + GROUP_RUNS]
    start, reals = head[ARENA_AT] + ix.groups[g + ARENA_PLACE], head[ARENA_REALS_AT] + ix.groups[g + ARENA_PLACE]
    low, high = 0, count  # runs below `low` come before the key
    while low < high:
        middle = high - 1 if high == count else (low + high) // 2  # most keys come last
        order = order_of(ix, h, ix.arena_reals[reals + middle], run_key(ix, h, group, middle), x, at)
        if order == 0:
            add_values(ix, h, key, ix.arena[start + middle])
            return
        if order < 0:
            low = middle + 1
        else:
            high = middle
    if count == ix.groups[g + GROUP_ROOM]:
        room = max(1, 2 * count)
        shift = head[ARENA] - ix.groups[g + ARENA_PLACE]
        for i in range(count):
            ix.arena[start + shift + i] = ix.arena[start + i]
            ix.arena_reals[reals + shift + i] = ix.arena_reals[reals + i]
        ix.groups[g + ARENA_PLACE], ix.groups[g + GROUP_ROOM] = head[ARENA], room
        start, reals = start + shift, reals + shift
        head[ARENA] += room
    for i in range(count, low, -1):
        ix.arena[start + i] = ix.arena[start + i - 1]
        ix.arena_reals[reals + i] = ix.arena_reals[reals + i - 1]
    run = head[RUNS]
    head[RUNS] += 1
    ix.arena[start + low], ix.arena_reals[reals + low] = run, x
    ix.groups[g + GROUP_RUNS] += 1
    r = (head[RUNS_AT] + run) * RUN_FIELDS
    ix.runs[r], ix.runs[r + RUN_KEYS] = key, 1


@inlined
def insert_ordinary(ix: Index, h: int, key: int, t: Words) -> bool:
    """Whether the key fits the structure; if so it is in the index."""
    head, at, (limbs, size) = ix.heads[h], key_at(ix, h, key), widths(ix.shape)
    wish, fraction_bits, reals = FREE + head[USED] * size, ix.shape.numbers[FRACTION_BITS], head[REALS_AT]
    roots, squares, zeros = list_at(ix, h, ROOTS), list_at(ix, h, SQUARES), list_at(ix, h, ZEROS)
    for d in range(head[MATCHING]):
        if square_fit(ix, at, ix.lists[roots + d], ix.lists[squares + d]) != 1:
            return False
        x = register_at(ix, at, ix.lists[roots + d])
        ix.lists[zeros + d] = min(ix.lists[zeros + d], trailing_zeros(x))
        store(t, wish + d * limbs, x, ix.shape.element)
        ix.reals[reals + WISH_REALS + d] = real(x, -fraction_bits)
        if significant_bits(x) > MANTISSA:
            head[NARROW] = 0
    preferred = 0.0
    if head[PREFERENCE] == QUADRATIC:
        fit = square_fit(ix, at, head[ROOT], head[SQUARE])
        if fit == 0 or (fit == 2 and head[LOOSE] == 0):
            return False
    if head[PREFERENCE] != NO_PREFERENCE:
        preferred = real(preferred_by(ix, h, key), -fraction_bits)
        least, greatest = head[LEAST], head[GREATEST]
        if least < 0 or order_of(ix, h, preferred, at, ix.reals[reals + LEAST_REAL], key_at(ix, h, least)) < 0:
            head[LEAST], ix.reals[reals + LEAST_REAL] = key, preferred
        if greatest < 0 or order_of(ix, h, preferred, at, ix.reals[reals + GREATEST_REAL], key_at(ix, h, greatest)) > 0:
            head[GREATEST], ix.reals[reals + GREATEST_REAL] = key, preferred
    group, place = find_group(ix, h, wish, t, head[NARROW] == 1)
    if group < 0:
        group = head[GROUPS]
        head[GROUPS] += 1
        ix.table[head[TABLE_AT] + place] = group + 1
        g = (head[GROUPS_AT] + group) * GROUP_FIELDS
        ix.groups[g], ix.groups[g + ARENA_PLACE], ix.groups[g + GROUP_RUNS], ix.groups[g + GROUP_ROOM] = key, 0, 0, 0
        for d in range(head[MATCHING]):
            ix.reals[group_reals(ix, h) + group * head[MATCHING] + d] = ix.reals[reals + WISH_REALS + d]
    join_group(ix, h, group, key, preferred)
    return True


@inlined
def insert(ix: Index, h: int, key: int, t: Words) -> bool:
    """Puts in a new key, as an ordinary or a special one; False if it breaks the structure."""
    head, at, ordinary = ix.heads[h], key_at(ix, h, key), key_at(ix, h, ix.heads[h, ORDINARY])
    specials = list_at(ix, h, SPECIAL_KEYS)
    inexact = specials + MOST_SPECIAL
    special = head[INEXACT] > 0 and ix.lists[inexact + head[INEXACT] - 1] == key
    flat, exceptions = list_at(ix, h, FLAT), list_at(ix, h, EXCEPTIONS)
    for i in range(head[USED]):
        if ix.lists[flat + i] == 1 and register_at(ix, at, i) != register_at(ix, ordinary, i):
            special = True
            ix.lists[exceptions + i] += 1
            if ix.lists[exceptions + i] > MOST_EXCEPTIONS:
                return False
    if not special:
        return insert_ordinary(ix, h, key, t)
    if head[SPECIALS] == MOST_SPECIAL:
        return False
    ix.lists[specials + head[SPECIALS]] = key
    head[SPECIALS] += 1
    return True


@inlined
def rebuild(ix: Index, h: int, keys: int, t: Words) -> bool:
    """Indexes the first keys under the head's structure; False if one of them does not fit. The table is empty."""
    head = ix.heads[h]
    head[GROUPS], head[RUNS], head[ARENA], head[LEAST], head[GREATEST] = 0, 0, 0, -1, -1
    head[NARROW], head[SUMMED] = 1, 0
    zeros, specials = list_at(ix, h, ZEROS), list_at(ix, h, SPECIAL_KEYS)
    for d in range(head[MATCHING]):
        ix.lists[zeros + d] = ZEROS_OF_ZERO
    following = 0  # the special keys are in order
    for key in range(keys):
        if following < head[SPECIALS] and ix.lists[specials + following] == key:
            following += 1
        elif not insert_ordinary(ix, h, key, t):
            return False
    return True


@inlined
def squares_fit(ix: Index, h: int, keys: int, root: int, square: int) -> int:
    """The worst `square_fit` of all keys but the special ones: 0 is the worst, then 2."""
    specials, following, worst = list_at(ix, h, SPECIAL_KEYS), 0, 1
    for key in range(keys):
        if following < ix.heads[h, SPECIALS] and ix.lists[specials + following] == key:
            following += 1
            continue
        fit = square_fit(ix, key_at(ix, h, key), root, square)
        if fit == 0:
            return 0
        worst = max(worst, fit)
    return worst


@compiled
def score(ix: Index, h: int, at: int, code: Words, vec: Words, t: Words) -> Number:
    """The exact score of the key that is stored there, which is made of its registers again, in squared quanta."""
    head, (limbs, _), total, largest = (
        ix.heads[h],
        widths(ix.shape),
        number(0, ix.shape.exact),
        load(t, LARGEST, ix.shape.element),
    )
    row = head[ROWS]
    for c in range(head[SCORE]):
        x, _, row = weigh(code, row, ix.store, largest, ix.shape, at)
        total += product(x, load(vec, (head[QUERY] + c) * limbs, ix.shape.element), ix.shape.exact)
    return total


@inlined
def dense_scores(ix: Index, h: int, keys: int, code: Words, vec: Words, t: Words, scores: Words) -> None:
    """The rounded score of every key, by definition."""
    largest = load(t, LARGEST, ix.shape.element)
    for key in range(keys):
        element, _ = rounded(
            score(ix, h, key_at(ix, h, key), code, vec, t), ix.shape.numbers[FRACTION_BITS], largest, ix.shape
        )
        store(scores, key * len(ix.shape.element), element, ix.shape.element)


@inlined
def preferred_by(ix: Index, h: int, key: int) -> Number:
    """A key's preferred register."""
    return register_at(ix, key_at(ix, h, key), ix.heads[h, ROOT])
