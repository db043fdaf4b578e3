"""Atoms: what registers are polynomials over, each with a domain.

  Integer      an integer between two bounds: a token's number, a position, a number of keys
  Reciprocal   ROUND(1/(m + s)) for an Integer atom m, as a COUNT head writes it; ideally 1/(m + s)
  Rounded      what one inexact operator returned, with its ideal value and how far it is from it
The same polynomials describe the rounded run and the ideal one; an atom just has two readings. Reciprocal and Rounded atoms are
multiples of the format's step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from precision.format import Format
from precision.rounding import round_fraction
from verify.algebra.polynomial import Number, Polynomial, is_whole, quotient, remainder
from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import at_most, grows

POSITION = "k"
SIZE = "n"  # of the model; the one atom that all positions share
SHARED = frozenset((POSITION, SIZE))  # what keeps its name and is never eliminated
Interval = tuple[Fraction, Fraction]
T = TypeVar("T")


class Refused(Exception):
    """An obligation is not met: where, and the numbers. Bounds may be wide, so a right model may be refused."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what


class Refuted(Refused):
    """A model is wrong, and no bound was needed to see it: an input shows it, or a single weight."""


class OtherMatrices(Refuted):
    """The matrices that users get are not those of the exact layers, or a head does not look up what its lemma says."""


class Undecided(Refused):
    """No rule covers this place: nothing is said about it."""


@dataclass(frozen=True)
class Integer:
    """An integer of low, low + step, …, up to high, which is one of them, but for numbers that grow with n."""

    low: int
    high: int
    step: int = 1

    def within(self, low: int, high: int) -> Integer:
        """Returns the values between two bounds; low lies above high if there are none."""
        first, last = max(self.low, low), min(self.high, high)
        if first is self.low and last is self.high:
            return self
        if self.step == 1:
            return Integer(first, last)
        ahead, behind = remainder(self.low - first, self.step), remainder(last - self.low, self.step)
        if ahead is None:
            return Integer(first, last)
        return Integer(first + ahead, last - (behind or 0), self.step)


@dataclass(frozen=True)
class Reciprocal:
    """ROUND(1/(of + shift)); ideally 1/(of + shift)."""

    of: str
    shift: int


@dataclass(frozen=True)
class Rounded:
    """ROUND(exact), in [low, high]; ideally `ideal`, a polynomial without Rounded atoms, at most `error` away."""

    exact: Polynomial
    ideal: Polynomial
    low: Fraction
    high: Fraction
    error: Fraction


Domain = Integer | Reciprocal | Rounded


def with_fields(old: T, **changed: object) -> T:
    """Computes `dataclasses.replace` in a third of the time: a check does so 10⁵ times. old: holds its fields and remembers
    nothing.
    """
    new = object.__new__(type(old))
    fields = new.__dict__
    fields.update(old.__dict__)
    if not changed.keys() <= fields.keys():
        raise TypeError(f"{type(old).__name__} has no {', '.join(changed.keys() - fields.keys())}")
    fields.update(changed)
    return new


@dataclass(eq=False)
class Space:
    """What all abstract states of one model share: the format, and a supply of names. given: how many there are so far.

    inexact: the operators whose results may lie between two numbers of the format: where, and between which bounds.
    """

    format: Format
    given: int = 0
    known: dict[int, Fraction] = field(default_factory=dict)
    inexact: list[tuple[str, Number, Number]] = field(default_factory=list)

    @cached_property
    def step(self) -> Fraction:
        """2^−q."""
        return self.format.quantum

    @cached_property
    def steps(self) -> int:
        """2^q."""
        return 1 << -self.format.quantum_exponent

    @cached_property
    def half_step(self) -> Fraction:
        """Returns how far rounding takes a number of the range at most."""
        return self.step / 2

    @cached_property
    def largest(self) -> Fraction:
        """2^q − 2^−q."""
        return self.format.max_value

    def covers(self, low: Number, high: Number) -> bool:
        """Returns whether −largest ≤ low and high ≤ largest."""
        if grows(low) or grows(high) or grows(self.largest):
            return at_most(-self.largest, low) and at_most(high, self.largest)
        most, steps = self.largest.numerator, self.largest.denominator  # without a Fraction: this is asked 10⁴ times
        return -low.numerator * steps <= most * low.denominator and high.numerator * steps <= most * high.denominator

    def rounded(self, value: Fraction) -> Fraction:
        """Returns ROUND(value)."""
        if grows(self.steps):
            if not (self.covers(value, value) and is_whole(value * self.steps)):
                raise Unanswered(f"{value}, rounded")
            return value
        return round_fraction(value, self.format).quanta * self.step

    def rounded_bounds(self, low: Fraction, high: Fraction) -> Interval:
        """Returns bounds of ROUND(x) for x from low to high, both covered: the least and the largest of them.

        If these grow with n, an end that is a number of the format stays; another moves out by half a step, or to 0.
        """
        if not grows(self.steps):
            return self.rounded(low), self.rounded(high)
        least, largest = Fraction(0), Fraction(0)
        if is_whole(low * self.steps):
            least = self.rounded(low)
        elif not at_most(0, low):
            least = low - self.half_step
        if is_whole(high * self.steps):
            largest = self.rounded(high)
        elif not at_most(high, 0):
            largest = high + self.half_step
        return least, largest

    def reciprocal(self, m: int) -> Fraction:
        """Returns ROUND(1/m)."""
        if m not in self.known:
            self.known[m] = self.rounded(Fraction(1, m))
        return self.known[m]

    def reciprocals(self, low: int, high: int) -> tuple[Number, Number]:
        """Returns bounds of ROUND(1/m) for m from low to high: the least and the largest, unless the format's numbers grow."""
        if not grows(self.steps):
            return self.reciprocal(high), self.reciprocal(low)
        least = quotient(1, high.power_above if grows(high) else high)
        largest = quotient(1, 1 << (low.bit_length() - 1)) if grows(low) else Fraction(1, low)
        below, above = (0 if is_whole(end * self.steps) else self.half_step for end in (least, largest))
        return least - below, largest + above

    def fresh(self, letter: str) -> str:
        """Returns a name that no atom has."""
        self.given += 1
        return f"{letter}{self.given - 1}"
