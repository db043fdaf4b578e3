"""Graphs as input: parsing, the two token layouts, and the oracle of IsTree.

Source: section 4.7 and appendix C.6.2 (Tokenize(G), Algorithm 1, Lemma C.29); the layout `eos` is that of the paper's
released data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal

import numpy as np

Edge = tuple[int, int]
Layout = Literal["paper", "eos"]
MANY = 1 << 10  # edges of which it pays to ask first, with numpy, whether anything is wrong with them
# An edge list as programs write it.
_PLAIN = r"(?:[0-9]{1,18}+ [0-9]{1,18}+\n)*+(?:[0-9]{1,18}+ [0-9]{1,18}+)?+"
_EDGE = re.compile(r"([+-]?[0-9]+)(?:-|\s+-\s+|\s+)([+-]?[0-9]+)")  # in "1 -2" the minus is a sign


class GraphError(ValueError):
    """Input that is not a simple graph; the message names the thing and the bound. edge: the first that is wrong, from 0."""

    def __init__(self, message: str, edge: int | None = None) -> None:
        super().__init__(message)
        self.edge = edge


@dataclass(frozen=True)
class Graph:
    """A simple undirected graph on vertices 1 … n. The order and the orientation of its edges are part of the input."""

    n: int
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        if self.n < 1:
            raise GraphError(f"a graph needs at least 1 vertex, got n = {self.n}")
        if len(self.edges) >= MANY and _are_simple(self.n, self.edges):
            return
        edge_of: dict[frozenset[int], Edge] = {}
        for place, (u, v) in enumerate(self.edges):
            for vertex in (u, v):
                if not isinstance(vertex, int):
                    raise GraphError(f"vertex {vertex!r} is not a whole number", place)
                if not 1 <= vertex <= self.n:
                    raise GraphError(f"vertex {vertex} of edge {u}-{v} is not in 1 … {self.n}", place)
            if u == v:
                raise GraphError(f"edge {u}-{v} is a self-loop; a simple graph has none", place)
            key = frozenset((u, v))
            if key in edge_of:
                first = "-".join(map(str, edge_of[key]))
                raise GraphError(f"edge {u}-{v} repeats edge {first}; a simple graph has each edge once", place)
            edge_of[key] = (u, v)

    @cached_property
    def search(self) -> tuple[list[int], bool]:
        """Algorithm 1's tour, up to the first vertex that has an unwalked edge to a vertex seen before, other than its father.

        And whether the graph is a tree: a tour that ends has 2n − 1 vertices then (Lemma C.29).
        """
        unread: list[list[int]] = [[] for _ in range(self.n + 1)]  # the edge to be read next is the last
        for u, v in reversed(self.edges):
            unread[u].append(v)
            unread[v].append(u)
        father = [-1] * (self.n + 1)  # not reached yet
        father[1], top, tour = 0, 1, [1]
        while True:
            following = unread[top].pop() if unread[top] else 0
            if following == father[top]:
                following = unread[top].pop() if unread[top] else 0
            if following == 0:
                top = father[top]
                if top == 0:
                    return tour, len(tour) == 2 * self.n - 1
            elif father[following] >= 0:
                return tour, False
            else:
                father[following], top = top, following
            tour.append(top)


def _are_simple(n: int, edges: Sequence[Edge]) -> bool:
    """Returns whether these are certainly the edges of a simple graph on n vertices."""
    if {*map(len, edges)} != {2} or {*map(type, chain.from_iterable(edges))} != {int}:
        return False
    if n >= 1 << 31 or not 1 <= min(chain.from_iterable(edges)) <= max(chain.from_iterable(edges)) <= n:
        return False
    ends = np.fromiter(chain.from_iterable(edges), np.int64, 2 * len(edges)).reshape(-1, 2)
    low, high = ends.min(axis=1), ends.max(axis=1)
    pairs = np.sort(low * (n + 1) + high)
    return bool(np.all(low < high) and np.all(pairs[1:] > pairs[:-1]))


def parse_edges(text: str, n: int | None = None) -> Graph:
    """Returns the graph of "1-2, 2-3"; n defaults to the largest vertex, or 1 for no edges. Raises GraphError."""
    return _graph(_edges(part.strip() for part in text.split(",") if part.strip()), n)


def parse_edge_list(text: str, n: int | None = None, first: int = 1) -> Graph:
    """Returns the graph of an edge list: one `u v` a line, `#` starts a comment. first: the number of the first vertex, 0 or 1.

    Raises GraphError, also for an empty list without n.
    """
    lines: Sequence[int]
    edges: Iterable[Edge]
    if re.fullmatch(_PLAIN, text):
        numbers = text.split()
        lines, ends = range(1, len(numbers) // 2 + 1), map(int, numbers)
        edges = zip(ends, ends, strict=True)
    else:
        parts = [line.split("#", 1)[0].strip() for line in text.splitlines()]
        lines = [number for number, part in enumerate(parts, start=1) if part]
        edges = _edges(filter(None, parts))
    if first != 1:
        edges = [(u + 1 - first, v + 1 - first) for u, v in edges]
    if not lines and n is None:
        raise GraphError("the edge list is empty; give --n for a graph without edges")
    try:
        return _graph(edges, n)
    except GraphError as error:
        if error.edge is None:
            raise
        raise GraphError(f"line {lines[error.edge]}: {error}", error.edge) from error


def _edges(parts: Iterable[str]) -> Iterator[Edge]:
    for place, part in enumerate(parts):
        match = _EDGE.fullmatch(part)
        if match is None:
            raise GraphError(f"{part!r} is not an edge; write two whole numbers, as in 1-2", place)
        yield int(match[1]), int(match[2])


def _graph(edges: Iterable[Edge], n: int | None) -> Graph:
    edges = tuple(edges)
    return Graph(max(chain.from_iterable(edges), default=1) if n is None else n, edges)


@lru_cache(maxsize=1)
def _vertices(n: int) -> tuple[str, ...]:
    return (*map(str, range(1, n + 1)),)


@dataclass(frozen=True)
class TokenLayout:
    """The words of one layout. specials stand behind the vertices 1 … n in the vocabulary."""

    name: Layout
    specials: tuple[str, ...]
    start: str
    joint: str
    end_of_prompt: str | None
    yes: str
    no: str

    def vocabulary(self, n: int) -> tuple[str, ...]:
        """Lists tokens in the order of their numbers: vertices first."""
        return _vertices(n) + self.specials

    def token(self, word: str, n: int) -> int:
        """Returns the number of a special word."""
        return n + self.specials.index(word)

    def prompt(self, graph: Graph) -> list[int]:
        """Tokenizes G: the start, then u, joint, v for each edge, and the end of the prompt where the layout has one."""
        tokens, joint = [self.token(self.start, graph.n)], self.token(self.joint, graph.n)
        for u, v in graph.edges:
            tokens += u - 1, joint, v - 1
        if self.end_of_prompt is not None:
            tokens.append(self.token(self.end_of_prompt, graph.n))
        return tokens

    def answer(self, chain: Sequence[int], is_tree: bool, n: int) -> list[int]:
        """Returns the tokens of a chain of thought (vertices) and its verdict."""
        closing = [] if self.end_of_prompt is None else [self.token(self.end_of_prompt, n)]
        return [v - 1 for v in chain] + closing + [self.token(self.yes if is_tree else self.no, n)]


PAPER = TokenLayout(
    "paper", ("<s>", "~", "YES", "NO", "<StartSearch>", "<EndSearch>"), "<s>", "~", None, yes="YES", no="NO"
)
EOS = TokenLayout("eos", ("[BOS]", "-", "[EOS]", "TRUE", "FALSE"), "[BOS]", "-", "[EOS]", yes="TRUE", no="FALSE")
LAYOUTS: dict[str, TokenLayout] = {"paper": PAPER, "eos": EOS}


def sequence_length(n: int) -> int:
    """Returns the most tokens that any simple graph on n vertices can lead to, in either layout."""
    return 3 * (n * (n - 1) // 2) + 2 + (2 * n - 1) + 2


def depth_first_tour(graph: Graph) -> Iterator[int]:
    """Runs Algorithm 1: yields the top of the stack S1 each time round, from vertex 1."""
    neighbours: dict[int, list[int]] = {v: [] for v in range(1, graph.n + 1)}
    for u, v in graph.edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    unread = {v: iter(others) for v, others in neighbours.items()}  # what is not fresh now never will be
    stack, visited = [1], {1}
    while stack:
        yield stack[-1]
        following = next((w for w in unread[stack[-1]] if w not in visited), None)
        if following is None:
            stack.pop()
        else:
            visited.add(following)
            stack.append(following)


def is_tree(graph: Graph) -> bool:
    """Returns whether the graph is connected and has n − 1 edges; by union-find, so that it shares nothing with the tour."""
    parent = list(range(graph.n + 1))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for u, v in graph.edges:
        parent[root(u)] = root(v)
    return len(graph.edges) == graph.n - 1 and len({root(v) for v in range(1, graph.n + 1)}) == 1


def expected_answer(graph: Graph, layout: TokenLayout) -> list[int]:
    """Returns what the repaired Transformer must produce: Algorithm 1's tour, stopped early with NO.

    It stops before the first vertex if the layout `paper` shows m ≠ n − 1, else as `Graph.search` does.
    """
    if layout.name == "paper" and len(graph.edges) != graph.n - 1:
        return layout.answer([], False, graph.n)
    return layout.answer(*graph.search, graph.n)
