"""The normal form: each term is replaced by an equal one, given where its position may be.

Every rule is an identity of numbers, or rests on bounds and integrality that `Facts` gives. Equal terms need not get one form; what
gets one form is equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain

from verify.programs.facts import Facts
from verify.programs.heads import FIRST, Tied, as_rows, by_key, winners
from verify.programs.implied import follows, is_zero, standing, under
from verify.programs.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    At,
    Atom,
    Back,
    Best,
    Count,
    Equal,
    IsWord,
    Matching,
    Monomial,
    Named,
    Nearest,
    Pick,
    Positive,
    Read,
    Reciprocal,
    Selection,
    Sum,
    Term,
    as_term,
    at_first,
    named,
    primitive,
    term,
)

MOST_EXCEPTIONS = 8  # of a piecewise linear function, from a line
MOST_POINTS = 64
K = as_term(POSITION)


@dataclass(frozen=True)
class Normalizer:
    """Of terms at the places that the facts are about."""

    facts: Facts
    known: dict[Atom, Term] = field(default_factory=dict)
    around: Normalizer | None = None

    @cached_property
    def everywhere(self) -> Normalizer:
        """Of terms at any position."""
        return self.around or (self if self.facts.globally is self.facts else Normalizer(self.facts.globally))

    def knowing(self, a: Atom, low: Fraction, high: Fraction) -> Normalizer:
        """Where an atom lies between these two as well."""
        return Normalizer(self.facts.knowing(a, low, high), around=self.everywhere)

    def term(self, value: Term) -> Term:
        """The normal form."""
        total = ZERO
        for monomial, c in value.items:
            product = as_term(c)
            for a in monomial:
                product = self.reduced(product * self.atom(a))
            total = total + product
        return self.settled(total)

    def settled(self, value: Term) -> Term:
        """The normal form of a polynomial over atoms that are in normal form."""
        while True:
            reduced = self.reduced(value)
            value = self._merged(reduced)
            if value == reduced:
                return value

    def atom(self, a: Atom) -> Term:
        """An atom's normal form."""
        if a not in self.known:
            self.known[a] = self._atom(a)
        return self.known[a]

    def _atom(self, a: Atom) -> Term:
        match a:
            case IsWord(word) if word == self.facts.start and self.facts.starts_once:
                return self.equal(K, Fraction(1))
            case Positive(of):
                return self.positive(self.term(of))
            case Equal(of, value):
                return self.equal(self.term(of), value)
            case Above(of):
                return self._known(Above(self.term(of)))
            case Reciprocal(of):
                inner = self.term(of)
                return as_term(1 / inner.constant) if inner.is_constant else as_term(Reciprocal(inner))
            case Count(where):
                return as_term(Count(self._matching(where)))
            case Named(name, of):
                return named(name, self.term(of))
            case Sum(of):
                return self._sum(self.everywhere.term(of))
            case Read(value, where):
                return self._read(self.everywhere.term(value), where)
        return self._known(a)

    def _known(self, a: Atom) -> Term:
        """The number that it is, if its bounds leave one."""
        low, high = self.facts.bounds(as_term(a))
        return as_term(low) if low == high else as_term(a)

    # Products

    def reduced(self, value: Term) -> Term:
        """With what is known of products: bits and their squares, words that exclude each other, numbers that are fixed."""
        return term(chain.from_iterable(self._product(monomial, c) for monomial, c in value.items))

    def _product(self, monomial: Monomial, c: Fraction) -> Iterator[tuple[Monomial, Fraction]]:
        if len(monomial) < 2:
            yield monomial, c
            return
        kept = [a for i, a in enumerate(monomial) if a not in monomial[:i] or not self.facts.is_bit(a)]
        if standing(kept, self.facts) is None:
            return
        if FIRST in kept:
            others = term([(tuple(a for a in kept if a != FIRST), c)])
            yield from (term([((FIRST,), 1)]) * at_first(others, self.facts.start)).items
            return
        kept = [a for a in kept if not any(follows(a, b) for b in kept)]
        for a in kept:
            if isinstance(a, Equal):
                for b in kept:
                    value = under(a, b)
                    if a != b and value is not None:
                        rest = list(kept)
                        rest.remove(b)
                        if value:
                            yield from self._product(tuple(rest), c * value)
                        return
        yield tuple(kept), c

    # Sign and equality

    def equal(self, value: Term, to: Fraction) -> Term:
        """1[value = to]."""
        if value.is_constant:
            return as_term(int(value.constant == to))
        body, scale = primitive(value - value.constant)
        to = (to - value.constant) / scale
        low, high = self.facts.bounds(body)
        if not low <= to <= high or (self.facts.is_integer(body) and to.denominator > 1):
            return ZERO
        if low == high:
            return ONE
        if len(body.items) == 1 and len(body.items[0][0]) == 1 and self.facts.is_bit(body.items[0][0][0]):
            return body if to == 1 else ONE - body
        return self._known(Equal(body, to))

    def positive(self, value: Term) -> Term:
        """max(0, value)."""
        low, high = self.facts.bounds(value)
        if low >= 0:
            return value
        if high <= 0:
            return ZERO
        body, scale = primitive(value - value.constant)
        if scale < 0:  # max(0, x) = max(0, −x) + x
            return self.positive(value * -1) + value
        offset = value.constant / scale
        for monomial, _ in body.items:
            for a in monomial:
                if self.facts.is_bit(a):
                    b = as_term(a)
                    off, on = (self.positive(self.settled(_with(value, a, x))) for x in (0, 1))
                    return self.reduced((ONE - b) * off + b * on)
        if len(body.items) == 1 and len(body.items[0][0]) == 1 and isinstance(body.items[0][0][0], Reciprocal):
            below = -1 / offset  # 1/t + offset > 0 if and only if t < below
            of = body.items[0][0][0].of
            if below <= MOST_EXCEPTIONS:
                values = [as_term(scale * (Fraction(1, t) + offset)) for t in range(1, math.ceil(below))]
                return sum((self.equal(of, Fraction(t)) * v for t, v in enumerate(values, start=1)), ZERO)
        return as_term(Positive(body + offset)) * scale

    def _merged(self, value: Term) -> Term:
        """With a line and a few exceptions in place of units over one integer."""
        groups: dict[tuple[Term, Monomial], list[tuple[Fraction, Fraction]]] = {}
        for monomial, c in value.items:
            for i, a in enumerate(monomial):
                if isinstance(a, Positive):
                    key = a.of - a.of.constant, monomial[:i] + monomial[i + 1 :]
                    groups.setdefault(key, []).append((c, a.of.constant))
                    break
        for (body, others), units in groups.items():
            line = self._line(body, units)
            if line is not None:
                cofactor = term([(others, 1)])
                old = sum((as_term(Positive(body + offset)) * c for c, offset in units), ZERO)
                return value + (line - old) * cofactor
        return value

    def _line(self, x: Term, units: list[tuple[Fraction, Fraction]]) -> Term | None:
        """Σ c·max(0, x + b) over the integers that x can be, as a line and exceptions; None if they are many."""
        if not self.facts.is_integer(x):
            return None
        low, high = (math.floor(end) for end in self.facts.bounds(x))
        first, last = math.floor(min(-b for _, b in units)), math.ceil(max(-b for _, b in units))
        slope, shift = sum(c for c, _ in units), sum(c * b for c, b in units)
        inside = range(max(low, first), min(high, last) + 1)
        if len(inside) > MOST_POINTS:
            return None
        found: list[tuple[int, Term]] = []
        for a, d in ((Fraction(0), Fraction(0)), (slope, shift)):
            points = list(inside)
            if (a, d) != (0, 0):
                points += range(low, min(first, low + MOST_POINTS))
            if (a, d) != (slope, shift):
                points += range(max(last + 1, high - MOST_POINTS), high + 1)
            values = {i: sum((c * max(i + b, Fraction(0)) for c, b in units), Fraction(0)) - a * i - d for i in points}
            exceptions = {i: v for i, v in values.items() if v}
            if len(exceptions) <= MOST_EXCEPTIONS:
                line = sum((self.equal(x, Fraction(i)) * v for i, v in exceptions.items()), x * a + d)
                found.append((len(exceptions), line))
        if not slope and shift:  # a step
            values = {i: sum((c * max(i + b, Fraction(0)) for c, b in units), Fraction(0)) for i in inside if i < last}
            line = as_term(Above(x + (1 - last))) * shift
            exceptions = {i: v for i, v in values.items() if v}
            if len(exceptions) <= MOST_EXCEPTIONS:
                line = sum((self.equal(x, Fraction(i)) * v for i, v in exceptions.items()), line)
                found.append((len(exceptions) + 1, line))
        return min(found, key=lambda line: line[0])[1] if found else None

    # Reads

    def _sum(self, of: Term) -> Term:
        total = ZERO
        for monomial, c in of.items:
            bit = term([(monomial, 1)])
            if not monomial:
                total = total + K * c
            elif all(map(self.facts.is_bit, monomial)) and not at_first(bit, self.facts.start):
                total = total + as_term(Count(Matching(((bit, ONE),)))) * c
            else:
                total = total + as_term(Sum(bit)) * c
        return total

    def _matching(self, matching: Matching) -> Matching:
        everywhere = self.everywhere
        pairs = [(everywhere.term(key), self.term(query)) for key, query in matching.pairs]
        plain = {pair for key, query in pairs for pair in self._plain(key, query)}
        return Matching(tuple(sorted(plain, key=lambda pair: (pair[0].order, pair[1].order))))

    def _plain(self, key: Term, query: Term) -> Iterator[tuple[Term, Term]]:
        """A bit times x is what is asked for, which is not 0, where the bit is 1 and x is that; 1[x = v] is 1 where x is v."""
        if len(key.items) != 1 or key.constant:
            yield key, query
            return
        ((monomial, c),) = key.items
        bits = [a for a in monomial if self.facts.is_bit(a)]
        others = term([(tuple(a for a in monomial if a not in bits), c)])
        low, high = self.facts.bounds(query)
        if (others.is_constant and query != others) or (not others.is_constant and low <= 0 <= high):
            yield key, query
            return
        for a in bits:
            yield (a.of, as_term(a.value)) if isinstance(a, Equal) else (as_term(a), ONE)
        if not others.is_constant:
            yield others, query

    def _read(self, value: Term, where: Selection) -> Term:
        match where:
            case Best(rows):
                everywhere = self.everywhere
                score = by_key(tuple((everywhere.term(key), self.term(query)) for key, query in rows))
                found = winners({m: self.settled(query) for m, query in score.items()}, self.facts, self.term)
                if isinstance(found, Nearest | Pick):
                    return self._read(value, found)
                if isinstance(found, Tied) and set(value.atoms) == {FIRST} and value.constant == 0:
                    return as_term(Reciprocal(ONE + self.atom(Count(found.matching)))) * value.items[0][1]
                best = Best(as_rows(score), where.where)
                return sum((as_term(Read(term([(m, 1)]), best)) * c if m else as_term(c) for m, c in value.items), ZERO)
            case Nearest(target):
                named = self.term(target)
                offset = named - K
                if offset.is_constant and offset.constant >= 0:
                    return self.term(value)
                if offset.is_constant:
                    return self._clamped(value, -int(offset.constant))
                if self.facts.bounds(named)[0] >= 1 and self.facts.bounds(offset)[1] <= 0:
                    return self._read(value, At(named))
                return self._distributed(value, Nearest(named))
            case At(target):
                named = self.term(target)
                if named == K:
                    return self.term(value)
                if (offset := named - K).is_constant:
                    return self._read(value, Back(-int(offset.constant)))
                return self._distributed(value, At(named))
            case Pick(matching, last):
                return self._picked(value, Pick(self._matching(matching), last))
            case Back():
                return self._distributed(value, where)

    def _picked(self, value: Term, where: Pick) -> Term:
        """At position 1 where nothing can match; 0 where each match has that; at a position that is known; or what is read."""
        first = as_term(at_first(value, self.facts.start))
        if not self.facts.matching_places(where.matching):
            return first
        if first == ZERO and is_zero(value, where.matching, self.facts):
            return ZERO
        if not where.last and (position := self.facts.first_match(where.matching)) is not None:
            return self._read(value, At(as_term(position)))
        return self._distributed(value, where)

    def _before(self, steps: int) -> Term:
        """1[k ≤ steps]."""
        return sum((self.equal(K, Fraction(i)) for i in range(1, steps + 1)), ZERO)

    def _clamped(self, value: Term, steps: int) -> Term:
        """At position max(k − steps, 1)."""
        first = at_first(value, self.facts.start)
        return self.settled(self._read(value, Back(steps)) + self._before(steps) * first)

    def _distributed(self, value: Term, where: Selection) -> Term:
        """One position is read: a polynomial there is that of what is read."""
        total = ZERO
        for monomial, c in value.items:
            product = as_term(c)
            if isinstance(where, Back) and not monomial:
                product = product * (ONE - self._before(where.steps))
            for a in monomial:
                product = self.reduced(product * self._one(a, where))
            total = total + product
        return self.settled(total)

    def _one(self, a: Atom, where: Selection) -> Term:
        if isinstance(where, At) and a == POSITION:
            return where.target
        if isinstance(where, Back):
            steps = where.steps
            if a == POSITION:
                early = (self.equal(K, Fraction(i)) * (i - steps) for i in range(1, steps + 1))
                return K - steps - sum(early, ZERO)
            if isinstance(a, Equal) and a.of == K:
                return self.equal(K, a.value + steps)
            if isinstance(a, Read) and isinstance(a.where, Back):
                return self._known(Read(a.value, Back(steps + a.where.steps)))
            if isinstance(a, Named):
                return self._distributed(a.of, where)
        return self._known(Read(as_term(a), where))


def _with(value: Term, a: Atom, x: int) -> Term:
    """The term where an atom of it is this number."""
    return term((tuple(b for b in m if b != a), c * (x if a in m else 1)) for m, c in value.items)
