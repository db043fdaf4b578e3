"""What terms read: what letters and tallies do not tell is refused, and nothing of it is read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from constructions.istree.rag import VERTEX
from constructions.language.terms import ONE, POSITION, ZERO, Above, Count, IsNumber, Matching, Positive, as_term
from tests.verify.patterns.told import seen_behind
from verify.dossiers.istree.steps import NUMBER
from verify.patterns.pattern import NUMERALS, OTHER
from verify.patterns.readings import ANOTHER, MARKED, KeptText, TermReading, Word
from verify.programs.shorthand import back, read_match, word


def behind(reading: TermReading, words: Sequence[Word]) -> KeptText:
    """What is kept of a text where nothing is counted."""
    return seen_behind(reading, words, 0)


K, ASKED, SEARCH = as_term(POSITION), back(NUMBER, 1), [Word(VERTEX, NUMERALS[0]), Word("?")]
UNTOLD = {
    "read by no head": (NUMBER, True),
    "may be 0": (read_match(NUMBER, (NUMBER, ASKED)), False),
    "stands before the words that ask": (read_match(NUMBER, (NUMBER, back(NUMBER, 2))), True),
    "no value of a key": (read_match(NUMBER, (read_match(NUMBER, (NUMBER, NUMBER)), ASKED)), True),
    "only a key may be": (read_match(NUMBER, (K, K - 3)), True),
    "counted than how often a key": (read_match(NUMBER, (as_term(Count(Matching(((NUMBER, NUMBER),)))), ZERO)), True),
    "told of a count than": (read_match(NUMBER, (as_term(Count(Matching(((NUMBER, ONE),)))), ONE * 2)), True),
    "compared with another number": (as_term(Above(as_term(Count(Matching(((NUMBER, ASKED),)))) - 3)), True),
}


@pytest.mark.parametrize("why", UNTOLD)
def test_a_term_that_cannot_be_told_is_refused(why: str) -> None:
    term, positive = UNTOLD[why]
    with pytest.raises(ValueError, match=why):
        TermReading(term, SEARCH, positive=positive)


TEXT = [Word("<s>"), *(Word(VERTEX, letter) for letter in (OTHER, NUMERALS[0], OTHER)), Word("~")]
IS_NUMBER = as_term(IsNumber())
OPEN = {
    "the same or not": (
        read_match(IS_NUMBER * (NUMBER + 1), (NUMBER, ASKED), last=True),
        1,
    ),  # at ~, 0 and the first number
    "number of no word": (read_match(IS_NUMBER, (NUMBER, ASKED)), 1),
    "a sum of two numbers": (read_match(NUMBER + back(NUMBER, 1), (NUMBER, ASKED)), 1),
    "no sum of whole numbers": (read_match(NUMBER * back(NUMBER, 1), (NUMBER, ASKED)), 1),
    "picks for another number": (read_match(NUMBER, (read_match(NUMBER, (NUMBER, NUMBER), last=True), ASKED)), 0),
    "may be the first or not": (
        read_match(NUMBER, (read_match(NUMBER, (back(NUMBER, 1), NUMBER), last=True), ASKED)),
        1,
    ),
    "something is read at position 1": (read_match(word("<s>"), (NUMBER, ASKED)), 1),
    "one that is counted or not": (read_match(NUMBER, (as_term(Count(Matching(((NUMBER, ONE),)))), ZERO)), 0),
    "be the same or not": (read_match(NUMBER, (K - 3, ASKED)), 0),
    "no value of Positive": (read_match(NUMBER, (as_term(Positive(NUMBER)), ASKED)), 1),
}


@pytest.mark.parametrize("why", OPEN)
def test_what_letters_do_not_tell_is_not_read(why: str) -> None:
    """more: 1 if numbers may be 0."""
    term, more = OPEN[why]
    reading = TermReading(term, SEARCH, positive=not more, more=more)
    with pytest.raises(ValueError, match=why):
        behind(reading, TEXT)


@pytest.mark.parametrize("asked", range(14))
def test_a_position_is_told_however_far_it_is(asked: int) -> None:
    """At 1 and at 0 there is no number."""
    text = [Word("<s>"), *[Word(VERTEX, OTHER)] * 10]
    for more, last in itertools.product((-3, 0, 3), (False, True)):
        term, at_asked = read_match(NUMBER, (K + more, ASKED), last=last), asked - more
        reading = TermReading(term, SEARCH, positive=True, counts=NUMERALS[0])
        for marked in range(1, len(text)):
            words = [said._replace(marked=j == marked) for j, said in enumerate(text)]
            seen = seen_behind(reading, words, asked).read
            right = None if not 2 <= at_asked <= len(text) else MARKED if at_asked == marked + 1 else ANOTHER
            assert seen == right


@pytest.mark.parametrize("least", [0, 1])
def test_a_number_that_is_counted_with_may_be_0(least: int) -> None:
    """Where the others may not."""
    term = read_match(NUMBER, (NUMBER, ASKED), last=True)
    reading = TermReading(term, SEARCH, positive=True, counts=NUMERALS[0], least=least)
    if least:
        assert seen_behind(reading, TEXT, 3).read == ANOTHER
    else:
        with pytest.raises(ValueError, match="may be the same or not"):
            seen_behind(reading, TEXT, 3)


def test_the_first_position_is_not_counted() -> None:
    """Which no head picks."""
    more = as_term(Above(as_term(Count(Matching(((word("<s>"), ONE),)))) - NUMBER))
    reading = TermReading(more, [], asks=[Word(VERTEX, NUMERALS[0])], counts=NUMERALS[0])
    assert [seen_behind(reading, [Word("<s>")] * n, 9).tally.done for n in range(4)] == [0, 0, 1, 2]


def test_a_number_of_the_search_is_none_of_the_text() -> None:
    """It is no word that the search could find."""
    for last in (True, False):
        reading = TermReading(read_match(NUMBER, (NUMBER, ASKED), last=last), SEARCH, positive=True)
        with pytest.raises(ValueError, match="a number of the search"):
            reading.end(behind(reading, TEXT[: 5 if last else 2]))
    assert reading.end(behind(reading, TEXT)) == {ANOTHER}
