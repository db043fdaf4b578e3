"""Questions that are answered from a term alone: its scale, what it is at position 1, what is named or read in it."""

from __future__ import annotations

from fractions import Fraction

from constructions.language.terms import (
    ZERO,
    Above,
    Atom,
    Back,
    Best,
    Comb,
    Count,
    Digits,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    Monomial,
    Named,
    NumberOf,
    Position,
    Positive,
    Read,
    Reciprocal,
    Sum,
    Term,
    as_term,
    term,
)
from verify.algebra.symbolic import common_divisor


def unresolved(value: Term) -> Best | None:
    """Returns a head in it whose winners no rule tells."""
    pending: list[object] = [value]
    while pending:
        match pending.pop():
            case Best() as best:
                return best
            case Term(items):
                pending += [a for monomial, _ in items for a in monomial]
            case Matching(pairs):
                pending += [part for pair in pairs for part in pair]
            case Read(inner, where):
                pending += [inner, where]
            case Atom() as a:
                pending += [getattr(a, name) for name in a.__dataclass_fields__]
    return None


def scaled(value: Term) -> tuple[Term, Fraction]:
    """Returns F and a with value = a·F, where F has coprime integer coefficients. value: not 0."""
    scale = common_divisor(c for _, c in value.items) or Fraction(1)
    return value * (1 / scale), scale


def as_atom(name: str, value: Term) -> Term:
    """Returns a sum as one atom times a number; any other term unchanged."""
    if len(value.items) < 2:
        return value
    whole, scale = scaled(value)
    return as_term(Named(name, whole)) * scale


def content(value: Term) -> Term:
    """Returns the term that a name stands for; any other term unchanged."""
    if len(value.items) == 1 and len(value.items[0][0]) == 1 and isinstance(a := value.items[0][0][0], Named):
        return a.of * value.items[0][1]
    return value


def expanded(value: Term) -> Term:
    """Expands names into the terms that they stand for."""
    for a in value.atoms:
        if isinstance(a, Named):
            return expanded(sum((_power(m, a) * c for m, c in value.items), ZERO))
    return value


def _power(monomial: Monomial, a: Named) -> Term:
    product = term([(tuple(b for b in monomial if b != a), 1)])
    for _ in range(monomial.count(a)):
        product = product * a.of
    return product


def alone(value: Term) -> Atom | None:
    """Returns the atom that the term is."""
    if len(value.items) == 1 and value.items[0][1] == 1 and len(value.items[0][0]) == 1:
        return value.items[0][0][0]
    return None


def read_alone(value: Term) -> Read | None:
    """Returns the atom that it is, if that is read somewhere."""
    return a if isinstance(a := alone(value), Read) else None


def with_value(value: Term, a: Atom, x: int) -> Term:
    """Returns the term where an atom of it is this number, 0 or 1."""
    return term((tuple(b for b in m if b != a), c * (x if a in m else 1)) for m, c in value.items)


def primitive(body: Term) -> tuple[Term, Fraction]:
    """Scales a body without a constant so that its first coefficient is positive; see `scaled`."""
    whole, scale = scaled(body)
    return (whole, scale) if body.items[0][1] > 0 else (whole * -1, -scale)


def at_first(value: Term, start: str) -> Fraction:
    """Returns the value at position 1, whose token is the word `start`: always a number."""
    total = Fraction(0)
    for monomial, c in value.items:
        for a in monomial:
            c *= _atom_at_first(a, start)
        total += c
    return total


def _atom_at_first(a: Atom, start: str) -> Fraction:
    match a:
        case Position():
            return Fraction(1)
        case NumberOf() | IsNumber() | Count() | Read(_, Back()):
            return Fraction(0)
        case IsWord(word):
            return Fraction(int(word == start))
        case Positive(of):
            return max(at_first(of, start), Fraction(0))
        case Equal(of, to):
            return Fraction(int(at_first(of, start) == to))
        case Above(of):
            return Fraction(int(at_first(of, start) > 0))
        case Reciprocal(of):
            return 1 / at_first(of, start)
        case Sum(value) | Comb(value) | Digits(value) | Read(value, _) | Named(_, value):
            return at_first(value, start)
    raise TypeError(f"no atom: {a}")
