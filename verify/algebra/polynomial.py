"""Polynomials with exact coefficients over named atoms: what a register holds in one abstract state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import cast

from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import grows, is_symbolic, told_apart

Monomial = tuple[str, ...]  # atoms in sorted order, one entry for each power
Form = tuple[tuple[str, int], ...]  # atoms in order with coprime coefficients, the first one positive
Number = int | Fraction
NONE = cast(Fraction, 0)


@dataclass(frozen=True)
class Polynomial:
    """Σ coefficient·monomial; zero coefficients are dropped."""

    terms: Mapping[Monomial, Fraction]

    def __init__(self, terms: Mapping[Monomial, Fraction]) -> None:
        self.__dict__["terms"] = terms  # a frozen dataclass' own way takes twice as long, and a check makes 10⁵ of them

    @cached_property
    def atoms(self) -> frozenset[str]:
        """Every atom that occurs."""
        return frozenset(chain.from_iterable(self.terms))

    @property
    def constant(self) -> Fraction:
        """The coefficient of the empty monomial."""
        return self.terms.get((), NONE)

    @property
    def is_constant(self) -> bool:
        """Returns whether no atom occurs."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @cached_property
    def is_affine(self) -> bool:
        """Returns whether every monomial has at most one atom."""
        return max(map(len, self.terms), default=0) <= 1

    @cached_property
    def canonical(self) -> tuple[Form, Number]:
        """Returns, for an affine polynomial that is no constant, the form F and the factor a with polynomial = a·F + its
        constant.

        Where the coefficients' ratios grow with n they are whole numbers, which need not be coprime.
        """
        pairs = sorted((m[0], c) for m, c in self.terms.items() if m)
        if any(grows(c) for _, c in pairs):
            first = pairs[0][1]
            terms = {m: quotient(c, first) for m, c in self.terms.items() if m}
            if not any(grows(c) for c in terms.values()):
                form, factor = Polynomial(terms).canonical
                return form, factor * first
            if not all(is_whole(c) for _, c in pairs):
                raise Unanswered(f"the form of {self}")
            sign = 1 if first > 0 else -1
            form = tuple((name, told_apart(c * sign)) for name, c in pairs)
            return form, sign
        scale = math.lcm(*(c.denominator for _, c in pairs))
        integers = [int(c * scale) for _, c in pairs] if scale > 1 else [c.numerator for _, c in pairs]
        divisor = math.gcd(*integers) * (1 if integers[0] > 0 else -1)
        form = tuple((name, c // divisor) for (name, _), c in zip(pairs, integers, strict=True))
        return form, divisor if scale == 1 else Fraction(divisor, scale)

    def __add__(self, other: Polynomial | Number) -> Polynomial:
        if not isinstance(other, Polynomial):
            other = constant(other)
        terms = dict(self.terms)
        for monomial, c in other.terms.items():
            terms[monomial] = terms[monomial] + c if monomial in terms else c  # 0 + a Fraction takes long
        return _polynomial_of(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Polynomial | Number) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial | Number) -> Polynomial:
        if not isinstance(other, Polynomial):
            if other == 1 or not other:
                return self if other else ZERO
            return _polynomial_of({monomial: c * other for monomial, c in self.terms.items()})
        if self.is_constant or other.is_constant:
            factor, polynomial = (self.constant, other) if self.is_constant else (other.constant, self)
            return polynomial * factor
        terms: dict[Monomial, Fraction] = {}
        for a, c in self.terms.items():
            for b, d in other.terms.items():
                monomial, product = tuple(sorted(a + b)) if a and b else a + b, c * d
                terms[monomial] = terms[monomial] + product if monomial in terms else product
        return _polynomial_of(terms)

    __rmul__ = __mul__

    def substitute(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """Returns the polynomial with other polynomials in place of some atoms."""
        if self.atoms.isdisjoint(values):
            return self
        terms: dict[Monomial, Fraction] = {}
        for monomial, c in self.terms.items():
            put = [values[atom] for atom in monomial if atom in values]
            if not put:
                terms[monomial] = terms[monomial] + c if monomial in terms else c
                continue
            term = Polynomial({tuple([atom for atom in monomial if atom not in values]): c})
            for polynomial in put:
                term = term * polynomial
            for product, d in term.terms.items():
                terms[product] = terms[product] + d if product in terms else d
        return _polynomial_of(terms)

    def renamed(self, names: Mapping[str, str]) -> Polynomial:
        """Returns the polynomial with other names for its atoms, all different."""
        return Polynomial({tuple(sorted([names[a] for a in monomial])): c for monomial, c in self.terms.items()})

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        shown = ["·".join(m if m and c == 1 else (f"{c}", *m)) for m, c in sorted(self.terms.items())]
        return " + ".join(shown) or "0"


def _polynomial_of(terms: Mapping[Monomial, Number]) -> Polynomial:
    """Makes a polynomial, without its zero terms. Whole coefficients become ints: ten times as fast, and all but `/` works."""
    return Polynomial(
        {m: c if type(c) is not Fraction or c.denominator != 1 else c.numerator for m, c in terms.items() if c}  # type: ignore[misc]
    )


def quotient(a: Number, b: Number) -> Fraction:
    """Returns a/b, exactly."""
    return Fraction(a, b) if type(a) is int and type(b) is int else a / b  # type: ignore[return-value]


def is_whole(value: Number) -> bool:
    """Returns whether it is seen to be a whole number."""
    return value.is_whole if is_symbolic(value) else value.denominator == 1


def whole(value: Number) -> int:
    """Returns a whole number as an int, or what stands for one."""
    return value if grows(value) else int(value)  # type: ignore[return-value]


def remainder(value: int, divisor: int) -> int | None:
    """Returns value % divisor; None if it may differ between values of n."""
    rest = value % divisor
    return None if grows(rest) else rest


def ceiling(value: Number) -> int:
    """Returns an integer ≥ value; a value symbolic in n is returned unchanged, though it need not be whole."""
    return value if grows(value) else math.ceil(value)  # type: ignore[return-value]


def bits_above(value: int) -> int:
    """Returns an exponent, 2 to which is above a whole number: its bit length, if it is a number."""
    return (value + 1).power_above.bit_length() - 1 if grows(value) else value.bit_length()


def common_step(*steps: int) -> int:
    """Returns a number that divides all of these, the largest one if they are numbers; 1 if they are 0."""
    return 1 if any(grows(step) for step in steps) else math.gcd(*map(int, steps)) or 1


def key(value: Number) -> object:
    """Returns a key for a table of numbers: numbers that grow are the same key only as polynomials, even if equal at each n."""
    return repr(value) if grows(value) else value


def decimal(value: Number) -> str:
    """Writes a number for people."""
    return repr(value) if grows(value) else f"{float(value):.6g}"


def constant(value: Number) -> Polynomial:
    """Returns the polynomial that is this number."""
    return _polynomial_of({(): cast(Fraction, value)})


def form_polynomial(form: Form) -> Polynomial:
    """Returns the form as a polynomial."""
    return Polynomial({(name,): cast(Fraction, c) for name, c in form})


def atom(name: str) -> Polynomial:
    """Returns the polynomial that is this atom."""
    return Polynomial({(name,): cast(Fraction, 1)})


def total(polynomials: Iterable[Polynomial]) -> Polynomial:
    """Returns the sum of the polynomials."""
    return combination((polynomial, 1) for polynomial in polynomials)


def combination(pairs: Iterable[tuple[Polynomial, Number]]) -> Polynomial:
    """Returns Σ number·polynomial."""
    terms: dict[Monomial, Fraction] = {}
    for polynomial, factor in pairs:
        for monomial, c in polynomial.terms.items():
            term = c if factor == 1 else c * factor
            terms[monomial] = terms[monomial] + term if monomial in terms else term
    return _polynomial_of(terms)


ZERO = Polynomial({})
ONE = constant(1)
