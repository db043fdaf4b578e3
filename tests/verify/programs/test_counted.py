"""Counts in normal form: they are what they were, equal ones have one form, and a neighbour's weights are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.language.interpreter import Input
from constructions.language.terms import POSITION, NumberOf, Term, as_term
from constructions.language.values import Value
from tests.language.compiled import Compiled, every_text
from tests.language.programs import NAMES, Written
from verify.programs.decisions import first_mismatch
from verify.programs.extraction import extract
from verify.programs.facts import Facts
from verify.programs.heads import MOST_FACTOR, MOST_MULTIPLE, _of_bit
from verify.programs.normal import Normalizer
from verify.programs.text import TermPrinter

AB, NUMBERS = 'some(words("a", "b"))', "some(numbers())"
A, NOT_A, SAME = 'select(word("a")).count()', 'select(~word("a")).count()', "select(number, number).count()"


def term_of(says: str) -> Term:
    value = eval(says, NAMES)
    assert isinstance(value, Value)
    return value.term


def normal_of(prompt: str) -> tuple[Normalizer, list[Input]]:
    compiled = Compiled(Written('"yes"', prompt).program, 4)
    texts = every_text(compiled.program.texts, 4)
    spoken = ([("", int(word)) if word.isdecimal() else (word, 0) for word in words] for words in texts)
    return Normalizer(Facts.everywhere(compiled.automaton)), [Input([("<s>", 0), *tokens]) for tokens in spoken]


NORMALS = {prompt: normal_of(prompt) for prompt in (AB, NUMBERS)}


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        (AB, NOT_A),
        (AB, 'select(word("a") | (position > 2)).count()'),
        (AB, 'select(~word("a"), word("b")).count()'),
        (AB, 'select((position < 3) & ~word("b")).count()'),
        (AB, f"{NOT_A} > 2 - {A}"),
        (AB, f"3 * position - 2 * {A} > 5"),
        (AB, "select(1).count()"),
        (AB, "(position > 1).back(1)"),
        (AB, "(position < 2).back(2)"),
        (AB, "(5 - 2 * position > 0).back(1)"),
        (AB, "running_sum(position < 2)"),
        *(
            (AB, f"2 * running_sum(position) {sign} {end}")
            for sign in ("==", ">", "<")
            for end in (-3, 0, 2, 3, 5, 6, 13, 19, 20)
        ),
        (AB, "running_sum(position) * Fraction(-1, 3) > -2"),
        (NUMBERS, "select(position, number).count()"),
        (NUMBERS, "select(position, number * Fraction(1, 2)).count()"),
        (NUMBERS, "select(position, number * Fraction(1, 2) + 1).first(number)"),
        (NUMBERS, "select(position, number + 1).first(number)"),
        (NUMBERS, "select(position, number - 1).last(position)"),
        (NUMBERS, "select(position, 2 * number).nearest(is_number, 1)"),
        (NUMBERS, f"{SAME} - number > 0"),
        (NUMBERS, f"number - {SAME} >= 1"),
        *(
            (NUMBERS, f"select(number, number.back(1)).nearest(position, {target})")
            for target in (
                "2",
                "3",
                "number",
                "position",
                "position - Fraction(1, 4)",
                "position - Fraction(1, 2)",
                "position - 1",
            )
        ),
        (NUMBERS, "select(2 * number, number.back(1)).count()"),
        (NUMBERS, "number > 1"),
        (NUMBERS, "1 - number >= 0"),
    ],
)
def test_a_normal_form_is_what_it_was(prompt: str, says: str) -> None:
    normal, texts = NORMALS[prompt]
    term = term_of(says)
    for state in range(len(normal.facts.automaton.states)):
        form = Normalizer(normal.facts.facts_at(frozenset([state]))).term(term)
        for text in texts:
            for k in range(1, len(text.tokens) + 1):
                here = normal.facts.automaton.states[state]
                name, _ = text.tokens[k - 1]
                if name == here.word and text.value(term, k) != text.value(form, k):
                    pytest.fail(f"{says} at {k} of {text.tokens}: {text.value(term, k)} is {text.value(form, k)}")


@pytest.mark.parametrize(
    ("prompt", "one", "other"),
    [
        (AB, NOT_A, f"position - 1 - {A}"),
        (AB, f"{A} > {NOT_A}", f"~({NOT_A} + 1 > {A})"),
        (AB, "select(1).count()", "position - 1"),
        (NUMBERS, f"{SAME} > number", f"~({SAME} <= number)"),
        (NUMBERS, "(position > 2).back(1)", "position > 3"),
        (NUMBERS, "select(position, number).last(number)", "select(position, number).first(number)"),
        (AB, 'select(running_sum(word("a")) + (position == 1)).count()', 'select(running_sum(word("a"))).count()'),
        (AB, "running_sum(position) > 5", "position > 2"),
        (AB, "running_sum(position) == 6", "position == 3"),
        (AB, "running_sum(position) == 5", "position < 0"),
        (NUMBERS, "select(number, 1).nearest(position, 2)", "select(number, 1).first(position)"),
        (NUMBERS, "select(number, 1).nearest(position, position + number)", "select(number, 1).last(position)"),
        (
            NUMBERS,
            "select(number, 1).nearest(position, number)",
            "select(number, 1).nearest(position, number - Fraction(1, 4))",
        ),
    ],
)
def test_what_is_equal_has_one_form(prompt: str, one: str, other: str) -> None:
    normal, _ = NORMALS[prompt]
    assert normal.term(term_of(one)) == normal.term(term_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nearest(position, 3)", "first(position)"),
        ("nearest(position, position - Fraction(1, 2))", "last(position)"),
        ("nearest(position, number)", "nearest(position, number + Fraction(1, 4))"),
        ("nearest(position, number)", "nearest(position, number - Fraction(1, 2))"),
        ("select(running_sum(number) - (position == 2)).count()", "select(running_sum(number)).count()"),
    ],
)
def test_what_may_differ_has_two_forms(one: str, other: str) -> None:
    normal, texts = NORMALS[NUMBERS]
    first, second = (term_of(text if "select" in text else f"select(number, 1).{text}") for text in (one, other))
    assert normal.term(first) != normal.term(second)
    assert any(text.value(first, k) != text.value(second, k) for text in texts for k in range(1, len(text.tokens) + 1))


@pytest.mark.parametrize("place", [2, 3, 4])
def test_at_a_known_position_it_is_a_number(place: int) -> None:
    """In counts of all, in what is read some steps back, and in a count, of which there are k − 1 at most."""
    normal = NORMALS[AB][0].knowing(POSITION, Fraction(place), Fraction(place))
    assert normal.term(term_of("select(1).count()")) == as_term(place - 1)
    assert normal.term(term_of("position.at(position - 1)")) == as_term(place - 1)
    assert normal.term(term_of('word("a").at(position - 1)')) == normal.term(term_of('word("a").back(1)'))
    assert normal.facts.bounds(normal.term(term_of(A))) == (0, place - 1)
    assert normal.facts.bounds(normal.term(term_of("running_sum(position)")))[1] <= place * place


def mismatch(weights: Compiled, due: Compiled) -> str:
    """Where one program's weights are not seen to say what the other program does."""
    read = extract(weights.model, weights.automaton)
    for i, state in enumerate(weights.automaton.states):
        if state.label in weights.automaton.answers:
            normal = Normalizer(read.facts.ending(i))
            registers = {r: normal.term(value) for r, value in read.stages[-1].registers.items()}
            if found := first_mismatch(weights.model, registers, due.compiler.answer, normal):
                return found.text(TermPrinter(), normal)
    return ""


NEIGHBOURS = [
    (AB, f"{NOT_A} == 2", f"{NOT_A} == 1"),
    (AB, f"{NOT_A} > {A}", f"{NOT_A} >= {A}"),
    (AB, f"{A} == position - 1", f"{A} == position"),
    (AB, f"select({A} > 1).count() > 1", f"select({A} >= 1).count() > 1"),
    (AB, f"select({A} > {NOT_A}).count() > 1", f"select({A} >= {NOT_A}).count() > 1"),
    (NUMBERS, "select(position, number).count() > 0", "number >= 2"),
    (AB, 'select(word("a"), position - 3).count() > 1', 'select(word("a"), position - 2).count() > 1'),
    (NUMBERS, "(position == 2).at(number)", "(position == 2).at(number + 1)"),
    (
        NUMBERS,
        "select(number, number).nearest(position, number) == 3",
        "select(number, number).nearest(position, number + 1) == 3",
    ),
    (
        NUMBERS,
        "select(is_number).nearest(position, 2 * number - 1) == 3",
        "select(is_number).nearest(position, 2 * number) == 3",
    ),
    (
        NUMBERS,
        "select(number, position).nearest(position, number) == 3",
        "select(number, position).nearest(position, number - 1) == 3",
    ),
    (NUMBERS, "select(number, position).last(number) == 3", "select(number, position - 1).last(number) == 3"),
    (NUMBERS, "select(2 * number, number).count() == 1", "select(2 * number, number + 1).count() == 1"),
    (AB, 'select(2 * word("a"), word("b").back(1)).count() == 1', 'select(word("a"), word("b").back(1)).count() == 1'),
    (NUMBERS, "running_sum(position) == 6", "running_sum(position) == 10"),
    (NUMBERS, "running_sum(position) > 5", "running_sum(position) > 6"),
    (NUMBERS, "(number > 1) & (running_sum(number) < 3)", "(number > 1) & (running_sum(number) < 4)"),
    (AB, '(word("b") & (position == 2)).back(1) & word("a")', '(word("b") & (position == 3)).back(1) & word("a")'),
]


@pytest.mark.parametrize(("prompt", "says", "neighbour"), NEIGHBOURS)
def test_a_neighbour_is_refused(prompt: str, says: str, neighbour: str) -> None:
    one, other = (Compiled(Written(f'choose({text}, "yes", "no")', prompt).program, 5) for text in (says, neighbour))
    assert one.certified
    assert not mismatch(one, one)
    assert mismatch(one, other)
    assert mismatch(other, one)


@pytest.mark.parametrize("cost", [Fraction(8), Fraction(1, 2)])
@pytest.mark.parametrize("factor", range(1, MOST_FACTOR + 1))
@pytest.mark.parametrize("offset", range(-3, 4))
def test_a_bit_is_compared_with_what_its_slope_says(cost: Fraction, factor: int, offset: int) -> None:
    """The same slope: so the score is the same but for what all keys share."""
    bit, y = as_term(POSITION), as_term(NumberOf()) * factor + offset
    slope = (y * 2 - 1) * cost
    facts = NORMALS[NUMBERS][0].facts
    actual = _of_bit(bit, slope, facts)
    assert actual is not None
    assert actual[0] > 0
    assert (actual[2] * 2 - 1) * actual[0] == slope
    assert facts.is_integer(actual[2])
    assert _of_bit(bit, slope + cost * Fraction(1, 840), facts) is None  # y would be no integer


@pytest.mark.parametrize("times", range(1, MOST_MULTIPLE + 2))
@pytest.mark.parametrize("offset", range(-3, 4))
def test_a_multiple_of_a_bit_is_compared_with_what_its_slope_says(times: int, offset: int) -> None:
    """−S(m·x − y)², with x² = x, is S(2m·y − m²)·x but for what all keys share: the slope is that of some m that is tried."""
    bit, y = as_term(POSITION), as_term(NumberOf()) + offset
    slope = (y * 2 * times - times * times) * 8
    facts = NORMALS[NUMBERS][0].facts
    actual = _of_bit(bit, slope, facts)
    if actual is None:
        assert times > MOST_MULTIPLE
        return
    ((_, m),) = actual[1].items
    assert (actual[2] * 2 * m - m * m) * actual[0] == slope
    assert actual[0] > 0
    assert facts.is_integer(actual[2])


def test_neighbours_differ() -> None:
    """Each neighbour says something else on some text: to refuse it is right."""
    for prompt, says, neighbour in NEIGHBOURS:
        _, texts = NORMALS[prompt]
        one, other = term_of(says), term_of(neighbour)
        assert any(text.value(one, k) != text.value(other, k) for text in texts for k in (2, 3, 4, 5)), neighbour
