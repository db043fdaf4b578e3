"""The output head in parts: in each, two coordinates at most differ, and the tokens stand in order along a bend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from constructions.engines.incremental.bends import TURNING_BITS, find_parts
from constructions.engines.incremental.values import NotCovered
from constructions.engines.weights import Weights, column_of, weight_of
from constructions.rows import Row

Array = Any


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
    return [_part(members, used, quanta, places[members]) for members in find_parts(places, quanta)]


def _part(members: Sequence[int], used: Sequence[int], quanta: Sequence[int], places: Array) -> WordColumns:
    varying = np.flatnonzero(np.any(places != places[0], axis=0)).tolist()
    alike = [(used[i], weight_of(quanta[places[0, i]])) for i in range(len(used)) if i not in varying]
    row = tuple((i, weight) for i, weight in alike if weight)
    columns, exact = [], []
    for i in varying:
        zeros, column = column_of(quanta, places[:, i])
        if column.dtype == object:
            raise NotCovered("words with numbers of more than one word")
        columns.append((used[i], zeros, column))
        exact.append(column if np.max(np.abs(column)) >> TURNING_BITS == 0 else column.astype(object))
    if len(varying) < 2:
        return WordColumns(members, row, columns, 0, 1)  # a line: it rises or falls all along, so an end is the peak
    for root in (0, 1):
        r, s = exact[root], exact[1 - root]
        rises, steps = np.diff(r), np.diff(s)
        turns = rises[:-1] * steps[1:] - rises[1:] * steps[:-1]
        if np.all(rises > 0) and (np.all(turns >= 0) or np.all(turns <= 0)):
            return WordColumns(members, row, columns, 1 - root, 1 if np.all(turns >= 0) else -1)
    raise NotCovered("words along no bend")
