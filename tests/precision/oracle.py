"""Rounding by looking through a list of all elements: shares no code, and no representation, with the package."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from fractions import Fraction
from functools import cache

import gfloat

from precision import Format, Rounding

DETERMINISTIC = [rounding for rounding in Rounding if rounding is not Rounding.STOCHASTIC]


def fine(quantum_exponent: int) -> Format:
    """Returns a format with few digits but a fine quantum: it can hold numbers very near to the logarithm of a midpoint."""
    return Format(f"fine{quantum_exponent}", 10, quantum_exponent, 2 ** (10 - quantum_exponent))


@cache
def magnitudes(fmt: Format) -> tuple[Fraction, ...]:
    """All non-negative elements in ascending order, from the definition m · 2^e, and one more: the next in an unbounded format."""
    found = set()
    exponent = fmt.quantum_exponent
    while Fraction(2) ** exponent <= fmt.max_value:
        step = Fraction(2) ** exponent
        found |= {m * step for m in range(2**fmt.significand_bits) if m * step <= fmt.max_value}
        exponent += 1
    ordered = sorted(found)
    return (*ordered, 2 * ordered[-1] - ordered[-2])


def round_by_search(
    x: Fraction, fmt: Format, rounding: Rounding, random: Fraction = Fraction(0)
) -> tuple[Fraction, bool, bool]:
    """(value, saturated, tie). The even neighbour is the one with the even place in the list, as in IEEE encodings."""
    grid = magnitudes(fmt)
    place = bisect_right(grid, abs(x)) - 1
    if place == len(grid) - 1:
        return (fmt.max_value if x > 0 else -fmt.max_value), True, False
    below, above = abs(x) - grid[place], grid[place + 1] - abs(x)
    nearest = rounding in (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY)
    if rounding is Rounding.TOWARD_ZERO:
        up = False
    elif rounding is Rounding.STOCHASTIC:
        up = random < below / (below + above)
    elif below == above:
        up = rounding is Rounding.NEAREST_AWAY or place % 2 == 1
    else:
        up = above < below
    saturated = place + up == len(grid) - 1
    value = fmt.max_value if saturated else grid[place + up]
    tie = nearest and below == above and place + 1 < len(grid) - 1
    return (value if x > 0 else -value), saturated, tie


def hard_values(fmt: Format) -> list[Fraction]:
    """Elements, midpoints, quarter points and their close neighbours, of both signs, and numbers out of range."""
    grid = magnitudes(fmt)
    found = [2 * grid[-1], 1000 * grid[-1] + fmt.quantum]
    for low, high in itertools.pairwise(grid):
        step = high - low
        found += [low + step * part for part in (0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))]
        tiny = step / 2**30
        found += [low + tiny, low + step / 2 - tiny, low + step / 2 + tiny, high - tiny]
    return found + [-value for value in found]


def r_p_of_gfloat(p: int) -> gfloat.FormatInfo:
    """Returns R_p as gfloat says it."""
    facts = {"is_signed": True, "domain": gfloat.Domain.Finite, "has_nz": True, "num_high_nans": 0}
    facts |= {"has_subnormals": True, "is_twos_complement": False}
    return gfloat.FormatInfo(f"R_{p}", p, p - 1, bias=2 - (p - 1) // 2, **facts)
