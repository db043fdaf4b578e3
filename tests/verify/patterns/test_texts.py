"""What searches find in all texts: right ones are seen to be right, and where wrong ones differ `re` does so."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree.rag import VERTEX, families
from constructions.language.interpreter import Input, Spoken
from constructions.language.terms import Matching, Pick, Read, Term, as_term
from constructions.retrieval.rag import PLAIN, REPEAT
from constructions.turing import rag
from constructions.turing.library import find
from constructions.turing.rag import PLACE
from constructions.turing.tape_models import AnyTapeTask
from tests.verify.patterns.told import seen_behind
from verify.automata.token_automaton import Label, State
from verify.dossiers.istree import searches as of_istree
from verify.dossiers.istree.searches import FOUND, OF_TURNS, of_turns
from verify.dossiers.istree.steps import NUMBER
from verify.dossiers.registry import find_dossier
from verify.dossiers.retrieval import searches as of_retrieval
from verify.dossiers.turing import searches as of_turing
from verify.dossiers.turing.searches import of_tape, of_word
from verify.patterns.pattern import COUNT, NUMERALS, OTHER
from verify.patterns.readings import MARKED, NOTHING, TermReading, Word
from verify.patterns.texts import Comparison, Spelling, TextDifference
from verify.programs.shorthand import read_match, word
from verify.programs.witness import tokens_of as graph_tokens
from verify.runs.turing_runs import tokens_of as tape_tokens


def of_task(task: str, *letters: str) -> Comparison:
    return find_dossier(task, "rag").search(*letters)


SPELLED = {**of_retrieval.SPELLED, **of_istree.SPELLED, **of_turing.SPELLED}
TAPES = {"a cell": of_tape(True), "a cell left of cell 0": of_tape(True, negative=True), "a place": of_word(True)}
TWICE = NUMERALS[:1] * 2
TASKS = {
    "a number": of_task("recall", NUMERALS[0]),
    "two numbers": of_task("ngram", *NUMERALS),
    "a number twice": of_task("ngram", *TWICE),
    "a position": of_task("index", NUMERALS[0]),
    "more than a number": of_task("counting", *NUMERALS),
    "more than itself": of_task("counting", *TWICE),
}
RIGHT: dict[str, Comparison] = {name: of_turns(name) for name in OF_TURNS} | TAPES | TASKS
RECORD, FIRST, NEXT = OF_TURNS
FAMILIES = frozenset(["", *SPELLED])


@pytest.mark.parametrize("name", RIGHT)
def test_a_search_finds_what_is_defined(name: str) -> None:
    assert not RIGHT[name].difference()


def test_numbers_are_spelled_as_told() -> None:
    task = AnyTapeTask(find("bb2").machine, 30, "1" * 30)
    for family in (*families(30), *rag.families(task)):
        spelled = SPELLED[family.name]
        for text in map(family.text, range(family.low, family.high + 1)):
            assert any(re.fullmatch(re.escape(form).replace(r"\#", "(0|[1-9][0-9]*)"), text) for form in spelled.forms)
            assert spelled.any_length or len(text) == 1


# Texts of a language, word by word, with numbers


NUMBERS = dict(zip((*NUMERALS, OTHER), (101, 111, 112), strict=True))


def some_text(comparison: Comparison, rng: random.Random) -> list[Word]:
    """A walk through its states, up to where the search may begin; one that cannot come there begins again."""
    words, kept, now, least = list[Word](), 0, -1, 0
    while not words or len(words) < least or not comparison.ends[now]:
        if len(words) > 100 or not comparison.behind[now]:
            words, now = [], -1
        if not words:
            kept, least = 0, rng.randrange(40)
        i = rng.choice(comparison.behind[now])
        state = comparison.texts.states[i]
        said = Word(state.word) if state.word else Word(state.family, rng.choice(list(NUMBERS)))
        further = comparison.follows(kept, (*words, said))
        words, now, kept = ([], -1, 0) if further is None else ([*words, said], i, further)
    return words


def spoken(said: Word, numbers: Mapping[str, int]) -> Spoken:
    family = "" if said.name in (VERTEX, PLAIN) else said.name
    return family, numbers[said.number] if said.number else 0


@pytest.mark.parametrize("name", RIGHT)
@given(seed=st.integers(0, 2**32))
def test_what_a_term_reads(name: str, seed: int) -> None:
    """The word that is read has the number that the term is by its plain meaning; where none is read, that is 0."""
    comparison, reading, rng = RIGHT[name], RIGHT[name].reading, random.Random(seed)
    text = some_text(comparison, rng)
    number = rng.randint(reading.least, len(text) - 3 if name == "a position" else 8) if reading.counts else 0
    numbers = {**NUMBERS, reading.counts: number}
    tokens = [spoken(said, numbers) for said in (*text, *reading.unread)]
    value = Input(tokens, FAMILIES).value(reading.term, len(tokens))

    def read(marked: int | None) -> int:
        words = [said._replace(marked=j == marked) for j, said in enumerate(text)]
        (told,) = reading.end(seen_behind(reading, words, number))
        return told

    actual = [j for j in range(len(text)) if read(j) == MARKED]
    if reading.head is None:
        assert actual == [0][: int(value)]
    else:
        assert [spoken(text[j], numbers)[1] + reading.more for j in actual] == ([value] if value else [])
    assert (read(None) == NOTHING) == (not value)


def test_which_numbers_are_asked_for() -> None:
    """The positions of the sequence; thresholds from 0 on, but for one that is a token."""
    assert [RIGHT[f"more than {what}"].reading.least for what in ("a number", "itself")] == [0, 1]
    positions = RIGHT["a position"]
    (state,) = (state for state in positions.texts.states if state.behind is not None)
    reading, asked = positions.reading, Word(PLAIN, NUMERALS[0])
    assert reading.least == 1
    for length, number in itertools.product(range(1, 9), range(1, 12)):
        text = [Word("<s>"), *[Word(PLAIN, OTHER)] * length, Word("?"), asked]
        assert reading.may_stand(state, asked, seen_behind(reading, text, number)) == (number <= length)


def test_patterns_that_find_the_same() -> None:
    """As constructions/istree/searches.py says; and after a query of retrieval nothing stands."""
    assert not rewritten(NEXT, "[^-]*?", ".*?").difference()
    assert not rewritten("a number", "[^?]*?", ".*?").difference()
    assert not rewritten("a position", r"(?:\S+", r"(?:\d+").difference()
    assert not rewritten("a position", "^<s>", "<s>").difference()
    assert not respelled("a place", PLACE, r"^<s>(?:\s\d){#}?\s(\d)").difference()
    assert not respelled("a place", PLACE, r"^<s>(?:\s\S){#}\s(\d)").difference()


# Wrong ones


def another(name: str, *, term: Term | None = None, search: Sequence[Word] = ()) -> TermReading:
    """With another term or search."""
    of = RIGHT[name].reading
    return TermReading(
        term or of.term,
        search or of.search,
        asks=of.asks,
        positive=of.positive,
        more=of.more,
        counts=of.counts,
        least=of.least,
    )


def rewritten(name: str, old: str, new: str) -> Comparison:
    """With another pattern, a word of which is changed; in the texts as well, so that they go on with the search."""
    right, reading = RIGHT[name], RIGHT[name].reading
    (word,) = {said.name for said in reading.search if old in said.name}
    search = [said._replace(name=said.name.replace(old, new)) for said in reading.search]
    states = (
        replace(state, word=state.word.replace(old, new)) if state.word == word else state
        for state in right.texts.states
    )
    return replace(right, texts=replace(right.texts, states=tuple(states)), reading=another(name, search=search))


def reread(name: str, change: Callable[[Term], Term]) -> Comparison:
    """With another term."""
    return replace(RIGHT[name], reading=another(name, term=change(RIGHT[name].reading.term)))


def picked(term: Term, *, last: bool, keys: int | None = None) -> Term:
    """The term, read at another position that matches; or at one at which only the first keys do."""
    (atom,) = term.atoms
    assert isinstance(atom, Read)
    assert isinstance(atom.where, Pick)
    return as_term(Read(atom.value, Pick(Matching(atom.where.matching.pairs[:keys]), last)))


def respelled(name: str, family: str, *forms: str) -> Comparison:
    """With another spelling of numbers."""
    return replace(RIGHT[name], spelled={**RIGHT[name].spelled, family: Spelling(forms)})


def recounted(name: str, plus: int) -> Comparison:
    """With another number of repetitions."""
    search = [said._replace(plus=plus) if said.name == REPEAT else said for said in RIGHT[name].reading.search]
    return replace(RIGHT[name], reading=another(name, search=search))


WRONG = {
    "the last record": lambda: reread(RECORD, lambda term: picked(term, last=True)),
    "the vertex itself": lambda: reread(RECORD, lambda _: read_match(NUMBER, (word("-", 1) * NUMBER, FOUND.current))),
    "nothing": lambda: reread(RECORD, lambda _: read_match(NUMBER, (word("-") * NUMBER, FOUND.current))),
    "a digit of the father": lambda: rewritten(RECORD, r"(\d+)", r"\d*(\d)"),
    "any mark": lambda: rewritten(RECORD, r"\s-\s", r"\s.\s"),
    "the last neighbour": lambda: reread(FIRST, lambda term: picked(term, last=True, keys=1)),
    "a digit of the neighbour": lambda: rewritten(FIRST, r"(\d+)", r"(\d)"),
    "only neighbours after": lambda: rewritten(FIRST, r"\d+\s~\s", r"\d+\s\^\s"),
    "the last neighbour after": lambda: rewritten(NEXT, "[^-]*?", "[^-]*"),
    "a graph with an edge twice": lambda: replace(RIGHT[NEXT], follows=lambda kept, words: kept),
    "the last of a sequence": lambda: rewritten("a number", "^[^?]*?", "^[^?]*"),
    "after the first of two": lambda: reread("two numbers", lambda term: picked(term, last=False, keys=1)),
    "the first record of a cell": lambda: rewritten("a cell", "^.*", "^.*?"),
    "anything between two cells": lambda: rewritten("a cell", r"(\d)", "(.+)"),
    "the first record": lambda: reread("a cell", lambda term: picked(term, last=False)),
    "after a search": lambda: respelled("a place", PLACE, r"h>(?:\s\d){#}\s(\d)"),
    "the place after": lambda: respelled("a place", PLACE, r"^<s>(?:\s\d){#}\s\d\s(\d)"),
    "the position after": lambda: recounted("a position", 0),
    "a part of a token": lambda: respelled("a position", REPEAT, r"){#}(\S+?)"),
    "a digit of a token": lambda: respelled("a position", REPEAT, r"){#}(\S)"),
    "two tokens": lambda: respelled("a position", REPEAT, r"){#}(\S+ \S+)"),
    "characters": lambda: rewritten("a position", r"(?:\S+", r"(?:\S"),
    "from anywhere": lambda: rewritten("a position", "^<s>", r"\b"),
    "more than any": lambda: rewritten("a position", r"(?:\S+", r"(?:.+"),
    "as many": lambda: recounted("more than a number", 0),
    "as many as itself": lambda: recounted("more than itself", 0),
    "two more": lambda: recounted("more than a number", 2),
    "two more than itself": lambda: recounted("more than itself", 2),
    "and of the query": lambda: rewritten("more than a number", "[^?]*?", ".*?"),
    "and of the query itself": lambda: rewritten("more than itself", "[^?]*?", ".*?"),
    "side by side": lambda: rewritten("more than a number", "[^?]*?", ""),
    "with a space after": lambda: respelled("more than a number", REPEAT, "){#}"),
    "as printed, adjacent": lambda: rewritten("more than a number", "^(<s>)(?>[^?]*?", r"(\b"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_told_to_differ_differs(what: str) -> None:
    """With numbers in place of letters, `re` finds another word in that text than the term reads."""
    wrong = WRONG[what]()
    actual = wrong.difference()
    assert actual
    assert any(differ(wrong, actual, numerals) for numerals in (("1", "2", "3"), ("12", "11", "21")))


TOO_WIDE = {
    "the last one": lambda: rewritten("more than a number", "[^?]*?", "[^?]*"),
    "with two spaces": lambda: respelled("more than a number", REPEAT, r"*\b){#}"),
    "any that it may skip": lambda: rewritten("more than a number", "(?>", "(?:"),
    "from any place": lambda: respelled("a place", PLACE, r"(?:\s\d){#}\s(\d)"),
}


@pytest.mark.parametrize("what", TOO_WIDE)
def test_what_cannot_be_told_is_not_called_the_same(what: str) -> None:
    with pytest.raises(ValueError, match=r"may go on|counts far|to count far"):
        TOO_WIDE[what]().difference()


def differ(wrong: Comparison, found: TextDifference, numerals: Sequence[str]) -> bool:
    numbers = dict(zip((*NUMERALS, OTHER), numerals, strict=True))
    if found.number is not None:
        numbers[wrong.reading.counts] = str(found.number)
    letters = str.maketrans(numbers)
    search = [
        re.sub(r"\{(\d{9,})}", lambda repeated: f"{{{int(repeated[1]) - COUNT + (found.number or 0)}}}", written)
        for written in (wrong.spell(said).translate(letters) for said in wrong.reading.search)
    ]
    words = [said.translate(letters) for said in found.words]
    tokens = (graph_tokens if wrong.reading.positive else tape_tokens)(
        [*words, *search][: len(words) + len(wrong.reading.unread)]
    )
    value, match = (
        Input(tokens, FAMILIES).value(wrong.reading.term, len(tokens)),
        re.search(" ".join(search[1:-1]), " ".join(words)),
    )
    if found.marked is None:
        assert value == 0
        return bool(match)
    assert value == (tokens[found.marked][1] + wrong.reading.more if wrong.reading.head else 1)
    start = len(" ".join([*words[: found.marked], ""]))
    return match is None or match.span(1) != (start, start + len(words[found.marked]))


def test_a_number_of_repetitions_is_the_one_that_is_counted_with() -> None:
    right = RIGHT["a place"]
    further = [said._replace(plus=said.number is not None) for said in right.reading.search]
    with pytest.raises(ValueError, match="more than it says"):
        another("a place", search=further)
    uncounted = TermReading(right.reading.term, right.reading.search, more=1)
    with pytest.raises(ValueError, match="another number than is compared"):
        replace(right, reading=uncounted)


def test_texts_that_cannot_be_compared() -> None:
    right = RIGHT["a cell"]
    with pytest.raises(ValueError, match="no text goes on with the search"):
        replace(right, spelled=SPELLED, reading=RIGHT[RECORD].reading)
    states = (*right.texts.states, State(Label(""), 1, 1, (), "x1"))
    with pytest.raises(ValueError, match="a word of the texts has digits"):
        replace(right, texts=replace(right.texts, states=states))
