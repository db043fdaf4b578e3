"""Products of atoms: bits and their squares, words that exclude each other, numbers that are fixed by another factor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from constructions.language.terms import FIRST, Atom, Equal, Monomial, as_term, term
from verify.programs import implied
from verify.programs.forms import at_first
from verify.programs.shares import Normal


def simplified(monomial: Monomial, c: Fraction, normal: Normal) -> Iterator[tuple[Monomial, Fraction]]:
    """Yields the products that c times these atoms equals, by what is known of the atoms."""
    if len(monomial) < 2:
        yield monomial, c
        return
    factors = [a for i, a in enumerate(monomial) if a not in monomial[:i] or not normal.facts.is_bit(a)]
    if implied.standing(factors, normal.facts) is None:
        return
    if FIRST in factors:
        others = term([(tuple(a for a in factors if a != FIRST), c)])
        yield from (term([((FIRST,), 1)]) * at_first(others, normal.facts.start)).items
        return
    factors = [a for a in factors if not any(implied.follows(a, b) for b in factors)]
    for a in factors:
        value = implied.told_bit(a, factors, normal.facts)
        if value is not None:
            yield from simplified(tuple(b for b in factors if b != a), c * value, normal) if value else ()
            return
    for a in factors:
        if isinstance(a, Equal):
            for b in factors:
                value = _under(a, b, normal)
                if a != b and value is not None:
                    rest = list(factors)
                    rest.remove(b)
                    if value:
                        yield from simplified(tuple(rest), c * value, normal)
                    return
    yield tuple(factors), c


def _under(equal: Equal, b: Atom, normal: Normal) -> Fraction | None:
    """Returns the value of another factor where `equal` is 1; None if that does not determine it."""
    value = implied.under(equal, b)
    t = normal.inverse(b) if value is None else None
    if t is not None and (more := t - equal.of).is_constant:
        return 1 / (equal.value + more.constant) if equal.value + more.constant else Fraction(0)
    if value is None and (matching := implied.none_of(equal)) is not None:
        low, high = normal.facts.bounds(implied.without(as_term(b), matching, normal.facts.start))
        return low if low == high else None
    return value
