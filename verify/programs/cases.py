"""What is known of a term all together, where bounds of its products one by one say less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from constructions.language.terms import Atom, Back, Equal, Monomial, Read, Selection, Term, as_term, term
from verify.algebra.symbolic import told_apart
from verify.automata.token_automaton import TokenAutomaton
from verify.programs.forms import alone

Interval = tuple[Fraction, Fraction]
BIT = Fraction(0), Fraction(1)


class KnownFacts(Protocol):
    """What is asked of `Facts` below it."""

    @property
    def automaton(self) -> TokenAutomaton: ...

    @property
    def states(self) -> frozenset[int]: ...

    @property
    def positions(self) -> tuple[int, int]: ...

    @property
    def each(self) -> Mapping[int, KnownFacts]:
        """Returns the facts of positions at each state."""

    def bounds(self, value: Term) -> Interval:
        """Returns two numbers that it lies between."""

    def is_integer(self, value: Term) -> bool:
        """Returns whether it is an integer at every position."""

    def facts_of_read(self, where: Selection) -> KnownFacts:
        """Returns what is known of the positions that a read with this selection may reach from here."""


def with_known_values(value: Term, facts: KnownFacts) -> Term:
    """Puts numbers in place of atoms that have one value here, so that equal products are added up.

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
    return with_terms(value, here) if here else value


def with_terms(value: Term, known: Mapping[Atom, Term]) -> Term:
    """Puts terms in place of atoms."""
    items: list[tuple[Monomial, Fraction]] = []
    for monomial, c in value.items:
        product = as_term(c)
        for a in monomial:
            product = product * known.get(a, as_term(a))
        items += product.items
    return term(items)


def by_token(value: Term, facts: KnownFacts) -> Iterator[list[dict[Atom, Interval]]]:
    """Yields, for each group of atoms that read one token, their bounds at each state where it may stand."""
    reads: dict[int, list[Read]] = {}
    for a in value.atoms:
        if isinstance(a, Read) and isinstance(a.where, Back) and a.where.steps < facts.positions[0]:
            reads.setdefault(told_apart(a.where.steps), []).append(a)
    for steps, atoms in reads.items():
        if len(atoms) > 1:
            states = facts.facts_of_read(Back(steps)).states
            if len(states) > 1:
                yield [{a: facts.each[i].bounds(a.value) for a in atoms} for i in states]


def lines(value: Term) -> Iterator[tuple[Atom, Fraction, list[tuple[Equal, Fraction]]]]:
    """Yields each atom x that some bit 1[x = v] of the value compares, with its factor (or 0), and these bits with theirs."""
    factors = {monomial[0]: c for monomial, c in value.items if len(monomial) == 1}
    compared: dict[Atom, list[tuple[Equal, Fraction]]] = {}
    for a, c in factors.items():
        if isinstance(a, Equal) and (x := alone(a.of)) is not None:
            compared.setdefault(x, []).append((a, c))
    for x, more in compared.items():
        if x in factors or len(more) > 1:
            yield x, factors.get(x, Fraction(0)), more


def on_line(ends: Interval, slope: Fraction, more: Sequence[tuple[Equal, Fraction]]) -> Interval:
    """Returns bounds of slope·x at some x, with `more` values at each end of x left out."""
    low, high = ends
    near = (end + step * i for i in range(len(more) + 1) for end, step in ((low, 1), (high, -1)))
    points = [i for i in (*near, *(a.value for a, _ in more)) if low <= i <= high] or [
        low,
        high,
    ]  # nothing is like this
    values = [slope * i + sum(c for a, c in more if a.value == i) for i in points]
    return min(values), max(values)


def share(value: Term, of: Term) -> Fraction:
    """Returns the factor s with which s·of is a part of the value; 0 if there is none."""
    parts = dict(value.items)
    shares = [parts.get(monomial, Fraction(0)) / c for monomial, c in of.items if monomial]
    return shares[0] if shares and all(share == shares[0] for share in shares) else Fraction(0)
