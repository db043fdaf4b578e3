"""What each item of appendix C.6.2 puts into registers, from the graph and Algorithm 1's tour alone.

Notation: the prompt has 3n − 2 tokens for n − 1 edges; v_1, v_2, … are the vertices after it. The j-th edge of a vertex, in the
order of the prompt, has the count 1/(1 + j) there. The items are the repaired ones: an edge has two incidence records, and both are
listed. A value is looked for in one register after one block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from constructions.istree.graphs import PAPER, Graph, expected_answer


@dataclass(frozen=True)
class RegisterValue:
    """What a register holds at a position, 1-based, after a block."""

    register: str
    block: int
    position: int
    value: Fraction


class SearchWalk:
    """The text of a graph with n − 1 edges, and the search that it leads to."""

    def __init__(self, graph: Graph) -> None:
        self.n, self.edges = graph.n, graph.edges
        answer = expected_answer(graph, PAPER)
        self.chain = [token + 1 for token in answer[:-1]]
        self.tokens = [*PAPER.prompt(graph), *answer[:-1]]
        self.vertices = [token + 1 if token < graph.n else 0 for token in self.tokens]  # 0 for other words
        self.around: dict[int, list[int]] = {v: [] for v in range(1, self.n + 1)}
        for u, v in graph.edges:
            self.around[u].append(v)
            self.around[v].append(u)
        self.start = 3 * self.n - 2  # of the prompt's last token; v_i stands at start + i
        self.fathers: dict[int, int] = {}
        for before, here in zip([0, *self.chain], self.chain, strict=False):
            self.fathers.setdefault(here, before)
        seen: Counter[int] = Counter()
        self.counts = []
        for vertex in self.vertices:
            seen[vertex] += 1
            self.counts.append(Fraction(1, 1 + seen[vertex]) if vertex else Fraction(1))

    def moments(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yields for each vertex of the tour its position, it, the one before, its father, and the last edge's count.

        The number is 0 where the search came from the father, or starts.
        """
        for i, (before, here) in enumerate(zip([0, *self.chain], self.chain, strict=False), 1):
            father = self.fathers[here]
            walked = 0 if before == father else self.around[here].index(before) + 1
            yield self.start + i, here, before, father, walked


def item_1(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields how often a vertex has occurred."""
    for i, vertex in enumerate(walk.vertices):
        if vertex:
            yield RegisterValue("count", 2, i + 1, walk.counts[i])


def item_2(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields vertex and count of the token before."""
    yield from _copies(walk, 1, 3)


def item_3(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields vertex and count of the tokens two and three before."""
    yield from _copies(walk, 2, 4)
    yield from _copies(walk, 3, 4)


def _copies(walk: SearchWalk, offset: int, block: int) -> Iterator[RegisterValue]:
    for i in range(offset, len(walk.tokens)):
        yield RegisterValue(f"vertex@{offset}", block, i + 1, Fraction(walk.vertices[i - offset]))
        if walk.vertices[i - offset]:
            yield RegisterValue(f"count@{offset}", block, i + 1, walk.counts[i - offset])


def item_4(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields both records of each edge, the tour's vertices with the ones before, and 0 elsewhere."""
    found = {("self", 0): Fraction(0)}
    for e in range(len(walk.edges)):
        first, second = 3 * e + 1, 3 * e + 3  # 0-based places of u and v
        for place, own, other in ((second, second, first), (second + 1, first, second)):
            found["self", place] = Fraction(walk.vertices[own])
            found["other", place] = Fraction(walk.vertices[other])
            found["edge_count", place] = walk.counts[own]
    for position, here, before, _, _ in walk.moments():
        found["current", position - 1], found["previous", position - 1] = Fraction(here), Fraction(before)
    for register in ("self", "other", "edge_count", "current", "previous"):
        for place in range(len(walk.tokens)):
            yield RegisterValue(register, 4, place + 1, found.get((register, place), Fraction(0)))


def item_5(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields the count of the edge just walked, at the vertex that it led to."""
    for position, here, before, _, _ in walk.moments():
        if before:
            yield RegisterValue("walked", 5, position, Fraction(1, 2 + walk.around[here].index(before)))


def item_6(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields the father; and 1 for the edge just walked where it came from there."""
    for position, _, _, father, walked in walk.moments():
        yield RegisterValue("father", 6, position, Fraction(father))
        yield RegisterValue("walked", 6, position, Fraction(1, 1 + walked))


def item_7(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields the next edge's other endpoint, or 0, and its count."""
    for position, here, _, _, walked in walk.moments():
        around = walk.around[here]
        left = walked < len(around)
        yield RegisterValue("candidate1", 7, position, Fraction(around[walked] if left else 0))
        if around:
            yield RegisterValue("count1", 7, position, Fraction(1, 1 + walked + left))


def item_8(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields where the search goes: the first of the next two edges that does not lead to the father, or the father."""
    for position, here, _, father, walked in walk.moments():
        onward = [v for v in walk.around[here][walked : walked + 2] if v != father]
        yield RegisterValue("next", 8, position, Fraction(onward[0] if onward else father))


def item_9(walk: SearchWalk) -> Iterator[RegisterValue]:
    """Yields where the next vertex stood first after the prompt; 1 if nowhere."""
    for value in item_8(walk):
        if value.value:
            before = walk.chain[: value.position - walk.start]
            vertex = int(value.value)
            place = walk.start + before.index(vertex) + 1 if vertex in before else 1
            yield RegisterValue("seen", 9, value.position, Fraction(place))


ITEMS = (item_1, item_2, item_3, item_4, item_5, item_6, item_7, item_8, item_9)
