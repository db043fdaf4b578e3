"""Texts of IsTree that models are trained on: a prompt, perhaps a chain of thought or searches, and the verdict.

Source: section 6; Theorem 4.7, lower bound (the graphs); Algorithm 1 (the chain of thought); Algorithm 2 (the searches).
Notation: n vertices. Of these, n − 1 and n are hubs. Each other vertex i has an edge to one hub, chosen by a fair coin; one
more edge joins k − 1 and k. The graph is a tree if k − 1 and k have different hubs, half of the time.

A text with searches has five words a step: `? v u f w`. The model writes `? v u`, where v is its vertex and u the vertex that
it comes from, and reads two results. f is the vertex from which v was reached first: what stands after the first `? v` of the
text. w is the next neighbour of v other than f, after the edge to u if u is not f. `-` says that there is none. Algorithm 2 has
four regular expressions; here, as in the paper's experiment, only their vertices are written, and one step has one query.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from constructions.istree.graphs import Edge, Graph

START, TILDE, ASK, NOTHING, YES, NO = "<s>", "~", "?", "-", "YES", "NO"
WRITTEN = 3  # words of a query; two results follow


class Mode(StrEnum):
    """What a model writes before its verdict."""

    PLAIN = "plain"
    CHAIN = "chain"
    SEARCH = "search"


@dataclass(frozen=True)
class TreeTask:
    """IsTree on the graphs of the lower bound, with n ≥ 4 vertices."""

    n: int
    mode: Mode

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a word's number is its place."""
        return (START, *(str(v) for v in range(1, self.n + 1)), TILDE, ASK, NOTHING, YES, NO)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return {word: place for place, word in enumerate(self.vocabulary)}

    def draw(self, generator: random.Random) -> Graph:
        """Draws a graph."""
        hubs = [self.n - 1 + generator.randint(0, 1) for _ in range(self.n - 2)]
        k = generator.randint(2, self.n - 2)
        return Graph(self.n, (*((i, hub) for i, hub in enumerate(hubs, start=1)), (k - 1, k)))

    def prompt(self, graph: Graph) -> list[str]:
        """Returns the words that a model is given."""
        words = [START]
        for u, v in graph.edges:
            words += [str(u), TILDE, str(v)]
        return words if self.mode is Mode.CHAIN else [*words, ASK] if self.mode is Mode.PLAIN else words

    def reply(self, graph: Graph) -> list[str]:
        """Returns the words that follow a prompt, results of searches among them."""
        tour, is_tree = graph.search
        verdict = YES if is_tree else NO
        if self.mode is Mode.PLAIN:
            return [verdict]
        if self.mode is Mode.CHAIN:
            return [*map(str, tour), verdict]
        words: list[str] = []
        for u, v in zip((NOTHING, *map(str, tour)), map(str, tour), strict=False):
            words += [ASK, v, u]
            words += results(graph.edges, words)
        if words[-1] != NOTHING:  # a vertex seen before: its father is not the one that it is reached from now
            words += [ASK, words[-1], str(tour[-1])]
            words += results(graph.edges, words)
        return [*words, verdict]

    def is_written(self, reply: Sequence[str]) -> list[bool]:
        """Returns for each word of a reply whether the model writes it; results of searches are read."""
        if self.mode is not Mode.SEARCH:
            return [True] * len(reply)
        step = WRITTEN + 2
        return [place % step < WRITTEN or place == len(reply) - 1 for place in range(len(reply))]

    @property
    def longest(self) -> int:
        """The most words of a right reply."""
        return {Mode.PLAIN: 0, Mode.CHAIN: 1, Mode.SEARCH: WRITTEN + 2}[self.mode] * (2 * self.n - 1) + 1


def results(edges: Sequence[Edge], words: Sequence[str]) -> list[str]:
    """Returns the two results of the query that ends a reply. A query that names no edge has none.

    Example: of 1 ~ 3, 2 ~ 3 after `? 1 - - 3 ? 3 1`: `1 2`.
    """
    v, u = words[-2:]
    first = next(place for place in range(len(words) - 1) if words[place] == ASK and words[place + 1] == v)
    father = words[first + 2]
    neighbours = [str(a if str(b) == v else b) for a, b in edges if v in (str(a), str(b))]
    if u != father:
        if u not in neighbours:
            return [NOTHING, NOTHING]
        neighbours = neighbours[neighbours.index(u) + 1 :]
    return [father, next((w for w in neighbours if w != father), NOTHING)]
