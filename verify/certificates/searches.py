"""The texts of IsTree's recurrent models: the edges of a graph, and behind them a search in frames or turns of a few words.

Numbers are any that their family has: that a frame says what the graph has is not assumed, only its form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from constructions.istree import hybrid, rag
from constructions.istree.hybrid import DOWN, FURTHER, PASS, PLACE, UP, VERTEX
from constructions.istree.rag import ALL_RECORDED, FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE, RECORD, RETURN
from constructions.istree.searches import Search, Searches
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from verify.certificates.language import Apart, Language, Place, istree

FRAMES = (  # of the hybrid
    (DOWN, VERTEX, VERTEX, PLACE, PLACE),
    (UP, VERTEX, VERTEX, PLACE, PLACE),
    (PASS, VERTEX, PLACE, PLACE),
    (FURTHER, VERTEX, PLACE, PLACE),
)
COMPARISONS = frozenset([ALL_RECORDED, FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE])  # of the Linear RNN with search
PROMPT = 4  # places of the edges: <s>, the first endpoint, ~, the second


def records_apart() -> Apart:
    """Of a simple graph: the two records of an edge, beside each other, are of its two ends."""
    return Apart("records of one vertex", "self", 2, "two records of one vertex are at least 2 positions apart")


@dataclass
class _Text:
    """Places behind a prompt. numbers: family → bounds; what is none is a word."""

    places: list[Place]
    numbers: dict[str, tuple[int, int]]
    low: int
    high: int

    def write(self, name: str, items: Sequence[str], after: tuple[int, ...]) -> int:
        """Words one behind the other; the number of the last place."""
        for i, item in enumerate(items, start=1):
            place = Place(f"{name}, {i}", self.low, self.high, after)
            if item in self.numbers:
                self.places.append(replace(place, numbers=self.numbers[item], family=item))
            else:
                self.places.append(replace(place, word=item))
            after = (len(self.places) - 1,)
        return after[0]

    def follow(self, place: int, *after: int) -> None:
        """Lets a place stand behind others, too."""
        self.places[place] = replace(self.places[place], after=(*self.places[place].after, *after))


def of_hybrid(n: int) -> Language:
    """A prompt of up to n(n − 1)/2 edges; behind n − 1 of them a first frame, and then any others."""
    numbers = {family.name: (family.low, family.high) for family in hybrid.families(n)}
    prompt = [place if place.word else replace(place, family=VERTEX) for place in istree(n, n).places[:PROMPT]]
    text = _Text(prompt, numbers, 3 * n + 2, 3 * n - 2 + hybrid.limit(n))
    ends = [text.write("the first frame", (VERTEX, PLACE, PLACE), (PROMPT - 1,))]
    for i, position in enumerate(range(3 * n - 1, 3 * n + 2), start=PROMPT):
        text.places[i] = replace(text.places[i], low=position, high=position)
    marks = []
    for frame in FRAMES:
        marks.append(len(text.places))
        ends.append(text.write(f"a frame {frame[0]}", frame, ()))
    for mark in marks:
        text.follow(mark, *ends)
    answers = frozenset(place.name for place in text.places)
    return Language(tuple(text.places), answers, (n, n), (records_apart(),))


def of_rag(n: int, written: Searches) -> Language:
    """A prompt of up to n(n − 1)/2 edges, and any turns behind it. What a search returns is any vertex, or FAILED."""
    numbers = {family.name: (family.low, family.high) for family in rag.families(n)}
    prompt = [place if place.word else replace(place, family=VERTEX) for place in istree(n, n).places[:PROMPT]]
    text = _Text(prompt, numbers, 2, rag.sequence_length(n))

    def search(name: str, script: Search, *after: int) -> tuple[int, int]:
        """A search; a vertex as its result, and FAILED."""
        items = [item if isinstance(item, str) else VERTEX for item in script.script]
        end = text.write(name, (START_SEARCH, *items, END_SEARCH), after)
        return text.write(f"{name}, found", (VERTEX,), (end,)), text.write(f"{name}, not found", (FAILED,), (end,))

    def turn(mark: str, *after: int) -> tuple[int, int]:
        """Vertex, mark, vertex, and the search for the father; where it begins and ends."""
        begin = len(text.places)
        head = text.write(f"a turn {mark}", (VERTEX, mark, VERTEX), after)
        father, _ = search(f"the father in a turn {mark}", written.father, head)
        return begin, father

    new, recorded = turn(RECORD, 0, PROMPT - 1)
    again, returned = turn(RETURN)
    first, no_first = search("the first neighbour", written.first, recorded)
    next_search = len(text.places)
    following, no_next = search("the next neighbour", written.next, returned, first)
    text.follow(next_search, following)
    _, unknown = search("a record", written.record, first, following)
    text.follow(new, unknown)
    text.follow(again, no_first, no_next)
    places = tuple(text.places)
    return Language(places, frozenset(place.name for place in places), (n, n), loose=COMPARISONS)
