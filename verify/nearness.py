"""Two prompts that an RNN of real numbers must confuse: a search that draws two states nearer until they are equal.

Source: the lower bounds of Theorems 4.6 and 4.7, as in `verify.adversary`.

A gated cell forgets: two states that differ by little differ by less after the same tokens, and by nothing once both round to the
same numbers. The search keeps some pairs of states, from two lists that differ in the first bit. It reads each next bit in all
four ways and keeps the pairs whose states lie nearest. Tokens are few, so it reads them all where a gradient would choose one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np

from circuits.rnn import key

PAIRS = 32  # that are kept
LENGTHS = (32, 128, 512)  # bits of the lists that are tried
Bits = tuple[int, ...]


def numbers_of(state: Any) -> Any:
    """Returns the numbers of a state as a flat array, or None if it has anything else."""
    if isinstance(state, tuple | list):
        parts = [numbers_of(part) for part in state]
        return None if not parts or any(part is None for part in parts) else np.concatenate(parts)
    numbers = state.detach().cpu().double().numpy() if hasattr(state, "detach") else np.asarray(state)
    return numbers.astype(np.float64).ravel() if numbers.dtype.kind in "fiub" else None


def distance(one: Any, other: Any) -> float | None:
    """Returns by how much the numbers of two states differ, infinity if they cannot be compared, None if they are no numbers."""
    first, second = numbers_of(one), numbers_of(other)
    if first is None or second is None:
        return None
    apart = float(np.abs(first - second).sum()) if first.shape == second.shape else math.inf
    return math.inf if math.isnan(apart) else apart


def draw_near(
    start: Any,
    each: Sequence[tuple[list[Any], list[Any]]],
    step: Callable[[Any, Sequence[Any], int], Any],
    position: int,
) -> tuple[Bits, Bits] | None:
    """Returns the beginnings of two lists of bits that leave one state, or None if none was found.

    each: what is read of a 0 and of a 1, bit by bit. step(state, tokens, position): the state after these tokens.
    """
    pairs: list[tuple[Any, Any, Bits, Bits]] = [(start, start, (), ())]
    for both in each:
        near: dict[Any, tuple[float, tuple[Any, Any, Bits, Bits]]] = {}
        for one, other, x, y in pairs:
            left, right = ([step(state, tokens, position) for tokens in both] for state in (one, other))
            for a, b in product((0, 1), repeat=2) if x else ((0, 1),):
                paths, names = ((*x, a), (*y, b)), (key(left[a]), key(right[b]))
                if names[0] == names[1]:
                    return paths
                if (apart := distance(left[a], right[b])) is None:
                    return None
                near[names] = apart, (left[a], right[b], *paths)
        pairs = [pair for _, pair in sorted(near.values(), key=itemgetter(0))[:PAIRS]]
        position += len(both[0])
    return None
