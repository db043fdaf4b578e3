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
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from constructions.engines.incremental.limbs import Number, Shape, Words, compiled, inlined, number
from constructions.engines.incremental.program import sum_code
from constructions.engines.incremental.sums import evaluate, weigh
from constructions.engines.weights import Weights

Array = Any
FEW_VALUES = 4  # of a register that tells kinds of tokens apart
SIDE, ABSENT = 2, -2  # tokens looked at on each side of a peak


class Vocabulary(NamedTuple):
    """Tokens part by part, in the order of its bend. code: the sums that are their logits, which begin at `rows`. parts: where each
    begins, and where the last one ends. Of tokens with equal rows, only the first is here."""

    tokens: Array
    rows: Array
    parts: Array
    code: Array


def arrange(weights: Weights) -> Vocabulary:
    """The rows of the output head as the format holds them."""
    unembed = weights.model.unembed
    used = np.flatnonzero(np.any(unembed != 0, axis=0)).tolist()
    values, places = np.unique(unembed[:, used], return_inverse=True)
    places = places.reshape(len(unembed), len(used))
    quanta = [weights.weight(value).quanta for value in values.tolist()]
    tokens: list[int] = []
    parts, rows, code = [0], list[int](), list[int]()
    for part in find_parts(places, quanta):
        tokens += part
        parts.append(len(tokens))
    for token in tokens:
        rows.append(len(code))
        code += sum_code([(slot, quanta[p]) for slot, p in zip(used, places[token].tolist(), strict=True)])
    return Vocabulary(*(np.array(numbers, np.int64) for numbers in (tokens, rows, parts, code)))


def find_parts(places: Array, quanta: Sequence[int]) -> list[list[int]]:
    """Parts that are bent one way, each in order. places: which of `quanta` each row holds; shape (tokens, registers)."""
    few = [i for i in range(places.shape[1]) if len(np.unique(places[:, i])) <= FEW_VALUES]
    many = [i for i in range(places.shape[1]) if i not in few]
    _, kind = np.unique(places[:, few], axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    alike = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
    parts: list[list[int]] = []
    for members in alike:
        columns = [[quanta[p] for p in places[members, i].tolist()] for i in many]
        bent = _bent_one_way(members.tolist(), [column for column in columns if len(set(column)) > 1])
        parts += [[token] for token in members.tolist()] if bent is None else [bent]
    return parts


def _bent_one_way(members: list[int], varying: list[list[int]]) -> list[int] | None:
    """The members in their order along a bend, the first of equals only; None if there is none."""
    if len(varying) > 2:
        return None
    r, s = ([0] * len(members), [0] * len(members), *varying)[-2:]
    for roots, others in ((r, s), (s, r)):
        first: dict[tuple[int, int], int] = {}
        for point, token in zip(zip(roots, others, strict=True), members, strict=True):
            first.setdefault(point, token)
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(sorted(first))]
        turns = [a[0] * b[1] - b[0] * a[1] for a, b in pairwise(steps)]
        if all(step[0] > 0 for step in steps) and (min(turns, default=0) >= 0 or max(turns, default=0) <= 0):
            return [first[point] for point in sorted(first)]
    return None


@inlined
def step(v: Vocabulary, entry: int, vec: Words, shape: Shape) -> int:
    """−1, 0 or 1: the sign of what the exact logit grows by from this entry to the next."""
    logit, _ = evaluate(v.code, v.rows[entry], vec, shape)
    following, _ = evaluate(v.code, v.rows[entry + 1], vec, shape)
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


@compiled
def find_argmax(v: Vocabulary, vec: Words, largest: Number, shape: Shape, dense: bool) -> int:
    """The first token of the largest rounded logit, −1 if that is not certain. dense: by all logits, so it is."""
    best, most = -1, -largest - number(1, largest)
    outermost = most  # the largest rounded logit of a token that stands beside one not looked at
    for part in range(len(v.parts) - 1):
        low, high = v.parts[part], v.parts[part + 1] - 1
        start, end, gap, left_out = low, high, ABSENT, 0  # looked at, but for some from `gap` on
        if high - low > 2 * SIDE and not dense:
            if step(v, low, vec, shape) <= 0 and step(v, high - 1, vec, shape) >= 0:
                gap, left_out = low + SIDE, high - low + 1 - 2 * SIDE
            else:
                peak = find_peak(v, low, high, vec, shape)
                start, end = max(low, peak - SIDE), min(high, peak + SIDE)
        entry = start
        while entry <= end:
            logit, _, _ = weigh(v.code, v.rows[entry], vec, largest, shape)
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
