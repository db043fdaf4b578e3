"""The language of programs: terms over one position k of an input, and over positions that it reads.

A term is a polynomial with rational coefficients over atoms; its value at k depends on the tokens at 1 … k alone. Inside `Read`,
`Matching` and `Best`, keys and values are terms of the position that is read. An answer is what k says: a word, or a case.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

Number: TypeAlias = "int | Fraction"


def fraction(value: Number) -> Fraction:
    """Returns a number as a Fraction. A number that may depend on a size says by `settled` which plain number it is, if any."""
    if type(value) is Fraction:  # asked first, as it is most often so
        return value
    if isinstance(value, Fraction):
        return getattr(value, "settled", value)
    return Fraction(value)


@dataclass(frozen=True)
class Term:
    """Σ coefficient · product of atoms. items: sorted, no coefficient is 0, no monomial twice; made by `term` alone."""

    items: tuple[tuple[Monomial, Fraction], ...]

    def __init__(self, items: tuple[tuple[Monomial, Fraction], ...]) -> None:
        self.__dict__["items"] = (
            items  # a frozen dataclass' own way takes twice as long, and a comparison makes 10⁶ of them
        )

    def __hash__(self) -> int:
        try:  # a table asks for it again and again
            known: int = self.__dict__["hash"]
        except KeyError:
            known = self.__dict__["hash"] = hash(self.order)
        return known

    def __eq__(self, other: object) -> bool:
        """Returns whether both are one polynomial; by `order`, as a walk down two terms of many shared parts takes too long."""
        return self is other or (isinstance(other, Term) and self.order == other.order)

    @property
    def is_constant(self) -> bool:
        """True if it has no atoms."""
        return all(not monomial for monomial, _ in self.items)

    @property
    def constant(self) -> Fraction:
        """Returns the coefficient of 1."""
        return next((c for monomial, c in self.items if not monomial), _ZERO)

    @cached_property
    def atoms(self) -> AbstractSet[Atom]:
        """Returns the atoms of its monomials, in their order; not those inside of them."""
        return dict.fromkeys(a for monomial, _ in self.items for a in monomial).keys()

    def __add__(self, other: Term | Number) -> Term:
        more = as_term(other)
        if not more.items:
            return self
        return term((*self.items, *more.items)) if self.items else more

    def __sub__(self, other: Term | Number) -> Term:
        return self + as_term(other) * -1

    def __mul__(self, other: Term | Number) -> Term:
        other = as_term(other)
        for one, factors in ((self, other.items), (other, self.items)):
            if len(factors) == 1 and not factors[0][0]:
                factor = factors[0][1]
                if type(factor) is Fraction and all(type(c) is Fraction for _, c in one.items):
                    return one if factor == 1 else Term(tuple([(a, c * factor) for a, c in one.items]))
                if one is self:
                    return Term(tuple((a, fraction(c * factor)) for a, c in self.items))
        return term((a + b, c * d) for a, c in self.items for b, d in other.items)

    @cached_property
    def order(self) -> str:
        """Returns the text that terms are sorted by: two terms have the same if and only if they are equal."""
        return "(" + " ".join(f"{c}{''.join(f'.{a.order}' for a in monomial)}" for monomial, c in self.items) + ")"


@dataclass(frozen=True, eq=False)
class Atom:
    """What terms are polynomials over; equal if they are sorted alike, as terms are."""

    def __hash__(self) -> int:
        try:  # a table asks for it again and again
            known: int = self.__dict__["hash"]
        except KeyError:
            known = self.__dict__["hash"] = hash(self.order)
        return known

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.order == other.order)

    @cached_property
    def order(self) -> str:
        """Returns the text that atoms are sorted by: two atoms have the same if and only if they are equal."""
        parts = [getattr(self, name) for name in self.__dataclass_fields__]
        return f"{type(self).__name__}[{','.join(_order(part) for part in parts)}]"


_ZERO, _ONE = Fraction(0), Fraction(1)


def _order(part: object) -> str:
    if isinstance(part, Term):
        return part.order
    if isinstance(part, tuple):
        return f"<{' '.join(map(_order, part))}>"
    return part.order if isinstance(part, Atom) else repr(part)


Monomial: TypeAlias = "tuple[Atom, ...]"


@dataclass(frozen=True, eq=False)
class NumberOf(Atom):
    """The number that the token at k is, 0 if it is none. family: of which kind of numbers."""

    family: str = ""


@dataclass(frozen=True, eq=False)
class IsNumber(Atom):
    """1 if the token at k is a number of this family, else 0."""

    family: str = ""


@dataclass(frozen=True, eq=False)
class IsWord(Atom):
    """1 if the token at k is this word, else 0."""

    word: str


@dataclass(frozen=True, eq=False)
class Position(Atom):
    """k, from 1."""


@dataclass(frozen=True, eq=False)
class Positive(Atom):
    """max(0, of)."""

    of: Term


@dataclass(frozen=True, eq=False)
class Equal(Atom):
    """1 if of = value, else 0."""

    of: Term
    value: Fraction


@dataclass(frozen=True, eq=False)
class Above(Atom):
    """1 if of > 0, else 0."""

    of: Term


@dataclass(frozen=True, eq=False)
class Reciprocal(Atom):
    """1/of; `of` is an integer and at least 1."""

    of: Term


@dataclass(frozen=True, eq=False)
class Count(Atom):
    """How many positions 2 … k match."""

    where: Matching


@dataclass(frozen=True, eq=False)
class Sum(Atom):
    """The sum of a term over the positions 1 … k."""

    of: Term


@dataclass(frozen=True, eq=False)
class Comb(Atom):
    """Σ sign^i·(the term at k − i·steps) over i = 0, 1, …, without the positions that there are not; sign 1 or −1, steps ≥ 1.

    A comb filter: sign times what it was at k − steps, plus the term at k. A recurrence keeps it by a signed cyclic permutation.
    """

    of: Term
    steps: int
    sign: int

    def __post_init__(self) -> None:
        if self.steps < 1 or self.sign not in (1, -1):
            raise ValueError(f"at least one step goes back, with the sign 1 or -1, not {self.steps} and {self.sign}")


@dataclass(frozen=True, eq=False)
class Digits(Atom):
    """Σ base^i·(the term at k − i) over i = 0 … count − 1, without the positions that there are not; base ≥ 2, count ≥ 1."""

    of: Term
    base: int
    count: int


@dataclass(frozen=True, eq=False)
class Read(Atom):
    """A term at another position; for `Best`, its mean over the positions of largest score."""

    value: Term
    where: Selection


@dataclass(frozen=True, eq=False)
class Named(Atom):
    """A term of several products as one atom. name: what people call it, no part of what it is."""

    name: str
    of: Term

    @cached_property
    def order(self) -> str:
        """Returns the text that it is sorted by; a hash stands for the term."""
        return f"Named[{hashlib.sha256(self.of.order.encode()).hexdigest()}]"


@dataclass(frozen=True, eq=False)
class Back(Atom):
    """The position k − steps, steps ≥ 1; what is read is 0 where there is none."""

    steps: int

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"at least one step goes back, not {self.steps}")


@dataclass(frozen=True, eq=False)
class At(Atom):
    """The position that a term names; it is one of 1 … k."""

    target: Term


@dataclass(frozen=True, eq=False)
class Nearest(Atom):
    """The one of 1 … k that is nearest to a term; this is an integer."""

    target: Term


@dataclass(frozen=True, eq=False)
class Matching(Atom):
    """Positions j at which every key is what k asks for: pairs of (a term of j, a term of k)."""

    pairs: tuple[tuple[Term, Term], ...]


@dataclass(frozen=True, eq=False)
class Pick(Atom):
    """The first or the last position of 2 … k that matches; position 1 if there is none."""

    matching: Matching
    last: bool = False


@dataclass(frozen=True, eq=False)
class Next(Atom):
    """Of the positions of 2 … k that match, the one whose key is the query + 1; without it, the one of largest key; else 1.

    Under an invariant of the language: no two that match have one key.
    """

    matching: Matching
    key: Term
    query: Term


@dataclass(frozen=True, eq=False)
class Closest(Atom):
    """Of the positions of 2 … k that match, the one nearest to a term, of two as near the first; position 1 if there is none."""

    matching: Matching
    target: Term


@dataclass(frozen=True, eq=False)
class Best(Atom):
    """The positions j of 1 … k with the largest score, Σ (a term of j)·(a term of k). where: which head it is, for people."""

    rows: tuple[tuple[Term, Term], ...]
    where: str = ""

    @cached_property
    def order(self) -> str:
        """Returns the text that it is sorted by; `where` does not count."""
        return f"Best[{_order(self.rows)}]"


Matched: TypeAlias = Pick | Next | Closest
"""A position that matches, or 1."""
Selection: TypeAlias = Back | At | Nearest | Matched | Best


@dataclass(frozen=True)
class Say:
    """A word."""

    word: str


@dataclass(frozen=True)
class SayNumber:
    """The word of a number. family: of which kind of numbers."""

    number: Term
    family: str = ""


@dataclass(frozen=True)
class Anything:
    """No word is due; not what a program says, but what a definition leaves open."""


@dataclass(frozen=True)
class If:
    """One answer where a bit is 1, another one where it is 0."""

    bit: Term
    then: Answer
    otherwise: Answer


Answer: TypeAlias = Say | SayNumber | Anything | If


_order_of = operator.attrgetter("order")


def term(items: Iterable[tuple[Monomial, Number]]) -> Term:
    """Returns the polynomial that is this sum; atoms in a monomial and monomials are put in order."""
    coefficients: dict[Monomial, Fraction] = {}
    for monomial, c in items:
        key = tuple(sorted(monomial, key=_order_of)) if len(monomial) > 1 else monomial
        coefficients[key] = coefficients[key] + c if key in coefficients else fraction(c)
    nonzero = [(monomial, fraction(c)) for monomial, c in coefficients.items() if c]
    if len(nonzero) > 1:
        nonzero.sort(key=lambda item: [*map(_order_of, item[0])])
    return Term(tuple(nonzero))


def as_term(value: Term | Atom | Number) -> Term:
    """Returns a number or an atom as a term."""
    if isinstance(value, Term):
        return value
    if isinstance(value, Atom):
        return Term((((value,), _ONE),))  # one that the atom kept would keep the atom: nothing would ever be let go
    return Term((((), fraction(value)),) if value else ())


def is_integer(number: Number) -> bool:
    """Returns whether a number, which may depend on n, is seen to be an integer at every n."""
    return bool(number.is_whole) if hasattr(number, "is_whole") else number.denominator == 1


ZERO, ONE = term(()), as_term(1)
POSITION = Position()
FIRST = Equal(as_term(POSITION), Fraction(1))
