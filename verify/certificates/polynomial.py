"""Polynomials with exact coefficients over named atoms: what a register of one kind of position holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

Monomial = tuple[str, ...]  # atoms in sorted order, one entry for each power
Number = int | Fraction
NONE = cast(Fraction, 0)


@dataclass(frozen=True)
class Polynomial:
    """Σ coefficient·monomial; zero coefficients are dropped."""

    terms: Mapping[Monomial, Fraction]

    @cached_property
    def atoms(self) -> frozenset[str]:
        """Every atom that occurs."""
        return frozenset(atom for monomial in self.terms for atom in monomial)

    @property
    def constant(self) -> Fraction:
        """The coefficient of the empty monomial."""
        return self.terms.get((), NONE)

    @property
    def is_constant(self) -> bool:
        """Whether no atom occurs."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def is_affine(self) -> bool:
        """Whether every monomial has at most one atom."""
        return all(len(monomial) <= 1 for monomial in self.terms)

    def __add__(self, other: Polynomial | Number) -> Polynomial:
        if not isinstance(other, Polynomial):
            other = constant(other)
        terms = dict(self.terms)
        for monomial, c in other.terms.items():
            terms[monomial] = terms.get(monomial, NONE) + c
        return _of(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Polynomial | Number) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial | Number) -> Polynomial:
        if not isinstance(other, Polynomial):
            return _of({monomial: c * other for monomial, c in self.terms.items()}) if other else ZERO
        terms: dict[Monomial, Fraction] = {}
        for a, c in self.terms.items():
            for b, d in other.terms.items():
                monomial = tuple(sorted(a + b)) if a and b else a + b
                terms[monomial] = terms.get(monomial, NONE) + c * d
        return _of(terms)

    __rmul__ = __mul__

    def substitute(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """With polynomials in place of some atoms."""
        if self.atoms.isdisjoint(values):
            return self
        result = ZERO
        for monomial, c in self.terms.items():
            kept = tuple(atom for atom in monomial if atom not in values)
            term = Polynomial({kept: c})
            for atom in monomial:
                if atom in values:
                    term = term * values[atom]
            result = result + term
        return result

    def renamed(self, names: Mapping[str, str]) -> Polynomial:
        """With other names for its atoms, all different."""
        return Polynomial({tuple(sorted([names[a] for a in monomial])): c for monomial, c in self.terms.items()})

    def __str__(self) -> str:
        def show(monomial: Monomial, c: Fraction) -> str:
            return "·".join([*([] if c == 1 and monomial else [str(c)]), *monomial])

        return " + ".join(show(m, c) for m, c in sorted(self.terms.items())) or "0"


def _of(terms: Mapping[Monomial, Fraction]) -> Polynomial:
    """Integers among the coefficients are ints, which calculate ten times as fast; all that they lack of a Fraction is `/`."""
    return Polynomial({monomial: c.numerator if c.denominator == 1 else c for monomial, c in terms.items() if c})  # type: ignore[misc]


def constant(value: Number) -> Polynomial:
    """The polynomial that is this number."""
    return _of({(): cast(Fraction, value)})


def atom(name: str) -> Polynomial:
    """The polynomial that is this atom."""
    return Polynomial({(name,): cast(Fraction, 1)})


def total(polynomials: Iterable[Polynomial]) -> Polynomial:
    """Their sum."""
    terms: dict[Monomial, Fraction] = {}
    for polynomial in polynomials:
        for monomial, c in polynomial.terms.items():
            terms[monomial] = terms.get(monomial, NONE) + c
    return _of(terms)


ZERO = Polynomial({})
ONE = constant(1)
