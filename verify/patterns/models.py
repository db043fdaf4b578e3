"""Searches that models write, each with the term that says what it finds, in all texts of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructions.istree.graphs import PAPER
from constructions.istree.rag import VERTEX
from constructions.language.terms import Answer, If, Say, SayNumber, Term
from constructions.models.search import END_SEARCH, START_SEARCH
from constructions.retrieval.rag import PLAIN, REPEAT, Searcher
from constructions.retrieval.task import ASK, FAILED, NO, YES
from constructions.turing.library import find
from constructions.turing.machine import LETTERS
from constructions.turing.rag import PLACE, tape_search
from constructions.turing.tape_models import CELL, STATE, SYMBOL, TaskOfAnySize
from verify.automata.language import Language
from verify.certificates.building import ENDLESS, LEAST, Subject, language_of
from verify.patterns.pattern import MOST_REPEATED, NUMERALS
from verify.patterns.readings import Reading, Word
from verify.patterns.texts import Comparison, Spelled
from verify.programs import turns
from verify.programs.found import Found
from verify.programs.machines import SearchedStep
from verify.programs.tasks import ANSWERS

ABOUT, COME_FROM = NUMERALS
QUERIES: Mapping[int, Mapping[str, Sequence[str]]] = {
    1: {"a number": [ABOUT]},
    2: {"two numbers": [ABOUT, COME_FROM], "a number twice": [ABOUT, ABOUT]},
}
SPELLED = {
    PLAIN: Spelled(("#",)),
    VERTEX: Spelled(("#",)),
    CELL: Spelled(("@#", "@-#")),
    SYMBOL: Spelled(("#",), any_length=False),
    STATE: Spelled(tuple(LETTERS)),
    PLACE: Spelled((r"^<s>(?:\s\d){#}\s(\d)",)),
}
FOUND = Found(LEAST, PAPER)
OF_TURNS = FOUND.searches


def once(edges: int, words: Sequence[Word]) -> int | None:
    """How many edges join the two vertices of a search, behind one more word; None if it would be a second one."""
    if [word.name for word in words[-3:]] != [VERTEX, PAPER.joint, VERTEX]:
        return edges
    joins = {words[-3].number, words[-1].number} == {*NUMERALS}
    return None if joins and edges else edges + joins


def of_model(subject: Subject) -> dict[str, Comparison]:
    """The searches of a model; none of one whose searches are defined by no terms."""
    if (subject.construction, subject.model) == ("istree", "rag"):
        return {name: of_turns(name) for name in OF_TURNS}
    if (subject.construction, subject.model) == ("turing", "rag"):
        word = bool(subject.tape)
        cells = {"a cell": of_tape(word), "a cell left of cell 0": of_tape(word, negative=True)}
        return {**cells, "a place of the word": of_word(word)}
    if subject.construction in ANSWERS and subject.model == "rag":
        query_length = subject.query_length or subject.retriever.query_length
        return {
            name: of_task(subject.construction, *letters) for name, letters in QUERIES.get(query_length, {}).items()
        }
    return {}


def left_open(subject: Subject) -> str:
    """Of which texts, or searches, these comparisons do not say what is found, as the end of a sentence that says it of all."""
    if subject.construction == "istree":
        return ", if no edge is there twice"
    counts = subject.construction in ("index", "counting")
    too_many = subject.last == ENDLESS or max(subject.n, subject.last) + 1 > MOST_REPEATED
    return f", up to the {MOST_REPEATED} repetitions that it takes" * (counts and too_many)


def of_task(task: str, *letters: str) -> Comparison:
    """The search of a retrieval task, behind any sequence and a query of these numbers."""
    texts = Subject(task, LEAST, model="rag", query_length=len(letters))
    query_words, searcher = [Word(PLAIN, letter) for letter in letters], texts.retriever
    if not isinstance(searcher, Searcher):
        raise TypeError("searcher is no Searcher")
    search, spelled, counts = list[Word](), dict(SPELLED), ""
    for item in searcher.script(len(letters), frozenset()):
        if isinstance(item, str):
            search.append(Word(item))
        elif item.spelled == "%d":
            search.append(query_words[item.which])
        else:
            counts = letters[item.which]
            search.append(Word(REPEAT, counts, plus=item.plus))
            spelled[REPEAT] = Spelled((item.spelled.replace("%d", "#"),))

    def asks(behind: int, words: Sequence[Word]) -> int | None:
        """How many words stand from ? on, which are those that are asked for and no more."""
        if not behind:
            return int(words[-1].name == ASK)
        return behind + 1 if [words[-1]] == query_words[behind - 1 : behind] else None

    term, least = _found(ANSWERS[task](len(letters))), int(letters.count(counts) > 1 or not searcher.task.zero)
    reading = Reading(term, search, asks=[Word(ASK), *query_words], positive=True, counts=counts, least=least)
    return Comparison(language_of(texts), spelled, reading, follows=asks)


def _found(answer: Answer) -> Term:
    """What the search finds of which this is said: its number, or whether it is anything."""
    match answer:
        case If(_, Say(word), SayNumber(number)) if word == FAILED:
            return number
        case If(bit, Say(word), Say(other)) if (word, other) == (YES, NO):
            return bit
        case SayNumber(number):
            return number
    raise ValueError("no answer is a search's result")


def of_turns(name: str) -> Comparison:
    """One of the searches of Algorithm 2, behind any edges, none of them there twice, and any turns."""
    items, term = OF_TURNS[name]
    letters = {turns.V: ABOUT, turns.U: COME_FROM}
    words = [Word(item) if isinstance(item, str) else Word(VERTEX, letters[item]) for item in items]
    texts = language_of(Subject("istree", LEAST, model="rag"))
    return Comparison(texts, SPELLED, Reading(term, words, positive=True), follows=once)


def of_tape(has_word: bool, *, negative: bool = False) -> Comparison:
    """The search for a cell, behind copies and steps, and any word or none. negative: for one left of cell 0."""
    cell, search = Word(CELL, ABOUT), tape_search(frozenset())
    words = _search(Word(search.before), cell, Word(search.between), cell, Word(search.behind))
    texts, step = _tape(has_word)
    return Comparison(texts, SPELLED, Reading(step.in_cell, words, more=1), form=int(negative))


def of_word(has_word: bool) -> Comparison:
    """The search for a place of the word, likewise."""
    texts, step = _tape(has_word)
    reading = Reading(step.in_word, _search(Word(PLACE, ABOUT)), more=1, counts=ABOUT)
    return Comparison(texts, SPELLED, reading)


def _tape(has_word: bool) -> tuple[Language, SearchedStep]:
    """Texts, and what is defined of them, of a machine; no more than their form matters."""
    machine, tape = find("bb2").machine, "0" * has_word
    texts = language_of(Subject("turing", 1, model="rag", machine=str(machine), tape=tape))
    return texts, SearchedStep(TaskOfAnySize(machine, 1, tape))


def _search(*words: Word) -> list[Word]:
    return [Word(START_SEARCH), *words, Word(END_SEARCH)]
