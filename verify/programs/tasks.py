"""The definitions of the tasks as programs, written by a person: what each answer should be at the end of a prompt.

They are compared with the tasks' oracles on every small input, by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from constructions.retrieval.task import ASK, FAILED, NO, YES
from verify.programs.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    At,
    Back,
    Count,
    Equal,
    If,
    IsWord,
    Matching,
    NumberOf,
    Pick,
    Read,
    Say,
    SayNumber,
    as_term,
)

NUMBER = as_term(NumberOf())


def _before(steps: int) -> Read:
    return Read(NUMBER, Back(steps))


def index(asked: int) -> Answer:
    """The number at the position that is asked for; the sequence begins at position 2."""
    return SayNumber(as_term(Read(NUMBER, At(NUMBER + 1))))


def gram(asked: int) -> Answer:
    """The number at the first position behind the query's tokens; FAILED if there is none, or `?` stands there."""
    pairs = tuple((as_term(_before(i)), as_term(_before(i - 1)) if i > 1 else NUMBER) for i in range(1, asked + 1))
    found = as_term(Read(NUMBER, Pick(Matching(pairs))))
    return If(as_term(Equal(found, Fraction(0))), Say(FAILED), SayNumber(found))


def counting(asked: int) -> Answer:
    """YES if more positions before `?` hold the number before the last than the last number says."""
    no_mark = as_term(Count(Matching(((as_term(IsWord(ASK)), ONE),))))
    found = Count(Matching(((NUMBER, as_term(_before(1))), (no_mark, ZERO))))
    return If(as_term(Above(as_term(found) - NUMBER)), Say(YES), Say(NO))


# Task → its answer, for a query of so many tokens.
DEFINITIONS: Mapping[str, Callable[[int], Answer]] = {
    "index": index,
    "recall": gram,
    "ngram": gram,
    "counting": counting,
}
