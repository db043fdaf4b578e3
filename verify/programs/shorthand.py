"""Short forms in which definitions are written."""

from __future__ import annotations

from fractions import Fraction

from constructions.language.terms import POSITION, Back, Equal, IsWord, Matching, Named, Pick, Read, Term, as_term

K = as_term(POSITION)


def back(value: Term, steps: int) -> Term:
    """Returns the value so many steps before."""
    return as_term(Read(value, Back(steps)))


def read_match(value: Term, *pairs: tuple[Term, Term], last: bool = False) -> Term:
    """Returns the term that reads the value at the first, or the last, position that matches."""
    return as_term(Read(value, Pick(Matching(pairs), last)))


def let(name: str, value: Term) -> Term:
    """Returns the value as one atom."""
    return as_term(Named(name, value))


def equal(a: Term, b: Term) -> Term:
    """Returns whether two values are the same."""
    return as_term(Equal(a - b, Fraction(0)))


def word(text: str, steps: int = 0) -> Term:
    """Returns whether this word stands so many steps before."""
    bit = as_term(IsWord(text))
    return back(bit, steps) if steps else bit
