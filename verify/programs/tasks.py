"""The definitions of the tasks as programs, written by a person: what each answer should be at the end of a prompt.

They are compared with the tasks' oracles on every small input, by the interpreter. Of a model that searches, what is defined is
the search that it should write, token by token, and that it says what was found; verify.patterns says what a search finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from constructions.istree.graphs import LAYOUTS
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    At,
    Back,
    Count,
    Equal,
    If,
    IsWord,
    Matching,
    NumberOf,
    Pick,
    Read,
    Say,
    SayNumber,
    as_term,
)
from constructions.retrieval.rag import PLAIN, REPEAT, Searcher
from constructions.retrieval.task import ASK, FAILED, NO, YES
from constructions.turing.configurations import TaskOfAnySize
from verify.automata.language import Language
from verify.automata.searches import PROMPT
from verify.certificates.building import Subject
from verify.programs import frames, machines, searches, turning, turns
from verify.programs.pieces import as_due, by_way
from verify.programs.texts import copied, searched, spaced

NUMBER = as_term(NumberOf())


def _before(steps: int) -> Read:
    return Read(NUMBER, Back(steps))


def index(query_length: int) -> Answer:
    """The number at the position that is asked for; the sequence begins at position 2."""
    return SayNumber(as_term(Read(NUMBER, At(NUMBER + 1))))


def gram(query_length: int) -> Answer:
    """The number at the first position behind the query's tokens; FAILED if there is none, or `?` stands there."""
    pairs = tuple(
        (as_term(_before(i)), as_term(_before(i - 1)) if i > 1 else NUMBER) for i in range(1, query_length + 1)
    )
    number = as_term(Read(NUMBER, Pick(Matching(pairs))))
    return If(as_term(Equal(number, Fraction(0))), Say(FAILED), SayNumber(number))


def counting(query_length: int) -> Answer:
    """YES if more positions before `?` hold the number before the last than the last number says."""
    no_mark = as_term(Count(Matching(((as_term(IsWord(ASK)), ONE),))))
    count = Count(Matching(((NUMBER, as_term(_before(1))), (no_mark, ZERO))))
    return If(as_term(Above(as_term(count) - NUMBER)), Say(YES), Say(NO))


ANSWERS: Mapping[str, Callable[[int], Answer]] = {"index": index, "recall": gram, "ngram": gram, "counting": counting}


def is_search(subject: Subject) -> bool:
    """Whether it is a model of IsTree of which a step of the search is defined: one without anything as printed."""
    return subject.construction == "istree" and subject.model in ("transformer", "rag") and not subject.printed


def inputs(subject: Subject, language: Language) -> Language:
    """The inputs that are compared: of a search what a run can say, where the definition tells."""
    if subject.construction == "turing":
        task = subject.task
        return spaced(language, task.cells) if isinstance(task, TaskOfAnySize) else copied(language, len(subject.tape))
    if not is_search(subject):
        return language
    if subject.model == "rag":
        return as_due(by_way(language), PROMPT, lambda place: turns.definition(subject.n, place))
    return searched(language, subject.n, longer=not subject.lean)


def is_stepwise(subject: Subject) -> bool:
    """Whether a step is defined: what is said behind any text of the form of a run. Print spells words of a tape's search anew."""
    key = subject.construction, subject.model
    as_repaired = key == ("turing", "rag") and not subject.printed
    others = ("istree", "hybrid"), ("turing", "hybrid"), ("turing", "cot")
    return is_search(subject) or as_repaired or key in others


def definition(subject: Subject, place: str) -> Answer | None:
    """What should be said at this place of the language; None if nothing is due there, or no definition is written."""
    if subject.construction == "turing":
        task = subject.task
        if isinstance(task, TaskOfAnySize):
            return turning.definition(task, place)
        return machines.definition(task, subject.model, place)
    if (subject.construction, subject.model) == ("istree", "hybrid"):
        return frames.definition(subject.n, place)
    if subject.construction == "istree":
        if not is_search(subject):
            return None
        if subject.model == "rag":
            return turns.definition(subject.n, place)
        return searches.definition(subject.n, LAYOUTS[subject.layout], place, by_counts=not subject.lean)
    if subject.construction not in ANSWERS:
        return None
    query_length = subject.query_length or subject.retriever.query_length
    if not isinstance(subject.retriever, Searcher):
        return ANSWERS[subject.construction](query_length)
    script = subject.retriever.script(query_length, frozenset())  # as repaired, whatever was wired
    if place == "result":
        return Say(YES) if subject.construction == "counting" else SayNumber(as_term(NumberOf(PLAIN)), PLAIN)
    if place == f"result {FAILED}":
        return None if subject.construction == "index" else Say(NO if subject.construction == "counting" else FAILED)
    if place.startswith("result"):
        return Say(YES) if subject.construction == "counting" else None
    said = int(place.removeprefix("search ")) if place.startswith("search ") else 0
    if said >= len(script):
        return None  # the search is carried out
    item = script[said]
    if isinstance(item, str):
        return Say(item)
    steps, number = said + query_length - 1 - item.which, as_term(NumberOf(PLAIN))
    quoted = as_term(Read(number, Back(steps))) if steps else number
    return SayNumber(quoted + item.plus, PLAIN if item.spelled == "%d" else REPEAT)
