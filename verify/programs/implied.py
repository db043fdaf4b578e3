"""What some factors say together, where none of them is 0: which tokens stand where, and which other products are 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Atom,
    Back,
    Closest,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Matched,
    Matching,
    Named,
    Next,
    NumberOf,
    Pick,
    Read,
    Reciprocal,
    Term,
    as_term,
    term,
)
from verify.algebra.symbolic import grows
from verify.programs.facts import MOST_STEPS, Facts, Standing
from verify.programs.forms import alone, at_first, content, read_alone
from verify.programs.tables import is_number

K = as_term(POSITION)


def standing(factors: Iterable[Atom], facts: Facts) -> Standing | None:
    """Returns the tokens that they are about, and where k is; None if these exclude each other."""
    key = tuple(factors)
    if key not in facts.stood:
        facts.stood[key] = _standing(key, facts)
    return facts.stood[key]


def told_bit(a: Atom, factors: Iterable[Atom], facts: Facts) -> Fraction | None:
    """Returns the value of a bit that is read where none of the factors is 0, if their tokens determine it."""
    if not isinstance(a, Named | Read) or (isinstance(a, Read) and isinstance(a.where, Back)) or not facts.is_bit(a):
        return None
    constraint = standing(factors, facts)
    states = facts.standing(*constraint) if constraint is not None else facts.states
    if states == facts.states:
        return None
    low, high = facts.facts_at(states).bounds(as_term(a))
    return low if low == high else None


def _standing(factors: tuple[Atom, ...], facts: Facts) -> Standing | None:
    back: dict[int, Atom] = {}
    low, high = facts.positions
    for a in factors:
        for token, steps in _tokens(a):
            if _is_near(steps) and back.setdefault(steps, token) != token:
                return None
        if isinstance(a, Equal) and a.of == K:
            low, high = max(low, math.ceil(a.value)), min(high, math.floor(a.value))
        elif isinstance(a, Above) and (offset := a.of - K).is_constant:
            low = max(low, math.floor(1 - offset.constant))
        elif isinstance(a, Above) and (offset := a.of + K).is_constant:
            high = min(high, math.ceil(offset.constant - 1))
    return (back, (low, high)) if low <= high and facts.standing(back, (low, high)) else None


def _is_near(steps: int) -> bool:
    """Returns whether so many steps are followed one by one."""
    return not grows(steps) and steps <= MOST_STEPS


def _tokens(a: Atom) -> Iterator[tuple[Atom, int]]:
    """Yields what tokens so many steps back must be, or the atom is 0."""
    match a:
        case NumberOf(family):
            yield IsNumber(family), 0
        case IsWord() | IsNumber():
            yield a, 0
        case Equal(of, value) if is_number(of) and value:
            yield from (token for b in of.atoms for token in _tokens(b))
        case Read(value, Back(steps)) if len(value.items) == 1:
            yield from ((b, steps) for c in value.items[0][0] for b, at in _tokens(c) if not at)


def is_zero(value: Term, matching: Matching, facts: Facts) -> bool:
    """Returns whether it is 0 at every position that matches: each product in it has a factor that a key excludes, which is 0
    there.
    """
    excluded = [
        bits for key, query in matching.pairs if query == ZERO for bits in _exclude(content(key), facts.globally)
    ]
    return all(any(bits <= set(monomial) for bits in excluded) for monomial, _ in content(value).items)


def least_match(value: Term, matching: Matching, facts: Facts) -> Fraction:
    """Returns a lower bound of it wherever something matches: a key that is asked to be 1 or more has a product that is not 0."""
    whole, everywhere = content(value), facts.globally
    if not _sum_of_products(whole, everywhere):
        return everywhere.bounds(whole)[0]
    least = Fraction(0)
    for key, query in matching.pairs:
        if facts.bounds(query)[0] > 0 and _sum_of_products(content(key), everywhere):
            products = [frozenset(a for a in m if facts.is_bit(a)) for m, _ in content(key).items]
            least = max(least, min(_least_sum(whole, bits, everywhere) for bits in products))
    return least


def too_low(body: Term, to: Fraction, facts: Facts) -> bool:
    """Returns whether what is read at a match is more than this, and at position 1 something else."""
    a = read_alone(body)
    if a is None or not isinstance(a.where, Matched):
        return False
    return at_first(a.value, facts.start) != to < least_match(a.value, a.where.matching, facts)


def plain_pairs(key: Term, query: Term, facts: Facts) -> Iterator[tuple[Term, Term]]:
    """Yields pairs: a bit times x is what is asked for, which is not 0, where the bit is 1 and x is that; 1[x = v] is 1 where x
    is v.
    """
    if len(key.items) != 1 or key.constant:
        yield key, query
        return
    ((monomial, c),) = key.items
    bits = [a for a in monomial if facts.is_bit(a)]
    others = term([(tuple(a for a in monomial if a not in bits), c)])
    low, high = facts.bounds(query)
    if (others.is_constant and query != others) or (not others.is_constant and low <= 0 <= high):
        yield key, query
        return
    for a in bits:
        yield (a.of, as_term(a.value)) if isinstance(a, Equal) else (as_term(a), ONE)
    if not others.is_constant:
        yield others, query


def _least_sum(value: Term, bits: frozenset[Atom], facts: Facts) -> Fraction:
    """Returns a lower bound where these bits are 1; of a sum without anything negative."""
    total = Fraction(0)
    for monomial, c in value.items:
        others = [a for a in monomial if a not in bits]
        if not any(facts.is_bit(a) for a in others):
            total += c * math.prod((_least(a, bits, facts) for a in others), start=Fraction(1))
    return total


def _sum_of_products(value: Term, facts: Facts) -> bool:
    """Returns whether nothing in it is negative."""
    return all(c > 0 and all(facts.bounds(as_term(a))[0] >= 0 for a in monomial) for monomial, c in value.items)


def _exclude(key: Term, facts: Facts) -> Iterator[frozenset[Atom]]:
    """Yields sets of bits that are not all 1 where the key is 0. The key: a sum of products of bits and of positive atoms."""
    if not _sum_of_products(key, facts):
        return
    for monomial, _ in key.items:
        bits = frozenset(a for a in monomial if facts.is_bit(a))
        if all(_least(a, bits, facts) > 0 for a in monomial if a not in bits):
            yield bits


def _least(a: Atom, bits: frozenset[Atom], facts: Facts) -> Fraction:
    """Returns a lower bound of the atom where these bits are 1; of one that is not negative."""
    constraint = standing(sorted(bits, key=lambda bit: bit.order), facts)  # asked alike in every process
    if constraint is None:
        return Fraction(1)  # nowhere
    value, steps = (a.value, a.where.steps) if isinstance(a, Read) and isinstance(a.where, Back) else (as_term(a), 0)
    if not _is_near(steps) or (
        steps and facts.facts_at(facts.standing(*constraint, before=steps - 1)).positions[0] < 2
    ):
        return Fraction(0)
    return facts.facts_at(facts.standing(*constraint, before=steps)).bounds(value)[0]


def follows(a: Atom, b: Atom) -> bool:
    """Returns whether a is 1 where b is not 0: x > c where x > d with d > c; that a token is a number, where its number is not
    0.
    """
    match a, b:
        case Above(), Above():
            return (more := a.of - b.of).is_constant and more.constant > 0
        case IsNumber(), NumberOf():
            return a.family == b.family
        case IsNumber(), Equal():
            return alone(b.of) == NumberOf(a.family) and b.value != 0
        case Read(Term((((one,), 1),)), Back(steps)), Read(Term((((other,), _),)), Back(others)):
            return steps == others and follows(one, other)
    return False


def under(equal: Equal, b: Atom) -> Fraction | None:
    """Returns the value of another factor where `equal` is 1; None if that does not determine it."""
    if isinstance(b, Equal) and b.of == equal.of:
        return Fraction(0) if b.value != equal.value else Fraction(1)
    if as_term(b) == equal.of:
        return equal.value
    if isinstance(b, Above) and (offset := b.of - equal.of).is_constant:
        return Fraction(int(equal.value + offset.constant > 0))
    if isinstance(b, Read) and isinstance(b.where, Back) and equal.of == K and equal.value <= b.where.steps:
        return Fraction(0)
    if isinstance(b, Reciprocal) and (offset := b.of - equal.of).is_constant:
        return 1 / (equal.value + offset.constant)
    return None


def none_of(equal: Equal) -> Matching | None:
    """Returns what nothing matches, where this is 1."""
    if not equal.value and len(equal.of.atoms) == 1 and isinstance(a := next(iter(equal.of.atoms)), Count):
        return a.where if equal.of == as_term(a) else None
    return None


def without(value: Term, matching: Matching, start: str) -> Term:
    """Returns the same where nothing matches: what would be read there is read at position 1."""
    total = ZERO
    for monomial, c in value.items:
        product = as_term(c)
        for a in monomial:
            match a:
                case Read(read, Pick(where) | Next(where) | Closest(where)) if where == matching:
                    product = product * at_first(read, start)
                case Above(of):
                    product = product * as_term(Above(without(of, matching, start)))
                case _:
                    product = product * as_term(a)
        total = total + product
    return total
