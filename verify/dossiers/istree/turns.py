"""One step of Algorithm 2 as a program: what should be said in a text of turns and searches. Written by a person, as the tasks are.

A turn `u - v` comes down from u to v, which is new; a turn `u ^ v` comes back from u. Then the father f of v is searched for, and
its first neighbour w if v is new, else the next one after u; while w is f, the next one after f. A record of w is searched for:
FAILED, and `v - w` begins; else an edge closes a cycle, NO. Where there is no neighbour, `v ^ f` begins. The first turn is `1 - 1`,
and at `1 ^ 1`, the root's way back to itself, the walk is over: YES if n vertices are recorded.

The texts are pieces, one after the other: a turn's head, a search, its result. Each is told with what stands before it, as far
back as one of its vertices does. A vertex that is said again is the one that stands there last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from constructions.istree.graphs import PAPER
from constructions.istree.rag import RECORD, RETURN, VERTEX
from constructions.istree.searches import Ref, SearchWords, searches
from constructions.language.terms import ONE, Answer, Count, If, Matching, NumberOf, Say, SayNumber, Term, as_term
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from verify.automata.token_automaton import Label
from verify.dossiers.istree import texts
from verify.dossiers.istree.texts import A_VERTEX, FIRST_NEIGHBOUR, NEXT_NEIGHBOUR, PROMPT_ENDS, TURN
from verify.programs.shorthand import back, equal, word


class TurnVertex(Enum):
    """A vertex of a turn."""

    FROM = "u"
    AT = "v"
    FATHER = "f"
    FOUND = "w"


U, V, F, W = TurnVertex
Items: TypeAlias = "tuple[str | TurnVertex, ...]"


def _search(search: SearchWords, about: TurnVertex, come_from: TurnVertex = U) -> Items:
    vertices = {Ref.VERTEX: about, Ref.FROM: come_from}
    script = (item if isinstance(item, str) else vertices[item] for item in search.script)
    return START_SEARCH, *script, END_SEARCH


WRITTEN = searches(frozenset())
FATHER, FIRST, NEXT, NEXT_BEHIND_FATHER, KNOWN = (
    _search(WRITTEN.father, V),
    _search(WRITTEN.first, V),
    _search(WRITTEN.next, V),
    _search(WRITTEN.next, V, come_from=W),
    _search(WRITTEN.record, W),
)
NEW, AGAIN = (U, RECORD, V), (U, RETURN, V)
TO_FIRST, TO_NEXT = (F, *FIRST, W), (F, *NEXT, W)  # F: the father found, or the neighbour that he is
NO_FIRST, NO_NEXT = (F, *FIRST, FAILED), (F, *NEXT, FAILED)
END_OF_EITHER = FIRST[-3:]  # of both searches for a neighbour: v, a word and <EndSearch>

DOWN, UP = (Label(TURN, mark) for mark in (RECORD, RETURN))
FATHER_DOWN, FATHER_UP = (Label(texts.FATHER, mark) for mark in (RECORD, RETURN))
NEIGHBOURS = FIRST_NEIGHBOUR, NEXT_NEIGHBOUR
A_FATHER, A_FIRST, A_NEXT = (replace(piece, result=A_VERTEX) for piece in (FATHER_UP, *NEIGHBOURS))
NOT_KNOWN, NO_FIRST_ONE, NO_NEXT_ONE = (replace(piece, result=FAILED) for piece in (texts.KNOWN, *NEIGHBOURS))
# What stands before a piece, and the piece, as in texts.py; after the piece before it.
PIECES: Mapping[Label, tuple[Items, Items]] = {
    replace(DOWN, behind=NOT_KNOWN): ((*END_OF_EITHER, W, *KNOWN, FAILED), (V, RECORD, W)),
    replace(UP, behind=NO_FIRST_ONE): (NO_FIRST, (V, RETURN, F)),
    replace(UP, behind=NO_NEXT_ONE): (NO_NEXT, (V, RETURN, F)),
    FATHER_DOWN: (NEW, FATHER),
    FATHER_UP: (AGAIN, FATHER),
    FIRST_NEIGHBOUR: ((*NEW, *FATHER, F), FIRST),
    replace(NEXT_NEIGHBOUR, behind=A_FATHER): ((*AGAIN, *FATHER, F), NEXT),
    replace(NEXT_NEIGHBOUR, behind=A_FIRST): (TO_FIRST, NEXT_BEHIND_FATHER),
    replace(NEXT_NEIGHBOUR, behind=A_NEXT): (TO_NEXT, NEXT_BEHIND_FATHER),
    replace(texts.KNOWN, behind=A_FIRST): (TO_FIRST, KNOWN),
    replace(texts.KNOWN, behind=A_NEXT): (TO_NEXT, KNOWN),
}
# What stands up to a result, and what comes next.
RESULTS: Mapping[Label, tuple[Items, str | TurnVertex]] = {
    **dict.fromkeys((replace(FATHER_DOWN, result=A_VERTEX), A_FATHER, A_FIRST, A_NEXT), ((), START_SEARCH)),
    NO_FIRST_ONE: (NO_FIRST, V),
    NO_NEXT_ONE: (NO_NEXT, V),
    NOT_KNOWN: ((*END_OF_EITHER, W, *KNOWN, FAILED), V),
    replace(texts.KNOWN, result=A_VERTEX): ((), PAPER.no),
}


def definition(n: int, label: Label) -> Answer | None:
    """Returns what should be said in this state of a text; None within the prompt, and where a search is carried out.

    The states are those that `pieces.by_way` has.
    """
    root = SayNumber(ONE, VERTEX)
    if label in PROMPT_ENDS:
        return root
    piece, said = label.piece, label.number
    if piece in RESULTS:
        return _say(*RESULTS[piece])
    if label.part == TURN and said == 3:
        return _behind_head(n, again=label.which == RETURN)
    if label.part == TURN and label.behind in PROMPT_ENDS:
        return Say(RECORD) if said == 1 else root
    if piece not in PIECES:
        return None
    before, own = PIECES[piece]
    if said == 1 and before in (TO_FIRST, TO_NEXT):
        search_on = _say((), NEXT_BEHIND_FATHER[1])
        return If(equal(_number((*before, own[0]), W), _number((*before, own[0]), F)), search_on, _say((), KNOWN[1]))
    return _say((*before, *own[:said]), own[said]) if said < len(own) else None


def _behind_head(n: int, *, again: bool) -> Answer:
    """Says the word at a turn's second vertex: the first search, but at the end of the walk."""
    if not again:
        return Say(START_SEARCH)
    records = as_term(Count(Matching(((word(RECORD), ONE),))))
    verdict = If(equal(records, as_term(n)), Say(PAPER.yes), Say(PAPER.no))
    return If(equal(_number(AGAIN, U), _number(AGAIN, V)), verdict, Say(START_SEARCH))


def _say(text: Items, item: str | TurnVertex) -> Answer:
    """Returns the word, or the vertex as it stands in the text last."""
    return Say(item) if isinstance(item, str) else SayNumber(_number(text, item), VERTEX)


def _number(text: Items, vertex: TurnVertex) -> Term:
    number, steps = as_term(NumberOf(VERTEX)), text[::-1].index(vertex)
    return back(number, steps) if steps else number
