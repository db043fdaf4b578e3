"""The output head in parts: in each, two coordinates at most differ, and the tokens stand in order along a bend."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from constructions.engines.protocol import NotCovered
from constructions.engines.weights import Weights, column_of, weight_of
from constructions.rows import Row

Array = Any
FEW_VALUES = 4  # of a register that tells kinds of tokens apart
TURNING_BITS = 30  # of a number: a product of two differences, and the difference of two products, fit an int64


class WordColumns(NamedTuple):
    """alike: the row that all tokens share. columns: register, zeros and mantissas, of those that differ: a token has the
    mantissa · 2^zeros quanta there.

    turns: the sign of every turn of the bend, 0 for a line; it turns towards the column `bend`.
    """

    tokens: Sequence[int]
    alike: Row
    columns: Sequence[tuple[int, int, Array]]
    bend: int
    turns: int


def parts_of(weights: Weights) -> list[WordColumns]:
    """Returns the parts. Of tokens with equal rows, only the first is in one. Raises NotCovered for numbers beyond a word."""
    used, quanta, places = weights.output
    return find_parts(used, quanta, places)


def find_parts(used: Sequence[int], quanta: Sequence[int], places: Array) -> list[WordColumns]:
    """Returns the parts. quanta: ascending. places: which of them each token has in each register that is used."""
    kind = np.zeros(len(places), np.int64)
    for i in range(places.shape[1]):
        held = np.bincount(places[:, i]) > 0
        if 1 < np.count_nonzero(held) <= FEW_VALUES:
            kind = kind * FEW_VALUES + (np.cumsum(held) - 1)[places[:, i]]
            kind = (np.cumsum(np.bincount(kind) > 0) - 1)[kind]
    ranks = np.cumsum([False, *(a != b for a, b in pairwise(quanta))])  # equal numbers share one
    parts: list[WordColumns] = []
    for members in np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1]):
        part = _bend(members, used, quanta, places, ranks)
        some = [_bend(token, used, quanta, places, ranks) for token in members[:, None]] if part is None else [part]
        parts += filter(None, some)
    return parts


def _bend(
    members: Array, used: Sequence[int], quanta: Sequence[int], places: Array, ranks: Array
) -> WordColumns | None:
    """Returns tokens in order along a bend, of equal ones the first; None if no bend fits, which one token has."""
    held = ranks[places[members]]
    varying = np.flatnonzero(np.any(held != held[0], axis=0)).tolist()
    if len(varying) > 2:
        return None
    alike = [(used[i], weight_of(quanta[places[members[0], i]])) for i in range(len(used)) if i not in varying]
    columns = [column_of(quanta, places[members, i]) for i in varying]
    nothing = np.zeros(len(members), np.int64)
    exact = [c if np.max(np.abs(c)) >> TURNING_BITS == 0 else c.astype(object) for _, c in columns]
    r, s = (nothing, nothing, *exact)[-2:]
    for roots, others, bend in ((r, s, 1), (s, r, 0)):
        order = np.lexsort((others, roots))
        fresh = (np.diff(roots[order]) != 0) | (np.diff(others[order]) != 0)
        order = order[np.append(True, fresh)]
        rises, steps = np.diff(roots[order]), np.diff(others[order])
        turns = rises[:-1] * steps[1:] - rises[1:] * steps[:-1]
        if not np.all(rises > 0) or not (np.all(turns >= 0) or np.all(turns <= 0)):
            continue
        if any(column.dtype == object for _, column in columns):
            raise NotCovered("words with numbers of more than one word")
        ordered = [(used[i], zeros, column[order]) for i, (zeros, column) in zip(varying, columns, strict=True)]
        row = tuple((i, weight) for i, weight in alike if weight)
        if len(varying) < 2:  # a line: it rises or falls all along, so an end is the peak
            return WordColumns(members[order].tolist(), row, ordered, 0, 1)
        return WordColumns(members[order].tolist(), row, ordered, bend, 1 if np.all(turns >= 0) else -1)
    return None
