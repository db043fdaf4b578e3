"""What is known of a term at some places of all inputs: its bounds, whether it is an integer, and where it may read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from verify.certificates.domains import Undecided
from verify.certificates.language import Language
from verify.programs.terms import (
    POSITION,
    Above,
    At,
    Atom,
    Back,
    Best,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Named,
    NumberOf,
    Position,
    Positive,
    Read,
    Reciprocal,
    Selection,
    Sum,
    Term,
    as_term,
)

Interval = tuple[Fraction, Fraction]
MOST_STEPS = 64  # that are followed one by one
BIT = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Facts:
    """The position k is at one of these places of the language.

    known: atoms and their bounds; those of `knowing` among them, which are about k alone and not about positions that it reads.
    """

    language: Language
    places: frozenset[int]
    narrowed: bool = False
    known: dict[Atom, Interval] = field(default_factory=dict, compare=False)

    @staticmethod
    def everywhere(language: Language) -> Facts:
        """Of every position. Raises Undecided unless position 1 is one certain word."""
        first, *others = language.places
        if not first.word or any(language.positions(place).low == 1 for place in others):
            raise Undecided("the input", "it does not begin with one certain word")
        return Facts(language, frozenset(range(len(language.places))))

    def at(self, places: frozenset[int]) -> Facts:
        """Of positions at these places."""
        return Facts(self.language, places)

    def knowing(self, a: Atom, low: Fraction, high: Fraction) -> Facts:
        """Where an atom lies between these two as well."""
        return replace(self, narrowed=True, known={**self.known, a: (low, high)})

    @cached_property
    def globally(self) -> Facts:
        """Of every position."""
        whole = frozenset(range(len(self.language.places)))
        return self if self.places == whole and not self.narrowed else Facts(self.language, whole)

    @property
    def start(self) -> str:
        """The word at position 1."""
        return self.language.places[0].word

    @cached_property
    def starts_once(self) -> bool:
        """Whether that word stands nowhere else."""
        first, *others = self.language.places
        return self.language.positions(first).high == 1 and all(place.word != first.word for place in others)

    @cached_property
    def positions(self) -> tuple[int, int]:
        """The least and the largest k."""
        ranges = [self.language.positions(self.language.places[i]) for i in self.places]
        return min(r.low for r in ranges), max(r.high for r in ranges)

    def number(self, family: str) -> tuple[int, int]:
        """Bounds of the token's number."""
        ends = [
            (self.language.range(p.numbers[0])[0], self.language.range(p.numbers[1])[1])
            if not p.word and p.family == family
            else (0, 0)
            for p in map(self.language.places.__getitem__, self.places)
        ]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def bounds(self, value: Term) -> Interval:
        """Two numbers that it lies between."""
        low, high = self._plain(value)
        place = self.language.places[min(self.places)]
        if len(self.places) == 1 and place.behind is not None:
            # The position is the number, plus `behind`, plus something that is not negative.
            number, k = as_term(NumberOf(place.family)), as_term(POSITION)
            slope = next((c for monomial, c in value.items if monomial == (POSITION,)), Fraction(0))
            rest = self._plain(value - k * slope + (number + place.behind) * slope)
            most = self.positions[1] - self.number(place.family)[0] - place.behind
            ends = sorted((Fraction(0), slope * most))
            low, high = max(low, rest[0] + ends[0]), min(high, rest[1] + ends[1])
        return low, high

    def _plain(self, value: Term) -> Interval:
        if len(value.atoms) == 1 and max(len(monomial) for monomial, _ in value.items) == 2:
            return self._parabola(value)
        low = high = Fraction(0)
        for monomial, c in value.items:
            ends = c, c
            for a in monomial:
                mine = self._atom(a)
                products = [x * y for x in ends for y in mine]
                ends = min(products), max(products)
            if len(monomial) > 1 and len(set(monomial)) == 1 and len(monomial) % 2 == 0:  # a square
                ends = (max(ends[0], Fraction(0)), ends[1]) if c > 0 else (ends[0], min(ends[1], Fraction(0)))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _parabola(self, value: Term) -> Interval:
        """Of a + b·x + c·x²: at the ends of x, or at its top."""
        (x,) = value.atoms
        parts = {len(monomial): c for monomial, c in value.items}
        a, b, c = (parts.get(power, Fraction(0)) for power in range(3))
        low, high = self._atom(x)
        points = {low, high, min(max(-b / (2 * c), low), high)}
        found = [a + b * point + c * point * point for point in points]
        return min(found), max(found)

    def _atom(self, a: Atom) -> Interval:
        if a not in self.known:
            self.known[a] = self._fresh(a)
        return self.known[a]

    def _fresh(self, a: Atom) -> Interval:
        match a:
            case Position():
                return Fraction(self.positions[0]), Fraction(self.positions[1])
            case NumberOf(family):
                low, high = self.number(family)
                return Fraction(low), Fraction(high)
            case IsWord(word):
                found = [self.language.places[i].word == word for i in self.places]
                return Fraction(min(found)), Fraction(max(found))
            case IsNumber(family):
                places = map(self.language.places.__getitem__, self.places)
                is_one = [not place.word and place.family == family for place in places]
                return Fraction(min(is_one)), Fraction(max(is_one))
            case Equal() | Above():
                return BIT
            case Count():
                return Fraction(0), Fraction(self.positions[1] - 1)
            case Positive(of):
                low_end, high_end = self.bounds(of)
                return max(low_end, Fraction(0)), max(high_end, Fraction(0))
            case Reciprocal(of):
                low_end, high_end = self.bounds(of)
                return 1 / high_end, 1 / max(low_end, Fraction(1))
            case Named(_, of):
                return self.bounds(of)
            case Sum(of):
                low_end, high_end = self.globally.bounds(of)
                most = self.positions[1]
                return min(low_end, low_end * most), max(high_end, high_end * most)
            case Read(_, Back(steps)) if self.positions[1] <= steps:
                return Fraction(0), Fraction(0)
            case Read(value, where):
                low_end, high_end = self.behind(where).bounds(value)
                if isinstance(where, Back) and self.positions[0] <= where.steps:
                    return min(low_end, Fraction(0)), max(high_end, Fraction(0))
                return low_end, high_end
        raise TypeError(f"no atom: {a}")

    def behind(self, where: Selection) -> Facts:
        """Of the positions that may be read from here."""
        match where:
            case Back(steps):
                return self._earlier(steps, (1, self.positions[1] - steps), exactly=True)
            case At(target):
                low, high = self.bounds(target)
                least = self.bounds(as_term(POSITION) - target)[0]
                return self._earlier(max(math.ceil(least), 0), (math.ceil(low), math.floor(high)))
        return self.globally

    def _earlier(self, least: int, positions: tuple[int, int], *, exactly: bool = False) -> Facts:
        """Of the positions so many steps before this one, at least, that lie between two bounds; of all if none seem to be."""
        places = self.language.places
        found = self.places
        for _ in range(min(least, MOST_STEPS)):
            found = frozenset(j for i in found for j in places[i].after)
        if not exactly or least > MOST_STEPS:
            while (more := found | {j for i in found for j in places[i].after}) != found:
                found = more
        ranges = {i: self.language.positions(places[i]) for i in found}
        kept = frozenset(i for i, r in ranges.items() if r.low <= positions[1] and positions[0] <= r.high)
        return self.at(kept) if kept else self.globally

    def possible(self, back: Mapping[int, Atom]) -> bool:
        """Whether the tokens so many steps back can be these words, or numbers of these families, all together."""
        found = self.places
        for step in range(max(back) + 1):
            if step:
                found = frozenset(j for i in found for j in self.language.places[i].after)
            if step in back:
                found = frozenset(i for i in found if self._stands(i, back[step]))
        return bool(found)

    def _stands(self, place: int, token: Atom) -> bool:
        word, family = self.language.places[place].word, self.language.places[place].family
        return word == token.word if isinstance(token, IsWord) else not word and token == IsNumber(family)

    def is_integer(self, value: Term) -> bool:
        """Whether it is an integer at every position."""
        return all(c.denominator == 1 and all(map(self._is_integer, monomial)) for monomial, c in value.items)

    def _is_integer(self, a: Atom) -> bool:
        match a:
            case Reciprocal():
                return False
            case Positive(of) | Sum(of) | Named(_, of):
                return self.is_integer(of)
            case Read(value, where):
                return self.is_integer(value) and not isinstance(where, Best)
        return True

    def is_bit(self, a: Atom) -> bool:
        """Whether it is 0 or 1 everywhere."""
        match a:
            case Equal() | Above() | IsWord() | IsNumber():
                return True
            case Named(_, of) if len(of.items) == 1:
                ((monomial, c),) = of.items
                return c == 1 and all(map(self.is_bit, monomial))
            case Read(value, where) if not isinstance(where, Best) and len(value.items) == 1:
                ((monomial, c),) = value.items
                return c == 1 and all(map(self.is_bit, monomial))
        return False
