"""How programs are written: values at a position, and selections of positions that it reads.

A value is a number that each position k of a text has: `number`, the number that the token there is; `position`, k itself; and
what operators make of values. `select(keys, queries)` are the positions j whose key is the query of k, as in RASP; what is read
there is `.first(value)`, `.last(value)`, `.nearest(value, to)`, and `.count()` says how many there are. Nothing is computed here:
a value is a term (terms.py), whose meaning is that of the interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from constructions.language.terms import (
    ONE,
    POSITION,
    Above,
    Answer,
    Back,
    Closest,
    Comb,
    Count,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    Named,
    Nearest,
    NumberOf,
    Pick,
    Positive,
    Read,
    Say,
    SayNumber,
    Selection,
    Sum,
    Term,
    as_term,
    is_integer,
)

START = "<s>"
"""The word that every text begins with, at position 1."""
Operand: TypeAlias = "Value | int | Fraction"


@dataclass(frozen=True, eq=False)
class Value:
    """A number at each position of a text. Comparisons give 1 where they hold and 0 elsewhere; `&`, `|` and `~` combine those.

    made: how it was combined, "&", "|" or "~" and of which values; () where it was not.
    """

    term: Term
    made: tuple[str, tuple[Value, ...]] | tuple[()] = ()

    __hash__ = object.__hash__

    def __add__(self, other: Operand) -> Value:
        return Value(self.term + term_of(other))

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Value:
        return Value(self.term - term_of(other))

    def __rsub__(self, other: Operand) -> Value:
        return Value(term_of(other) - self.term)

    def __neg__(self) -> Value:
        return Value(self.term * -1)

    def __mul__(self, other: Operand) -> Value:
        return Value(self.term * term_of(other))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        if not isinstance(other, Value | int | Fraction):  # NotImplemented would compare identities, and say False
            raise TypeError(
                f"a value is compared with values and numbers, not with {other!r}; word({other!r}) is a value"
            )
        return Value(_equal(self.term - term_of(other)))

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return ~(self == other)

    def __gt__(self, other: Operand) -> Value:
        return _is_positive(self.term - term_of(other))

    def __lt__(self, other: Operand) -> Value:
        return _is_positive(term_of(other) - self.term)

    def __ge__(self, other: Operand) -> Value:
        return ~(self < other)

    def __le__(self, other: Operand) -> Value:
        return ~(self > other)

    def __and__(self, other: Value) -> Value:
        return Value(self.term * other.term, ("&", (self, other)))

    def __or__(self, other: Value) -> Value:
        return Value((~(~self & ~other)).term, ("|", (self, other)))

    def __invert__(self) -> Value:
        return Value(ONE - self.term, ("~", (self,)))

    def __bool__(self) -> bool:
        raise TypeError("a value is a number at each position, not true or false: use &, | and ~, not and, or and not")

    def named(self, name: str) -> Value:
        """Returns the same value, with a name for people; values that a file has by name are called by it."""
        return Value(as_term(Named(name, self.term)))

    def back(self, steps: int = 1) -> Value:
        """Returns the value so many positions before, 0 where there is none. Raises ValueError for what is no whole number."""
        if isinstance(steps, bool) or not isinstance(steps, int):
            raise ValueError(f"back takes a whole number of positions, not {steps!r}")
        return Value(as_term(Read(self.term, Back(steps))))

    def at(self, target: Operand) -> Value:
        """Returns the value at the position that is nearest to the target: 1 for less than 1, this position for more."""
        return Value(as_term(Read(self.term, Nearest(term_of(target)))))


def _primitive(difference: Term) -> Term:
    """Returns the term with whole coefficients that have no common factor, and the same sign everywhere.

    Raises TypeError where n is a symbol and decides on the factor.
    """
    difference = difference * math.lcm(*(1 if is_integer(c) else c.denominator for _, c in difference.items))
    coefficients = [c for _, c in difference.items]
    factor = math.gcd(*(c.numerator for c in coefficients if type(c) in (int, Fraction)))
    if factor != 1:  # else it stays 1, whatever the others are
        factor = math.gcd(*(c.numerator for c in coefficients)) or 1
    return difference * Fraction(1, factor)


def _equal(difference: Term) -> Term:
    """Returns the bit that an integer, or a fraction of one, is 0; the same term for x = y and y = x."""
    difference = _primitive(difference)
    rest = difference - difference.constant
    sign = -1 if rest.items and rest.items[0][1] < 0 else 1
    return as_term(Equal(rest * sign, -difference.constant * sign))


def _is_positive(difference: Term) -> Value:
    """Returns the bit that an integer, or a fraction of one, is above 0; the same term for x > y and not x ≤ y."""
    difference = _primitive(difference)
    first = next((c for monomial, c in difference.items if monomial), Fraction(1))
    if first > 0:
        return Value(as_term(Above(difference)))
    return ~Value(as_term(Above(ONE - difference)))


def term_of(value: Operand) -> Term:
    """Returns the term of a value, or of a plain number. Raises TypeError for anything else."""
    if isinstance(value, Value):
        return value.term
    if isinstance(value, int | Fraction):
        return as_term(value)
    raise TypeError(f"a value or a number is needed, not {value!r}")


number = Value(as_term(NumberOf()))
"""The number that this token is, 0 if it is a word."""
is_number = Value(as_term(IsNumber()))
"""1 if this token is a number."""
position = Value(as_term(POSITION))
"""This position; `<s>` stands at 1, so the first token of an input stands at 2."""


def word(text: str) -> Value:
    """Returns 1 if this token is the word, else 0."""
    return Value(as_term(IsWord(text)))


def positive(value: Value) -> Value:
    """Returns the value where it is above 0, else 0."""
    return Value(as_term(Positive(value.term)))


def running_sum(value: Operand, every: int = 1) -> Value:
    """Returns the sum of the value here, `every` positions before, twice as many before, …: by default over all positions so far.

    A recurrence keeps it, by a cyclic permutation of so many numbers; a Transformer has none. The matrix of a linear RNN is
    constant (definition 3.4). So `every` is a number from 1, not a value; for anything else it raises ValueError.
    """
    return _filter(value, every, 1)


def alternating_sum(value: Operand, every: int = 1) -> Value:
    """Returns the value here, minus the one `every` positions before, plus the one twice as many before, and so on.

    A recurrence with the eigenvalue −1 keeps it: that of 1 is 1 at odd positions and 0 at even ones. Raises ValueError as above.
    """
    return _filter(value, every, -1)


def _filter(value: Operand, every: int, sign: int) -> Value:
    if not isinstance(every, int) or every < 1:
        raise ValueError(
            "`every` is a whole number from 1: the matrix of a linear RNN is constant, and does not depend on what stands "
            "in the text"
        )
    of = term_of(value)
    return Value(as_term(Sum(of) if (every, sign) == (1, 1) else Comb(of, every, sign)))


def table(value: Value, entries: Mapping[int, Operand]) -> Value:
    """Returns what stands beside the value in a table of integers, 0 if nothing does."""
    total = as_term(0)
    for key, entry in entries.items():
        total = total + as_term(Equal(value.term, Fraction(key))) * term_of(entry)
    return Value(total)


@dataclass(frozen=True)
class Selector:
    """Positions j of 2 … k at which each key of j is what k asks for. `&` asks for both."""

    pairs: tuple[tuple[Term, Term], ...]

    def __and__(self, other: Selector) -> Selector:
        return Selector(self.pairs + other.pairs)

    @property
    def _matching(self) -> Matching:
        return Matching(self.pairs)

    def _read(self, value: Value, where: Selection) -> Value:
        return Value(as_term(Read(value.term, where)))

    def first(self, value: Value) -> Value:
        """Returns the value at the first of these positions; at position 1 if there is none."""
        return self._read(value, Pick(self._matching))

    def last(self, value: Value) -> Value:
        """Returns the value at the last of these positions; at position 1 if there is none."""
        return self._read(value, Pick(self._matching, last=True))

    def nearest(self, value: Value, to: Operand) -> Value:
        """Returns the value at the position of these nearest to `to`, of two the first; at position 1 if there is none."""
        return self._read(value, Closest(self._matching, term_of(to)))

    def count(self) -> Value:
        """Returns how many these positions are. It can be said, with a number added, and compared with a number or a count."""
        return Value(as_term(Count(self._matching)))


def select(keys: Operand, queries: Operand = 1) -> Selector:
    """Returns the positions j, after `<s>`, whose key is the query of this position; by default those where it is 1."""
    return Selector(((term_of(keys), term_of(queries)),))


@dataclass(frozen=True)
class Output:
    """What a position says: a word, a number, or one of two outputs."""

    answer: Answer


def say(what: Operand | str) -> Output:
    """Returns an output: a word, or the word of a number. Raises ValueError for a string that is no word."""
    if isinstance(what, str) and (what.split() != [what] or what.isdecimal()):
        raise ValueError(f"{what!r} is no word: it is some text without spaces, and no number")
    return Output(Say(what) if isinstance(what, str) else SayNumber(term_of(what)))


def choose(condition: Value, then: Output | Operand | str, otherwise: Output | Operand | str) -> Output:
    """Returns an output: one where the condition is 1, the other where it is 0."""
    yes, no = as_output(then), as_output(otherwise)
    match condition.made:
        case "~", (a,):
            return choose(a, no, yes)
        case "&", (a, b):
            return choose(a, choose(b, yes, no), no)
        case "|", (a, b):
            return choose(a, yes, choose(b, yes, no))
    return Output(If(condition.term, yes.answer, no.answer))


def as_output(what: Output | Operand | str) -> Output:
    """Returns an output; a word and a value are said."""
    return what if isinstance(what, Output) else say(what)
