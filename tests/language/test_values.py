"""Operators make terms of one meaning: that of Python's own numbers, position by position."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from constructions.language.interpreter import Input
from constructions.language.terms import Count, If, Named, Say, SayNumber, Term
from constructions.language.values import (
    Output,
    Value,
    alternating_sum,
    choose,
    is_number,
    number,
    position,
    positive,
    running_sum,
    say,
    select,
    table,
    word,
)

TEXTS = [
    Input([("<s>", 0), *(("", x) if isinstance(x, int) else (str(x), 0) for x in text)])
    for length in range(4)
    for text in itertools.product((0, 1, 2, "a"), repeat=length)
]
LAST = [(text, len(text.tokens)) for text in TEXTS]


def values(value: Value) -> list[int | Fraction]:
    """At the last position of each text."""
    return [text.value(value.term, k) for text, k in LAST]


NUMBERS = values(number)
PLACES = values(position)
ORDERS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
SCALES = (1, -1, 2, Fraction(1, 2), Fraction(-2, 3))


def test_numbers_and_positions() -> None:
    assert [text.tokens[-1][1] for text in TEXTS] == NUMBERS
    assert [len(text.tokens) for text in TEXTS] == PLACES
    assert values(is_number) == [int(text.tokens[-1][0] == "") for text in TEXTS]
    assert values(word("a")) == [int(text.tokens[-1][0] == "a") for text in TEXTS]


@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul])
def test_arithmetic(apply: Callable[..., Value]) -> None:
    assert values(apply(number, position)) == [*map(apply, NUMBERS, PLACES)]
    for c in (2, -1, Fraction(1, 3)):
        assert values(apply(number, c)) == [apply(x, c) for x in NUMBERS]
        assert values(apply(c, number)) == [apply(c, x) for x in NUMBERS]
    assert values(-number) == [-x for x in NUMBERS]
    assert values(positive(number - 1)) == [max(x - 1, 0) for x in NUMBERS]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scale", SCALES)
def test_comparisons_of_fractions_too(order: Callable[..., Any], scale: int | Fraction) -> None:
    """Half of an integer is below 1 where the integer is 1, too: that was once left out."""
    for c in (0, 1, 2, Fraction(1, 2), Fraction(5, 2)):
        assert values(order(number * scale, c)) == [int(order(x * scale, c)) for x in NUMBERS], c
        assert values(order(number * scale + c, position)) == [
            int(order(x * scale + c, k)) for x, k in zip(NUMBERS, PLACES, strict=True)
        ]
    plain = [int(order(Fraction(5, 2), x)) for x in NUMBERS]
    assert values(order(Fraction(5, 2), number)) == plain


def test_a_count_is_below_a_fraction() -> None:
    counts = values(select(word("a")).count())
    assert {0, 1, 2, 3} == {*counts}
    for c in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2)):
        assert values(select(word("a")).count() < c) == [int(x < c) for x in counts]
        assert values(select(word("a")).count() == c) == [0 for _ in counts]


@pytest.mark.parametrize(
    ("one", "two"), [*itertools.combinations([number, position, number * 2 + 1, word("a") - 3], 2)]
)
def test_one_comparison_has_one_term(one: Value, two: Value) -> None:
    assert (one == two).term == (two == one).term
    assert (one == two).term == (two * 3 == one * 3).term == (one * Fraction(1, 2) == two * Fraction(1, 2)).term
    assert (one < two).term == (one * 3 < two * 3).term
    for less in ((one < two, two > one), (~(one >= two), ~(two <= one))):
        assert less[0].term == less[1].term
    assert (one < two).term == (~(one >= two)).term
    assert (one < two).term == (one + 1 <= two).term
    assert (one != two).term == (~(one == two)).term


def test_equal_or_above_a_constant() -> None:
    """With no atoms left."""
    for x, y in itertools.product((-1, 0, 1, Fraction(1, 2)), repeat=2):
        for order in ORDERS:
            assert {*values(order(number - number + x, y))} == {int(order(x, y))}


BITS = [word("a"), position > 2, word("a").back(1)]


def test_and_or_not() -> None:
    for one, two in itertools.product(BITS, repeat=2):
        a, b = values(one), values(two)
        assert values(one & two) == [x * y for x, y in zip(a, b, strict=True)]
        assert values(one | two) == [max(x, y) for x, y in zip(a, b, strict=True)]
        assert values(~one) == [1 - x for x in a]
        assert values(~(one & ~two)) == [1 - x * (1 - y) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("written", ["and", "or", "not", "if"])
def test_a_value_is_not_true_or_false(written: str) -> None:
    attempts: dict[str, Callable[[], object]] = {
        "and": lambda: number and position,
        "or": lambda: number or position,
        "not": lambda: not number,
        "if": lambda: 1 if number == 1 else 0,
    }
    with pytest.raises(TypeError, match="use &"):
        attempts[written]()


@pytest.mark.parametrize("wrong", ["a", None, 0.5])
def test_a_value_goes_with_values_and_numbers_alone(wrong: object) -> None:
    for apply in (operator.add, operator.mul, operator.lt):
        with pytest.raises(TypeError):
            apply(number, wrong)


def test_other_positions() -> None:
    for text in TEXTS:
        numbers = [n for _, n in text.tokens]
        for k in range(1, len(numbers) + 1):
            here = [i for i in range(2, k + 1) if text.tokens[i - 1] == ("a", 0)]
            by = [abs(i - numbers[k - 1]) for i in here]

            def at(value: Value, k: int = k, text: Input = text) -> int | Fraction:
                return text.value(value.term, k)

            assert at(number.back(2)) == (numbers[k - 3] if k > 2 else 0)
            assert at(position.at(number)) == min(max(numbers[k - 1], 1), k)
            actual = select(word("a"))
            assert at(actual.first(position)) == (here[0] if here else 1)
            assert at(actual.last(position)) == (here[-1] if here else 1)
            assert at(actual.count()) == len(here)
            assert at(actual.nearest(position, number)) == (here[by.index(min(by))] if here else 1)
            assert at((actual & select(position, 2)).count()) == int(2 in here)
            assert at(running_sum(number)) == sum(numbers[:k])
            for m in (1, 2, 3):
                before = numbers[k - 1 :: -m]  # here, m before, and so on
                assert at(running_sum(number, every=m)) == sum(before)
                assert at(alternating_sum(number, every=m)) == sum(before[::2]) - sum(before[1::2])
            assert at(alternating_sum(1)) == k % 2
            assert at(table(number, {1: 5, 2: position})) == {1: 5, 2: k}.get(numbers[k - 1], 0)


@pytest.mark.parametrize("every", [0, -1, 1.0, number])
def test_a_recurrence_has_one_matrix_for_all_positions(every: object) -> None:
    for summed in (running_sum, alternating_sum):
        with pytest.raises(ValueError, match="the matrix of a linear RNN is constant"):
            summed(number, every)


def spoken(output: Output) -> list[str]:
    return [text.word_at(output.answer, k) for text, k in LAST]


def test_one_output_or_the_other() -> None:
    """Whatever the condition is made of; each branch is reached."""
    a, b, c = BITS
    for condition in (a, ~a, a & b, a | b, ~(a & b), ~(a | ~b), (a & ~c) | (b & c), ~~a | ~(b | (a & c)), a & (b | c)):
        bits = values(condition)
        assert 0 < sum(bits) < len(bits)
        assert spoken(choose(condition, "yes", "no")) == ["yes" if x else "no" for x in bits]
        assert spoken(choose(condition, number, 7)) == [
            str(n) if x else "7" for x, n in zip(bits, NUMBERS, strict=True)
        ]
        nested = choose(condition, choose(c, "both", say(position)), "no")
        every = zip(bits, values(c), PLACES, strict=True)
        assert spoken(nested) == [("both" if y else str(k)) if x else "no" for x, y, k in every]


def test_a_condition_is_taken_apart() -> None:
    """No product of bits is asked for."""
    a, b, _ = BITS
    inner = choose(a & b, "yes", "no").answer
    assert inner == If(a.term, If(b.term, Say("yes"), Say("no")), Say("no"))
    assert choose(~a | b, "yes", number).answer == If(
        a.term, If(b.term, Say("yes"), SayNumber(number.term)), Say("yes")
    )


@pytest.mark.parametrize("wrong", ["", "two words", " a", "12"])
def test_what_is_said_is_a_word(wrong: str) -> None:
    with pytest.raises(ValueError, match="no word"):
        choose(word("a"), wrong, "no")


def test_a_name_is_no_part_of_what_a_value_is() -> None:
    named = (number + position).named("sum")
    assert values(named) == values(number + position)
    (atom,) = named.term.atoms
    assert isinstance(atom, Named)
    assert atom.name == "sum"
    assert named.term == (number + position).named("other").term


def test_what_is_counted_once_is_one_atom() -> None:
    one, two = select(word("a")).count(), select(word("a"), 1).count()
    assert one.term == two.term
    assert isinstance(next(iter(one.term.atoms)), Count)
    assert isinstance(one.term, Term)


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt])
def test_a_number_is_not_compared_with_a_word(compare: Callable[[object, object], object]) -> None:
    with pytest.raises(TypeError, match=r"not (with )?'a'"):
        compare(number, "a")
