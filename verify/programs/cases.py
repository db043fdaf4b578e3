"""What is known of a term all together, where bounds of its products one by one say less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Protocol

from verify.certificates.language import Language
from verify.programs.terms import ZERO, Atom, Back, Equal, Read, Selection, Term, as_term

Interval = tuple[Fraction, Fraction]
BIT = Fraction(0), Fraction(1)


class Known(Protocol):
    """What is asked of `Facts` below it."""

    @property
    def language(self) -> Language: ...

    @property
    def places(self) -> frozenset[int]: ...

    @property
    def positions(self) -> tuple[int, int]: ...

    @property
    def each(self) -> Mapping[int, Known]:
        """Of positions at one of the places, by place."""

    def bounds(self, value: Term) -> Interval:
        """Two numbers that it lies between."""

    def is_integer(self, value: Term) -> bool:
        """Whether it is an integer at every position."""

    def behind(self, where: Selection) -> Known:
        """Of the positions that may be read from here."""


def settled(value: Term, facts: Known) -> Term:
    """With numbers in place of atoms that have one value here: what is then alike is one product.

    And with x or 1 − x in place of a comparison of an integer x that is 0 or 1 here.
    """
    if len(value.items) < 2:
        return value
    here: dict[Atom, Term] = {}
    for a in value.atoms:
        low, high = facts.bounds(as_term(a))
        if low == high:
            here[a] = as_term(low)
        elif (
            isinstance(a, Equal)
            and a.value in BIT
            and a.of.atoms <= value.atoms
            and facts.is_integer(a.of)
            and facts.bounds(a.of) == BIT
        ):
            here[a] = a.of if a.value else a.of * -1 + 1
    total = ZERO if here else value
    for monomial, c in value.items if here else ():
        product = as_term(c)
        for a in monomial:
            product = product * here.get(a, as_term(a))
        total = total + product
    return total


def by_token(value: Term, facts: Known) -> Iterator[list[dict[Atom, Interval]]]:
    """Of atoms that read one token, each time: their bounds at each place where it may stand."""
    reads: dict[int, list[Read]] = {}
    for a in value.atoms:
        if isinstance(a, Read) and isinstance(a.where, Back) and a.where.steps < facts.positions[0]:
            reads.setdefault(a.where.steps, []).append(a)
    for steps, atoms in reads.items():
        if len(atoms) > 1:
            places = facts.behind(Back(steps)).places
            if len(places) > 1:
                yield [{a: facts.each[i].bounds(a.value) for a in atoms} for i in places]
