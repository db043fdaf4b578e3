"""What searches find in all texts: right ones are seen to be right, and where wrong ones differ `re` does so."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree.rag import VERTEX, families
from constructions.retrieval.rag import PLAIN
from constructions.turing import rag
from constructions.turing.library import find
from constructions.turing.rag import PLACE
from constructions.turing.tape_models import TaskOfAnySize
from verify.certificates.language import Place
from verify.patterns.models import FOUND, OF_TURNS, SPELLED, of_gram, of_tape, of_turns
from verify.patterns.pattern import NUMERALS, OTHER
from verify.patterns.readings import ANOTHER, MARKED, NOTHING, Reading, Seen, Word
from verify.patterns.texts import Comparison, Spelled
from verify.programs.interpreter import Input, Spoken
from verify.programs.machines import SearchedStep
from verify.programs.searches import NUMBER
from verify.programs.shorthand import at, back, word
from verify.programs.terms import ONE, POSITION, IsNumber, Matching, Pick, Positive, Read, Term, as_term
from verify.programs.witness import tokens_of as graph_tokens
from verify.runs.turing_runs import tokens_of as tape_tokens

TAPES = {"a cell": of_tape(True), "a cell left of cell 0": of_tape(True, negative=True), "place 2": of_tape(True, 2)}
GRAMS = {
    "a number": of_gram(NUMERALS[0]),
    "two numbers": of_gram(*NUMERALS),
    "a number twice": of_gram(*NUMERALS[:1] * 2),
}
RIGHT: dict[str, Comparison] = {name: of_turns(name) for name in OF_TURNS} | TAPES | GRAMS
RECORD, FIRST, NEXT = OF_TURNS
STEP = SearchedStep(TaskOfAnySize(find("bb2").machine, 1, ""))
FAMILIES = frozenset(["", *SPELLED])


@pytest.mark.parametrize("name", RIGHT)
def test_a_search_finds_what_is_defined(name: str) -> None:
    assert not RIGHT[name].difference()


def test_numbers_are_spelled_as_told() -> None:
    task = TaskOfAnySize(find("bb2").machine, 30, "1" * 30)
    for family in (*families(30), *rag.families(task)):
        spelled = SPELLED[family.name]
        for text in map(family.text, range(family.low, family.high + 1)):
            assert any(re.fullmatch(re.escape(form).replace(r"\#", "(0|[1-9][0-9]*)"), text) for form in spelled.forms)
            assert spelled.any_length or len(text) == 1


# Texts of a language, word by word, with numbers


NUMBERS = dict(zip((*NUMERALS, OTHER), (1, 11, 12), strict=True))


def some_text(comparison: Comparison, rng: random.Random) -> list[Word]:
    """A walk through its places, up to where the search may begin; one that cannot come there begins again."""
    words, kept, now, least = list[Word](), 0, -1, 0
    while not words or len(words) < least or not comparison.ends[now]:
        if len(words) > 100 or not comparison.behind[now]:
            words, now = [], -1
        if not words:
            kept, least = 0, rng.randrange(40)
        i = rng.choice(comparison.behind[now])
        place = comparison.texts.places[i]
        said = Word(place.word) if place.word else Word(place.family, rng.choice(list(NUMBERS)))
        further = comparison.follows(kept, (*words, said))
        words, now, kept = ([], -1, 0) if further is None else ([*words, said], i, further)
    return words


def spoken(said: Word) -> Spoken:
    family = "" if said.name in (VERTEX, PLAIN) else said.name
    return family, NUMBERS[said.number] if isinstance(said.number, str) else said.number or 0


@pytest.mark.parametrize("name", RIGHT)
@given(seed=st.integers(0, 2**32))
def test_what_a_term_reads(name: str, seed: int) -> None:
    """The word that is read has the number that the term is by its plain meaning; where none is read, that is 0."""
    comparison, reading = RIGHT[name], RIGHT[name].reading
    text = some_text(comparison, random.Random(seed))
    tokens = [spoken(said) for said in (*text, *reading.unread)]
    value = Input(tokens, FAMILIES).value(reading.term, len(tokens))

    def read(marked: int | None) -> int:
        seen = Seen()
        for j, said in enumerate(text):
            seen = reading.further(seen, replace(said, marked=j == marked))
        return reading.end(seen)

    found = [spoken(text[j])[1] + reading.more for j in range(len(text)) if read(j) == MARKED]
    assert found == ([value] if value else [])
    assert (read(None) == NOTHING) == (not value)


def test_patterns_that_find_the_same() -> None:
    """As constructions/istree/searches.py says; and behind a query of retrieval nothing stands."""
    assert not rewritten(NEXT, "[^-]*?", ".*?").difference()
    assert not rewritten("a number", "[^?]*?", ".*?").difference()


# Wrong ones


def rewritten(name: str, old: str, new: str) -> Comparison:
    """With another pattern, a word of which is changed; in the texts as well, so that they go on with the search."""
    right, reading = RIGHT[name], RIGHT[name].reading
    (word,) = {said.name for said in reading.search if old in said.name}
    search = [replace(said, name=said.name.replace(old, new)) for said in reading.search]
    places = (
        replace(place, word=place.word.replace(old, new)) if place.word == word else place
        for place in right.texts.places
    )
    other = Reading(reading.term, search, asks=reading.asks, positive=reading.positive, more=reading.more)
    return replace(right, texts=replace(right.texts, places=tuple(places)), reading=other)


def reread(name: str, change: Callable[[Term], Term]) -> Comparison:
    """With another term."""
    reading = RIGHT[name].reading
    other = Reading(
        change(reading.term), reading.search, asks=reading.asks, positive=reading.positive, more=reading.more
    )
    return replace(RIGHT[name], reading=other)


def picked(term: Term, *, last: bool, keys: int | None = None) -> Term:
    """The term, read at another position that matches; or at one at which only the first keys do."""
    (atom,) = term.atoms
    assert isinstance(atom, Read)
    assert isinstance(atom.where, Pick)
    return as_term(Read(atom.value, Pick(Matching(atom.where.matching.pairs[:keys]), last)))


def to_place(place: int) -> Comparison:
    """The search for another place than the term's."""
    return replace(RIGHT["place 2"], reading=Reading(STEP.in_word, of_tape(True, place).reading.search, more=1))


WRONG = {
    "the last record": lambda: reread(RECORD, lambda term: picked(term, last=True)),
    "the vertex itself": lambda: reread(RECORD, lambda _: at(NUMBER, (word("-", 1) * NUMBER, FOUND.current))),
    "nothing": lambda: reread(RECORD, lambda _: at(NUMBER, (word("-") * NUMBER, FOUND.current))),
    "a digit of the father": lambda: rewritten(RECORD, r"(\d+)", r"\d*(\d)"),
    "any mark": lambda: rewritten(RECORD, r"\s-\s", r"\s.\s"),
    "the last neighbour": lambda: reread(FIRST, lambda term: picked(term, last=True, keys=1)),
    "a digit of the neighbour": lambda: rewritten(FIRST, r"(\d+)", r"(\d)"),
    "only neighbours behind": lambda: rewritten(FIRST, r"\d+\s~\s", r"\d+\s\^\s"),
    "the last neighbour behind": lambda: rewritten(NEXT, "[^-]*?", "[^-]*"),
    "a graph with an edge twice": lambda: replace(RIGHT[NEXT], follows=lambda kept, words: kept),
    "the last of a sequence": lambda: rewritten("a number", "^[^?]*?", "^[^?]*"),
    "behind the first of two": lambda: reread("two numbers", lambda term: picked(term, last=False, keys=1)),
    "the first record of a cell": lambda: rewritten("a cell", "^.*", "^.*?"),
    "anything between two cells": lambda: rewritten("a cell", r"(\d)", "(.+)"),
    "the first record": lambda: reread("a cell", lambda term: picked(term, last=False)),
    "behind a search": lambda: replace(RIGHT["place 2"], spelled=SPELLED | {PLACE: Spelled((r"h>(?:\s\d){#}\s(\d)",))}),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_told_to_differ_differs(what: str) -> None:
    """With numbers in place of letters, `re` finds another word in that text than the term reads."""
    wrong = WRONG[what]()
    text = wrong.difference()
    assert text
    assert any(differ(wrong, text, numerals) for numerals in (("1", "2", "3"), ("12", "11", "21")))


def differ(wrong: Comparison, text: Sequence[tuple[str, bool]], numerals: Sequence[str]) -> bool:
    letters = str.maketrans(dict(zip((*NUMERALS, OTHER), numerals, strict=True)))
    search = [wrong.written(said).translate(letters) for said in wrong.reading.search]
    words = [said.translate(letters) for said, _ in text]
    tokens = (graph_tokens if wrong.reading.positive else tape_tokens)(
        [*words, *search][: len(words) + len(wrong.reading.unread)]
    )
    marked, read = [j for j, (_, is_marked) in enumerate(text) if is_marked], 0
    for j in marked:
        read = tokens[j][1] + wrong.reading.more
        start = len(" ".join(words[:j])) + 1
        span = start, start + len(words[j])
    assert Input(tokens, FAMILIES).value(wrong.reading.term, len(tokens)) == read
    found = re.search(" ".join(search[1:-1]), " ".join(words))
    return bool(found) if not marked else found is None or found.span(1) != span


# What cannot be told


K, ASKED, SEARCH = as_term(POSITION), back(NUMBER, 1), [Word(VERTEX, NUMERALS[0]), Word("?")]
UNTOLD = {
    "read by no head": (NUMBER, True),
    "may be 0": (at(NUMBER, (NUMBER, ASKED)), False),
    "stands before the words that ask": (at(NUMBER, (NUMBER, back(NUMBER, 2))), True),
    "no value of a key": (at(NUMBER, (at(NUMBER, (NUMBER, NUMBER)), ASKED)), True),
    "only a key may be": (at(NUMBER, (K, K - 3)), True),
    "whether it is a certain one": (at(NUMBER, (K - 3, ASKED)), True),
}


@pytest.mark.parametrize("why", UNTOLD)
def test_a_term_that_cannot_be_told_is_refused(why: str) -> None:
    term, positive = UNTOLD[why]
    with pytest.raises(ValueError, match=why):
        Reading(term, SEARCH, positive=positive)


TEXT = [Word("<s>"), *(Word(VERTEX, letter) for letter in (OTHER, NUMERALS[0], OTHER)), Word("~")]
IS_NUMBER = as_term(IsNumber())
OPEN = {
    "the same or not": (at(IS_NUMBER * (NUMBER + 1), (NUMBER, ASKED), last=True), 1),  # at ~, 0 and the first number
    "number of no word": (at(IS_NUMBER, (NUMBER, ASKED)), 1),
    "a sum of two numbers": (at(NUMBER + back(NUMBER, 1), (NUMBER, ASKED)), 1),
    "no sum of whole numbers": (at(NUMBER * back(NUMBER, 1), (NUMBER, ASKED)), 1),
    "picks for another number": (at(NUMBER, (at(NUMBER, (NUMBER, NUMBER), last=True), ASKED)), 0),
    "may be the first or not": (at(NUMBER, (at(NUMBER, (back(NUMBER, 1), NUMBER), last=True), ASKED)), 1),
    "something is read at position 1": (at(word("<s>"), (NUMBER, ASKED)), 1),
    "no value of Positive": (at(NUMBER, (as_term(Positive(NUMBER)), ASKED)), 1),
}


@pytest.mark.parametrize("why", OPEN)
def test_what_letters_do_not_tell_is_not_read(why: str) -> None:
    """more: 1 if numbers may be 0."""
    term, more = OPEN[why]
    reading = Reading(term, SEARCH, positive=not more, more=more)
    with pytest.raises(ValueError, match=why):
        functools.reduce(reading.further, TEXT, Seen())


@pytest.mark.parametrize("asked", range(12))
def test_a_position_is_told_however_far_it_is(asked: int) -> None:
    """At 1 and at 0 there is no number."""
    text = [Word("<s>"), *[Word(VERTEX, OTHER)] * 10]
    for more, last in itertools.product((-3, 0, 4), (False, True)):
        term, at_asked = at(NUMBER, (K + more, ONE * asked), last=last), asked - more
        reading = Reading(term, SEARCH, positive=True)
        for marked in range(1, len(text)):
            words = [replace(said, marked=j == marked) for j, said in enumerate(text)]
            seen = functools.reduce(reading.further, words, Seen()).read
            right = None if not 2 <= at_asked <= len(text) else MARKED if at_asked == marked + 1 else ANOTHER
            assert seen == right


def test_a_number_of_the_search_is_none_of_the_text() -> None:
    """It is no word that the search could find."""
    for last in (True, False):
        reading = Reading(at(NUMBER, (NUMBER, ASKED), last=last), SEARCH, positive=True)
        with pytest.raises(ValueError, match="a number of the search"):
            reading.end(functools.reduce(reading.further, TEXT[: 5 if last else 2], Seen()))
    assert reading.end(functools.reduce(reading.further, TEXT, Seen())) == ANOTHER


def test_texts_that_cannot_be_compared() -> None:
    right = RIGHT["a cell"]
    with pytest.raises(ValueError, match="no text goes on with the search"):
        replace(right, reading=RIGHT[RECORD].reading)
    places = (*right.texts.places, Place("", 1, 1, (), "x1"))
    with pytest.raises(ValueError, match="a word of the texts has digits"):
        replace(right, texts=replace(right.texts, places=places))
