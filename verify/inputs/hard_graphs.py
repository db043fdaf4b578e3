"""Extreme graphs, one of each family at any size: where a search of a graph has the most to lose.

Every family fixes labels, the order of the edges and their ends, so a case is a name and a number. The search starts at vertex 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from constructions.istree.graphs import Edge, Graph

LEAST = 6  # vertices, so that every family exists
MOST_EDGES = 15_000  # of the longest prompts


def star(n: int) -> list[Edge]:
    """Returns a star whose hub is the root: the largest counts, and every edge is walked twice in a row."""
    return [(1, v) for v in range(2, n + 1)]


def star_seen_from_a_leaf(n: int) -> list[Edge]:
    """Returns a star whose hub has the largest label; its edge to the root comes last of all."""
    return [(v, n) for v in range(2, n)] + [(n, 1)]


def path_backwards(n: int) -> list[Edge]:
    """Returns a path whose root is an end; the next edge always stands before those that were walked. The deepest search."""
    return [(v, v + 1) for v in range(n - 1, 0, -1)]


def path_in_two_passes(n: int) -> list[Edge]:
    """Returns every other edge, then the rest: the edge that is wanted next is always half a prompt away."""
    return [(v + 1, v) for start in (1, 2) for v in range(start, n, 2)]


def double_star(n: int) -> list[Edge]:
    """Returns two hubs whose labels, the largest, differ by one; their edges alternate, the one that joins them comes last."""
    leaves = [(v, n - v % 2) if v % 3 else (n - v % 2, v) for v in range(1, n - 1)]
    return [*leaves, (n - 1, n)]


def caterpillar(n: int) -> list[Edge]:
    """Returns a path of half the vertices, then a leaf for each of them, the last one first."""
    half = (n + 1) // 2
    return [(v, v + 1) for v in range(1, half)] + [(v, v - half) for v in range(n, half, -1)]


def hub_edges_last(n: int) -> list[Edge]:
    """Returns a path to a hub in the middle, whose other edges all come last, second endpoint first."""
    half = n // 2
    return [(v, v + 1) for v in range(1, half)] + [(v, half) for v in range(n, half, -1)]


def broom_with_its_handle_last(n: int) -> list[Edge]:
    """Returns a star around the largest label, then the path that leads there from the root, its first edge as late as can be."""
    half = n // 2
    return [(n, v) for v in range(half + 1, n)] + [(n, half)] + [(v + 1, v) for v in range(half - 1, 0, -1)]


def cycle_closed_last(n: int) -> list[Edge]:
    """Returns n − 1 edges, not a tree: vertex n apart, the others on a cycle that only the last edge closes."""
    return [*((v, v + 1) for v in range(1, n - 1)), (n - 1, 1)]


def root_apart(n: int) -> list[Edge]:
    """Returns n − 1 edges, not a tree: the root alone, a star with one edge more on the others."""
    return [*((n, v) for v in range(2, n)), (2, 3)]


def longest(n: int) -> list[Edge]:
    """Returns a path, then every other edge, as many as MOST_EDGES allow: the longest prompt, a cycle at the deepest place."""
    more = ((v, v + distance) for distance in range(n - 1, 1, -1) for v in range(1, n - distance + 1))
    return [*path_backwards(n), *itertools.islice(more, max(0, MOST_EDGES - n + 1))]


FAMILIES: Mapping[str, Callable[[int], list[Edge]]] = {
    "star": star,
    "star seen from a leaf": star_seen_from_a_leaf,
    "path backwards": path_backwards,
    "path in two passes": path_in_two_passes,
    "double star": double_star,
    "caterpillar": caterpillar,
    "hub whose edges come last": hub_edges_last,
    "broom with its handle last": broom_with_its_handle_last,
    "cycle closed by the last edge": cycle_closed_last,
    "root apart": root_apart,
    "longest prompt": longest,
}


@dataclass(frozen=True)
class HardGraph:
    """A graph by its family."""

    family: str
    n: int

    def graph(self) -> Graph:
        """Returns the graph. Raises KeyError for an unknown family."""
        return Graph(self.n, tuple(FAMILIES[self.family](self.n)))


def hard_graphs(n: int) -> list[HardGraph]:
    """Returns one of each family on n ≥ LEAST vertices."""
    return [HardGraph(family, n) for family in FAMILIES]
