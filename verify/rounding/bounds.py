"""Bounds of polynomials over atoms, for all values of the atoms at once: exact interval arithmetic, wide perhaps, never wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verify.algebra.domains import (
    POSITION,
    SIZE,
    Domain,
    Integer,
    Interval,
    Reciprocal,
    Rounded,
    Space,
    Undecided,
)
from verify.algebra.polynomial import (
    ZERO,
    Form,
    Monomial,
    Number,
    Polynomial,
    atom,
    constant,
    form_polynomial,
    is_whole,
    quotient,
)
from verify.algebra.symbolic import at_most, grows


@dataclass(frozen=True)
class Bounded:
    """Polynomials over atoms with domains, and what is known of their values.

    registers: coordinate → polynomial, zero if left out; below 0: what heads have read so far. box: atom → domain.
    forms: affine form → bounds.
    """

    space: Space
    registers: Mapping[int, Polynomial]
    box: Mapping[str, Domain]
    forms: Mapping[Form, tuple[int, int]] = field(default_factory=dict)

    @property
    def position(self) -> Integer:
        """The positions of this state lie here."""
        domain = self.box[POSITION]
        if not isinstance(domain, Integer):
            raise TypeError("domain is no Integer")
        return domain

    def register(self, index: int) -> Polynomial:
        """Returns what a register holds."""
        return self.registers.get(index, ZERO)

    def integer(self, name: str) -> Integer | None:
        """Returns the domain of an Integer atom."""
        domain = self.box[name]
        return domain if isinstance(domain, Integer) else None

    def ideal(self, polynomial: Polynomial) -> Polynomial:
        """Returns its ideal value, over Integer and Reciprocal atoms."""
        values = {a: d.ideal for a in polynomial.atoms if isinstance(d := self.box[a], Rounded)}
        return polynomial.substitute(values) if values else polynomial

    def bounds(self, polynomial: Polynomial, *, ideal: bool = False, refined: bool = True) -> Interval:
        """Returns an interval that contains it, in the rounded or in the ideal reading. refined: by all that is known of several
        atoms.
        """
        if not polynomial.atoms:
            return polynomial.constant, polynomial.constant
        if ideal:
            polynomial = self.ideal(polynomial)
        low: Any = polynomial.constant
        high: Any = low
        is_sum = () in polynomial.terms  # 0 + a Fraction takes long
        for monomial, c in polynomial.terms.items():
            if monomial:
                a, b = self._monomial(monomial, ideal)
                if c != 1:
                    a, b = (c * a, c * b) if c > 0 else (c * b, c * a)
                low, high = (low + a, high + b) if is_sum else (a, b)
                is_sum = True
        return self._refine(polynomial, low, high, ideal) if refined else (low, high)

    def _refine(self, polynomial: Polynomial, low: Fraction, high: Fraction, ideal: bool) -> Interval:
        """Narrows bounds by what is known of several atoms together."""
        if len(polynomial.atoms) < 2:
            return low, high
        if any(isinstance(self.box[name], Reciprocal) for name in polynomial.atoms):
            intervals = (
                *self._by_difference(polynomial, ideal),
                *self._by_ratio(polynomial, ideal),
                *self._by_mean(polynomial, ideal),
            )
        else:
            intervals = tuple(self._by_form(polynomial))
        for end, other in intervals:
            low, high = max(low, end), min(high, other)
        return low, high

    def form_bounds(self, form: Form) -> tuple[int, int]:
        """Returns bounds of a form of Integer atoms."""
        low = high = 0
        for name, c in form:
            domain = self.box[name]
            if not isinstance(domain, Integer):
                raise TypeError("domain is no Integer")
            first, last = (domain.low, domain.high) if c > 0 else (domain.high, domain.low)
            low, high = low + c * first, high + c * last
        if form in self.forms and len(form) > 1:
            first, last = self.forms[form]
            return max(low, first), min(high, last)
        return low, high

    def _monomial(self, monomial: Monomial, ideal: bool) -> tuple[Number, Number]:
        if len(monomial) == 1:
            return self._atom(monomial[0], ideal)
        low: Number = 1
        high: Number = 1
        for name, group in itertools.groupby(monomial):
            power = len(list(group))
            a, b = self._atom(name, ideal)
            if power > 1:
                least = 0 if power % 2 == 0 and a < 0 < b else min(a**power, b**power)
                a, b = least, max(a**power, b**power)
            if low >= 0 and a >= 0:
                low, high = low * a, high * b
            else:
                ends = (low * a, low * b, high * a, high * b)
                low, high = min(ends), max(ends)
        return low, high

    def _atom(self, name: str, ideal: bool) -> tuple[Number, Number]:
        domain = self.box[name]
        if isinstance(domain, Integer):
            return domain.low, domain.high
        if isinstance(domain, Reciprocal):
            index = self.index_of(domain)
            if ideal:
                return quotient(1, index.high.power_above if grows(index.high) else index.high), quotient(1, index.low)
            return self.space.reciprocals(index.low, index.high)
        return domain.low, domain.high

    def index_of(self, domain: Reciprocal) -> Integer:
        """Returns the range of m + s in ROUND(1/(m + s))."""
        of = self.integer(domain.of)
        if of is None:
            raise TypeError("there is no of")
        if of.low + domain.shift < 1:
            raise Undecided(f"1/{domain.of}", f"its denominator may be {of.low + domain.shift}")
        return Integer(of.low + domain.shift, of.high + domain.shift)

    def _by_form(self, polynomial: Polynomial) -> Iterator[Interval]:
        """Yields what `forms` knows of an affine form of Integer atoms."""
        if not self.forms or not self.is_integer_affine(polynomial):
            return
        form, factor = polynomial.canonical
        if form in self.forms:
            a, b = (factor * end for end in self.forms[form])
            yield polynomial.constant + min(a, b), polynomial.constant + max(a, b)
        else:
            yield from self._by_part(polynomial)

    def _by_part(self, polynomial: Polynomial) -> Iterator[Interval]:
        """Yields a known form times a number, chosen so that one of its atoms is in this part alone, and the rest.

        What depends on n and two atoms more is left to splits.
        """
        if len(polynomial.atoms) > 2 and SIZE in polynomial.atoms:
            return
        for body, ends in self.forms.items():
            if not polynomial.atoms.issuperset(name for name, _ in body):
                continue
            known = form_polynomial(body)
            for name, c in body:
                if name == SIZE:
                    continue
                times = quotient(polynomial.terms[name,], c)
                low, high = self.bounds(polynomial - known * times, refined=False)
                a, b = sorted(times * end for end in ends)
                yield low + a, high + b

    def _by_difference(self, polynomial: Polynomial, ideal: bool) -> Iterator[Interval]:
        """Yields bounds of c·(1/a − 1/b) + d, each 1/… rounded, if a ≤ b or a < b is known."""
        pairs = [(m[0], c) for m, c in polynomial.terms.items() if m]
        if len(pairs) != 2 or not polynomial.is_affine or pairs[0][1] != -pairs[1][1]:
            return
        for (x, c), (y, _) in (pairs, pairs[::-1]):
            first, second = self.box[x], self.box[y]
            if not isinstance(first, Reciprocal) or not isinstance(second, Reciprocal):
                return
            apart = atom(second.of) - atom(first.of) + constant(second.shift - first.shift)  # b − a
            least = self.bounds(apart)[0]
            if least < 0:
                continue
            difference = Fraction(0)
            if least >= 1:
                a = min(self.index_of(first).high, self.index_of(second).high - 1)
                difference = quotient(1, a * (a + 1))
                if not ideal:
                    difference = max(difference - self.space.step, Fraction(0))
            if c > 0:
                yield polynomial.constant + c * difference, polynomial.constant + c
            else:
                yield polynomial.constant + c, polynomial.constant + c * difference

    def ratio(self, polynomial: Polynomial) -> tuple[Fraction, Polynomial, Reciprocal] | None:
        """Returns c, A and 1/M of c·A·(1/M) + d, with A an affine form of Integer atoms, its leading coefficient 1; else None."""
        names = {n for m in polynomial.terms for n in m if isinstance(self.box[n], Reciprocal)}
        terms = [(m, c) for m, c in polynomial.terms.items() if m]
        if len(names) != 1 or not terms:
            return None
        (name,) = names
        if any(m.count(name) != 1 or len(m) > 2 for m, _ in terms):
            return None
        form = Polynomial({tuple(n for n in m if n != name): c for m, c in terms})
        if not self.is_integer_affine(form) or form.is_constant:
            return None
        leading = next(c for m, c in sorted(form.terms.items()) if m)
        domain = self.box[name]
        if not isinstance(domain, Reciprocal):
            raise TypeError("domain is no Reciprocal")
        return leading, form * (Fraction(1) / leading), domain

    def compared_shares(self, polynomial: Polynomial) -> Polynomial | None:
        """Returns b − a if the polynomial is c·(1/a − 1/b) + d, each 1/… rounded; else None."""
        pairs = [(m[0], c) for m, c in polynomial.terms.items() if m]
        if len(pairs) != 2 or not polynomial.is_affine or pairs[0][1] != -pairs[1][1]:
            return None
        first, second = (self.box[name] for name, _ in pairs)
        if not isinstance(first, Reciprocal) or not isinstance(second, Reciprocal):
            return None
        return atom(second.of) - atom(first.of) + constant(second.shift - first.shift)

    def root_of_ratio(self, polynomial: Polynomial) -> tuple[Polynomial, int] | None:
        """Returns a and j, −1 or 0, if it is c·A/M + d, and for every M that there is it is 0 between A = j and j + 1."""
        ratio = self.ratio(polynomial)
        if ratio is None:
            return None
        c, form, domain = ratio
        if not all(map(is_whole, form.terms.values())):
            return None
        sign, index = 1 if c > 0 else -1, self.index_of(domain)
        for last in (-1, 0):
            ends = [
                (sign * (c * a + polynomial.constant * m), a) for m in (index.low, index.high) for a in (last, last + 1)
            ]
            if all(at_most(value, 0) if a == last else at_most(0, value) for value, a in ends):
                return form, last
        return None

    def _by_ratio(self, polynomial: Polynomial, ideal: bool) -> Iterator[Interval]:
        """Yields bounds of c·A/M + d, 1/M rounded, if A ≥ M or A < M is known."""
        ratio = self.ratio(polynomial)
        if ratio is None:
            return
        c, form, domain = ratio
        index = self.index_of(domain)
        above = self.bounds(form - atom(domain.of) - constant(domain.shift))
        slack = Fraction(0) if ideal else max(map(abs, self.bounds(form))) * self.space.step / 2
        low, high = self.bounds(form)
        ends: list[Fraction | None] = [None, None]
        if above[0] >= 0:
            # With A ≥ M + s and ROUND(1/M) ≥ 1/M − h: A·ROUND(1/M) is at least (M + s)(1/M − h), if that is not below 0, where
            # it is at least 0. So the largest A does not matter, but the largest M.
            near = (index.high + above[0]) * (0 if ideal else self.space.half_step)
            ends[0] = 1 + quotient(above[0], _power_above(index.high)) - (near if at_most(near, slack) else slack)
        if above[1] <= 0 and low >= 0:
            ends[1] = 1 + quotient(above[1], _power_above(index.high)) + slack
        if low >= 0:
            largest = quotient(high, index.low) + slack
            a, b = ends[0] if ends[0] is not None else -slack, ends[1] if ends[1] is not None else largest
            yield polynomial.constant + min(c * a, c * b), polynomial.constant + max(c * a, c * b)

    def _by_mean(self, polynomial: Polynomial, ideal: bool) -> Iterator[Interval]:
        """Yields bounds of c·S/M + d, 1/M rounded, if S is known to be at least, or at most, a number times M."""
        ratio = self.ratio(polynomial)
        if ratio is None or len(ratio[1].atoms) != 1 or ratio[1].constant or ratio[2].shift:
            return
        c, form, domain = ratio
        ((summed,),) = form.terms
        low, high = self.bounds(polynomial, ideal=ideal, refined=False)
        slack = Fraction(0) if ideal else max(map(abs, self.bounds(form))) * self.space.step / 2
        for body, (first, last) in self.forms.items():
            factors = dict(body)
            if factors.keys() != {summed, domain.of}:
                continue
            # From a·S + b·M ≤ 0 follows S/M ≤ −b/a if a > 0, else S/M ≥ −b/a.
            end = quotient(-factors[domain.of], factors[summed])
            for holds, sign in ((last <= 0, 1), (first >= 0, -1)):
                is_above = (sign * factors[summed] > 0) == (c > 0)
                if holds and is_above:
                    high = min(high, polynomial.constant + c * end + abs(c) * slack)
                elif holds:
                    low = max(low, polynomial.constant + c * end - abs(c) * slack)
        yield low, high

    def error(self, polynomial: Polynomial) -> Fraction:
        """Returns a bound of the distance between the rounded value and the ideal one."""
        bound: Number = 0
        for monomial, c in polynomial.terms.items():
            own = [self._own_error(name) for name in monomial]
            if len(monomial) == 1:
                bound += abs(c) * own[0]
            elif any(own):
                size: Number = 1  # of the product so far: the largest magnitude, and the error
                off: Number = 0
                for name, error in zip(monomial, own, strict=True):
                    low, high = self._atom(name, False)
                    largest = max(-low, high) + error
                    size, off = size * largest, off * largest + size * error
                bound += abs(c) * off
        return bound  # type: ignore[return-value]

    def _own_error(self, name: str) -> Number:
        domain = self.box[name]
        if isinstance(domain, Integer):
            return 0
        return domain.error if isinstance(domain, Rounded) else self.space.half_step

    def sign(self, polynomial: Polynomial) -> int:
        """Returns 1 if it is nowhere negative, −1 if it is nowhere positive, rounded and ideally; 0 if neither is known."""
        low, high = self.bounds(polynomial, refined=False)
        if low < 0 < high:
            low, high = self._refine(polynomial, low, high, ideal=False)
        if low < 0 < high:
            return 0
        if polynomial.is_constant or all(isinstance(self.box[name], Integer) for name in polynomial.atoms):
            return -1 if high <= 0 else 1
        ideal_low, ideal_high = self.bounds(polynomial, ideal=True)
        if high <= 0 and ideal_high <= 0:
            return -1
        return 1 if low >= 0 and ideal_low >= 0 else 0

    def fixed(self, polynomial: Polynomial) -> Polynomial:
        """Puts numbers in place of Integer atoms that have one value here."""
        values = {
            name: constant(domain.low)
            for name in polynomial.atoms
            if isinstance(domain := self.box.get(name), Integer) and domain.low == domain.high
        }
        return polynomial.substitute(values) if values else polynomial

    def is_integer_affine(self, polynomial: Polynomial) -> bool:
        """Returns whether it is an affine form of Integer atoms."""
        return polynomial.is_affine and all(isinstance(self.box[name], Integer) for name in polynomial.atoms)

    def on_grid(self, polynomial: Polynomial) -> bool:
        """Returns whether every value is a multiple of the step, so that nothing is rounded."""
        steps = self.space.steps
        for monomial, c in polynomial.terms.items():
            inexact = sum(not isinstance(self.box[name], Integer) for name in monomial)
            if inexact > 1 or (not is_whole(c) and (inexact or not is_whole(c * steps))):
                return False
        return True


def _power_above(value: int) -> int:
    """Returns what stands for a number that is not below this one, and divides others: itself, if it is a number."""
    return 1 << value.bit_length() if grows(value) else value
