"""Some n of a case, for what is to be compared with a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from verify.algebra.quotients import value_at
from verify.algebra.walks import Fork
from verify.trusted import growth
from verify.trusted.growth import Box, by_power

FIRST = 8  # numbers from an end of a case on, among which one of it is looked for
SOME = 4  # exponents v at which an n of a case is looked for
MOST_BITS = 4096  # of such an n
OCTAVES = 64  # bit lengths, in each of which some n of a case are taken


def some_n(box: Box, forks: Sequence[Fork]) -> int | None:
    """Returns one n of the case after these forks, if one of few enough bits is soon found."""
    for v in range(box.start, box.start + (1 if box.fixed else SOME)):
        of: dict[str, int | Fraction] = {"v": v, "V": 1 << v}
        for bits in _between(*(value_at(end, of) for end in box.ends["B"])):
            if bits > MOST_BITS:
                continue
            of |= {"B": bits, "E": 1 << bits}
            some = _between(*(value_at(end, of) for end in box.ends["n"]))
            right = [fits(fork, of) for fork in forks]
            for n in [*some, *(near for fits in right for near in _turns(fits, some))]:
                if all(fits(n) for fits in right):
                    return n
    return None


def in_octaves(box: Box, forks: Sequence[Fork], key: int) -> Iterator[int]:
    """Yields n of the case after these forks, in order: of each bit length up to `OCTAVES` the first, and one by the key."""
    for bits in range(1, OCTAVES + 1):
        of = values_of(1 << bits - 1)
        v, (low, high) = of["v"], [value_at(end, of) for end in box.ends["B"]]
        if not low <= bits <= high or v < box.start or (box.fixed and v > box.start):
            continue
        start, end = (value_at(end, of) for end in box.ends["n"])
        first, last = math.ceil(start), math.floor(end)
        if first <= last:
            right = [fits(fork, of) for fork in forks]
            drawn = (first + pow(key, i, last - first + 1) for i in range(1, FIRST))
            chosen = next((n for n in drawn if all(fits(n) for fits in right)), first)
            yield from (n for n in sorted({first, chosen}) if all(fits(n) for fits in right))


def values_of(n: int) -> dict[str, int | Fraction]:
    """Returns what the symbols are at n."""
    bits = n.bit_length()
    v = bits.bit_length() // 2
    return {"n": n, "B": bits, "E": 1 << bits, "v": v, "V": 1 << v}


def fits(fork: Fork, of: Mapping[str, int | Fraction]) -> Callable[[int], bool]:
    """Returns whether the answer is right at n, where the other symbols are these numbers. That of v is in the box."""
    if fork.split == "v":
        return lambda n: True
    question, relation = fork.split["question"]
    parts = [value_at(part, of) for part in by_power(growth.parsed(question), "n")]
    denominator = math.lcm(*(part.denominator for part in parts))
    coefficients = [int(part * denominator) for part in reversed(parts)]

    def right(n: int) -> bool:
        value = 0
        for c in coefficients:
            value = value * n + c
        return fork.answer is (value > 0 if relation == ">" else value >= 0)

    return right


def _between(low: Fraction, high: Fraction) -> list[int]:
    """Returns some whole numbers from low to high: one in the middle, the last, and the first ones."""
    first, last = math.ceil(low), math.floor(high)
    return [(first + last) // 2, last, *range(first, min(last, first + FIRST))] if first <= last else []


def _turns(fits: Callable[[int], bool], some: Sequence[int]) -> list[int]:
    """Returns two consecutive n, between the least and the largest of some, of which only one fits."""
    if not some or fits(min(some)) is (last := fits(max(some))):
        return []
    low, high = min(some), max(some)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) is last else (middle, high)
    return [low, high]
