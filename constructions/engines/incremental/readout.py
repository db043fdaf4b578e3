"""What a head reads from the keys that win; compiled code."""

from __future__ import annotations

from constructions.engines.incremental import fields
from constructions.engines.incremental.index import Index, head_of, key_at, register_at
from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    SHARES,
    Words,
    inlined,
    load,
    number,
    product,
    resized,
    rounded,
    shifted_left,
    store,
    widths,
)


@inlined
def read(ix: Index, h: int, length: int, vec: Words, t: Words) -> bool:
    """Writes the head's outputs, from the winners in ix.found; False if their share is not known."""
    (limbs, _), element, long = widths(ix.shape), ix.shape.element, ix.shape.long
    head, found, q = head_of(ix, h), ix.found, ix.shape.numbers[FRACTION_BITS]
    winners = found[fields.WINNERS]
    if winners >= ix.shape.numbers[SHARES]:
        return False
    share = load(ix.shares, (2 * winners + (1 if length > winners else 0)) * limbs, element)
    whole = winners == 1 and share == shifted_left(number(1, element), q)
    offset = head[fields.USED] * limbs
    for j in range(head[fields.VALUE]):
        into = (head[fields.OUTPUT] + j) * limbs
        if whole:
            store(vec, into, register_at(ix, key_at(ix, h, found[fields.ONE_WINNER]) + offset, j), element)
            continue
        total = number(0, long)
        for w in range(found[fields.WINNING_RUNS]):
            run = (head[fields.RUNS_AT] + found[fields.RUN_WINNERS + w]) * fields.RUN_FIELDS
            if ix.runs[run + fields.RUN_KEYS] == 1:
                total += resized(register_at(ix, key_at(ix, h, ix.runs[run]) + offset, j), long)
            else:
                place = head[fields.SUMS_AT] + (ix.runs[run + fields.RUN_SUMS] * head[fields.VALUE] + j) * (limbs + 1)
                total += load(ix.sums, place, long)
        for w in range(found[fields.WINNING_SPECIALS]):
            total += resized(register_at(ix, key_at(ix, h, found[fields.SPECIAL_WINNERS + w]) + offset, j), long)
        mean, _ = rounded(product(total, share, ix.shape.exact), q, load(t, fields.LARGEST, element), ix.shape)
        store(vec, into, mean, element)
    return True
