"""Searches that models write, each with the term that says what it finds, in all texts of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructions.istree.graphs import PAPER
from constructions.istree.rag import VERTEX
from constructions.models.search import END_SEARCH, START_SEARCH
from constructions.retrieval.rag import PLAIN, Searcher
from constructions.retrieval.task import ASK
from constructions.turing.library import find
from constructions.turing.machine import LETTERS
from constructions.turing.rag import PLACE, tape_search
from constructions.turing.tape_models import CELL, STATE, SYMBOL, TaskOfAnySize
from verify.certificates.building import LEAST, Subject, language_of
from verify.patterns.pattern import NUMERALS
from verify.patterns.readings import Reading, Word
from verify.patterns.texts import Comparison, Spelled
from verify.programs import turns
from verify.programs.found import Found
from verify.programs.machines import SearchedStep
from verify.programs.tasks import gram
from verify.programs.terms import If, SayNumber, Term
from verify.programs.turns import Items

ABOUT, COME_FROM = NUMERALS
PLACES = 32  # of a word that are looked for; the pattern repeats a space and a digit as many times, so it is the same for others
SPELLED = {
    PLAIN: Spelled(("#",)),
    VERTEX: Spelled(("#",)),
    CELL: Spelled(("@#", "@-#")),
    SYMBOL: Spelled(("#",), any_length=False),
    STATE: Spelled(tuple(LETTERS)),
    PLACE: Spelled((r"^<s>(?:\s\d){#}\s(\d)",)),
}
FOUND = Found(LEAST, PAPER)
OF_TURNS: Mapping[str, tuple[Items, Term]] = {
    "the father in a vertex's record": (turns.FATHER, FOUND.recorded),
    "a vertex's first neighbour": (turns.FIRST, FOUND.first),
    "its next neighbour behind another one": (turns.NEXT, FOUND.next),
}


def once(edges: int, words: Sequence[Word]) -> int | None:
    """How many edges join the two vertices of a search, behind one more word; None if it would be a second one."""
    if [word.name for word in words[-3:]] != [VERTEX, PAPER.joint, VERTEX]:
        return edges
    joins = {words[-3].number, words[-1].number} == {*NUMERALS}
    return None if joins and edges else edges + joins


def of_model(subject: Subject) -> dict[str, Comparison]:
    """The searches of a model, for places of a word the first ones; none of one whose searches are defined by no terms."""
    if (subject.construction, subject.model) == ("istree", "rag"):
        return {name: of_turns(name) for name in OF_TURNS}
    if (subject.construction, subject.model) == ("turing", "rag"):
        word = bool(subject.tape)
        places = {f"place {i} of the word": of_tape(word, i) for i in range(min(len(subject.tape) + 1, PLACES))}
        return {"a cell": of_tape(word), "a cell left of cell 0": of_tape(word, negative=True)} | places
    if (subject.construction, subject.model) in (("recall", "rag"), ("ngram", "rag")):
        asked = subject.query_length or subject.retriever.query_length
        of_two = {"two numbers": of_gram(ABOUT, COME_FROM), "a number twice": of_gram(ABOUT, ABOUT)}
        return {1: {"a number": of_gram(ABOUT)}, 2: of_two}.get(asked, {})
    return {}


def left_open(subject: Subject) -> str:
    """Of which texts, or searches, these comparisons do not say what is found, as the end of a sentence that says it of all."""
    if subject.construction == "istree":
        return ", if no edge is there twice"
    if subject.construction == "turing" and len(subject.tape) >= PLACES:
        return f"; for place {PLACES} of the word and those behind it, that is argued"
    return ""


def of_gram(*letters: str) -> Comparison:
    """The search of recall or c-gram for what stands behind so many numbers, behind any sequence and a query of these."""
    texts = Subject("recall" if len(letters) == 1 else "ngram", LEAST, model="rag", query_length=len(letters))
    asked, searcher = [Word(PLAIN, letter) for letter in letters], texts.retriever
    assert isinstance(searcher, Searcher)
    script = searcher.script(len(letters), frozenset())
    search = [Word(item) if isinstance(item, str) else asked[item.which] for item in script]
    answer = gram(len(letters))
    assert isinstance(answer, If)
    assert isinstance(answer.otherwise, SayNumber)

    def asks(behind: int, words: Sequence[Word]) -> int | None:
        """How many words stand from ? on, which are those that are asked for and no more."""
        if not behind:
            return int(words[-1].name == ASK)
        return behind + 1 if [words[-1]] == asked[behind - 1 : behind] else None

    reading = Reading(answer.otherwise.number, search, asks=[Word(ASK), *asked], positive=True)
    return Comparison(language_of(texts), SPELLED, reading, follows=asks)


def of_turns(name: str) -> Comparison:
    """One of the searches of Algorithm 2, behind any edges, none of them there twice, and any turns."""
    items, term = OF_TURNS[name]
    letters = {turns.V: ABOUT, turns.U: COME_FROM}
    words = [Word(item) if isinstance(item, str) else Word(VERTEX, letters[item]) for item in items]
    texts = language_of(Subject("istree", LEAST, model="rag"))
    return Comparison(texts, SPELLED, Reading(term, words, positive=True), follows=once)


def of_tape(has_word: bool, place: int | None = None, *, negative: bool = False) -> Comparison:
    """The search for a place of the word, or for a cell, behind copies and steps, and any word or none."""
    machine, tape = find("bb2").machine, "0" * has_word  # of which no more than the form of texts matters
    step, search = SearchedStep(TaskOfAnySize(machine, 1, tape)), tape_search(frozenset())
    texts = language_of(Subject("turing", 1, model="rag", machine=str(machine), tape=tape))
    if place is not None:
        return Comparison(texts, SPELLED, Reading(step.in_word, _search(Word(PLACE, place)), more=1))
    cell = Word(CELL, ABOUT)
    words = _search(Word(search.before), cell, Word(search.between), cell, Word(search.behind))
    return Comparison(texts, SPELLED, Reading(step.in_cell, words, more=1), form=int(negative))


def _search(*words: Word) -> list[Word]:
    return [Word(START_SEARCH), *words, Word(END_SEARCH)]
