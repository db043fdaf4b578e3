"""How many inputs of a kind there are, by closed formulas: what an enumeration has to reach before it is called exhaustive.

Nothing here lists anything, and nothing here is used by what lists the inputs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from constructions.wiring.part import Domain, Integer, OneOf, Part, Real, UnitFraction
from verify.inputs.trial import Trial


def labelled_graphs(sizes: Iterable[int]) -> int:
    """Counts simple graphs on n labelled vertices, n in `sizes`: Σ 2^(n(n − 1)/2)."""
    return sum(2 ** math.comb(n, 2) for n in sizes)


def labelled_trees(n: int) -> int:
    """Counts labelled trees by Cayley's formula, n^(n − 2)."""
    return 1 if n == 1 else n ** (n - 2)


def ordered_graphs(n: int, edges: Iterable[int] | None = None) -> int:
    """Counts simple graphs on n vertices, m edges, with order and orientation of the edges: Σ C(n(n − 1)/2, m)·m!·2^m."""
    most = math.comb(n, 2)
    return sum(math.perm(most, m) * 2**m for m in (range(most + 1) if edges is None else edges))


def sequences(longest: int, tokens: int) -> int:
    """Returns how many sequences of up to `longest` tokens there are, out of so many: Σ tokens^l."""
    return sum(tokens**length for length in range(longest + 1))


def questions(task: str, longest: int, tokens: int, most: int, query_length: int) -> int:
    """Counts sequences with a query: a position; for counting, a token and a threshold from 0 to `most`; else as many tokens."""
    if task == "index":
        return sum(length * tokens**length for length in range(longest + 1))
    queries = tokens * (most + 1) if task == "counting" else tokens**query_length
    return sequences(longest, tokens) * queries


RUNS = 408  # of machines of 2 states and 2 symbols, from a blank tape, up to 50 steps: counted apart by the tests


def small_spaces() -> int:
    """Counts machines of one state, two symbols, in 3 spaces: a rule writes 1 of 2 symbols, moves 1 of 2 ways, stays or halts."""
    return 3 * (2 * 2 * 2) ** 2


def elements(domain: Domain) -> int:
    """Returns how many elements a finite domain has."""
    match domain:
        case Integer(low, high) | UnitFraction(low, high):
            return high - low + 1
        case OneOf(choices):
            return len(set(choices))
        case Real():
            raise ValueError("a real domain is not finite")


def columns(part: Part, n: int, longest: int, precision: int | None, pinned: Collection[str] = ()) -> int:
    """Counts columns of up to `longest` positions: a register is free, but for pinned ones and fixed first values.

    precision: bits, or None for the least ones of each length.
    """
    total = 0
    for length in range(1, longest + 1):
        bits = precision or part.least_precision(n, length)
        contract = part.contract(Trial(n, length, bits, {}).setting)
        free = {name: elements(domain) for name, domain in contract.requires.items() if name not in pinned}
        total += math.prod(size ** (length - (name in contract.first)) for name, size in free.items())
    return total


def all_columns(
    part: Part, small: Sequence[tuple[int, int]], precision: int | None, pinned: Collection[str] = ()
) -> int:
    """Sums `columns` over (n, longest)."""
    return sum(columns(part, n, longest, precision, pinned) for n, longest in small)
