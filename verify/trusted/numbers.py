"""Calculates with numbers and intervals: ints, Fractions, and numbers that depend on n.

Standard library alone. In a certificate of one n, or of an interval of n, all numbers are ints and Fractions. Those of all large n
come from files of cases alone; `growing.py` has them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol, TypeVar

Number = int | Fraction
Interval = tuple[Number, Number]
T = TypeVar("T")
MARK = "$"  # before a symbol of n in a text: $E is 2^B, while E may be an atom


class NumberOfN:
    """A number that depends on n. `growing.Growing` is the one class of these, and has the methods that are called here."""

    __slots__ = ()


def grows(value: Any) -> bool:
    return isinstance(value, NumberOfN)


class Case(Protocol):
    """Reads texts of numbers that depend on n, as `growing.Case` does."""

    def number(self, text: str) -> Any: ...

    def whole(self, value: Any) -> Any: ...


def plain(value: Number) -> Number:
    """Returns an int where the value is whole: those calculate ten times as fast."""
    return value.numerator if value.denominator == 1 else value


def ratio(a: Number, b: Number) -> Number:
    """Returns a/b, as `plain` does."""
    if type(a) is int and type(b) is int and not a % b:
        return a // b
    exact: Number = (Fraction(a) if type(a) is int else a) / b  # type: ignore[assignment]  # one of them is no int
    return plain(exact)


def readable(value: Number) -> str:
    """Writes a number for people."""
    return str(value) if grows(value) else f"{float(value):g}"


def is_whole(value: Any) -> bool:
    """Returns whether it is seen to be a whole number."""
    return type(value) is int or value.denominator == 1


def is_more(value: Any, other: Any) -> bool:
    """Returns whether the value is seen to be above the other one, at each n."""
    apart = value - other
    return bool(apart.is_seen(">") if grows(apart) else apart > 0)


def at_least(value: Any, other: Any) -> bool:
    """Returns whether the value is seen to be at least the other one, at each n."""
    apart = value - other
    return bool(apart.is_seen(">=") if grows(apart) else apart >= 0)


def up(value: Any) -> int:
    """Returns the least whole number that is not below; or the value itself, which is as right a lower bound of whole numbers."""
    below = (-value).floor() if grows(value) else math.floor(-value)
    result: int = value if below is None else -below
    return result


def down(value: Any) -> int:
    """Returns the largest whole number that is not above, or the value itself."""
    return -up(-value)


def larger(value: T, other: T) -> T:
    """Returns the larger of two lower bounds, of which either is right; the first one if it is not seen which that is."""
    return other if at_least(other, value) else value


def smaller(value: T, other: T) -> T:
    """Returns the smaller of two upper bounds, in the same way."""
    return other if at_least(value, other) else value


def two_to(exponent: Any) -> Any:
    """Returns a power of two."""
    if grows(exponent):
        return exponent.power_of_two()
    return Fraction(2) ** exponent if exponent < 0 else 1 << exponent


def power(bounds: Interval, exponent: int) -> Interval:
    """Returns bounds of x^exponent."""
    if exponent == 1:
        return bounds
    ends = sorted(end**exponent for end in bounds)
    return (0 if exponent % 2 == 0 and bounds[0] < 0 < bounds[1] else ends[0]), ends[1]


def product(first: Interval, second: Interval) -> Interval:
    if first[0] >= 0 and second[0] >= 0:
        return first[0] * second[0], first[1] * second[1]
    ends = [a * b for a in first for b in second]
    return min(ends), max(ends)
