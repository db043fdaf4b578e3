"""Token by token through the program, in compiled code; it returns to Python for what it leaves to Python."""

from __future__ import annotations

import numpy as np

from constructions.engines.incremental.certificate import certify, evaluate, find_coefficients, read
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
    LARGEST,
    ONE,
    SUM,
    TOP,
    ZERO,
    Words,
    add,
    add_product,
    compiled,
    entered,
    inlined,
    is_zero,
    less,
    negate,
    round_into,
)
from constructions.engines.incremental.program import ADD, ATTEND, COPY, COPY_ADD, EMBED, KEY, LOGITS, MARK, ROW, UNIT
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
    head, limbs = ix.heads[h], ix.shape[0]
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
        if head[STRUCTURED] == 0 or not certify(ix, h, length, lead_over(length, ix.shape[2]), vec, t):
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
    limbs, size, shift, mode = ix.shape[0], ix.shape[1], ix.shape[2], ix.shape[3]
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
            place = evaluate(code, place + 3, vec, t, SUM, limbs, size)
            if how == ADD:
                if is_zero(t, SUM, size):
                    continue
                round_into(t, SUM, size, shift, mode, t, DIFFERENCE, limbs)
                saturating_add(vec, into, t, t, DIFFERENCE, limbs)
            elif not round_into(t, SUM, size, shift, mode, vec, into, limbs) and how == KEY:
                state[ROUNDED_KEY] = 1
        elif kind == UNIT:
            into = code[place + 1] * limbs
            place = evaluate(code, place + 2, vec, t, SUM, limbs, size)
            if t[SUM + size - 1] >> TOP == ONE or is_zero(t, SUM, size):  # rounding keeps the sign, or leaves 0
                vec[into : into + limbs] = ZERO
                place += 1 + 3 * code[place]
                continue
            round_into(t, SUM, size, shift, mode, vec, into, limbs)
            up, factor, following = vec, code[place + 1] * limbs, place + 4
            if code[place] != 1 or code[place + 2] != 1 or code[place + 3] != shift:  # more than a slot by itself
                following = evaluate(code, place, vec, t, SUM, limbs, size)
                round_into(t, SUM, size, shift, mode, t, DIFFERENCE, limbs)
                up, factor = t, DIFFERENCE
            place = following
            t[SUM : SUM + size] = ZERO
            add_product(t, SUM, size, vec, into, limbs, up, factor, limbs)
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
            vec[0:one] = ZERO
            for entry in range(word_at[token], word_at[token + 1]):
                for i in range(limbs):
                    vec[word_slots[entry] * limbs + i] = word_limbs[entry * limbs + i]
            vec[one + limbs : one + 2 * limbs] = ZERO
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
