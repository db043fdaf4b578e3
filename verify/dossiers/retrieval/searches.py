"""The searches of the retrieval tasks, each beside the term that says what it finds, after any sequence and query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructions.language.terms import Answer, If, Say, SayNumber, Term
from constructions.retrieval.rag import PLAIN, REPEAT, Searcher
from constructions.retrieval.task import ASK, FAILED, NO, YES
from verify.automata.token_automaton import TokenAutomaton
from verify.patterns.pattern import NUMERALS
from verify.patterns.readings import TermReading, Word
from verify.patterns.texts import Comparison, Spelling

ABOUT, OTHER = NUMERALS
QUERIES: Mapping[int, Mapping[str, Sequence[str]]] = {
    1: {"a number": [ABOUT]},
    2: {"two numbers": [ABOUT, OTHER], "a number twice": [ABOUT, ABOUT]},
}
SPELLED: Mapping[str, Spelling] = {PLAIN: Spelling(("#",))}


def of_task(searcher: Searcher, answer: Answer, texts: TokenAutomaton, letters: Sequence[str]) -> Comparison:
    """Returns the search of a retrieval task for a query of these numbers. answer, texts: for queries of this length."""
    query_words = [Word(PLAIN, letter) for letter in letters]
    search, spelled, counts = list[Word](), dict(SPELLED), ""
    for item in searcher.script(len(letters), frozenset()):
        if isinstance(item, str):
            search.append(Word(item))
        elif item.spelled == "%d":
            search.append(query_words[item.which])
        else:
            counts = letters[item.which]
            search.append(Word(REPEAT, counts, plus=item.plus))
            spelled[REPEAT] = Spelling((item.spelled.replace("%d", "#"),))

    def asks(behind: int, words: Sequence[Word]) -> int | None:
        """Returns how many words stand from ? on, which are those that are asked for and no more."""
        if not behind:
            return int(words[-1].name == ASK)
        return behind + 1 if [words[-1]] == query_words[behind - 1 : behind] else None

    term, least = _read(answer), int(letters.count(counts) > 1 or not searcher.task.zero)
    reading = TermReading(term, search, asks=[Word(ASK), *query_words], positive=True, counts=counts, least=least)
    return Comparison(texts, spelled, reading, follows=asks)


def _read(answer: Answer) -> Term:
    """Returns what the search finds of which this is said: its number, or whether it is anything."""
    match answer:
        case If(_, Say(word), SayNumber(number)) if word == FAILED:
            return number
        case If(bit, Say(word), Say(other)) if (word, other) == (YES, NO):
            return bit
        case SayNumber(number):
            return number
    raise ValueError("no answer is a search's result")
