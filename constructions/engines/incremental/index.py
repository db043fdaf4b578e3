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

from typing import Any, NamedTuple, cast

import numpy as np

from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    ZEROS_OF_ZERO,
    Number,
    Shape,
    Words,
    entered,
    inlined,
    is_zero,
    load,
    magnitude,
    number,
    product,
    resized,
    rounded,
    shifted_left,
    store,
    to_float,
    trailing_zeros,
    widths,
)

MOST_SPECIAL = 16
MOST_EXCEPTIONS = 8  # of one register
FIELDS = 40
# Of a head: what it is
USED, SCORE, VALUE, QUERY, KEYS, VALUES, OUTPUT, COEFFICIENTS = range(8)
STORE_AT, STRIDE, GROUPS_AT, RUNS_AT, SUMS_AT, TABLE_AT, TABLE_MASK, ARENA_AT, LISTS_AT = range(8, 17)
# … its structure, and what it holds
STRUCTURED, ORDINARY, SPECIALS, MATCHING, PREFERENCE, ROOT, SQUARE, LOOSE = range(17, 25)
GROUPS, RUNS, ARENA, LEAST, GREATEST, INEXACT, HOPELESS, NEXT_TRY, TRIES = range(25, 34)
ABSENT = cast(int, np.int64(-1))  # of numpy, as the regions are
NO_PREFERENCE, QUADRATIC, LINEAR = range(3)
# Lists of a head: six with an entry for each register, then the special keys, and MOST_SPECIAL places behind these the inexact ones
SLOTS, FLAT, EXCEPTIONS, ROOTS, SQUARES, ZEROS, SPECIAL_KEYS = range(7)
# What `certify` finds: how many winners, runs and special keys that win, one of them; where the runs and the special keys that win
# begin, and the runs that were looked at
WINNERS, WINNING_RUNS, WINNING_SPECIALS, ONE_WINNER, RUN_WINNERS, SPECIAL_WINNERS, RUNS_LOOKED_AT = 0, 1, 2, 3, 4, 8, 32
FOUND_FIELDS = 40
GROUP_FIELDS, RUN_FIELDS = 4, 2  # (first key, place in the arena, runs, room); (first key, number of keys)
ARENA_PLACE, GROUP_RUNS, GROUP_ROOM = 1, 2, 3
SLACK = 1.0 + 2.0**-40
LOWEST_POWER = 600
# The scratch array: the largest element, then for each used register its coefficient, of A limbs; then the wishes, and the scores
LARGEST, FREE = cast(int, np.int64(0)), cast(int, np.int64(8))
POWERS = np.array([2.0**e for e in range(-LOWEST_POWER, LOWEST_POWER)])  # a look-up is much faster than a power


class Index(NamedTuple):
    """The heads' indices side by side. found: see WINNERS.

    store: per key the used registers, the key and the value. shares: weights of m tied winners, at 2m without and 2m +
    1 with losers.
    """

    heads: Any
    lists: Any
    store: Words
    groups: Any
    runs: Any
    sums: Words
    table: Any
    arena: Any
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
def register_at(ix: Index, at: int, register: int) -> Number:
    """A register of the key that is stored there."""
    return load(ix.store, at + register * len(ix.shape.element), ix.shape.element)


@inlined
def square_fit(ix: Index, at: int, root: int, square: int) -> int:
    """1 if x_square = x_root² at this key, 2 if it is at most a quantum off, otherwise 0."""
    fraction_bits, exact = ix.shape.numbers[FRACTION_BITS], ix.shape.exact
    x = register_at(ix, at, root)
    defect = product(x, x, exact) - shifted_left(resized(register_at(ix, at, square), exact), fraction_bits)
    if is_zero(defect):
        return 1
    return 0 if shifted_left(number(1, exact), fraction_bits) < magnitude(defect) else 2


@inlined
def find_group(ix: Index, h: int, wish: int, t: Words) -> tuple[int, int]:
    """The group with these values of the matching registers, −1 if there is none; and its place in the table, or a free one."""
    shape, matching = ix.shape.element, ix.heads[h, MATCHING]
    limbs, digest = len(shape), np.uint64(0x9E3779B97F4A7C15)
    for i in range(wish, wish + matching * limbs):
        digest = (digest ^ t[i]) * np.uint64(0xD6E8FEB86659FD93)
        digest ^= digest >> np.uint64(32)
    mask, base, roots = ix.heads[h, TABLE_MASK], ix.heads[h, TABLE_AT], list_at(ix, h, ROOTS)
    place = np.int64(digest & np.uint64(0x7FFFFFFF)) & mask
    while True:
        group = ix.table[base + place] - 1
        if group < 0:
            return -1, place
        at = key_at(ix, h, ix.groups[(ix.heads[h, GROUPS_AT] + group) * GROUP_FIELDS])
        same = True
        for d in range(matching):
            if register_at(ix, at, ix.lists[roots + d]) != load(t, wish + d * limbs, shape):
                same = False
                break
        if same:
            return group, place
        place = (place + 1) & mask


@inlined
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
def run_key(ix: Index, h: int, group: int, place: int) -> int:
    """Where the first key of a group's run is stored."""
    start = ix.groups[(ix.heads[h, GROUPS_AT] + group) * GROUP_FIELDS + ARENA_PLACE]
    run = ix.arena[ix.heads[h, ARENA_AT] + start + place]
    return key_at(ix, h, ix.runs[(ix.heads[h, RUNS_AT] + run) * RUN_FIELDS])


@inlined
def add_values(ix: Index, h: int, key: int, run: int) -> None:
    """The key's values go into the sums of its run, each of W + 1 limbs."""
    (limbs, _), head, long = widths(ix.shape), ix.heads[h], ix.shape.long
    at = key_at(ix, h, key) + (head[USED] + head[SCORE]) * limbs
    total = head[SUMS_AT] + run * head[VALUE] * (limbs + 1)
    for j in range(head[VALUE]):
        place = total + j * (limbs + 1)
        store(ix.sums, place, load(ix.sums, place, long) + resized(register_at(ix, at, j), long), long)


@inlined
def join_group(ix: Index, h: int, group: int, key: int) -> None:
    """The key joins its run in the group, or becomes a new one."""
    head = ix.heads[h]
    g = (head[GROUPS_AT] + group) * GROUP_FIELDS
    at, count = key_at(ix, h, key), ix.groups[g + GROUP_RUNS]
    low, high = 0, count  # runs below `low` come before the key
    while low < high:
        middle = high - 1 if high == count else (low + high) // 2  # most keys come last
        order = compare(ix, h, run_key(ix, h, group, middle), at)
        if order == 0:
            run = ix.arena[head[ARENA_AT] + ix.groups[g + ARENA_PLACE] + middle]
            ix.runs[(head[RUNS_AT] + run) * RUN_FIELDS + 1] += 1
            add_values(ix, h, key, run)
            return
        if order < 0:
            low = middle + 1
        else:
            high = middle
    if count == ix.groups[g + GROUP_ROOM]:
        room = max(1, 2 * count)
        for i in range(count):
            ix.arena[head[ARENA_AT] + head[ARENA] + i] = ix.arena[head[ARENA_AT] + ix.groups[g + ARENA_PLACE] + i]
        ix.groups[g + ARENA_PLACE], ix.groups[g + GROUP_ROOM] = head[ARENA], room
        head[ARENA] += room
    place = head[ARENA_AT] + ix.groups[g + ARENA_PLACE]
    for i in range(count, low, -1):
        ix.arena[place + i] = ix.arena[place + i - 1]
    run = head[RUNS]
    head[RUNS] += 1
    ix.arena[place + low] = run
    ix.groups[g + GROUP_RUNS] += 1
    r = (head[RUNS_AT] + run) * RUN_FIELDS
    ix.runs[r], ix.runs[r + 1] = key, 1
    size = head[VALUE] * len(ix.shape.long)
    total = head[SUMS_AT] + run * size
    for i in range(total, total + size):
        ix.sums[i] = 0
    add_values(ix, h, key, run)


@inlined
def insert_ordinary(ix: Index, h: int, key: int, t: Words) -> bool:
    """Whether the key fits the structure; if so it is in the index."""
    head, at, (limbs, size) = ix.heads[h], key_at(ix, h, key), widths(ix.shape)
    wish = FREE + head[USED] * size
    roots, squares, zeros = list_at(ix, h, ROOTS), list_at(ix, h, SQUARES), list_at(ix, h, ZEROS)
    for d in range(head[MATCHING]):
        if square_fit(ix, at, ix.lists[roots + d], ix.lists[squares + d]) != 1:
            return False
        x = register_at(ix, at, ix.lists[roots + d])
        ix.lists[zeros + d] = min(ix.lists[zeros + d], trailing_zeros(x))
        store(t, wish + d * limbs, x, ix.shape.element)
    if head[PREFERENCE] == QUADRATIC:
        fit = square_fit(ix, at, head[ROOT], head[SQUARE])
        if fit == 0 or (fit == 2 and head[LOOSE] == 0):
            return False
    if head[PREFERENCE] != NO_PREFERENCE:
        if head[LEAST] < 0 or compare(ix, h, at, key_at(ix, h, head[LEAST])) < 0:
            head[LEAST] = key
        if head[GREATEST] < 0 or compare(ix, h, at, key_at(ix, h, head[GREATEST])) > 0:
            head[GREATEST] = key
    group, place = find_group(ix, h, wish, t)
    if group < 0:
        group = head[GROUPS]
        head[GROUPS] += 1
        ix.table[head[TABLE_AT] + place] = group + 1
        g = (head[GROUPS_AT] + group) * GROUP_FIELDS
        ix.groups[g], ix.groups[g + ARENA_PLACE], ix.groups[g + GROUP_RUNS], ix.groups[g + GROUP_ROOM] = key, 0, 0, 0
    join_group(ix, h, group, key)
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


@entered
def rebuild(ix: Index, h: int, keys: int, t: Words) -> bool:
    """Indexes the first keys anew under the head's structure; False if one of them does not fit."""
    head = ix.heads[h]
    head[GROUPS], head[RUNS], head[ARENA], head[LEAST], head[GREATEST] = 0, 0, 0, -1, -1
    ix.table[head[TABLE_AT] : head[TABLE_AT] + head[TABLE_MASK] + 1] = 0
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


@entered
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


@inlined
def score(ix: Index, h: int, key: int, vec: Words) -> Number:
    """The exact score of a key, in squared quanta."""
    head, (limbs, _), total = ix.heads[h], widths(ix.shape), number(0, ix.shape.exact)
    at = key_at(ix, h, key) + head[USED] * limbs
    for c in range(head[SCORE]):
        query = load(vec, (head[QUERY] + c) * limbs, ix.shape.element)
        total += product(register_at(ix, at, c), query, ix.shape.exact)
    return total


@entered
def dense_scores(ix: Index, h: int, keys: int, vec: Words, t: Words, scores: Words) -> None:
    """The rounded score of every key, by definition."""
    largest = load(t, LARGEST, ix.shape.element)
    for key in range(keys):
        element, _ = rounded(score(ix, h, key, vec), ix.shape.numbers[FRACTION_BITS], largest, ix.shape)
        store(scores, key * len(ix.shape.element), element, ix.shape.element)


@inlined
def power(exponent: int) -> float:
    """2^exponent."""
    return POWERS[exponent + LOWEST_POWER]  # type: ignore[no-any-return]


@inlined
def real(number: Number, exponent: int) -> float:
    """The number times 2^exponent."""
    return to_float(number) * power(exponent)


@inlined
def preferred_by(ix: Index, h: int, key: int) -> Number:
    """A key's preferred register."""
    return register_at(ix, key_at(ix, h, key), ix.heads[h, ROOT])


@inlined
def most_wished(ix: Index, h: int, wish: Number) -> int:
    """The ordinary key next to the wish, if all of them lie on one side of it; else ABSENT."""
    least, greatest = ix.heads[h, LEAST], ix.heads[h, GREATEST]
    if wish < preferred_by(ix, h, least):
        return least  # type: ignore[no-any-return]
    if preferred_by(ix, h, greatest) < wish:
        return greatest  # type: ignore[no-any-return]
    return ABSENT


@inlined
def apart(ix: Index, a: Number, b: Number) -> float:
    """How far an element is from another."""
    return abs(real(resized(a, ix.shape.long) - resized(b, ix.shape.long), -ix.shape.numbers[FRACTION_BITS]))
