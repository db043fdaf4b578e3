"""Token by token through the program, in compiled code; it returns to Python for what it leaves to Python."""

from __future__ import annotations

import numpy as np

from constructions.engines.incremental.certificate import certify, find_coefficients, read
from constructions.engines.incremental.index import (
    HOPELESS,
    INEXACT,
    KEYS,
    MOST_SPECIAL,
    NEXT_TRY,
    SCORE,
    SLOTS,
    SPECIAL_KEYS,
    STRUCTURED,
    USED,
    VALUE,
    VALUES,
    Index,
    insert,
    key_at,
    list_at,
)
from constructions.engines.incremental.limbs import (
    DIFFERENCE,
    FRACTION_BITS,
    LARGEST,
    MODE,
    ONE,
    PREFERRED,
    SUM,
    TOP,
    ZERO,
    Words,
    add,
    add_product,
    clear,
    compiled,
    entered,
    equal,
    inlined,
    is_zero,
    less,
    negate,
    round_into,
    widths,
)
from constructions.engines.incremental.program import ADD, ATTEND, COPY, COPY_ADD, EMBED, KEY, LOGITS, MARK, ROW, UNIT
from constructions.engines.incremental.sums import weigh
from constructions.engines.incremental.vocabulary import Vocabulary, dense_argmax, find_argmax

# The state between returns
PLACE, LENGTH, TAKEN, GIVEN, OBSERVED, ROUNDED_KEY, RESUMED, COUNT_CERTIFIED, COUNT_DENSE_LOGITS, HEAD, NEXT = range(11)
STATE_FIELDS = 11
FRESH, QUERY, ANSWERED = range(3)  # RESUMED, within an ATTEND
FINISHED, SEARCH_STRUCTURE, DENSE_COLUMN, MORE_SHARES, SUBLAYER = range(5)  # why the kernel returns

LOG2_E = 94548 / 65536


@compiled
def saturating_add(vec: Words, into: int, t: Words, a: Words, at: int, limbs: int) -> None:
    """vec[into…] += a[at…], cut to ±largest. Both are elements of the format."""
    add(vec, into, a, at, limbs)
    negative = vec[into + limbs - 1] >> TOP == ONE
    if negative:
        negate(vec, into, limbs)
    if less(t, LARGEST, vec, into, limbs):
        for i in range(limbs):
            vec[into + i] = t[LARGEST + i]
    if negative:
        negate(vec, into, limbs)


@inlined
def store_key(ix: Index, h: int, key: int, code: Words, slots: int, vec: Words) -> None:
    """Keeps the used registers, the key and the value of the latest token."""
    head, limbs = ix.heads[h], len(ix.shape.limbs)
    at = key_at(ix, h, key)
    for i in range(head[USED]):
        source = ix.lists[slots + i] * limbs
        for j in range(limbs):
            ix.store[at + j] = vec[source + j]
        at += limbs
    for first, count in ((head[KEYS], head[SCORE]), (head[VALUES], head[VALUE])):
        for i in range(first * limbs, (first + count) * limbs):
            ix.store[at] = vec[i]
            at += 1


@compiled
def lead_over(length: int, fraction_bits: int) -> float:
    """`vanishing_lead` of precision/winners.py, compiled. LOG2_E is so far below log2 e that rounding here does no harm."""
    bits = 0
    while length >> bits:
        bits += 1
    return (fraction_bits + 2 + bits) / LOG2_E


@inlined
def attend(ix: Index, h: int, state: Words, code: Words, one: int, vec: Words, t: Words) -> int:
    """One column. FINISHED, or what Python has to do before the kernel is called again."""
    head, length = ix.heads[h], state[LENGTH]
    key = length - 1
    if state[RESUMED] == FRESH:
        store_key(ix, h, key, code, list_at(ix, h, SLOTS), vec)
        if state[ROUNDED_KEY] == 1:
            state[ROUNDED_KEY] = 0
            if head[INEXACT] == MOST_SPECIAL:
                head[HOPELESS], head[STRUCTURED] = 1, 0
            else:
                ix.lists[list_at(ix, h, SPECIAL_KEYS) + MOST_SPECIAL + head[INEXACT]] = key
                head[INEXACT] += 1
        find_coefficients(ix, h, code, vec, t)
        if head[STRUCTURED] == 1 and not insert(ix, h, key, t):
            head[STRUCTURED] = 0
        if head[STRUCTURED] == 0 and head[HOPELESS] == 0 and length >= head[NEXT_TRY]:
            state[RESUMED] = QUERY
            return SEARCH_STRUCTURE
    if state[RESUMED] != ANSWERED:
        if head[STRUCTURED] == 0 or not certify(
            ix, h, length, lead_over(length, ix.shape.numbers[FRACTION_BITS]), vec, t
        ):
            return DENSE_COLUMN
        if not read(ix, h, length, one, vec, t):
            state[RESUMED] = QUERY
            return MORE_SHARES
        state[COUNT_CERTIFIED] += 1
    state[RESUMED] = FRESH
    return FINISHED


@inlined
def is_among(tokens: Words, token: int) -> bool:
    """Whether the token is one of these."""
    for i in range(len(tokens)):
        if tokens[i] == token:
            return True
    return False


@entered
def advance(
    code: Words,
    vec: Words,
    t: Words,
    ix: Index,
    state: Words,
    tokens: Words,
    stop: Words,
    words: tuple[Words, Words, Words],
    vocabulary: Vocabulary,
    width: int,
) -> int:
    """Runs on until Python is needed, or done: `tokens` is full, those behind the GIVEN being argmaxes, or one is in `stop`."""
    limbs, size = widths(ix.shape)
    shift, mode = ix.shape.numbers[FRACTION_BITS], ix.shape.numbers[MODE]
    word_at, word_slots, word_limbs = words
    one = width * limbs
    place = state[PLACE]
    while True:
        kind = code[place]
        if kind == COPY:
            into, source = code[place + 1] * limbs, code[place + 2] * limbs
            for i in range(limbs):
                vec[into + i] = vec[source + i]
            place += 3
        elif kind == COPY_ADD:
            source = code[place + 2] * limbs
            if not is_zero(vec, source, limbs):
                saturating_add(vec, code[place + 1] * limbs, t, vec, source, limbs)
            place += 3
        elif kind == ROW:
            into, how = code[place + 1] * limbs, code[place + 2]
            place, exact = weigh(code, place + 3, vec, t, DIFFERENCE, ix.shape)
            if how == ADD:
                if not is_zero(t, DIFFERENCE, limbs):
                    saturating_add(vec, into, t, t, DIFFERENCE, limbs)
                continue
            for i in range(limbs):
                vec[into + i] = t[DIFFERENCE + i]
            if not exact and how == KEY:
                state[ROUNDED_KEY] = 1
        elif kind == UNIT:
            into = code[place + 1] * limbs
            place, _ = weigh(code, place + 2, vec, t, PREFERRED, ix.shape)
            if t[PREFERRED + limbs - 1] >> TOP == ONE or is_zero(t, PREFERRED, limbs):
                clear(vec, into, limbs)
                place += 2 + 3 * code[place + 1]
                continue
            place, _ = weigh(code, place, vec, t, DIFFERENCE, ix.shape)
            if equal(t, PREFERRED, vec, one, limbs):
                for i in range(limbs):
                    vec[into + i] = t[DIFFERENCE + i]
                continue
            clear(t, SUM, size)
            add_product(t, SUM, size, t, PREFERRED, limbs, t, DIFFERENCE, limbs)
            round_into(t, SUM, size, shift, mode, vec, into, limbs)
        elif kind == ATTEND:
            h = code[place + 1]
            answer = attend(ix, h, state, code, one, vec, t)
            if answer != FINISHED:
                state[PLACE], state[HEAD] = place, h
                return answer
            place += 2
        elif kind == MARK:
            place += 2
            if state[OBSERVED] == 1:
                state[PLACE], state[HEAD] = place, code[place - 1]
                return SUBLAYER
        elif kind == EMBED:
            if state[TAKEN] == state[GIVEN]:
                if state[GIVEN] == len(tokens) or is_among(stop, state[NEXT]):
                    state[PLACE] = place
                    return FINISHED
                tokens[state[GIVEN]] = state[NEXT]
                state[GIVEN] += 1
            token = tokens[state[TAKEN]]
            state[TAKEN] += 1
            state[LENGTH] += 1
            clear(vec, 0, one)
            for entry in range(word_at[token], word_at[token + 1]):
                for i in range(limbs):
                    vec[word_slots[entry] * limbs + i] = word_limbs[entry * limbs + i]
            clear(vec, one + limbs, limbs)
            offset, bits = shift >> 6, np.uint64(shift & 63)
            number = np.uint64(state[LENGTH])
            vec[one + limbs + offset] = number << bits
            if bits != ZERO and offset + 1 < limbs:
                vec[one + limbs + offset + 1] = number >> (np.uint64(64) - bits)
            place += 1
        elif kind == LOGITS:
            best = find_argmax(vocabulary, ix.shape, vec, t)
            if best < 0:
                state[COUNT_DENSE_LOGITS] += 1
                best = dense_argmax(vocabulary, ix.shape, vec, t)
            state[NEXT] = best
            place += 1
        else:  # END
            place = 0
