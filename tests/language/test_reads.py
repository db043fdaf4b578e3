"""The table of what the checker reads is as its weights are, and what the page says of `<s>` and of no match is so."""

from __future__ import annotations

import pytest

from constructions.language.interpreter import Input
from constructions.language.terms import Term
from constructions.language.values import Value, number, position, select, word
from tests.language.reads import CONSTRUCTS, NONE, PAGE, READ, renewed, verdict


def test_the_table_is_as_the_weights_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text
    for name, _, _ in CONSTRUCTS:
        assert f"| {name} |" in text


def test_the_table_tells_constructs_apart() -> None:
    assert verdict('choose(number == 1, "yes", "no")', "some(numbers())", "rnn") == READ
    assert verdict('choose(select(number, number).count() > 1, "yes", "no")', "some(numbers())", "rnn") == NONE


@pytest.mark.parametrize(
    ("value", "here"),
    [
        (select(1).count(), 3),
        (select(position, 1).count(), 0),
        (select(word("a")).last(number), 0),
        (select(word("a")).first(position), 1),
        (select(word("a")).last(number == 0), 1),
        (select(word("a")).nearest(position, 3), 1),
        (number.back(4), 0),
        (number.at(9), 7),
        (number.at(-2), 0),
    ],
)
def test_no_match_reads_position_1(value: Value, here: int) -> None:
    """Of the text `<s> 5 6 7`."""
    term: Term = value.term
    assert Input((("<s>", 0), ("", 5), ("", 6), ("", 7))).value(term, 4) == here
