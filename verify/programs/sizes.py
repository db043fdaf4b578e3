"""Numbers in programs, which may depend on the size n where one program is of every n of an interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from verify.algebra.growing import Growing, common_divisor
from verify.algebra.polynomial import Number
from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import Size


def floor(value: Number) -> int:
    """Rounded down: a polynomial of n if that is whole, else one number."""
    return value // 1 if isinstance(value, Size) else math.floor(value)


def ceiling(value: Number) -> int:
    """Rounded up, likewise."""
    return -floor(-value)


def nearest(value: Number) -> int:
    """A whole number that none is nearer to it than."""
    if not isinstance(value, Growing):
        return round(value)
    below = floor(value)
    return below + int(value - below >= Fraction(1, 2))


def whole(value: Number) -> int:
    """An integer as an int; where it depends on n, the interval is cut to where it is one number."""
    if isinstance(value, Growing):
        raise Unanswered(f"{value} is another number at each n")
    return round(value)


def span(low: int, high: int) -> list[int]:
    """The integers from low to high, whose number is one on the interval."""
    return [low + i for i in range(whole(high - low) + 1)]


def is_whole(value: Number) -> bool:
    """Whether it is seen to be an integer at every n."""
    return value.is_whole if isinstance(value, Size | Growing) else value.denominator == 1


def is_never_whole(value: Number) -> bool:
    """Whether it is seen to be an integer at no n."""
    return value.is_never_whole if isinstance(value, Size | Growing) else value.denominator != 1


def parts(value: Number) -> list[tuple[int, Number]]:
    """Powers of n and their coefficients, the largest power first; of a quotient no more is told than that it is one."""
    if not isinstance(value, Size) or not value.under.is_constant:
        return [(0, value)]
    return sorted(((len(monomial), c) for monomial, c in value.polynomial.terms.items()), reverse=True)


def common_factor(values: Iterable[Number]) -> Fraction:
    """The largest number that all are whole multiples of, as are the coefficients of n in them; of numbers that grow, one such."""
    values = list(values)
    if any(isinstance(value, Growing) for value in values):
        return common_divisor(values)
    coefficients = [c for value in values for _, c in parts(value) if not isinstance(c, Size)]
    return Fraction(math.gcd(*(c.numerator for c in coefficients)), math.lcm(*(c.denominator for c in coefficients)))
