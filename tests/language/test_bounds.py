"""Bounds of terms, against the interpreter on every text of small sizes: never too narrow; some are as narrow as they can be."""

from __future__ import annotations

import ast
import random

import pytest
from hypothesis import event, given, settings

from constructions.language.bounds import Bounds, product
from constructions.language.interpreter import Input
from constructions.language.terms import Digits, NumberOf, Reciprocal, Sum, as_term
from constructions.language.values import (
    Value,
    alternating_sum,
    number,
    position,
    positive,
    running_sum,
    select,
    table,
    word,
)
from tests.language.compiled import every_text
from tests.language.programs import NAMES, PROMPTS, Written, programs

N = 3
SIZES = {prompt: Written('"x"', prompt).program.texts for prompt in PROMPTS}
TEXTS = {
    prompt: random.Random(1).sample(every, min(30, len(every)))
    for prompt, texts in SIZES.items()
    for every in [[*every_text(texts, N)]]
}


FIRST_A = select(word("a")).first(position)


def met(value: Value, prompt: str) -> list[int]:
    """Its values at every position of these texts."""
    result = []
    for words in TEXTS[prompt]:
        text = Input([("<s>", 0), *(("", int(w)) if w.isdecimal() else (w, 0) for w in words)])
        result += [int(text.value(value.term, k)) for k in range(1, len(words) + 2)]
    return result


def bounds_of(prompt: str) -> Bounds:
    texts = SIZES[prompt]
    largest = max((piece.largest(N) for piece in texts.pieces if piece.numbers), default=0)
    return Bounds((texts.lowest, largest), texts.length(N), texts.last(N))


def parts(written: Written) -> list[str]:
    """Every expression in it: values, selections and functions. An argument list is none: it may have keywords."""
    nodes = ast.walk(ast.parse(written.says, mode="eval"))
    return [*dict.fromkeys(ast.unparse(node) for node in nodes if isinstance(node, ast.expr))]


@settings(max_examples=60)
@given(programs())
def test_no_value_is_outside(written: Written) -> None:
    bounds, count = bounds_of(written.prompt), 0
    for part in parts(written):
        value = eval(part, NAMES)
        if isinstance(value, Value):
            low, high = bounds.term(value.term)
            values, count = met(value, written.prompt), count + 1
            assert low <= min(values) <= max(values) <= high, part
            assert bounds.largest(value.term) >= max(map(abs, values))
    event(f"{min(count, 5)} values")


def test_arguments_by_name_are_no_part() -> None:
    says = 'choose(running_sum(number, every=2) == number + number, "yes", "no")'
    assert "running_sum(number, every=2)" in parts(Written(says, "some(numbers())"))
    assert not [part for part in parts(Written(says, "some(numbers())")) if part.startswith("(number, every")]


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (number, 0, N),
        (position, 1, N + 1),
        (number * position * -2 + 1, 1 - 2 * N * (N + 1), 1),
        (number.back(1) - 3, -3, N - 3),
        ((number - 5).back(1), -5, 0),
        ((number + 5).at(position), 5, N + 5),
        (positive(number - 2), 0, N - 2),
        (positive(number - 9), 0, 0),
        (running_sum(number - 1), -(N + 1), (N + 1) * (N - 1)),
        (running_sum(position), 0, (N + 1) ** 2),
        (running_sum(-position), -((N + 1) ** 2), 0),
        (running_sum(number, every=2), 0, (N + 1) * N),
        (running_sum(word("<s>"), every=2), 0, 1),
        (alternating_sum(1), 0, 1),
        (alternating_sum(number - number - 2, every=3), -2, 0),
        (alternating_sum(word("a")), -(N + 1), N + 2),
        (select(number).count(), 0, N + 1),
        (table(number, {1: 4, 2: -2}), -2, 4),
        ((number == 1) | (position > 2), 0, 1),
        ((number == 1) & ~(position > 2), 0, 1),
        ((number == 1) - 2 * (position > 2), -2, 1),
        (((number == 1) | (position > 2)).back(1), 0, 1),
        ((number == 1) * (number == 1), 0, 1),
        ((number == 1) | (number == 1), 0, 1),
        (word("a") * number, 0, 0),
        (word("a") + word("?") + number.back(1), 0, N + 1),
        (number - 2 * word("a"), -2, N),
        (number.back(1) - number.back(1) * word("a"), 0, N),
        ((number - 2).named("less"), -2, N - 2),
        (position - FIRST_A, 0, N),
        (FIRST_A - 2 * position + 1, -2 * N, 0),
        (3 * position - 2 * FIRST_A, 1, N + 1 + 2 * N),
        (select(word("a")).last(position), 1, N + 1),
        (select(word("?")).first(position), 1, 2),
        (number.at(position) - position, -(N + 1), N - 1),
    ],
)
def test_bounds_that_are_as_narrow(value: Value, low: int, high: int) -> None:
    assert Bounds((1, N), N + 1, {"?": 2}).term(value.term) == (low, high)


def test_products_of_intervals() -> None:
    ends = [(-3, -1), (-2, 0), (-1, 2), (0, 3), (1, 2)]
    for a in ends:
        for b in ends:
            values = [x * y for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
            assert product(a, b) == (min(values), max(values))


def test_an_atom_that_no_program_has() -> None:
    term = as_term(NumberOf())
    for atom in (Reciprocal(term), Digits(term, 2, 3)):
        with pytest.raises(TypeError, match="no bounds"):
            Bounds((1, N), N + 1).atom(atom)
    assert Bounds((1, N), N + 1).atom(Sum(term)) == (0, N * (N + 1))
