"""The normal form: each term is replaced by an equal one, given where its position may be.

Every rule is an identity of numbers, or rests on bounds and integrality that `Facts` gives. Equal terms need not get one form; what
gets one form is equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain

from constructions.language.terms import (
    FIRST,
    ONE,
    POSITION,
    ZERO,
    Above,
    At,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Digits,
    Equal,
    IsWord,
    Matched,
    Matching,
    Monomial,
    Named,
    Nearest,
    Next,
    Pick,
    Positive,
    Read,
    Reciprocal,
    Selection,
    Sum,
    Term,
    as_term,
    term,
)
from verify.algebra.symbolic import grows, is_never_whole, one_number, span
from verify.programs import implied, matches, tables
from verify.programs.cases import BIT, with_terms
from verify.programs.facts import MOST_STEPS, Facts
from verify.programs.forms import alone, as_atom, at_first, primitive, read_alone, with_value
from verify.programs.heads import Among, Tied, as_rows, by_key, winners
from verify.programs.products import simplified
from verify.programs.shares import inverse as as_inverse
from verify.programs.shares import larger
from verify.programs.units import MOST_EXCEPTIONS, merged

K = as_term(POSITION)
POSITIONS = Sum(K)  # 1 + 2 + … + k
MOST_BITS = 4  # of which each case is looked at
NEAR = Fraction(1, 2)  # a position that is less away is nearer than all others


@dataclass(frozen=True)
class Normalizer:
    """Of terms at the states that the facts are about."""

    facts: Facts
    known: dict[Atom, Term] = field(default_factory=dict)
    around: Normalizer | None = None
    same: Mapping[Atom, Term] = field(default_factory=dict)
    inverses: dict[Atom, Term | None] = field(default_factory=dict)

    @cached_property
    def everywhere(self) -> Normalizer:
        """Returns a normaliser for terms at any position."""
        return self.around or (self if self.facts.globally is self.facts else Normalizer(self.facts.globally))

    def knowing(self, a: Atom, low: Fraction, high: Fraction) -> Normalizer:
        """Returns where an atom lies between these two as well."""
        return Normalizer(self.facts.knowing(a, low, high), around=self.everywhere, same=self.same)

    def equating(self, a: Atom, other: Term) -> Normalizer:
        """Returns where an atom is this as well."""
        return Normalizer(self.facts, around=self.everywhere, same={**self.same, a: other})

    def term(self, value: Term) -> Term:
        """Returns the normal form."""
        items: list[tuple[Monomial, Fraction]] = []
        for monomial, c in value.items:
            product = as_term(c)
            for a in monomial:
                product = self.reduced(product * self.atom(a))
            items += product.items
        return self.normalised(term(items))

    def normalised(self, value: Term) -> Term:
        """Returns the normal form of a polynomial over atoms that are in normal form."""
        while True:
            reduced = self.reduced(value)
            value = merged(reduced, self)
            if value == reduced:
                return value

    def atom(self, a: Atom) -> Term:
        """Returns an atom's normal form."""
        if a not in self.known:
            form = self._atom(a)
            self.known[a] = with_terms(form, self.same) if self.same else form
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
                return self.above(self.term(of))
            case Reciprocal(of):
                inner = self.term(of)
                return as_term(1 / inner.constant) if inner.is_constant else as_term(Reciprocal(inner))
            case Count(where):
                return self._count(self._matching(where))
            case Named(name, of):
                return as_atom(name, self.term(of))
            case Sum(of):
                return self._sum(self.everywhere.term(of))
            case Comb(of, 1, 1):
                return self._sum(self.everywhere.term(of))
            case Comb(of, steps, sign):
                items = self.everywhere.term(of).items
                return sum((self._known(Comb(term([(m, 1)]), steps, sign)) * c for m, c in items), ZERO)
            case Digits(of, base, count):
                return self._known(Digits(self.everywhere.term(of), base, count))
            case Read(value, where):
                return self._read(self.everywhere.term(value), where)
        return self._known(a)

    def _known(self, a: Atom) -> Term:
        """Returns the number that it is, if its bounds leave one."""
        a = self.facts.written_first(a)
        low, high = self.facts.bounds(as_term(a))
        return as_term(low) if low == high else as_term(a)

    @cached_property
    def position(self) -> Term:
        """k, or its number where that is known."""
        return self._known(POSITION)

    # Products

    def reduced(self, value: Term) -> Term:
        """Uses what is known of products: bits and their squares, words that exclude each other, numbers that are fixed."""
        if all(len(monomial) < 2 for monomial, _ in value.items):
            return value
        return term(chain.from_iterable(simplified(monomial, c, self) for monomial, c in value.items))

    def inverse(self, a: Atom) -> Term | None:
        """Returns a term t with atom = 1/t, or 0 where t = 0; None for an integer, or if no rule finds one."""
        if a not in self.inverses:
            t = None if self.facts.is_integer(as_term(a)) else as_inverse(a, self)
            self.inverses[a] = t and self.term(t)
        return self.inverses[a]

    # Sign and equality

    def above(self, value: Term) -> Term:
        """Returns the normal form of 1[value > 0]."""
        if (compared := larger(value, self)) is not None:
            return self.term(compared)
        if self._matching_of_order(value) is not None:
            return ONE - self.equal(value, Fraction(0))
        if (compared_sum := self._above_positions(value)) is not None:
            return compared_sum
        if (cases := self._by_bits(value, self.above)) is not None:
            return cases
        if (few := self._but_the_least(value)) is not None:
            return few
        if (turned := self._of_counts(value)) is not None:
            return turned
        return self._known(Above(value))

    def _above_positions(self, value: Term) -> Term | None:
        """Rewrites 1[s·(1 + 2 + … + k) + c > 0] as a comparison of k, with which the sum grows; None for another term."""
        body, scale = value - value.constant, Fraction(0)
        if len(body.items) == 1 and body.items[0][0] == (POSITIONS,):
            scale = body.items[0][1]
        if not scale or not all(type(c) is Fraction for c in (scale, value.constant)):
            return None
        end = -value.constant / scale
        if scale > 0:  # the sum is above the end
            return self.above(K - _last_sum(math.floor(end)))
        return ONE - self.above(K - _last_sum(math.ceil(end) - 1))

    def _but_the_least(self, value: Term) -> Term | None:
        """Rewrites 1[a·x + b > 0] by 1[x = least x], if only the least x differs from all others; else returns None.

        So it has the form that a few units have which are added up: an exception to a line. A count keeps its sign.
        """
        body, scale = value - value.constant, Fraction(0)
        if len(body.items) == 1 and len(body.items[0][0]) == 1:
            body, scale = primitive(body)
        low = self.facts.bounds(body)[0]
        plain = all(type(x) in (int, Fraction) for x in (low, scale, value.constant))
        if (
            not plain
            or not scale
            or isinstance(alone(body), Count)
            or low.denominator != 1
            or not self.facts.is_integer(body)
        ):
            return None
        changes = scale * low + value.constant > 0, scale * (low + 1) + value.constant > 0
        if changes[0] == changes[1]:
            return None
        least = self.equal(body, low)
        return least if changes[0] else ONE - least

    def _of_counts(self, value: Term) -> Term | None:
        """Rewrites 1[value > 0] of an integer made of counts with one sign, since x > 0 is not 1 − x > 0; None for another term."""
        if not any(isinstance(a, Count | Sum) for a in value.atoms) or not all(
            type(c) is Fraction for _, c in value.items
        ):
            return None
        body, scale = primitive(value - value.constant)
        if not self.facts.is_integer(body):
            return None
        # scale·F + c > 0 is F > −c/scale, or −F > −c/|scale|.
        least = math.floor(-value.constant / abs(scale)) + 1
        if scale > 0:
            return self._known(Above(body + (1 - least)))
        return ONE - self._known(Above(body + least))

    def _by_bits(self, value: Term, compared: Callable[[Term], Term]) -> Term | None:
        """Applies `compared` to a polynomial of a few bits case by case; returns None for any other polynomial."""
        atoms = sorted(value.atoms, key=lambda a: a.order)
        if not 0 < len(atoms) <= MOST_BITS or not all(map(self.facts.is_bit, atoms)):
            return None
        off, on = (compared(self.normalised(with_value(value, atoms[0], x))) for x in (0, 1))
        bit = as_term(atoms[0])
        return self.reduced((ONE - bit) * off + bit * on)

    def equal(self, value: Term, to: Fraction) -> Term:
        """Returns the normal form of 1[value = to]."""
        if value.is_constant:
            return as_term(int(value.constant == to))
        table = tables.by_token(value, self.facts.automaton, lambda x: Fraction(x == to))
        if table is not None:
            return self.term(table)
        body, scale = primitive(value - value.constant)
        to = (to - value.constant) / scale
        low, high = self.facts.bounds(body)
        if (
            not low <= to <= high
            or implied.too_low(body, to, self.facts)
            or (self.facts.is_integer(body) and is_never_whole(to))
        ):
            return ZERO
        if low == high:
            return ONE
        if alone(body) == POSITIONS and type(to) is Fraction:  # k·(k + 1)/2 has each value once
            last = _last_sum(math.floor(to))
            return self.equal(K, Fraction(last)) if last * (last + 1) == 2 * to else ZERO
        bit = alone(body)  # not n times a bit: a number of n is no scale that is taken out
        if bit is not None and self.facts.is_bit(bit):
            return body if to == 1 else ONE - body
        if not to and (matching := self._matching_of_order(body)) is not None:
            return self._known(Equal(as_term(Count(matching)), to))
        if (cases := self._by_bits(body - to, lambda rest: self.equal(rest, Fraction(0)))) is not None:
            return cases
        return self._known(Equal(body, to))

    def _matching_of_order(self, body: Term) -> Matching | None:
        """Returns the matching whose next key the term reads, if the term is 0 exactly where nothing matches; else None."""
        a = read_alone(body)
        if a is None or not isinstance(a.where, Next) or a.value != a.where.key:
            return None
        sure = (
            not at_first(a.value, self.facts.start) and implied.least_match(a.value, a.where.matching, self.facts) > 0
        )
        return a.where.matching if sure else None

    def positive(self, value: Term) -> Term:
        """Returns the normal form of max(0, value)."""
        low, high = self.facts.bounds(value)
        if low >= 0:
            return value
        if high <= 0:
            return ZERO
        table = tables.by_token(value, self.facts.automaton, lambda x: max(x, Fraction(0)))
        if table is not None:
            return self.term(table)
        body, scale = primitive(value - value.constant)
        if scale < 0:  # max(0, x) = max(0, −x) + x
            return self.positive(value * -1) + value
        offset = value.constant / scale
        for monomial, _ in body.items:
            for a in monomial:
                if self.facts.is_bit(a):
                    b = as_term(a)
                    off, on = (self.positive(self.normalised(with_value(value, a, x))) for x in (0, 1))
                    return self.reduced((ONE - b) * off + b * on)
        of = self.inverse(body.items[0][0][0]) if len(body.items) == 1 and len(body.items[0][0]) == 1 else None
        if of is not None and offset < 0:
            below = -1 / offset  # 1/t + offset > 0 if and only if t < below
            if below <= MOST_EXCEPTIONS:
                if grows(below):  # a quotient that cannot be rounded
                    times = [t for t in range(1, MOST_EXCEPTIONS + 1) if Fraction(1, t) + offset > 0]
                else:
                    times = span(1, math.ceil(below) - 1)
                values = [(t, as_term(scale * (Fraction(1, t) + offset))) for t in times]
                return sum((self.equal(of, Fraction(t)) * v for t, v in values), ZERO)
        return as_term(Positive(body + offset)) * scale

    # Reads

    def _count(self, matching: Matching) -> Term:
        """Returns how many positions of 2 … k match. Where bits alone tell it, whatever the query: the sum of what says so, by
        products.
        """
        plain = [key.is_constant and query.is_constant for key, query in matching.pairs]
        if any(both and key - query != ZERO for both, (key, query) in zip(plain, matching.pairs, strict=True)):
            return ZERO
        pairs = [pair for both, pair in zip(plain, matching.pairs, strict=True) if not both]
        if not pairs:
            return self.position - 1
        if self._asks_position(pairs):  # one can match, if it is one of 2 … k
            return self.reduced(self.above(pairs[0][1] - 1) * (ONE - self.above(pairs[0][1] - K)))
        everywhere = self.everywhere
        of_bits = all(query.is_constant and all(map(self.facts.is_bit, key.atoms)) for key, query in pairs)
        if of_bits and any(len(key.items) > 1 or query == ZERO for key, query in pairs):
            bit = ONE
            for key, query in pairs:
                bit = everywhere.reduced(bit * everywhere.equal(key, query.constant))
            if len(bit.items) != 1:
                return self._sum(bit) - at_first(bit, self.facts.start)
        return self._known(Count(Matching(tuple(pairs))))

    def _asks_position(self, pairs: Sequence[tuple[Term, Term]]) -> bool:
        """Returns whether the position itself is the key, and the only one, and an integer is asked for: half of one matches
        nothing.
        """
        return len(pairs) == 1 and pairs[0][0] == K and self.facts.is_integer(pairs[0][1])

    def _sum(self, of: Term) -> Term:
        total = ZERO
        for monomial, c in of.items:
            bit = term([(monomial, 1)])
            if not monomial:
                total = total + self.position * c
            elif monomial == (FIRST,):
                total = total + c
            elif all(map(self.facts.is_bit, monomial)):
                count = self._count(_sort(implied.plain_pairs(bit, ONE, self.facts)))
                total = total + (count + at_first(bit, self.facts.start)) * c
            else:
                total = total + as_term(Sum(bit)) * c
        return total

    def _matching(self, matching: Matching) -> Matching:
        everywhere = self.everywhere
        pairs = [self._turn(everywhere.term(key), self.term(query)) for key, query in matching.pairs]
        plain = (pair for key, query in pairs for pair in implied.plain_pairs(key, query, self.facts))
        return _sort((with_value(key, FIRST, 0), query) for key, query in plain)  # of 2 … k none is the first

    def _turn(self, key: Term, query: Term) -> tuple[Term, Term]:
        """Rewrites key = query: 1 − b = y becomes b = 1 − y, and 1[x > 0] = 0 becomes x = 0 if x is never negative."""
        bit = alone(ONE - key)
        if bit is not None and self.facts.is_bit(bit):
            key, query = as_term(bit), ONE - query
        if query == ZERO and isinstance(a := alone(key), Above) and not a.of.constant:
            key = a.of if self.everywhere.facts.bounds(a.of)[0] >= 0 else key
        return key, query

    def _read(self, value: Term, where: Selection) -> Term:
        match where:
            case Best(rows):
                everywhere = self.everywhere
                score = by_key(tuple((everywhere.term(key), self.term(query)) for key, query in rows))
                if not score:  # all positions have one score
                    return self.normalised(self.term(as_term(Sum(value))) * self.term(as_term(Reciprocal(K))))
                winner = winners({m: self.normalised(query) for m, query in score.items()}, self)
                if isinstance(winner, Nearest | Matched):
                    return self._read(value, winner)
                if isinstance(winner, Among) and self._none(value, winner.matching):
                    return ZERO
                if isinstance(winner, Tied) and set(value.atoms) == {FIRST} and value.constant == 0:
                    return as_term(Reciprocal(ONE + self.atom(Count(winner.matching)))) * value.items[0][1]
                best = Best(as_rows(score), where.where)
                return sum((as_term(Read(term([(m, 1)]), best)) * c if m else as_term(c) for m, c in value.items), ZERO)
            case Nearest(target):
                target_term = self.term(target)
                offset = self._from_here(target_term)
                if self.facts.bounds(target_term)[1] <= 1:
                    return as_term(at_first(value, self.facts.start))
                if self.facts.bounds(offset)[0] >= 0:
                    return self.term(value)
                if offset.is_constant:
                    return self._clamp(value, one_number(-offset.constant))
                if self.facts.bounds(target_term)[0] >= 1 and self.facts.bounds(offset)[1] <= 0:
                    return self._read(value, At(target_term))
                return self._distribute(value, Nearest(target_term))
            case At(target):
                target_term = self.term(target)
                offset = self._from_here(target_term)
                if offset == ZERO:
                    return self.term(value)
                if target_term == ONE:
                    return as_term(at_first(value, self.facts.start))
                if offset.is_constant:
                    return self._read(value, Back(one_number(-offset.constant)))
                return self._distribute(value, At(target_term))
            case Pick(matching, last):
                return self._pick(value, Pick(self._matching(matching), last))
            case Next(matching, key, query):
                return self._pick(value, Next(self._matching(matching), self.everywhere.term(key), self.term(query)))
            case Closest(matching, target):
                return self._pick(value, self._closest(self._matching(matching), self.term(target)))
            case Back():
                return self._distribute(value, where)

    def _from_here(self, target_term: Term) -> Term:
        """Returns how far a position lies after k; a number where k is known, if these are a few steps back."""
        offset, known = target_term - K, target_term - self.position
        few = known.is_constant and type(known.constant) is Fraction and -MOST_STEPS <= known.constant <= 0
        return known if few else offset

    def _closest(self, matching: Matching, target: Term) -> Pick | Closest:
        """Simplifies: of positions from 2 to k, what is nearest to f ≤ 2 is the first, and what is nearest to f > k − 1/2 is the
        last.

        Of two as near to an integer f the first is meant: it is nearer to f − 1/4. Another one that is farther from f is so by 1 at
        least, as all are integers, and by 1/2 at least from f − 1/4.
        """
        high, low = self.facts.bounds(target)[1], self.facts.bounds(target - K)[0]
        if type(high) is Fraction and high <= 2:
            return Pick(matching)
        if type(low) is Fraction and low > -NEAR:
            return Pick(matching, last=True)
        return Closest(matching, target - NEAR / 2 if self.facts.is_integer(target) else target)

    def _none(self, value: Term, matching: Matching) -> bool:
        """Returns whether it is 0 at position 1 and wherever it matches."""
        return not at_first(value, self.facts.start) and implied.is_zero(value, matching, self.facts)

    def _pick(self, value: Term, where: Matched) -> Term:
        """Returns what is read: at position 1 if nothing can match, 0 if each match has that, at a position that is known, or
        the atom itself.
        """
        nobody = self.facts.given.get(Equal(as_term(Count(where.matching)), Fraction(0)), BIT) == (
            Fraction(1),
            Fraction(1),
        )
        if nobody:
            return as_term(at_first(value, self.facts.start))
        if isinstance(where, Pick | Closest) and self._asks_position(where.matching.pairs):
            target, first = where.matching.pairs[0][1], at_first(value, self.facts.start)
            there = self._read(value, Nearest(target)) - first
            return self.normalised(there * (ONE - self.above(target - K)) + first)
        if isinstance(where, Pick) and matches.picks_itself(self.facts, where):
            return self.term(value)
        low, high = self.facts.bounds(as_term(Read(value, where)))
        if low == high:
            return as_term(low)
        if self._none(value, where.matching):
            return ZERO
        if isinstance(where, Pick) and not where.last:
            position = matches.first_match(self.facts, where.matching)
            if position is not None:
                return self._read(value, At(as_term(position)))
        return self._distribute(value, where)

    def _before(self, steps: int) -> Term:
        """Returns 1[k ≤ steps]."""
        if grows(steps):
            return ONE - self.above(K - steps)
        return sum((self.equal(K, Fraction(i)) for i in range(1, steps + 1)), ZERO)

    def _clamp(self, value: Term, steps: int) -> Term:
        """Reads a value at position max(k − steps, 1)."""
        first = at_first(value, self.facts.start)
        return self.normalised(self._read(value, Back(steps)) + self._before(steps) * first)

    def _distribute(self, value: Term, where: Selection) -> Term:
        """Distributes a read over a polynomial: at one position, it is the polynomial of what is read."""
        total = ZERO
        for monomial, c in value.items:
            product = as_term(c)
            if isinstance(where, Matched) and len(set(monomial)) > 1:
                total = total + self._whole(monomial, where) * c
                continue
            if isinstance(where, Back) and not monomial:
                product = product * (ONE - self._before(where.steps))
            for a in monomial:
                product = self.reduced(product * self._one(a, where))
            total = total + product
        return self.normalised(total)

    def _whole(self, monomial: Monomial, where: Selection) -> Term:
        """Returns a product as one atom: bits and a square are the square of bits and what is squared."""
        bits = tuple(a for a in monomial if self.facts.is_bit(a))
        others = [a for a in monomial if a not in bits]
        if len(others) == 2 and others[0] == others[1]:
            root = self._known(Read(term([((*bits, others[0]), 1)]), where))
            return root * root
        return self._known(Read(term([(monomial, 1)]), where))

    def _one(self, a: Atom, where: Selection) -> Term:
        if isinstance(where, At) and a == POSITION:
            return where.target
        if isinstance(where, At) and where.target.is_constant and isinstance(a, Read) and isinstance(a.where, Back):
            earlier = where.target - a.where.steps
            return self._read(a.value, At(earlier)) if earlier.constant >= 1 else ZERO
        if isinstance(where, Back):
            steps = where.steps
            if a == POSITION:
                early = (self.equal(K, Fraction(i)) * (i - steps) for i in range(1, steps + 1))
                return self.position - steps - sum(early, ZERO)
            if isinstance(a, Equal) and a.of == K:
                return self.equal(K, a.value + steps)
            if (
                isinstance(a, Above)
                and a.of.atoms == {POSITION}
                and len(a.of.items) <= 2
                and len(a.of.items[-1][0]) == 1
            ):
                slope = a.of.items[-1][1]
                return self.reduced(self.above(a.of - slope * steps) * (ONE - self._before(steps)))
            if isinstance(a, Equal) and tables.is_number(a.of) and a.value:  # a token that there is not has 0
                return self.equal(self._distribute(a.of, where), a.value)
            if isinstance(a, Read) and isinstance(a.where, Back):
                before, inner = Back(steps + a.where.steps), alone(a.value)
                return self._one(inner, before) if isinstance(inner, Named) else self._known(Read(a.value, before))
            if isinstance(a, Named) and not tables.is_table(a.of):
                return self._distribute(a.of, where)
        form = self._known(Read(as_term(a), where))
        if (
            not form.is_constant
            and isinstance(a, Named)
            and isinstance(where, Back)
            and self.facts.tells_of(where.steps)
        ):
            return self._distribute(a.of, where)
        return form


def _last_sum(most: int) -> int:
    """Returns the largest k ≥ 0 with 1 + 2 + … + k ≤ most; 0 if there is none."""
    return (math.isqrt(8 * most + 1) - 1) // 2 if most > 0 else 0


def _sort(pairs: Iterable[tuple[Term, Term]]) -> Matching:
    """Returns each pair once, in one order."""
    return Matching(tuple(sorted({*pairs}, key=lambda pair: (pair[0].order, pair[1].order))))
