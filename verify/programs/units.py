"""ReGLU units over one number, added up: a line with a few exceptions, or a step."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain
from typing import Protocol

from constructions.language.terms import ZERO, Above, Monomial, Positive, Term, as_term, fraction, term
from verify.algebra.symbolic import span
from verify.programs.shares import Normal, step

MOST_EXCEPTIONS = 8  # of a piecewise linear function, from a line
MOST_OF_ONE = 2  # if it is one unit
MOST_POINTS = 64


class Wholes(Normal, Protocol):
    """A normal form that tells integers apart."""

    def equal(self, value: Term, to: Fraction) -> Term:
        """Returns 1[value = to]."""


def merged(value: Term, normal: Wholes) -> Term:
    """Puts a line and a few exceptions in place of units over one integer."""
    groups: dict[tuple[Term, Monomial], list[tuple[Fraction, Fraction]]] = {}
    for monomial, c in value.items:
        for i, a in enumerate(monomial):
            if isinstance(a, Positive) and a not in monomial[:i]:
                key = a.of - a.of.constant, monomial[:i] + monomial[i + 1 :]
                groups.setdefault(key, []).append((c, a.of.constant))
    for (body, others), units in groups.items():
        line = _line(body, units, normal)
        if line is not None:
            cofactor = term([(others, 1)])
            old = sum((as_term(Positive(body + offset)) * c for c, offset in units), ZERO)
            return value + (line - old) * cofactor
    return value


def _line(x: Term, units: list[tuple[Fraction, Fraction]], normal: Wholes) -> Term | None:
    """Returns Σ c·max(0, x + b) over the integers that x can be, as a line and exceptions; None if they are many."""
    if not normal.facts.is_integer(x):
        return None if (compared := step(x, units, normal)) is None else normal.term(compared)
    low, high = (math.floor(end) for end in normal.facts.bounds(x))
    first, last = math.floor(min(-b for _, b in units)), math.ceil(max(-b for _, b in units))
    slope, shift = sum(c for c, _ in units), sum(c * b for c, b in units)
    begin, end = max(low, first), min(high, last)
    if end - begin >= MOST_POINTS:
        return None
    inside = span(begin, end)
    lines: list[tuple[int, Term]] = []
    for a, d in ((slope, shift), (Fraction(0), Fraction(0))):
        outside = [(low, first - 1)] * ((a, d) != (0, 0)) + [(last + 1, high)] * ((a, d) != (slope, shift))
        if any(right - left > MOST_EXCEPTIONS for left, right in outside):
            continue  # there it is another line, which meets this one once at most
        points = [*inside, *chain.from_iterable(span(*ends) for ends in outside)]
        exceptions = [(i, v) for i in points if (v := _add(units, i) - a * i - d)]
        if len(exceptions) <= (MOST_EXCEPTIONS if units[1:] else MOST_OF_ONE):
            line = sum((normal.equal(x, fraction(i)) * v for i, v in exceptions), x * a + d)
            lines.append((len(exceptions), line))
    if not slope and shift:  # a step
        line = as_term(Above(x + (1 - last))) * shift
        exceptions = [(i, v) for i in inside if i < last and (v := _add(units, i))]
        if len(exceptions) <= MOST_EXCEPTIONS:
            line = sum((normal.equal(x, fraction(i)) * v for i, v in exceptions), line)
            lines.append((len(exceptions) + 1, line))
    return min(lines, key=lambda line: line[0])[1] if lines else None


def _add(units: list[tuple[Fraction, Fraction]], x: int) -> Fraction:
    return sum((c * max(x + b, Fraction(0)) for c, b in units), Fraction(0))
