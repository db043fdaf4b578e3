"""Between which numbers a term lies, over all texts of a program for n; n may be a symbol.

The bounds are those of each atom alone: never too narrow, and too wide where atoms depend on each other. Of a few integers that are
0 or 1, each choice is looked at; and a position that is read does not lie behind the one that reads it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from constructions.language.terms import (
    FIRST,
    ONE,
    Above,
    Atom,
    Back,
    Best,
    Comb,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    Monomial,
    Named,
    NumberOf,
    Pick,
    Position,
    Positive,
    Read,
    Sum,
    Term,
    as_term,
)
from constructions.language.values import START

Bound: TypeAlias = Any
"""A number, or one that depends on n."""
Interval: TypeAlias = "tuple[Bound, Bound]"


OWN = as_term(Position())
MOST_BITS = 6  # of which each choice is looked at


@dataclass
class Bounds:
    """numbers: the least and the largest number of a text. length: the most tokens of a text. last: word → its last position."""

    numbers: Interval
    length: Bound
    last: Mapping[str, Bound] = field(default_factory=dict)
    known: dict[Atom, Interval] = field(default_factory=dict)

    def term(self, term: Term) -> Interval:
        """The least and the largest value."""
        atoms = sorted(term.atoms, key=lambda atom: atom.order)
        if 0 < len(atoms) <= MOST_BITS and all(self.atom(atom) == (0, 1) for atom in atoms):
            choices = [dict(zip(atoms, bits, strict=True)) for bits in itertools.product((0, 1), repeat=len(atoms))]
            values = [sum(c for monomial, c in term.items if all(map(on.__getitem__, monomial))) for on in choices]
            return min(values), max(values)
        low: Bound = 0
        high: Bound = 0
        items, behind = _taken_apart(term)
        if behind:  # a position that is read lies at most as far behind as the text is long
            low, high = min(0, behind) * (self.length - 1), max(0, behind) * (self.length - 1)
        for monomial, c in items:
            ends: Interval = (c, c)
            for atom in monomial:
                ends = product(ends, self.atom(atom))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def largest(self, term: Term) -> Bound:
        """The largest absolute value."""
        low, high = self.term(term)
        return max(-low, high)

    def atom(self, atom: Atom) -> Interval:
        """Raises TypeError for an atom that the compiler does not know."""
        if atom not in self.known:
            self.known[atom] = self._atom(atom)
        return self.known[atom]

    def _atom(self, atom: Atom) -> Interval:
        match atom:
            case IsNumber() | IsWord() | Equal() | Above():
                return 0, 1
            case NumberOf():
                return 0, self.numbers[1]
            case Position():
                return 1, self.length
            case Count():
                return 0, self.length
            case Named(_, of):
                return self.term(of)
            case Positive(of):
                return 0, max(0, self.term(of)[1])
            case Sum(of):
                low, high = self.term(of)
                return self.length * min(0, low), self.length * max(0, high)
            case Comb(of, _, sign):
                low, high = self.term(of)
                # Two that follow each other add at most high − low; what stands at position 1 alone is added once.
                times = 1 if of in (as_term(IsWord(START)), as_term(FIRST)) else self.length
                if sign < 0:
                    return min(0, low) - times * (high - low), max(0, high) + times * (high - low)
                return times * min(0, low), times * max(0, high)
            case Read(value, Pick(Matching(((key, query),)))) if (
                value == OWN
                and query == ONE
                and (words := [a.word for a in key.atoms if isinstance(a, IsWord) and key == as_term(a)])
            ):
                return 1, self.last.get(words[0], self.length)
            case Read(value, where):
                low, high = self.term(value)
                return (min(0, low), max(0, high)) if isinstance(where, Back) else (low, high)
        raise TypeError(f"no bounds are known of {atom}")


def _taken_apart(term: Term) -> tuple[Sequence[tuple[Monomial, Fraction]], Fraction]:
    """A sum without c·(the position − one that is read), and c: the latter lies from 1 to the former."""
    coefficients = dict(term.items)
    own, total = (Position(),), Fraction(0)
    for monomial, c in term.items:
        here = coefficients.get(own, Fraction(0))
        match monomial:
            case (Read(value, where),) if value == OWN and not isinstance(where, Back | Best) and c * here < 0:
                apart = min(abs(c), abs(here)) * (1 if here > 0 else -1)
                coefficients |= {own: here - apart, monomial: c + apart}
                total += apart
    return tuple(coefficients.items()), total


def product(a: Interval, b: Interval) -> Interval:
    """The least and the largest product."""
    if a[0] >= 0 and b[0] >= 0:
        return a[0] * b[0], a[1] * b[1]
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)
