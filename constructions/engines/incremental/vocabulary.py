"""The argmax over the vocabulary at one position: a few exact logits stand for all, with a certificate; partly compiled code.

The logit of token t is Σ_i x_i·W[t, i]. Vocabularies hold families of numbers, alike but for a number and its square, and special
words. So tokens are split into *parts* that agree in every register of few values, and of which at most two registers r, s
vary. Sorted by r, the slopes Δs/Δr of a part never fall, or never rise: the part is *bent one way*. From one token to the next, a
logit grows by Δr·(x_r + x_s·Δs/Δr), which so changes its sign once at most, whatever x is. Logits rise to a peak and fall from
there, or fall into a valley and rise. The tokens of a part that is not bent one way are parts by themselves.

The certificate of a position. Looked at are the two tokens on each side of a peak, or at each end of a part with a valley. Exact
logits that are not looked at are at most that of the outermost token that is, on their side, and rounding keeps order. So if the
outermost tokens have less than the largest rounded logit, its first token is among those looked at. Nothing here is inexact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from constructions.engines.incremental.bends import find_parts
from constructions.engines.incremental.limbs import Number, Shape, Words, compiled, inlined, load, number, to_float
from constructions.engines.incremental.program import MANTISSA_BITS, sum_code
from constructions.engines.incremental.sums import ORIGIN, evaluate, weigh
from constructions.engines.weights import Weights

Array = Any
SIDE, ABSENT = 2, -2  # tokens looked at on each side of a peak


class Vocabulary(NamedTuple):
    """Tokens part by part, in the order of its bend. code: the sums that are their logits, which begin at `rows`. parts: where each
    begins, and where the last one ends. Of tokens with equal rows, only the first is here. axes: the registers r and s of each
    part; points: about what its tokens have there, by which a peak is looked for first."""

    tokens: Array
    rows: Array
    parts: Array
    code: Array
    axes: Array
    points: Array


def arrange(weights: Weights) -> Vocabulary:
    """The rows of the output head as the format holds them."""
    unembed = weights.model.unembed
    used = np.flatnonzero(np.any(unembed != 0, axis=0)).tolist()
    quanta, places = weights.distinct(unembed[:, used])
    tokens: list[int] = []
    parts, axes, points = [0], list[int](), list[Array]()
    for part in find_parts(places, quanta):
        tokens += part
        parts.append(len(tokens))
        varying = np.flatnonzero(np.any(places[part] != places[part[0]], axis=0)).tolist()
        of_part = ([used[i] for i in varying] + [0, 0])[:2]
        axes += of_part
        points.append(unembed[part][:, of_part])
    rows, code = _logits(
        np.array(used, np.int64), quanta, places[tokens], 1 << -weights.arithmetic.format.quantum_exponent
    )
    numbers = (np.array(tokens, np.int64), rows, np.array(parts, np.int64), code, np.array(axes, np.int64))
    return Vocabulary(*numbers, np.concatenate(points or [np.zeros((0, 2))]).reshape(-1))


def _logits(slots: Array, quanta: Sequence[int], places: Array, unit: int) -> tuple[Array, Array]:
    """Where the sum of each row begins, and all the sums; places: as below."""
    shift = min([unit, *(weight & -weight for weight in quanta if weight)]).bit_length() - 1
    mantissas = [weight >> shift for weight in quanta]
    if max(map(abs, mantissas), default=0) * max(1, len(slots)) >> MANTISSA_BITS:
        begins, sums = list[int](), list[int]()
        for row in places.tolist():
            begins.append(len(sums))
            sums += sum_code([(slot, quanta[p]) for slot, p in zip(slots.tolist(), row, strict=True)], unit)
        return np.array(begins, np.int64), np.array(sums, np.int64)
    # One part each, all with the same shift.
    weights = np.array(mantissas, np.int64)[places]
    row, column = np.nonzero(weights)
    terms = np.count_nonzero(weights, axis=1)
    rows = np.cumsum(3 + 2 * terms) - 3 - 2 * terms
    code = np.empty(int(np.sum(3 + 2 * terms)), np.int64)
    code[rows], code[rows + 1], code[rows + 2] = 1, shift, terms
    term = 2 * np.arange(len(row)) + 3 * (row + 1)
    code[term], code[term + 1] = slots[column], weights[row, column]
    return rows, code


@compiled
def step(v: Vocabulary, entry: int, vec: Words, shape: Shape) -> int:
    """−1, 0 or 1: the sign of what the exact logit grows by from this entry to the next."""
    logit, _ = evaluate(v.code, v.rows[entry], vec, shape, ORIGIN)
    following, _ = evaluate(v.code, v.rows[entry + 1], vec, shape, ORIGIN)
    return -1 if following < logit else 0 if following == logit else 1


@inlined
def find_peak(v: Vocabulary, low: int, high: int, vec: Words, shape: Shape) -> int:
    """The first entry of the largest exact logit, in a part without a valley."""
    while low < high:
        middle = (low + high) // 2
        if step(v, middle, vec, shape) > 0:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def likely_peak(v: Vocabulary, part: int, vec: Words, shape: Shape) -> int:
    """The entry of the largest logit by floats, in a part without a valley."""
    limbs, low, high = len(shape.element), v.parts[part], v.parts[part + 1] - 1
    r = to_float(load(vec, v.axes[2 * part] * limbs, shape.element))
    s = to_float(load(vec, v.axes[2 * part + 1] * limbs, shape.element))
    while low < high:
        at = (low + high) // 2
        here = 2 * at
        growth = r * (v.points[here + 2] - v.points[here]) + s * (v.points[here + 3] - v.points[here + 1])
        if growth > 0.0:
            low = at + 1
        else:
            high = at
    return low  # type: ignore[no-any-return]


@inlined
def is_around_peak(v: Vocabulary, low: int, high: int, start: int, end: int, vec: Words, shape: Shape) -> bool:
    """Whether the part from `low` to `high` rises to `start` and falls from `end`; one of them lies within the part."""
    if start > low and step(v, start - 1, vec, shape) <= 0:
        return False
    if end < high and step(v, end, vec, shape) >= 0:
        return False
    if start == low:  # no valley behind
        return step(v, high - 1, vec, shape) < 0
    return end < high or step(v, low, vec, shape) > 0


@compiled
def find_argmax(v: Vocabulary, vec: Words, largest: Number, shape: Shape, dense: bool) -> int:
    """The first token of the largest rounded logit, −1 if that is not certain. dense: by all logits, so it is."""
    best, most = -1, -largest - number(1, largest)
    outermost = most  # the largest rounded logit of a token that stands beside one not looked at
    for part in range(len(v.parts) - 1):
        low, high = v.parts[part], v.parts[part + 1] - 1
        start, end, gap, left_out = low, high, ABSENT, 0  # looked at, but for some from `gap` on
        if high - low > 2 * SIDE and not dense:
            peak = likely_peak(v, part, vec, shape)
            start, end = max(low, peak - SIDE), min(high, peak + SIDE)
            if is_around_peak(v, low, high, start, end, vec, shape):
                pass
            elif step(v, low, vec, shape) <= 0 and step(v, high - 1, vec, shape) >= 0:
                start, end, gap, left_out = low, high, low + SIDE, high - low + 1 - 2 * SIDE
            else:
                peak = find_peak(v, low, high, vec, shape)
                start, end = max(low, peak - SIDE), min(high, peak + SIDE)
        entry = start
        while entry <= end:
            logit, _, _ = weigh(v.code, v.rows[entry], vec, largest, shape, ORIGIN)
            token = v.tokens[entry]
            if most < logit or (most == logit and token < best):
                best, most = token, logit
            beside = low < entry == start or entry == end < high or entry + 1 == gap or entry == gap + left_out
            if beside and outermost < logit:
                outermost = logit
            entry += 1
            if entry == gap:
                entry += left_out
    return best if outermost < most else -1
