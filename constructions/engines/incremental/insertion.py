"""Putting keys into a head's index; compiled code. What it holds, and what its structure says, is in index.py."""

from __future__ import annotations

from constructions.engines.incremental import fields
from constructions.engines.incremental.index import (
    Index,
    find_group,
    group_reals,
    head_of,
    key_at,
    list_at,
    preferred_by,
    register_at,
    run_key,
)
from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    ZEROS_OF_ZERO,
    Words,
    compiled,
    inlined,
    is_zero,
    load,
    magnitude,
    number,
    product,
    resized,
    shifted_left,
    significant_bits,
    store,
    to_float,
    trailing_zeros,
    widths,
)
from constructions.engines.incremental.reals import ERROR, MANTISSA, real


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


@compiled
def compare(ix: Index, h: int, at: int, other: int) -> int:
    """−1, 0 or 1: how one stored key's preference stands to another's."""
    if head_of(ix, h)[fields.PREFERENCE] == fields.NO_PREFERENCE:
        return 0
    for register in (head_of(ix, h)[fields.ROOT], head_of(ix, h)[fields.SQUARE]):
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
def add_values(ix: Index, h: int, key: int, run: int) -> None:
    """The key's values go into the sums of its run, each of W + 1 limbs; a run of a single key has none."""
    (limbs, _), head, long = widths(ix.shape), head_of(ix, h), ix.shape.long
    r, offset = (head[fields.RUNS_AT] + run) * fields.RUN_FIELDS, head[fields.USED] * limbs
    at, first = key_at(ix, h, key) + offset, key_at(ix, h, ix.runs[r]) + offset
    alone = ix.runs[r + fields.RUN_KEYS] == 1
    if alone:
        ix.runs[r + fields.RUN_SUMS] = head[fields.SUMMED]
        head[fields.SUMMED] += 1
    ix.runs[r + fields.RUN_KEYS] += 1
    for j in range(head[fields.VALUE]):
        place = head[fields.SUMS_AT] + (ix.runs[r + fields.RUN_SUMS] * head[fields.VALUE] + j) * (limbs + 1)
        total = resized(register_at(ix, first, j), long) if alone else load(ix.sums, place, long)
        store(ix.sums, place, total + resized(register_at(ix, at, j), long), long)


@inlined
def join_group(ix: Index, h: int, group: int, key: int, x: float) -> None:
    """The key joins its run in the group, or becomes a new one. x: its preferred register."""
    head = head_of(ix, h)
    g = (head[fields.GROUPS_AT] + group) * fields.GROUP_FIELDS
    at, count = key_at(ix, h, key), ix.groups[g + fields.GROUP_RUNS]
    begin = ix.groups[g + fields.ARENA_PLACE]
    start, reals = head[fields.ARENA_AT] + begin, head[fields.ARENA_REALS_AT] + begin
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
    if count == ix.groups[g + fields.GROUP_ROOM]:
        room = max(1, 2 * count)
        shift = head[fields.ARENA] - ix.groups[g + fields.ARENA_PLACE]
        for i in range(count):
            ix.arena[start + shift + i] = ix.arena[start + i]
            ix.arena_reals[reals + shift + i] = ix.arena_reals[reals + i]
        ix.groups[g + fields.ARENA_PLACE], ix.groups[g + fields.GROUP_ROOM] = head[fields.ARENA], room
        start, reals = start + shift, reals + shift
        head[fields.ARENA] += room
    for i in range(count, low, -1):
        ix.arena[start + i] = ix.arena[start + i - 1]
        ix.arena_reals[reals + i] = ix.arena_reals[reals + i - 1]
    run = head[fields.RUNS]
    head[fields.RUNS] += 1
    ix.arena[start + low], ix.arena_reals[reals + low] = run, x
    ix.groups[g + fields.GROUP_RUNS] += 1
    r = (head[fields.RUNS_AT] + run) * fields.RUN_FIELDS
    ix.runs[r], ix.runs[r + fields.RUN_KEYS] = key, 1


@inlined
def insert_ordinary(ix: Index, h: int, key: int, t: Words) -> bool:
    """Whether the key fits the structure; if so it is in the index."""
    head, at, (limbs, size) = head_of(ix, h), key_at(ix, h, key), widths(ix.shape)
    fraction_bits, reals = ix.shape.numbers[FRACTION_BITS], head[fields.REALS_AT]
    wish = fields.FREE + head[fields.USED] * size
    roots, squares, zeros = list_at(ix, h, fields.ROOTS), list_at(ix, h, fields.SQUARES), list_at(ix, h, fields.ZEROS)
    for d in range(head[fields.MATCHING]):
        if square_fit(ix, at, ix.lists[roots + d], ix.lists[squares + d]) != 1:
            return False
        x = register_at(ix, at, ix.lists[roots + d])
        ix.lists[zeros + d] = min(ix.lists[zeros + d], trailing_zeros(x))
        store(t, wish + d * limbs, x, ix.shape.element)
        ix.reals[reals + fields.WISH_REALS + d] = real(x, -fraction_bits)
        if significant_bits(x) > MANTISSA:
            head[fields.NARROW] = 0
    preferred = 0.0
    if head[fields.PREFERENCE] == fields.QUADRATIC:
        fit = square_fit(ix, at, head[fields.ROOT], head[fields.SQUARE])
        if fit == 0 or (fit == 2 and head[fields.LOOSE] == 0):
            return False
    if head[fields.PREFERENCE] != fields.NO_PREFERENCE:
        preferred = real(preferred_by(ix, h, key), -fraction_bits)
        least, greatest = head[fields.LEAST], head[fields.GREATEST]
        low, high = ix.reals[reals + fields.LEAST_REAL], ix.reals[reals + fields.GREATEST_REAL]
        if least < 0 or order_of(ix, h, preferred, at, low, key_at(ix, h, least)) < 0:
            head[fields.LEAST], ix.reals[reals + fields.LEAST_REAL] = key, preferred
        if greatest < 0 or order_of(ix, h, preferred, at, high, key_at(ix, h, greatest)) > 0:
            head[fields.GREATEST], ix.reals[reals + fields.GREATEST_REAL] = key, preferred
    group, place = find_group(ix, h, wish, t, head[fields.NARROW] == 1)
    if group < 0:
        group = head[fields.GROUPS]
        head[fields.GROUPS] += 1
        ix.table[head[fields.TABLE_AT] + place] = group + 1
        g = (head[fields.GROUPS_AT] + group) * fields.GROUP_FIELDS
        ix.groups[g], ix.groups[g + fields.ARENA_PLACE] = key, 0
        ix.groups[g + fields.GROUP_RUNS], ix.groups[g + fields.GROUP_ROOM] = 0, 0
        for d in range(head[fields.MATCHING]):
            ix.reals[group_reals(ix, h) + group * head[fields.MATCHING] + d] = ix.reals[reals + fields.WISH_REALS + d]
    join_group(ix, h, group, key, preferred)
    return True


@inlined
def insert(ix: Index, h: int, key: int, t: Words) -> bool:
    """Puts in a new key, as an ordinary or a special one; False if it breaks the structure."""
    head, at, ordinary = head_of(ix, h), key_at(ix, h, key), key_at(ix, h, head_of(ix, h)[fields.ORDINARY])
    specials = list_at(ix, h, fields.SPECIAL_KEYS)
    inexact = specials + fields.MOST_SPECIAL
    special = head[fields.INEXACT] > 0 and ix.lists[inexact + head[fields.INEXACT] - 1] == key
    flat, exceptions = list_at(ix, h, fields.FLAT), list_at(ix, h, fields.EXCEPTIONS)
    for i in range(head[fields.USED]):
        if ix.lists[flat + i] == 1 and register_at(ix, at, i) != register_at(ix, ordinary, i):
            special = True
            ix.lists[exceptions + i] += 1
            if ix.lists[exceptions + i] > fields.MOST_EXCEPTIONS:
                return False
    if not special:
        return insert_ordinary(ix, h, key, t)
    if head[fields.SPECIALS] == fields.MOST_SPECIAL:
        return False
    ix.lists[specials + head[fields.SPECIALS]] = key
    head[fields.SPECIALS] += 1
    return True


@inlined
def rebuild(ix: Index, h: int, keys: int, t: Words) -> bool:
    """Indexes the first keys under the head's structure; False if one of them does not fit. The table is empty."""
    head = head_of(ix, h)
    head[fields.GROUPS], head[fields.RUNS], head[fields.ARENA] = 0, 0, 0
    head[fields.LEAST], head[fields.GREATEST] = -1, -1
    head[fields.NARROW], head[fields.SUMMED] = 1, 0
    zeros, specials = list_at(ix, h, fields.ZEROS), list_at(ix, h, fields.SPECIAL_KEYS)
    for d in range(head[fields.MATCHING]):
        ix.lists[zeros + d] = ZEROS_OF_ZERO
    following = 0  # the special keys are in order
    for key in range(keys):
        if following < head[fields.SPECIALS] and ix.lists[specials + following] == key:
            following += 1
        elif not insert_ordinary(ix, h, key, t):
            return False
    return True


@inlined
def squares_fit(ix: Index, h: int, keys: int, root: int, square: int) -> int:
    """The worst `square_fit` of all keys but the special ones: 0 is the worst, then 2."""
    specials, following, worst = list_at(ix, h, fields.SPECIAL_KEYS), 0, 1
    for key in range(keys):
        if following < head_of(ix, h)[fields.SPECIALS] and ix.lists[specials + following] == key:
            following += 1
            continue
        fit = square_fit(ix, key_at(ix, h, key), root, square)
        if fit == 0:
            return 0
        worst = max(worst, fit)
    return worst
