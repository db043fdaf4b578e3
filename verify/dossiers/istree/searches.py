"""The searches of Algorithm 2, each beside the term that says what it finds, after any edges and any turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructions.istree.graphs import PAPER
from constructions.istree.rag import VERTEX
from verify.dossiers.dossier import LEAST
from verify.dossiers.istree import turns
from verify.dossiers.istree.results import SearchResult
from verify.dossiers.istree.texts import of_rag
from verify.patterns.pattern import NUMERALS
from verify.patterns.readings import TermReading, Word
from verify.patterns.texts import Comparison, Spelling

ABOUT, COME_FROM = NUMERALS
SPELLED: Mapping[str, Spelling] = {VERTEX: Spelling(("#",))}
FOUND = SearchResult(LEAST, PAPER)
OF_TURNS = FOUND.searches


def of_turns(name: str) -> Comparison:
    """Returns one of the searches of Algorithm 2, after any edges, none of them there twice, and any turns."""
    items, term = OF_TURNS[name]
    letters = {turns.V: ABOUT, turns.U: COME_FROM}
    words = [Word(item) if isinstance(item, str) else Word(VERTEX, letters[item]) for item in items]
    texts = of_rag(LEAST, LEAST, frozenset(), limited=False)
    return Comparison(texts, SPELLED, TermReading(term, words, positive=True), follows=once)


def once(edges: int, words: Sequence[Word]) -> int | None:
    """Returns how many edges join the two vertices of a search, after one more word; None if it would be a second one."""
    if [word.name for word in words[-3:]] != [VERTEX, PAPER.joint, VERTEX]:
        return edges
    joins = {words[-3].number, words[-1].number} == {*NUMERALS}
    return None if joins and edges else edges + joins
