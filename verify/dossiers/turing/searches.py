"""The searches on a tape, each beside the term that says what it finds, after copies and steps."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.models.search import END_SEARCH, START_SEARCH
from constructions.turing.library import find
from constructions.turing.machine import LETTERS
from constructions.turing.rag import PLACE, tape_search
from constructions.turing.tape_models import CELL, STATE, SYMBOL, AnyTapeTask
from verify.automata.token_automaton import TokenAutomaton
from verify.dossiers.turing import tapes
from verify.dossiers.turing.steps import SearchedStep
from verify.patterns.pattern import NUMERALS
from verify.patterns.readings import TermReading, Word
from verify.patterns.texts import Comparison, Spelling

ABOUT, _ = NUMERALS
SPELLED: Mapping[str, Spelling] = {
    CELL: Spelling(("@#", "@-#")),
    SYMBOL: Spelling(("#",), any_length=False),
    STATE: Spelling(tuple(LETTERS)),
    PLACE: Spelling((r"^<s>(?:\s\d){#}\s(\d)",)),
}


def of_tape(has_word: bool, *, negative: bool = False) -> Comparison:
    """Returns the search for a cell, after copies and steps, and any word or none. negative: for one left of cell 0."""
    cell, search = Word(CELL, ABOUT), tape_search(frozenset())
    words = _search(Word(search.before), cell, Word(search.between), cell, Word(search.behind))
    texts, step = _tape(has_word)
    return Comparison(texts, SPELLED, TermReading(step.in_cell, words, more=1), form=int(negative))


def of_word(has_word: bool) -> Comparison:
    """Returns the search for a place of the word, likewise."""
    texts, step = _tape(has_word)
    reading = TermReading(step.in_word, _search(Word(PLACE, ABOUT)), more=1, counts=ABOUT)
    return Comparison(texts, SPELLED, reading)


def _tape(has_word: bool) -> tuple[TokenAutomaton, SearchedStep]:
    """Texts, and what is defined of them, of a machine; no more than their form matters."""
    task = AnyTapeTask(find("bb2").machine, 1, "0" * has_word)
    return tapes.turing(task, "rag", tape_search(frozenset()), (1, 1)), SearchedStep(task)


def _search(*words: Word) -> list[Word]:
    return [Word(START_SEARCH), *words, Word(END_SEARCH)]
