"""Unit fractions, as COUNT heads write them: what is 1/t for an integer t, or 0, and which is nearest to what is asked for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Atom,
    Best,
    Equal,
    Matching,
    Named,
    Next,
    Pick,
    Read,
    Reciprocal,
    Term,
    as_term,
    term,
)
from verify.algebra.polynomial import is_whole
from verify.algebra.symbolic import is_sized, nearest, one_number, span
from verify.programs.facts import Facts
from verify.programs.forms import as_atom, expanded, with_value
from verify.programs.implied import is_zero


class Normal(Protocol):
    """What is asked of a normal form here."""

    @property
    def facts(self) -> Facts:
        """Returns where k is."""

    @property
    def everywhere(self) -> Normal:
        """Returns a normaliser for terms at any position."""

    def term(self, value: Term) -> Term:
        """Returns the normal form."""

    def inverse(self, a: Atom) -> Term | None:
        """Returns a term t with atom = 1/t, or 0 where t = 0; None for an integer, or if no rule finds one."""


def denominator(value: Term, normal: Normal) -> Term | None:
    """Returns a term t with value = 1/t where t ≥ 1, and value = 0 where t = 0; None if no rule finds one."""
    if value.is_constant:
        c = value.constant
        return as_term(1 / c if c else 0) if not c or (c > 0 and is_whole(1 / c)) else None
    denominators = [_of_product(monomial, normal) if c == 1 else None for monomial, c in value.items]
    bits = [[a for a in monomial if normal.facts.is_bit(a)] for monomial, _ in value.items]
    sure = [t for t in denominators if t is not None]
    if len(sure) == len(denominators) and all(
        normal.term(term([((*a, *b), 1)])) == ZERO for a, b in itertools.combinations(bits, 2)
    ):
        return normal.term(sum(sure, ZERO))
    for bit in dict.fromkeys(itertools.chain.from_iterable(bits)):
        off, on = (denominator(with_value(value, bit, x), normal) for x in (0, 1))
        if off is not None and on is not None:
            return normal.term(off + (on - off) * as_term(bit))
    return None


def _of_product(monomial: Sequence[Atom], normal: Normal) -> Term | None:
    """Returns the share of a product of bits and one unit fraction at most; None for another one."""
    bits = [a for a in monomial if normal.facts.is_bit(a)]
    others = [a for a in monomial if a not in bits]
    if not others:
        return term([(tuple(bits), 1)])
    t = inverse(others[0], normal) if len(others) == 1 else None
    return None if t is None else t * term([(tuple(bits), 1)])


def inverse(a: Atom, normal: Normal) -> Term | None:
    """Returns the denominator of an atom, not in normal form; None if it is no share."""
    match a:
        case Reciprocal(of):
            return of
        case Named(name, of):
            t = denominator(of, normal)
            return None if t is None else as_atom(f"1/{name}", t)
        case Read(value, where) if not isinstance(where, Best):
            t = denominator(value, normal.everywhere)
            return None if t is None else as_term(Read(t, where))
    return None


@dataclass(frozen=True)
class Wish:
    """Of the unit fractions 1/2 … 1/(d + 1), the nearest to what is asked for is 1/(q + 1) if q ≤ d, else the smallest one.

    most: an upper bound of what is asked for, which is not negative.
    """

    q: Term
    most: Fraction


def wish(query: Term, key: Term, pair: tuple[Term, Term], normal: Normal) -> Wish | None:
    """Returns what is asked for, as a function of a count of the same group: 1/q for q ≤ d + 1, or 0 for q = 0; None if no rule
    tells it.

    key: the counts, which are those of a group where pair matches.
    """
    form = expanded(query)
    others = {a for a in form.atoms if not normal.facts.is_bit(a)}
    if len(others) > 1:
        return None
    last = next(iter(others), None)
    if last is None:
        t, equal = None, []
    else:
        if not _is_count(last, key, pair):
            return None
        raw = inverse(last, normal)
        t = None if raw is None else normal.term(raw)
        if t is None:
            return None
        equal = [a for a in form.atoms if isinstance(a, Equal) and as_term(a.of) == t]
    bits = sorted((a for a in form.atoms if normal.facts.is_bit(a) and a not in equal), key=lambda a: a.order)
    if len(bits) > 2:
        return None
    q, most = ZERO, Fraction(0)
    for values in itertools.product((0, 1), repeat=len(bits)):
        part, weight = form, ONE
        for bit, x in zip(bits, values, strict=True):
            part, weight = with_value(part, bit, x), weight * (as_term(bit) if x else ONE - as_term(bit))
        part_wish = _constant(part.constant) if part.is_constant else _of_count(part, last, t, equal, normal.facts)
        if part_wish is None:
            return None
        q, most = q + weight * part_wish.q, max(most, part_wish.most)
    return Wish(as_atom("q", normal.term(q)), most)


def most(a: Atom, normal: Normal) -> int | None:
    """Returns an upper bound of the denominator, by an invariant; None if none says it. a: a unit fraction, or 0."""
    if isinstance(a, Named):
        bounds = [most(b, normal) for b in a.of.atoms if not normal.facts.is_bit(b)]
        sure = [m for m in bounds if m is not None]
        return max(sure, default=1) if len(sure) == len(bounds) else None
    for group in normal.facts.groups:
        key, count = (normal.everywhere.term(value) for value in (group.key, group.count))
        none = Matching(((key, ZERO),))
        if isinstance(a, Read) and a.value == count and is_zero(count, none, normal.facts):
            return group.most + 1
    return None


def step(x: Term, units: Sequence[tuple[Fraction, Fraction]], normal: Normal) -> Term | None:
    """Returns Σ c·max(0, x + b) for a quotient x of integers: all corners are nearer to one integer than x is, where it is not
    that.
    """
    if sum((c for c, _ in units), Fraction(0)):
        return None
    first = -units[0][1]
    at = 0 if is_sized(first) else nearest(first)  # rounded, a number of n is another one at each n
    most_under = _most_under(x, normal) if not at else None
    compared = x
    if most_under is None:
        if (ends := quotient_of(x - at, normal)) is None:
            return None
        compared, most_under = ends
    if any(abs(b + at) * most_under > 1 for _, b in units):
        return None
    there = sum((c * max(b + at, Fraction(0)) for c, b in units), Fraction(0))
    beyond = sum((c * (b + at) for c, b in units), Fraction(0))
    above = as_term(Above(compared))
    if not there:
        return above * beyond
    if there == beyond:
        return (ONE - as_term(Above(compared * -1))) * beyond
    return as_term(Equal(compared, Fraction(0))) * there + above * beyond if compared is not x else None


def _most_under(x: Term, normal: Normal) -> int | None:
    """Returns D such that a difference of two unit fractions is 0 or at least 1/D from 0, by invariants; None if none bounds it."""
    ends = _difference(x)
    if ends is None or any(inverse(a, normal) is None for a in ends):
        return None
    bounds = [m for a in ends if (m := most(a, normal)) is not None]
    if len(bounds) < len(ends):
        return None
    largest = max(2, *bounds)
    return largest * (largest - 1)


def quotient_of(x: Term, normal: Normal) -> tuple[Term, int] | None:
    """Returns an integer N and a bound of an integer D ≥ 1 with x = N/D; None if x is no polynomial of integers and reciprocals."""
    under: dict[Reciprocal, int] = {}
    for monomial, _ in x.items:
        for a in set(monomial):
            if isinstance(a, Reciprocal):
                under[a] = max(under.get(a, 0), monomial.count(a))
    if not under or not all(normal.facts.is_integer(a.of) for a in under):
        return None
    divisor = math.lcm(*(c.denominator for _, c in x.items))
    top, largest = ZERO, divisor
    for a, power in under.items():
        largest = largest * math.floor(normal.facts.bounds(a.of)[1]) ** power
    for monomial, c in x.items:
        part = term([(tuple(a for a in monomial if not isinstance(a, Reciprocal)), c * divisor)])
        for a, power in under.items():
            for _ in range(power - monomial.count(a)):
                part = part * a.of
        top = top + part
    top = normal.term(top)
    return (top, largest) if normal.facts.is_integer(top) else None


def _difference(x: Term) -> tuple[Atom, Atom] | None:
    """Returns the atoms u and v if the term is u − v, else None."""
    if len(x.items) == 2 and sorted(c for _, c in x.items) == [-1, 1] and all(len(m) == 1 for m, _ in x.items):
        (u,), (v,) = (next(m for m, c in x.items if c == sign) for sign in (1, -1))
        return u, v
    return None


def larger(of: Term, normal: Normal) -> Term | None:
    """Rewrites 1[1/U − 1/V > 0] by the denominators: U > 0, and V = 0 or V > U. Returns None for another term."""
    ends = _difference(of)
    if ends is None or any(normal.facts.is_integer(as_term(a)) for a in ends):
        return None
    u, v = (inverse(a, normal) for a in ends)
    if u is None or v is None:
        return None
    return as_term(Above(u)) * (as_term(Equal(v, Fraction(0))) + as_term(Above(v - u)))


def _is_count(a: Atom, key: Term, pair: tuple[Term, Term]) -> bool:
    return (
        isinstance(a, Read) and a.value == key and isinstance(a.where, Pick | Next) and pair in a.where.matching.pairs
    )


def _constant(value: Fraction) -> Wish | None:
    """Returns the wish of a constant: the first count for 1, no count for 0, None for another constant."""
    if not value:
        return Wish(ZERO, value)
    return Wish(ONE, value) if _between(1, value) else None


def _between(m: int, value: Fraction) -> bool:
    """Returns whether 1/(m + 1) is the nearest unit fraction, from 1/2 on, and 1/m is the nearest of those that are larger."""
    return Fraction(1, m + 1) + Fraction(1, m + 2) < 2 * value < Fraction(1, m) + Fraction(1, m + 1)


def _of_count(part: Term, last: Atom | None, t: Term | None, equal: Sequence[Equal], facts: Facts) -> Wish | None:
    """Returns a polynomial of 1/t, and constants at some t."""
    if last is None or t is None:
        return None
    off = part
    for a in equal:
        off = with_value(off, a, 0)
    coefficients: dict[int, Fraction] = {}
    for monomial, c in off.items:
        if any(a != last for a in monomial):
            return None
        coefficients[len(monomial)] = c
    if coefficients.get(0) or any(a.value < 1 for a in equal):
        return None  # where t = 0, so must be what is asked for
    start = max([1, *(one_number(a.value) for a in equal)]) + 1
    low, high = facts.bounds(t)
    most = Fraction(0)
    for m in span(max(2, math.ceil(low)), min(start - 1, math.floor(high))):
        value = part
        for a in equal:
            value = with_value(value, a, int(a.value == m))
        value = sum((as_term(c * Fraction(1, m) ** len(monomial)) for monomial, c in value.items), ZERO)
        if not _between(m, value.constant):
            return None
        most = max(most, value.constant)
    if high >= start and not _between_from(start, coefficients):
        return None
    return Wish(t, max(most, Fraction(1, start)))


def _between_from(start: int, coefficients: dict[int, Fraction]) -> bool:
    """Shows `_between` for Σ c_i/m^i and every m from `start` on: both differences have no negative coefficient in m − start."""
    power = max(coefficients)
    # Times 2·m^power·m·(m + 1)·(m + 2).
    value = _product([[2 * coefficients.get(power - i, Fraction(0)) for i in range(power + 1)], [0, 1], [1, 1], [2, 1]])
    scale = [Fraction(0)] * power + [Fraction(1)]
    below = _sum(_product([scale, [0, 1], [2, 1]]), _product([scale, [0, 1], [1, 1]]))
    above = _sum(_product([scale, [1, 1], [2, 1]]), _product([scale, [0, 1], [2, 1]]))
    differences = (_sum(value, [-c for c in below]), _sum(above, [-c for c in value]))
    return all(
        all(c >= 0 for c in shifted) and shifted[0] > 0
        for shifted in (_shift(difference, start) for difference in differences)
    )


def _product(factors: Sequence[Sequence[Fraction | int]]) -> list[Fraction]:
    coefficients = [Fraction(1)]
    for factor in factors:
        more = [Fraction(0)] * (len(coefficients) + len(factor) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(coefficients), enumerate(factor)):
            more[i + j] += a * b
        coefficients = more
    return coefficients


def _sum(a: Sequence[Fraction], b: Sequence[Fraction]) -> list[Fraction]:
    return [x + y for x, y in itertools.zip_longest(a, b, fillvalue=Fraction(0))]


def _shift(a: Sequence[Fraction], by: int) -> list[Fraction]:
    """Returns the coefficients in m − by."""
    return [
        sum((c * math.comb(j, i) * by ** (j - i) for j, c in enumerate(a) if j >= i), Fraction(0))
        for i in range(len(a))
    ]
