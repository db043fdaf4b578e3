"""Rows of an output head in parts that are bent one way, see vocabulary.py."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby, pairwise
from operator import or_
from typing import Any

import numpy as np

Array = Any
FEW_VALUES = 4  # of a register that tells kinds of tokens apart
TURNING_BITS = 30  # of a number: a product of two differences, and the difference of two products, fit an int64


def find_parts(places: Array, quanta: Sequence[int]) -> list[list[int]]:
    """Parts that are bent one way, each in order. quanta: ascending. places: which each row holds; shape (tokens, registers)."""
    kind, many = np.zeros(len(places), np.int64), list[int]()
    for i in range(places.shape[1]):
        held = np.bincount(places[:, i]) > 0
        values = np.count_nonzero(held)
        if values > FEW_VALUES:
            many.append(i)
        elif values > 1:
            kind = kind * FEW_VALUES + (np.cumsum(held) - 1)[places[:, i]]
            kind = (np.cumsum(np.bincount(kind) > 0) - 1)[kind]
    ranks, numbers = _rank(quanta)
    parts: list[list[int]] = []
    for members in np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1]):
        columns = ranks[places[members][:, many]].T
        bent = _bent_one_way(members, [column for column in columns if np.any(column != column[0])], numbers)
        parts += [[token] for token in members.tolist()] if bent is None else [bent]
    return parts


def _rank(quanta: Sequence[int]) -> tuple[Array, Array]:
    """Returns the rank of each number, with equal numbers sharing one, and the sorted numbers over their largest common power of
    two.
    """
    ranks = np.cumsum([False, *(a != b for a, b in pairwise(quanta))])
    bits = reduce(or_, quanta, 0)
    different = [weight // (bits & -bits or 1) for weight, _ in groupby(quanta or [0])]
    exact = max(map(abs, different)) >> TURNING_BITS == 0
    return ranks, np.array(different, np.int64 if exact else object)


def _bent_one_way(members: Array, varying: Sequence[Array], numbers: Array) -> list[int] | None:
    """Returns the members in order along a bend, of equal ones the first; None if no bend fits. varying: ranks of `numbers`."""
    if len(varying) > 2:
        return None
    r, s = (np.zeros_like(members), np.zeros_like(members), *varying)[-2:]
    for roots, others in ((r, s), (s, r)):
        order = np.lexsort((others, roots))
        fresh = (np.diff(roots[order]) != 0) | (np.diff(others[order]) != 0)
        order = order[np.append(True, fresh)]
        rises, steps = np.diff(numbers[roots[order]]), np.diff(numbers[others[order]])
        turns = rises[:-1] * steps[1:] - rises[1:] * steps[:-1]
        if np.all(rises > 0) and (np.all(turns >= 0) or np.all(turns <= 0)):
            bend: list[int] = members[order].tolist()
            return bend
    return None
