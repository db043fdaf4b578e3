"""Which facts follow from others, against every position of every text of a small language."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import pytest

from constructions.language.interpreter import Input
from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Atom,
    Back,
    Closest,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    Next,
    NumberOf,
    Pick,
    Position,
    Read,
    Reciprocal,
    Term,
    as_term,
)
from tests.verify.programs.every_text import every_text
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.programs import decisions, implied
from verify.programs.facts import Facts
from verify.programs.forms import as_atom
from verify.programs.normal import Normalizer

START = "<s>"
AUTOMATON = TokenAutomaton(
    (
        State(Label(START), 1, 1, (), START),
        State(Label("number"), 2, 4, (0, 1, 2), numbers=(1, 2)),
        State(Label("x"), 2, 4, (0, 1), "x"),
        State(Label("?"), 3, 5, (1, 2), "?"),
        State(Label("asked"), 4, 6, (3,), numbers=(0, 1), family="asked"),
    ),
    frozenset([Label("asked")]),
    (4, 4),
)
FACTS = Facts.everywhere(AUTOMATON)
NUMBERS = frozenset(["", "asked"])
K = as_term(POSITION)
BITS = (IsWord("x"), IsWord("?"), IsNumber(), IsNumber("asked"), IsWord(START))


def read(value: Term | Atom, steps: int) -> Read:
    return Read(as_term(value), Back(steps))


@cache
def runs() -> Sequence[Input]:
    """Every text up to each of its positions."""
    return [Input(tuple(tokens), NUMBERS) for _, tokens in every_text(AUTOMATON)]


@cache
def values(of: Term | Atom) -> Sequence[Fraction | int]:
    """At the last position of each run."""
    return [run.value(as_term(of), len(run.tokens)) for run in runs()]


@cache
def holding(bit: Term | Atom) -> frozenset[int]:
    """The runs at whose last position it is not 0."""
    return frozenset(i for i, x in enumerate(values(bit)) if x)


def stands(token: Atom, run: Input, steps: int) -> bool:
    k = len(run.tokens) - steps
    return k >= 1 and bool(run.value(as_term(token), k))


# Where factors stand

FACTORS: list[Atom] = [
    *BITS,
    NumberOf(),
    NumberOf("asked"),
    *(read(bit, steps) for bit in (*BITS[:4], NumberOf("asked")) for steps in (1, 2)),
    Read(as_term(IsNumber()) * as_term(NumberOf()), Back(1)),
    *(Equal(K, Fraction(v)) for v in (1, 3, 4, 6)),
    *(Above(K - Fraction(c, 2)) for c in (2, 5, 7, 8)),
    *(Above(K * -1 + Fraction(c, 2)) for c in (4, 7, 9)),
]


@pytest.mark.parametrize(("places", "most"), [(range(5), 3), ((3, 4), 2), ((1,), 2)])
def test_where_factors_stand(places: Sequence[int], most: int) -> None:
    """What is said of the tokens and of k is so wherever no factor is 0; if that is nowhere, it is said."""
    facts = FACTS.facts_at(frozenset(places))
    here = frozenset(i for i, run in enumerate(runs()) if any(is_at(run, state) for state in places))
    for factors in itertools.chain.from_iterable(
        itertools.combinations(FACTORS, count) for count in range(1, most + 1)
    ):
        left = here.intersection(*map(holding, factors))
        actual = implied.standing(factors, facts)
        assert (actual is None) == (not left), factors
        if actual is not None:
            back, (low, high) = actual
            for run in map(runs().__getitem__, left):
                assert low <= len(run.tokens) <= high
                assert all(stands(token, run, steps) for steps, token in back.items())


def is_at(run: Input, state: int) -> bool:
    here, (name, _) = AUTOMATON.states[state], run.tokens[-1]
    return name == (here.word or here.family)


SUMMED: list[Atom] = [
    *(read(bit, 1) for bit in (BITS[0], BITS[1], BITS[4], NumberOf())),
    *(read(bit, 2) for bit in (BITS[0], BITS[1], BITS[2], BITS[4])),
    *(Equal(as_term(NumberOf("asked")), v) for v in (Fraction(0), Fraction(1, 2), Fraction(1))),
    NumberOf("asked"),
    Position(),
]


@pytest.mark.parametrize("place", range(5))
def test_bounds_of_sums_hold_in_every_text(place: int) -> None:
    """What atoms say of one token they say together, where it stands; and an integer that is 0 or 1 with its comparisons."""
    facts = FACTS.facts_at(frozenset([place]))
    here = [i for i, run in enumerate(runs()) if is_at(run, place)]
    for atoms in itertools.chain.from_iterable(itertools.combinations(SUMMED, count) for count in (2, 3)):
        for sign in (1, -1):
            first, *others = atoms
            low, high = facts.bounds(sum((as_term(a) for a in others), as_term(first) * sign))
            for i in here:
                assert low <= sign * values(first)[i] + sum(values(a)[i] for a in others) <= high, (atoms, sign)


def test_where_nothing_can_be_there_are_bounds() -> None:
    asked = NumberOf("asked")
    facts = FACTS.facts_at(frozenset([4])).knowing(asked, Fraction(50), Fraction(60))
    assert len(facts.bounds(as_term(asked) * 3 + as_term(Equal(as_term(asked), Fraction(1))))) == 2


# What matches. A key, what is asked for, and what is read there.

X, NUMBER, QUESTION = (as_term(bit) for bit in (IsWord("x"), IsNumber(), IsWord("?")))
OF_NUMBER, OF_ASKED = as_term(NumberOf()), as_term(NumberOf("asked"))
PRODUCTS = [
    X,
    NUMBER,
    QUESTION * as_term(read(IsNumber(), 1)),
    NUMBER * OF_NUMBER,
    as_term(IsNumber("asked")) * OF_ASKED,  # may be 0
    NUMBER * as_term(read(NumberOf(), 1)),  # is 0 after another word
    QUESTION * as_term(read(NumberOf(), 2)),
    X * as_term(read(as_term(2), 1)),
    X * as_term(read(as_term(2), 2)),  # is 0 at position 2
]
SUMS = [
    *PRODUCTS,
    NUMBER * OF_NUMBER - NUMBER,
    NUMBER - NUMBER * OF_NUMBER,
    X + NUMBER * OF_NUMBER,
    QUESTION * as_term(read(IsNumber(), 1)) + NUMBER,
    X + QUESTION * as_term(read(NumberOf(), 2)),
]
ASKED = [ZERO, ONE, OF_NUMBER, OF_ASKED, OF_NUMBER + 1]


@cache
def matched(key: Term, query: Term) -> frozenset[int]:
    """By number, the runs that end with a position that is a match of a later one, or of itself."""
    numbers = {run.tokens: i for i, run in enumerate(runs())}
    result = set[int]()
    for run in runs():
        wanted = run.value(query, len(run.tokens))
        result |= {numbers[run.tokens[:j]] for j in range(2, len(run.tokens) + 1) if run.value(key, j) == wanted}
    return frozenset(result)


def test_how_many_match_where_nothing_can() -> None:
    """A state that stands after `?` alone has none after it, and the first one none at all."""
    for states, bit in itertools.product(
        ([0], [1], [2], [3], [4], [1, 2]), (X, QUESTION, NUMBER, as_term(IsNumber("asked")))
    ):
        facts, count = FACTS.facts_at(frozenset(states)), as_term(Count(Matching(((bit, ONE),))))
        counts = [x for i, x in enumerate(values(count)) if any(is_at(runs()[i], state) for state in states)]
        low, high = facts.bounds(count)
        assert low <= min(counts) <= max(counts) <= high
        assert (Normalizer(facts).term(count) == ZERO) == (max(counts) == 0)


def test_what_is_read_at_a_match_is_zero() -> None:
    told = collections.Counter[bool]()
    for key, other, query in itertools.product(SUMS, PRODUCTS[1:4], ASKED[:2]):
        matching = Matching(((key, query), (as_atom("name", other), ZERO)))
        there = matched(key, query) & matched(other, ZERO)
        for asked in (X, key, other, X * other, other + key):
            actual = implied.is_zero(asked, matching, FACTS)
            assert not actual or there.isdisjoint(holding(asked)), (asked, matching)
            told[actual] += 1
    assert min(told.values()) >= 20


def test_what_is_read_at_a_match_is_at_least() -> None:
    told = collections.Counter[bool]()
    for key, query in itertools.product(SUMS, ASKED):
        there = matched(key, query)
        for asked in (key, *SUMS[1:6], NUMBER - NUMBER * OF_NUMBER, NUMBER * 2 + NUMBER * OF_NUMBER * 3):
            actual = implied.least_match(asked, Matching(((key, query),)), FACTS)
            assert all(values(asked)[i] >= actual for i in there), (asked, key, query)
            told[actual > 0] += 1
    assert min(told.values()) >= 20


@pytest.mark.parametrize("key", [NUMBER, X], ids=str)
def test_what_is_read_at_a_match_may_be_negative(key: Term) -> None:
    """1[x = −1] was told to be 0, as what is read is 0 at least where it is a sum of products."""
    negative = Read(as_atom("name", NUMBER - NUMBER * OF_NUMBER), Pick(Matching(((key, ONE),))))
    asked = as_term(Equal(as_term(negative), Fraction(-1)))
    actual = Normalizer(FACTS).term(asked)
    assert values(actual) == values(asked)


# One factor, given another one

GIVEN = [
    *(Equal(of, Fraction(v)) for of in (K, as_term(NumberOf()), as_term(read(NumberOf(), 1))) for v in range(6)),
    *(Equal(as_term(NumberOf()) * 2 - K, Fraction(v)) for v in (-1, 0)),
]
OTHERS = [
    *GIVEN,
    POSITION,
    NumberOf(),
    *(
        Above(of + Fraction(c, 2))
        for of in (K, as_term(NumberOf()), as_term(NumberOf()) * 2 - K)
        for c in range(-7, 3, 3)
    ),
    *(read(of, steps) for of in (ONE, as_term(NumberOf()), K) for steps in (1, 2, 3)),
    *(Reciprocal(of + c) for of in (K, as_term(NumberOf())) for c in (1, 2)),
]


def test_a_factor_where_an_equality_holds() -> None:
    told = 0
    for equal, other in itertools.product(GIVEN, OTHERS):
        actual = implied.under(equal, other)
        if actual is not None:
            told += 1
            assert all(values(other)[i] == actual for i in holding(equal)), (equal, other)
    assert told > 100


def test_a_threshold_that_follows_from_another_one() -> None:
    above = [a for a in OTHERS if isinstance(a, Above)]
    pairs = [(a, b) for a, b in itertools.permutations(above, 2) if implied.follows(a, b)]
    assert len(pairs) == 3 * 4 * 3 / 2
    assert all(holding(b) <= holding(a) for a, b in pairs)
    assert not any(implied.follows(a, a) for a in above)


# Where nothing matches


@pytest.mark.parametrize("key", [PRODUCTS[0], PRODUCTS[3]], ids=str)
def test_nothing_matches(key: Term) -> None:
    matching = Matching(((key, ONE),))
    count = Count(matching)
    assert implied.none_of(Equal(as_term(count), Fraction(0))) == matching
    for other in (Equal(as_term(count), Fraction(1)), Equal(as_term(count) * 2, Fraction(0)), Equal(K, Fraction(0))):
        assert implied.none_of(other) is None
    ways = [Pick(matching), Pick(matching, last=True), Next(matching, key, ZERO), Pick(Matching(((key, ZERO),)))]
    ways.append(Closest(matching, K - Fraction(1, 4)))
    told = [implied.without(as_term(Read(K, way)), matching, START) == ONE for way in ways]
    assert told == [True, True, True, False, True]
    terms = [as_term(Read(of, way)) for of in (K + 2, as_term(IsWord(START)), as_term(NumberOf())) for way in ways]
    terms += [as_term(Above(a * b - 2)) * b * K + a for a, b in itertools.permutations(terms, 2) if a.atoms != b.atoms][
        ::12
    ]
    changed = 0
    for term in terms:
        actual = implied.without(term, matching, START)
        changed += actual != term
        assert all(values(actual)[i] == x for i, x in enumerate(values(term)) if not values(count)[i]), term
    assert changed > 10


@pytest.mark.parametrize("value", range(-2, 5))
@pytest.mark.parametrize("slopes", [(1, 1), (1, -1), (2, 2), (1, 2), (-1, -1)])
@pytest.mark.parametrize("holds", [True, False])
def test_what_a_sum_of_two_numbers_says_of_each(value: int, slopes: tuple[int, int], holds: bool) -> None:
    """c·x + d·y = v: the bounds of x and y, and what y is instead, hold of every run of the case; 0 = x + y makes both 0."""
    x, y = as_term(NumberOf()), as_term(read(NumberOf(), 1))
    bit = Equal(x * slopes[0] + y * slopes[1] + 1, Fraction(value + 1))
    known = decisions._with(Normalizer(FACTS), as_term(bit), holds)
    case = [i for i, here in enumerate(values(bit)) if bool(here) == holds]
    for a, (low, high) in known.facts.given.items():
        assert all(low <= values(a)[i] <= high for i in case), a
    for a, other in known.same.items():
        assert all(values(a)[i] == values(other)[i] for i in case), a
    assert bool(known.same) == (holds and abs(slopes[0]) == abs(slopes[1]))
    if (value, slopes, holds) == (0, (1, 1), True):
        assert {known.term(x), known.term(y)} == {ZERO}


def test_a_number_is_a_bit_where_the_texts_have_no_larger_one() -> None:
    assert FACTS.is_bit(NumberOf("asked"))
    assert not FACTS.is_bit(NumberOf())
    assert {*values(NumberOf("asked"))} == {0, 1}


def test_what_is_read_at_one_place_shares_its_facts() -> None:
    one, less = Fraction(1), Fraction(1, 2)
    facts = FACTS.facts_at(frozenset([4])).knowing(Read(as_term(IsWord("?")), Back(1)), one, one)
    there = facts.facts_of_read(Back(1))
    assert there.given == {IsWord("?"): (one, one)}
    assert facts.facts_of_read(Back(1)) is there
    assert facts.facts_of_read(Back(2)) is not there
    assert facts.knowing(Read(as_term(NumberOf()), Back(1)), less, one).facts_of_read(Back(1)).given.keys() == {
        IsWord("?"),
        NumberOf(),
    }
