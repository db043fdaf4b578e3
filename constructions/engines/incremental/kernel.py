"""Token by token through the program, in compiled code; it returns to Python for what it leaves to Python."""

from __future__ import annotations

from constructions.engines.incremental import fields
from constructions.engines.incremental.certificate import certify, find_coefficients
from constructions.engines.incremental.float_filter import decided_by_floats
from constructions.engines.incremental.index import Index, head_of, key_at, list_at
from constructions.engines.incremental.insertion import insert
from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    NO,
    YES,
    Number,
    Shape,
    Words,
    compiled,
    cut,
    inlined,
    is_negative,
    load,
    number,
    product,
    rounded,
    shifted_left,
    store,
    widths,
)
from constructions.engines.incremental.program import (
    ADD,
    ATTEND,
    COPY,
    COPY_ADD,
    EMBED,
    KEY,
    LOGITS,
    MARK,
    RELU,
    ROW,
    TIMES,
    UNIT,
)
from constructions.engines.incremental.readout import read
from constructions.engines.incremental.sums import ORIGIN, weigh
from constructions.engines.incremental.vocabulary import Vocabulary, find_argmax

# The state between returns
PLACE, LENGTH, TAKEN, GIVEN, OBSERVED, ROUNDED_KEY, RESUMED, HEAD, NEXT = range(9)
COUNT_CERTIFIED, COUNT_SCREENED, COUNT_DENSE_LOGITS = range(9, 12)
STATE_FIELDS = 12
FRESH, QUERY, ANSWERED = range(3)  # RESUMED, within an ATTEND
FINISHED, SEARCH_STRUCTURE, DENSE_COLUMN, MORE_SHARES, SUBLAYER = range(5)  # why the kernel returns

LOG2_E = 94548 / 65536


@inlined
def add_cut(vec: Words, into: int, change: Number, largest: Number, shape: Shape) -> None:
    """Adds an element to a slot, cut to ±largest."""
    total = load(vec, into, shape.element) + change
    total, _ = cut(total, largest, shape)
    store(vec, into, total, shape.element)


@inlined
def finish_row(
    code: Words, row: int, total: Number, exact: bool, vec: Words, state: Words, largest: Number, shape: Shape
) -> None:
    """What a ROW does with its sum."""
    into, how = code[row + 1] * len(shape.element), code[row + 2]
    if how == ADD:
        add_cut(vec, into, total, largest, shape)
    elif how != KEY:
        if how == RELU and is_negative(total):
            total = number(0, shape.element)
        store(vec, into, total, shape.element)
    elif not exact:
        state[ROUNDED_KEY] = 1


@inlined
def store_key(ix: Index, h: int, key: int, slots: int, vec: Words) -> None:
    """Keeps the used registers and the value of the latest token."""
    head, element, (limbs, _) = head_of(ix, h), ix.shape.element, widths(ix.shape)
    at = key_at(ix, h, key)
    for i in range(head[fields.USED]):
        store(ix.store, at, load(vec, ix.lists[slots + i] * limbs, element), element)
        at += limbs
    for i in range(head[fields.VALUE]):
        store(ix.store, at, load(vec, (head[fields.VALUES] + i) * limbs, element), element)
        at += limbs


@compiled
def lead_over(length: int, fraction_bits: int) -> float:
    """`vanishing_lead` of precision/winners.py, compiled. LOG2_E is so far below log2 e that rounding here does no harm."""
    bits = 0
    while length >> bits:
        bits += 1
    return (fraction_bits + 2 + bits) / LOG2_E


@inlined
def attend(ix: Index, h: int, state: Words, code: Words, lead: float, vec: Words, t: Words) -> int:
    """One column. FINISHED, or what Python has to do before the kernel is called again. lead: as in `certify`."""
    head, length = head_of(ix, h), state[LENGTH]
    key = length - 1
    if state[RESUMED] == FRESH:
        store_key(ix, h, key, list_at(ix, h, fields.SLOTS), vec)
        if state[ROUNDED_KEY] == 1:
            state[ROUNDED_KEY] = 0
            if head[fields.INEXACT] == fields.MOST_SPECIAL:
                head[fields.HOPELESS], head[fields.STRUCTURED] = 1, 0
            else:
                ix.lists[list_at(ix, h, fields.SPECIAL_KEYS) + fields.MOST_SPECIAL + head[fields.INEXACT]] = key
                head[fields.INEXACT] += 1
        if head[fields.STRUCTURED] == 1 and not insert(ix, h, key, t):
            head[fields.STRUCTURED] = 0
        if head[fields.STRUCTURED] == 0 and head[fields.HOPELESS] == 0 and length >= head[fields.NEXT_TRY]:
            find_coefficients(ix, h, code, vec, t)
            state[RESUMED] = QUERY
            return SEARCH_STRUCTURE
    if state[RESUMED] != ANSWERED:
        if head[fields.STRUCTURED] == 0:
            return DENSE_COLUMN
        certain = decided_by_floats(ix, h, code, lead, vec, t)
        state[COUNT_SCREENED] += certain
        if not certain:
            find_coefficients(ix, h, code, vec, t)
            if not certify(ix, h, code, lead, vec, t):
                return DENSE_COLUMN
        if not read(ix, h, length, vec, t):
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


@inlined
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
    (limbs, _), element, places = widths(ix.shape), ix.shape.element, ix.shape.numbers[FRACTION_BITS]
    word_at, word_slots, word_limbs = words
    one, largest = shifted_left(number(1, element), places), load(t, fields.LARGEST, element)
    place, lead = state[PLACE], lead_over(state[LENGTH], places)
    while True:
        kind = code[place]
        if kind == COPY:
            store(vec, code[place + 1] * limbs, load(vec, code[place + 2] * limbs, element), element)
            place += 3
        elif kind == COPY_ADD:
            add_cut(vec, code[place + 1] * limbs, load(vec, code[place + 2] * limbs, element), largest, ix.shape)
            place += 3
        elif kind == ROW:
            row = place
            total, exact, place = weigh(code, row + 3, vec, largest, ix.shape, ORIGIN)
            finish_row(code, row, total, exact, vec, state, largest, ix.shape)
        elif kind == TIMES:
            times = product(load(vec, code[place + 3] * limbs, element), code[place + 4], ix.shape.long)
            total, exact = cut(times, largest, ix.shape)
            finish_row(code, place, total, exact, vec, state, largest, ix.shape)
            place += 5
        elif kind == UNIT:
            into, following = code[place + 1] * limbs, place + code[place + 2]
            gate, _, place = weigh(code, place + 3, vec, largest, ix.shape, ORIGIN)
            unit = number(0, element)
            if unit < gate:
                unit, _, _ = weigh(code, place, vec, largest, ix.shape, ORIGIN)
                if gate != one:
                    unit, _ = rounded(product(gate, unit, ix.shape.exact), places, largest, ix.shape)
            store(vec, into, unit, element)
            place = following
        elif kind == ATTEND:
            h = code[place + 1]
            answer = attend(ix, h, state, code, lead, vec, t)
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
            lead = lead_over(state[LENGTH], places)
            for i in range(width * limbs):
                vec[i] = 0
            for entry in range(word_at[token], word_at[token + 1]):
                store(vec, word_slots[entry] * limbs, load(word_limbs, entry * limbs, element), element)
            position = shifted_left(number(state[LENGTH], element), places)
            store(vec, (width + 1) * limbs, position, element)
            place += 1
        elif kind == LOGITS:
            best = find_argmax(vocabulary, vec, largest, ix.shape, NO)
            if best < 0:
                state[COUNT_DENSE_LOGITS] += 1
                best = find_argmax(vocabulary, vec, largest, ix.shape, YES)
            state[NEXT] = best
            place += 1
        else:  # END
            place = 0
