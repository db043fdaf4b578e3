"""Terms over words and numbers of two families, some below 0: what normal forms and bounds say, on every text."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

from hypothesis import example, given
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import (
    FIRST,
    ONE,
    POSITION,
    ZERO,
    Above,
    Back,
    Count,
    Digits,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    NumberOf,
    Pick,
    Positive,
    Read,
    Sum,
    Term,
    as_term,
)
from tests.verify.programs.every_text import every_text
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.programs.decisions import _contradicts, _with
from verify.programs.facts import Facts
from verify.programs.forms import as_atom
from verify.programs.normal import Normalizer

FAMILIES = {"a": (-1, 1), "b": (0, 2)}
LONGEST = 4
AUTOMATON = TokenAutomaton(
    (
        State(Label("<s>"), 1, 1, (), "<s>"),
        State(Label("a"), 2, LONGEST, (0, 1, 3), numbers=FAMILIES["a"], family="a"),
        State(Label("b"), 2, LONGEST, (0, 1, 2), numbers=FAMILIES["b"], family="b"),
        State(Label("x"), 3, LONGEST, (2,), "x"),
    ),
    frozenset([Label("a"), Label("b"), Label("x")]),
    (1, 1),
)
NORMAL = Normalizer(Facts.everywhere(AUTOMATON))
NUMBERS = [as_term(NumberOf(family)) for family in FAMILIES]
TOKENS = [*NUMBERS, *map(as_term, (IsNumber("a"), IsNumber("b"), IsWord("x"), IsWord("<s>"), FIRST))]


@cache
def texts() -> list[tuple[Input, int]]:
    """Each with the state of its last token."""
    return [(Input(tokens, frozenset(FAMILIES)), states[-1]) for states, tokens in every_text(AUTOMATON)]


def back(value: Term, steps: int) -> Term:
    return as_term(Read(value, Back(steps))) if steps else value


STEPS, SMALL = st.integers(0, 2), st.integers(-2, 2)
TOKEN = st.builds(back, st.sampled_from(TOKENS), STEPS)
COMPARED = st.builds(
    lambda of, v: as_term(Equal(of, Fraction(v))), st.builds(back, st.sampled_from(NUMBERS), STEPS), SMALL
)


def sums(parts: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    products = parts | st.builds(Term.__mul__, parts, parts)
    weighted = st.builds(Term.__mul__, products, SMALL)
    return st.builds(lambda all_of_them, c: sum(all_of_them, as_term(c)), st.lists(weighted, max_size=3), SMALL)


SIMPLE = sums(TOKEN | COMPARED)
LATER = st.one_of(
    st.builds(lambda of: as_atom("f", of), SIMPLE),
    st.builds(lambda of: as_term(Positive(of)), SIMPLE),
    st.builds(lambda of: as_term(Above(of)), SIMPLE),
    st.builds(lambda of, v: as_term(Equal(of, Fraction(v))), SIMPLE, SMALL),
    st.builds(lambda of, base, count: as_term(Digits(of, base, count)), SIMPLE, st.integers(2, 3), st.integers(1, 3)),
    st.builds(lambda of: as_term(Sum(of)), SIMPLE),
    st.builds(lambda key, query: as_term(Count(Matching(((key, query),)))), SIMPLE, SIMPLE),
    st.builds(
        lambda value, key, query, last: as_term(Read(value, Pick(Matching(((key, query),)), last))),
        *(SIMPLE, SIMPLE, SIMPLE, st.booleans()),
    ),
    st.just(as_term(POSITION)),
)
ANY = sums(TOKEN | COMPARED | LATER | st.builds(back, LATER, st.integers(1, 2)))
PREVIOUS_IS_0 = as_term(Equal(back(NUMBERS[0], 1), Fraction(0)))


@example(as_term(Count(Matching(((NUMBERS[0], NUMBERS[0] + 1),)))))  # of another position
@example(as_term(Digits(as_term(FIRST) * 5 + PREVIOUS_IS_0 * 3, 2, 1)))  # so it is where nothing stands before
@example(as_term(Digits(as_term(IsWord("<s>")), 2, 1)))
@example(
    sum((back(token, 2) for token in TOKENS[2:6]), ZERO)
)  # a token is one of these; two before the second there is none
@given(ANY)
def test_normal_forms_and_bounds(value: Term) -> None:
    """Everywhere, and at the state where a text ends."""
    actual, ends = NORMAL.term(value), NORMAL.facts.bounds(value)
    at = [NORMAL.facts.ending(i) for i in range(len(AUTOMATON.states))]
    there = [(Normalizer(facts).term(value), facts.bounds(value)) for facts in at]
    for text, i in texts():
        k = len(text.tokens)
        right = text.value(value, k)
        assert text.value(actual, k) == right
        assert ends[0] <= right <= ends[1]
        assert text.value(there[i][0], k) == right
        assert there[i][1][0] <= right <= there[i][1][1]


@given(st.lists(st.tuples(ANY | COMPARED, st.integers(-1, 1)), min_size=1, max_size=3), ANY)
def test_what_holds_in_a_case(compared: list[tuple[Term, int]], value: Term) -> None:
    """At each state: texts of the case are not said to contradict each other, and what is said of them is true."""
    bits = [as_term(Equal(of, Fraction(v))) if i % 2 else as_term(Above(of - v)) for i, (of, v) in enumerate(compared)]
    for i, hold in itertools.product(range(len(AUTOMATON.states)), itertools.product((True, False), repeat=len(bits))):
        normal = Normalizer(NORMAL.facts.ending(i))
        for bit, holds in zip(bits, hold, strict=True):
            normal = _with(normal, normal.term(bit), holds)
        of_case = [
            t
            for t, j in texts()
            if j == i and all(t.value(b, len(t.tokens)) == h for b, h in zip(bits, hold, strict=True))
        ]
        assert not (of_case and _contradicts(normal))
        if of_case:
            actual, (low, high) = normal.term(value), normal.facts.bounds(value)
            for text in of_case:
                right = text.value(value, len(text.tokens))
                assert text.value(actual, len(text.tokens)) == right
                assert low <= right <= high


def test_a_count_is_none_where_two_numbers_differ() -> None:
    assert NORMAL.term(as_term(Count(Matching(((ONE, ONE * 2),))))).is_constant
