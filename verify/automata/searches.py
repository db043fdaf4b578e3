"""The texts of IsTree's recurrent models: the edges of a graph, and behind them a search in frames or turns of a few words.

Numbers are any that their family has: that a frame says what the graph has is not assumed, only its form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constructions.istree import hybrid, rag
from constructions.istree.hybrid import DOWN, FURTHER, PASS, PLACE, UP, VERTEX
from constructions.istree.rag import ALL_RECORDED, FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE, RECORD, RETURN
from constructions.istree.searches import Search, searches
from constructions.models.program import Family
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from verify.algebra.domains import SIZE
from verify.algebra.polynomial import atom, constant
from verify.automata.language import Apart, Bound, Language, Limited, Place, istree

FRAMES = (  # of the hybrid
    (DOWN, VERTEX, VERTEX, PLACE, PLACE),
    (UP, VERTEX, VERTEX, PLACE, PLACE),
    (PASS, VERTEX, PLACE, PLACE),
    (FURTHER, VERTEX, PLACE, PLACE),
)
COMPARISONS = frozenset([ALL_RECORDED, FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE])  # of the Linear RNN with search
FAMILIES = {"hybrid": hybrid.families, "rag": rag.families}
PROMPT = 4  # places of the edges: <s>, the first endpoint, ~, the second


def records_apart() -> Apart:
    """Of a simple graph: the two records of an edge, beside each other, are of its two ends."""
    return Apart("records of one vertex", "self", 2, "two records of one vertex are at least 2 positions apart")


def records_limited(most: Bound) -> Limited:
    """Of the repaired searches: a vertex is recorded where a search for its record has failed."""
    return Limited("records", "records", most, "no more vertices are recorded than there are: n")


@dataclass
class _Text:
    """Places behind the edges. numbers: family → bounds; what is none is a word. low, high: of positions behind the edges."""

    places: list[Place]
    numbers: dict[str, tuple[Bound, Bound]]
    low: Bound
    high: int

    @staticmethod
    def of(low: int, high: int, families: Callable[[Any], Sequence[Family]], start: Bound, end: int) -> _Text:
        """A text that begins with up to n(n − 1)/2 edges. families: of the numbers, for any n."""
        edges = [place if place.word else replace(place, family=VERTEX) for place in istree(low, high).places[:PROMPT]]
        numbers: dict[str, tuple[Bound, Bound]] = {
            family.name: (family.low, family.high) for family in families(low if low == high else atom(SIZE))
        }
        return _Text(edges, numbers, start, end)

    def write(self, name: str, items: Sequence[str], *after: int) -> int:
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

    @property
    def names(self) -> frozenset[str]:
        """Of all places."""
        return frozenset(place.name for place in self.places)


def of_hybrid(low: int, high: int) -> Language:
    """Behind n − 1 edges a first frame, and then any others; n from low to high."""
    n = constant(low) if low == high else atom(SIZE)
    text = _Text.of(low, high, hybrid.families, n * 3 + 2, 3 * high - 2 + hybrid.limit(high))
    ends = [text.write("the first frame", (VERTEX, PLACE, PLACE), PROMPT - 1)]
    for i, place in enumerate(text.places[PROMPT:]):
        text.places[PROMPT + i] = replace(place, low=n * 3 - 1 + i, high=n * 3 - 1 + i)
    marks = []
    for frame in FRAMES:
        marks.append(len(text.places))
        ends.append(text.write(f"a frame {frame[0]}", frame))
    for mark in marks:
        text.follow(mark, *ends)
    return Language(tuple(text.places), text.names, (low, high), (records_apart(),))


def of_rag(low: int, high: int, printed: frozenset[str], *, limited: bool) -> Language:
    """Behind any edges any turns; what a search returns is a vertex or FAILED. n from low to high.

    limited: given that no more vertices are recorded than there are.
    """
    written, text = searches(printed), _Text.of(low, high, rag.families, 2, rag.sequence_length(high))

    def search(name: str, script: Search, *after: int) -> tuple[int, int]:
        """A search; a vertex as its result, and FAILED."""
        items = [item if isinstance(item, str) else VERTEX for item in script.script]
        end = text.write(name, (START_SEARCH, *items, END_SEARCH), *after)
        return text.write(f"{name}: a vertex", (VERTEX,), end), text.write(f"{name}: {FAILED}", (FAILED,), end)

    def turn(mark: str, *after: int) -> tuple[int, int]:
        """Vertex, mark, vertex, and the search for the father; where it begins and ends."""
        begin = len(text.places)
        head = text.write(f"a turn {mark}", (VERTEX, mark, VERTEX), *after)
        father, _ = search(f"the father in a turn {mark}", written.father, head)
        return begin, father

    new, recorded = turn(RECORD, 0, PROMPT - 1)
    again, returned = turn(RETURN)
    first, no_first = search("the first neighbour", written.first, recorded)
    another = len(text.places)
    following, no_next = search("the next neighbour", written.next, returned, first)
    _, unknown = search("a record", written.record, first, following)
    text.follow(another, following)
    text.follow(new, unknown)
    text.follow(again, no_first, no_next)
    invariants = (records_limited(constant(low) if low == high else atom(SIZE)),) if limited else ()
    return Language(tuple(text.places), text.names, (low, high), invariants, COMPARISONS)
