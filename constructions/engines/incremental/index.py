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

from typing import Any, NamedTuple

import numpy as np

from constructions.engines.incremental import fields
from constructions.engines.incremental.addresses import address, row
from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    Number,
    Shape,
    Words,
    compiled,
    inlined,
    load,
    number,
    product,
    rounded,
    store,
    widths,
)
from constructions.engines.incremental.reals import bits_of
from constructions.engines.incremental.sums import weigh

SLACK = 1.0 + 2.0**-40


class Index(NamedTuple):
    """The heads' indices side by side. found: see fields.WINNERS.

    store: per key the used registers and the value. shares: weights of m tied winners, at 2m without and 2m +
    1 with losers. reals: see fields.LEAST_REAL; per group its matching registers. arena_reals: the preferred register of each run
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
def addressed(ix: Index) -> Index:
    """With addresses for arrays."""
    return Index(
        address(ix.heads),
        address(ix.lists),
        address(ix.store),
        address(ix.groups),
        address(ix.runs),
        address(ix.sums),
        address(ix.table),
        address(ix.arena),
        address(ix.reals),
        address(ix.arena_reals),
        address(ix.shares),
        address(ix.found),
        Shape(ix.shape.element, ix.shape.long, ix.shape.exact, ix.shape.widest, address(ix.shape.numbers)),
        address(ix.largest),
    )


@inlined
def head_of(ix: Index, h: int) -> Any:
    """The fields of a head."""
    return row(ix.heads, h, fields.FIELDS)


@inlined
def list_at(ix: Index, h: int, which: int) -> int:
    """Where one of the head's lists begins."""
    return head_of(ix, h)[fields.LISTS_AT] + which * head_of(ix, h)[fields.USED]  # type: ignore[no-any-return]


@inlined
def key_at(ix: Index, h: int, key: int) -> int:
    """Where a key is stored."""
    return head_of(ix, h)[fields.STORE_AT] + key * head_of(ix, h)[fields.STRIDE]  # type: ignore[no-any-return]


@inlined
def group_reals(ix: Index, h: int) -> int:
    """Where the floats of the head's groups begin."""
    return head_of(ix, h)[fields.REALS_AT] + fields.WISH_REALS + 2 * head_of(ix, h)[fields.USED]  # type: ignore[no-any-return]


@inlined
def register_at(ix: Index, at: int, register: int) -> Number:
    """A register of the key that is stored there."""
    return load(ix.store, at + register * len(ix.shape.element), ix.shape.element)


@inlined
def find_group(ix: Index, h: int, wish: int, t: Words, narrow: bool) -> tuple[int, int]:
    """The group with these values of the matching registers, −1 if there is none; and its place in the table, or a free one.

    Floats tell different values apart; narrow: equal ones are equal values. Otherwise `t` has the values.
    """
    shape, head = ix.shape.element, head_of(ix, h)
    limbs, matching, digest = len(shape), head[fields.MATCHING], np.uint64(0x9E3779B97F4A7C15)
    wished = head[fields.REALS_AT] + fields.WISH_REALS
    for d in range(matching):
        digest = (digest ^ np.uint64(bits_of(ix.reals[wished + d]) & 0x7FFFFFFFFFFFFFFF)) * np.uint64(
            0xD6E8FEB86659FD93
        )
        digest ^= digest >> np.uint64(32)
    mask, base = head[fields.TABLE_MASK], head[fields.TABLE_AT]
    roots, known = list_at(ix, h, fields.ROOTS), group_reals(ix, h)
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
            at = key_at(ix, h, ix.groups[(head[fields.GROUPS_AT] + group) * fields.GROUP_FIELDS])
            for d in range(matching):
                if register_at(ix, at, ix.lists[roots + d]) != load(t, wish + d * limbs, shape):
                    same = False
                    break
        if same:
            return group, place
        place = (place + 1) & mask


@inlined
def run_at(ix: Index, h: int, group: int, place: int) -> int:
    """Which run is at this place of the group."""
    start = ix.groups[(head_of(ix, h)[fields.GROUPS_AT] + group) * fields.GROUP_FIELDS + fields.ARENA_PLACE]
    return ix.arena[head_of(ix, h)[fields.ARENA_AT] + start + place]  # type: ignore[no-any-return]


@inlined
def run_key(ix: Index, h: int, group: int, place: int) -> int:
    """Where its first key is stored."""
    return key_at(ix, h, ix.runs[(head_of(ix, h)[fields.RUNS_AT] + run_at(ix, h, group, place)) * fields.RUN_FIELDS])


@compiled
def score(ix: Index, h: int, at: int, code: Words, vec: Words, t: Words) -> Number:
    """The exact score of the key that is stored there, which is made of its registers again, in squared quanta."""
    head, (limbs, _), total, largest = (
        head_of(ix, h),
        widths(ix.shape),
        number(0, ix.shape.exact),
        load(t, fields.LARGEST, ix.shape.element),
    )
    row = head[fields.ROWS]
    for c in range(head[fields.SCORE]):
        x, _, row = weigh(code, row, ix.store, largest, ix.shape, at)
        total += product(x, load(vec, (head[fields.QUERY] + c) * limbs, ix.shape.element), ix.shape.exact)
    return total


@inlined
def dense_scores(ix: Index, h: int, keys: int, code: Words, vec: Words, t: Words, scores: Words) -> None:
    """The rounded score of every key, by definition."""
    largest = load(t, fields.LARGEST, ix.shape.element)
    for key in range(keys):
        element, _ = rounded(
            score(ix, h, key_at(ix, h, key), code, vec, t), ix.shape.numbers[FRACTION_BITS], largest, ix.shape
        )
        store(scores, key * len(ix.shape.element), element, ix.shape.element)


@inlined
def preferred_by(ix: Index, h: int, key: int) -> Number:
    """A key's preferred register."""
    return register_at(ix, key_at(ix, h, key), head_of(ix, h)[fields.ROOT])
