"""Products of atoms: bits and their squares, words that exclude each other, numbers that are fixed by another factor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.programs import implied
from verify.programs.forms import at_first
from verify.programs.shares import Normal
from verify.programs.terms import FIRST, Atom, Equal, Monomial, as_term, term


def simplified(monomial: Monomial, c: Fraction, normal: Normal) -> Iterator[tuple[Monomial, Fraction]]:
    """c times these atoms, by what is known of them."""
    if len(monomial) < 2:
        yield monomial, c
        return
    kept = [a for i, a in enumerate(monomial) if a not in monomial[:i] or not normal.facts.is_bit(a)]
    if implied.standing(kept, normal.facts) is None:
        return
    if FIRST in kept:
        others = term([(tuple(a for a in kept if a != FIRST), c)])
        yield from (term([((FIRST,), 1)]) * at_first(others, normal.facts.start)).items
        return
    kept = [a for a in kept if not any(implied.follows(a, b) for b in kept)]
    for a in kept:
        value = implied.told_bit(a, kept, normal.facts)
        if value is not None:
            yield from simplified(tuple(b for b in kept if b != a), c * value, normal) if value else ()
            return
    for a in kept:
        if isinstance(a, Equal):
            for b in kept:
                value = _under(a, b, normal)
                if a != b and value is not None:
                    rest = list(kept)
                    rest.remove(b)
                    if value:
                        yield from simplified(tuple(rest), c * value, normal)
                    return
    yield tuple(kept), c


def _under(equal: Equal, b: Atom, normal: Normal) -> Fraction | None:
    """The value of another factor where `equal` is 1; None if it is not told."""
    found = implied.under(equal, b)
    t = normal.inverse(b) if found is None else None
    if t is not None and (more := t - equal.of).is_constant:
        return 1 / (equal.value + more.constant) if equal.value + more.constant else Fraction(0)
    if found is None and (matching := implied.none_of(equal)) is not None:
        low, high = normal.facts.bounds(implied.without(as_term(b), matching, normal.facts.start))
        return low if low == high else None
    return found
