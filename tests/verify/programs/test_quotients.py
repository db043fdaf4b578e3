"""Rules about quotients of integers, as means are, and about bits, against the interpreter on every text of a small language."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import (
    FIRST,
    ONE,
    POSITION,
    ZERO,
    Above,
    Back,
    Best,
    Count,
    Equal,
    IsWord,
    Matching,
    NumberOf,
    Positive,
    Read,
    Reciprocal,
    Sum,
    Term,
    as_term,
)
from constructions.retrieval.task import ASK, START
from tests.language.compiled import Compiled
from tests.language.programs import Written
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.programs import shares
from verify.programs.decisions import first_mismatch
from verify.programs.extraction import extract
from verify.programs.facts import Facts
from verify.programs.normal import Normalizer
from verify.programs.units import merged

SPOKEN = TokenAutomaton(
    (
        State(Label(START), 1, 1, (), START),
        State(Label("number"), 2, 4, (0, 1, 2), numbers=(1, 3)),
        State(Label("?"), 2, 4, (0, 1, 2), ASK),
    ),
    frozenset([Label("number"), Label("?")]),
    (4, 4),
)
TEXTS = [
    Input([(START, 0), *(("", x) if isinstance(x, int) else (str(x), 0) for x in text)])
    for length in range(4)
    for text in itertools.product((1, 2, 3, ASK), repeat=length)
]
NORMAL = Normalizer(Facts.everywhere(SPOKEN))
AT_NUMBER = Normalizer(Facts.everywhere(SPOKEN).ending(1))
K, NUMBER, FIRSTS = as_term(POSITION), as_term(NumberOf()), as_term(FIRST)
IS_ASK = as_term(IsWord(ASK))
SHARE = as_term(Reciprocal(ONE + as_term(Count(Matching(((IS_ASK, ONE),))))))
MEAN = as_term(Reciprocal(K))
ATOMS = (K, NUMBER, FIRSTS, IS_ASK, as_term(Sum(NUMBER)), as_term(Read(IS_ASK, Back(1))))


def values(term: Term) -> list[int | Fraction]:
    """At the last position of each text."""
    return [text.value(term, len(text.tokens)) for text in TEXTS]


integers = st.builds(
    lambda parts, c: sum((atom * d for atom, d in parts), ZERO + c),
    st.lists(st.tuples(st.sampled_from(ATOMS), st.integers(-2, 2)), max_size=2),
    st.integers(-2, 2),
)
under = st.sampled_from([MEAN, MEAN, SHARE, MEAN * MEAN, MEAN * SHARE, ONE])
quotients = st.builds(
    lambda parts, scale: sum((top * share for top, share in parts), ZERO) * scale,
    st.lists(st.tuples(integers, under), min_size=1, max_size=2),
    st.sampled_from([Fraction(1), Fraction(1), Fraction(1, 2), Fraction(2, 3)]),
)


@settings(max_examples=100)
@given(quotients)
def test_a_quotient_is_that_of_two_integers(x: Term) -> None:
    x = NORMAL.term(x)
    actual = shares.quotient_of(x, NORMAL)
    shared = {a for monomial, _ in x.items for a in monomial if isinstance(a, Reciprocal)}
    event(f"{len(shared)} under it, {actual is not None}")
    assert (actual is not None) == bool(shared)
    if actual is not None:
        top, largest = actual
        for value, above in zip(values(x), values(top), strict=True):
            assert above.denominator == 1
            assert (value > 0) == (above > 0)
            assert (value < 0) == (above < 0)
            assert not value or abs(value) >= Fraction(1, largest)


def test_what_is_under_it_is_an_integer() -> None:
    """And so is what is above it."""
    half = as_term(Reciprocal(K * Fraction(1, 2)))
    assert shares.quotient_of(half, NORMAL) is None
    assert shares.quotient_of(MEAN * as_term(Positive(NUMBER - Fraction(1, 2))), NORMAL) is None
    top, largest = shares.quotient_of(NORMAL.term((NUMBER - 2) * MEAN + SHARE * Fraction(1, 3)), NORMAL) or (ZERO, 0)
    assert largest == 3 * 4 * 4
    assert top != ZERO


def test_the_largest_power_is_under_it() -> None:
    """Though a smaller one comes later in the polynomial: 3/4² is less than 1/4."""
    x = NORMAL.term(NUMBER * MEAN * MEAN - MEAN)
    top, largest = shares.quotient_of(x, NORMAL) or (ZERO, 0)
    assert largest == 4 * 4
    assert [value > 0 for value in values(top)] == [value > 0 for value in values(x)]


def test_a_difference_of_shares_is_compared_with_0_alone() -> None:
    """What bounds it away from 0 says nothing of 1."""
    difference = NORMAL.term(MEAN - SHARE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "most", lambda a, normal: 4)
        for at in (1, -1):
            units = [(Fraction(16), Fraction(-at)), (Fraction(-16), Fraction(-at) - Fraction(1, 16))]
            actual = shares.step(difference, units, NORMAL)
            due = sum((as_term(Positive(difference + b)) * c for c, b in units), ZERO)
            assert actual is None or values(actual) == values(due)


corners = st.sampled_from(
    [Fraction(i, 4) for i in (-8, -5, -4, -3, -1, 0, 1, 4, 5)] + [Fraction(1, 16), Fraction(-17, 16)]
)
weights = st.integers(-2, 2).filter(bool).map(Fraction)


@settings(max_examples=150)
@given(quotients, st.lists(st.tuples(weights, corners), min_size=1, max_size=3), st.booleans())
def test_units_over_a_quotient_are_a_step(x: Term, units: list[tuple[Fraction, Fraction]], level: bool) -> None:
    """Where corners are as near to an integer as that, and it ends level; else nothing is said."""
    x = NORMAL.term(x)
    x = x - x.constant
    if level:
        units = [*units, (-sum((c for c, _ in units), Fraction(0)), units[0][1])]
    actual = shares.step(x, units, NORMAL)
    event(f"told: {actual is not None}")
    if actual is not None:
        due = sum((as_term(Positive(x + b)) * c for c, b in units), ZERO)
        assert values(actual) == values(due)
        assert sum(c for c, _ in units) == 0


HATS = [
    ([(1, 1), (-2, 0), (1, -1)], "is 0"),
    ([(1, 0), (-1, -1)], "is above 0"),
    ([(1, 1), (-1, 0)], "is not below 0"),
    ([(-1, 1), (1, 0)], "is below 0, less 1"),
    ([(3, 0), (-3, -1)], "is above 0, three times"),
]


@pytest.mark.parametrize(("units", "what"), HATS, ids=[what for _, what in HATS])
@pytest.mark.parametrize("at", [0, 1, -2])
@pytest.mark.parametrize(
    "x", [(NUMBER - 2) * MEAN, NUMBER * MEAN, as_term(Sum(NUMBER)) * MEAN, K * SHARE, MEAN * 2], ids=str
)
def test_units_that_are_wired_are_told(x: Term, at: int, units: list[tuple[int, int]], what: str) -> None:
    """Corners 1/4 from an integer, as k is at most 4: as steep as they must be, and not a bit less."""
    x = NORMAL.term(x)
    for steep, is_told in ((4, True), (5, True), (Fraction(7, 2), False)):
        scaled = [(Fraction(c) * steep, Fraction(b) / steep - at) for c, b in units]
        actual = shares.step(x, scaled, NORMAL)
        assert (actual is not None) == is_told
        if actual is not None:
            assert values(actual) == values(sum((as_term(Positive(x + b)) * c for c, b in scaled), ZERO))


def test_a_mean_over_all_positions_is_a_sum_over_them() -> None:
    """Scores that no key changes, whatever the query is."""
    for value in (NUMBER, FIRSTS, IS_ASK * 2 - 1, NUMBER * NUMBER + FIRSTS * 3, K):
        for rows in ((), ((ONE, NUMBER),), ((ONE, ONE * 5), (ONE * 2, K)), ((NUMBER, ZERO),)):
            mean = as_term(Read(value, Best(rows)))
            told = NORMAL.term(mean)
            assert values(told) == values(mean), (value, rows)
            assert not any(isinstance(a, Read) for a in told.atoms)
    some = as_term(Read(NUMBER, Best(((IS_ASK, ONE * 50),))))
    assert values(NORMAL.term(some)) == values(some)


@settings(max_examples=40)
@given(integers)
def test_sums(summand: Term) -> None:
    """Of what is 1 at position 1 alone, too."""
    total = as_term(Sum(summand))
    assert values(NORMAL.term(total)) == values(total)
    assert NORMAL.term(as_term(Sum(FIRSTS * 3))) == ONE * 3


BITS = [IS_ASK, FIRSTS, as_term(Equal(NUMBER, Fraction(2))), as_term(Read(IS_ASK, Back(1))), as_term(Above(K - 2))]
sums = st.builds(
    lambda parts, c: sum((a * b * d for a, b, d in parts), ZERO + c),
    st.lists(
        st.tuples(st.sampled_from(BITS), st.sampled_from([*BITS, ONE, ONE]), st.integers(-3, 3)), min_size=1, max_size=4
    ),
    st.sampled_from([0, 1, -1, -2, Fraction(1, 2)]),
)


@settings(max_examples=80)
@given(sums, st.sampled_from([NORMAL, AT_NUMBER]))
def test_bits_are_compared_case_by_case(value: Term, normal: Normalizer) -> None:
    for atom in (Above(value), Equal(value, Fraction(1)), Equal(value, Fraction(0)), Positive(value)):
        told = normal.term(as_term(atom))
        every = zip(TEXTS, values(as_term(atom)), values(told), strict=True)
        wrong = [t for t, x, y in every if x != y and (normal is NORMAL or t.tokens[-1][0] == "")]
        assert wrong == [], atom


def test_units_over_two_bits_are_what_they_are_compared_as() -> None:
    """However it is written: a step of two units is a comparison."""
    a, b = as_term(Read(IS_ASK, Back(1))), as_term(Equal(NUMBER, Fraction(2)))
    for x in (a + b - 1, a * 2 + b - 2, a - b):
        units = NORMAL.normalised(as_term(Positive(x)) - as_term(Positive(x - 1)))
        assert NORMAL.term(merged(units, NORMAL)) == NORMAL.term(as_term(Above(x)))


@pytest.mark.parametrize("prompt", ["some(numbers(0, 5))", 'some(words("a", "b"))', 'some(numbers()), "?"'])
def test_what_all_tokens_embed_is_a_constant(prompt: str) -> None:
    compiled = Compiled(Written('"x"', prompt).program, 3)
    terms = extract(compiled.model, compiled.automaton).stages[0].registers
    one = compiled.model.registers.index("one")
    assert terms[one] == ONE
    for token, word in enumerate(compiled.wired.vocabulary):
        text = Input([("", int(word)) if word.isdecimal() else (word, 0)])
        for i in range(len(compiled.model.registers)):
            expected = compiled.wired.model.words[token][i] + compiled.wired.model.position[i]
            if word == START or compiled.model.registers[i] not in ("first", START, "position"):
                assert text.value(terms.get(i, ZERO), 1) == expected or word != START != word
    for i, term in terms.items():
        for token, word in enumerate(compiled.wired.vocabulary):
            text = Input([(START, 0), ("", int(word)) if word.isdecimal() else (word, 0)])
            if word != START:
                assert (
                    text.value(term, 2) == compiled.wired.model.words[token][i] + 2 * compiled.wired.model.position[i]
                )


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    "condition",
    [
        "((number == 1) | (position > 2)).back(1)",
        "(number.back(1) == 2) + (number == 2) > 1",
        "(number.back(1) == 2) + 2 * (number == 2) == 2",
        "(number.back(1) == 2) * (number == 2) == 1",
    ],
)
def test_a_case_of_several_bits_is_taken_apart(condition: str, swap: bool) -> None:
    """Each choice is looked at: with both answers exchanged, or one of them wrong, it is no program of these weights."""
    made: Callable[[str, str], Compiled] = lambda yes, no: Compiled(  # noqa: E731
        Written(f'choose({condition}, "{yes}", "{no}")', "some(numbers())").program, 3
    )
    compiled = made("yes", "no")
    assert compiled.mismatches == []
    other = made("no", "yes") if swap else made("yes", "yes")
    read = extract(compiled.model, compiled.automaton)
    normal = Normalizer(read.facts.ending(1))
    registers = {r: normal.term(value) for r, value in read.stages[-1].registers.items()}
    assert first_mismatch(compiled.model, registers, compiled.compiler.answer, normal) is None
    assert first_mismatch(compiled.model, registers, other.compiler.answer, normal) is not None
