"""Between which numbers a term lies, over all texts of a program for n; n may be a symbol.

The bounds are those of each atom alone: never too narrow, and too wide where atoms depend on each other. But of a few integers that
are 0 or 1, each choice is looked at, of which one token is a word or a number; and a position that is read does not lie after the
one that reads it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from constructions.language.terms import (
    FIRST,
    ONE,
    ZERO,
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
from constructions.language.terms import term as sum_of
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
        """Returns the least and the largest value."""
        if bits := self._bits(term):
            ends = [self._sum_of_monomials(_with_choice(term, bits, on)) for on in _choices(bits)]
            return least_of([low for low, _ in ends]), largest_of([high for _, high in ends])
        return self._sum_of_monomials(term)

    def _bits(self, term: Term) -> Sequence[Atom]:
        """Returns the atoms that are 0 or 1; none if there are many."""
        bits = [atom for atom in sorted(term.atoms, key=lambda atom: atom.order) if _is_bit(self.atom(atom))]
        return bits if len(bits) <= MOST_BITS else ()

    def _sum_of_monomials(self, term: Term) -> Interval:
        low: Bound = 0
        high: Bound = 0
        items, apart = _without_distance(term)
        if apart:  # a position that is read lies at most as far before this one as the text is long
            low, high = min(0, apart) * (self.length - 1), max(0, apart) * (self.length - 1)
        for monomial, c in items:
            ends: Interval = (c, c)
            for atom in monomial:
                ends = product(ends, self.atom(atom))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def largest(self, term: Term) -> Bound:
        """Returns the largest absolute value."""
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
            case Count(where):
                ends = [self.last[word] - 2 for pair in where.pairs if (word := _word_never_met(*pair)) in self.last]
                return 0, least_of([self.length, *ends])
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
                value in (OWN, OWN * OWN)
                and query == ONE
                and (words := [a.word for a in key.atoms if isinstance(a, IsWord) and key == as_term(a)])
            ):
                last = self.last.get(words[0], self.length)
                return 1, last if value == OWN else last * last
            case Read(value, where):
                low, high = self.term(value)
                return (min(0, low), max(0, high)) if isinstance(where, Back) else (low, high)
        raise TypeError(f"no bounds are known of {atom}")


def _word_never_met(key: Term, query: Term) -> str:
    """Returns the word that stood at none of the positions that match; "" if there is no such word."""
    match [*key.atoms]:
        case [Above(of) as seen] if key == as_term(seen) and query == ZERO:
            match [*of.atoms]:
                case [Count(Matching(((word, asked),))) as count] if of == as_term(count) and asked == ONE:
                    return next((a.word for a in word.atoms if isinstance(a, IsWord) and word == as_term(a)), "")
    return ""


def _is_bit(ends: Interval) -> bool:
    """Returns whether these bounds are 0 and 1, not numbers that depend on n."""
    return all(type(end) in (int, Fraction) for end in ends) and ends == (0, 1)


def _choices(bits: Sequence[Atom]) -> Iterator[frozenset[Atom]]:
    """Yields the atoms that are 1, in each way. A position has one token: a word or a number."""
    own = {atom for atom in bits if isinstance(atom, IsWord | IsNumber)}
    for values in itertools.product((False, True), repeat=len(bits)):
        on = frozenset(itertools.compress(bits, values))
        if len(on & own) <= 1:
            yield on


def _with_choice(term: Term, bits: Sequence[Atom], on: frozenset[Atom]) -> Term:
    """Returns the term with these bits 1 and the others 0; a token that is no number has the number 0."""
    off = {*bits} - on
    if any(isinstance(atom, IsWord) for atom in on) or any(isinstance(atom, IsNumber) for atom in off):
        off |= {atom for atom in term.atoms if isinstance(atom, NumberOf)}
    items = (item for item in term.items if off.isdisjoint(item[0]))
    return sum_of((tuple(atom for atom in monomial if atom not in on), c) for monomial, c in items)


def least_of(values: Sequence[Bound]) -> Bound:
    """Returns the least of them; one after the other, as they may depend on n."""
    least = values[0]
    for value in values[1:]:
        least = value if value is not least and value < least else least
    return least


def largest_of(values: Sequence[Bound]) -> Bound:
    """Returns the largest of them; one after the other, as they may depend on n."""
    return -least_of([-value for value in values])


def _without_distance(term: Term) -> tuple[Sequence[tuple[Monomial, Fraction]], Fraction]:
    """Returns a sum without c·(the position − one that is read), and c: what is read lies from 1 to the position."""
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
    """Returns the least and the largest product."""
    if a[0] >= 0 and b[0] >= 0:
        return a[0] * b[0], a[1] * b[1]
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)
