"""Large graphs from a seed: what hypothesis would have to draw number by number, in one line of JSON."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from constructions.istree.graphs import Edge, Graph

Rng = random.Random


def _attach(n: int, hook: Callable[[int], int]) -> list[Edge]:
    return [(hook(v), v) for v in range(2, n + 1)]


def _cycle_apart(n: int, rng: Rng) -> list[Edge]:
    """Returns n − 1 edges, not a tree: vertex n alone, the others joined by a tree and one more edge."""
    edges = _attach(n - 1, lambda v: rng.randint(1, v - 1))
    present = {frozenset(edge) for edge in edges}
    while True:
        u, v = rng.sample(range(1, n), 2)
        if frozenset((u, v)) not in present:
            return [*edges, (u, v)]


SHAPES: Mapping[str, Callable[[int, Rng], list[Edge]]] = {
    "star": lambda n, rng: _attach(n, lambda v: 1),
    "path": lambda n, rng: _attach(n, lambda v: v - 1),
    "random recursive tree": lambda n, rng: _attach(n, lambda v: rng.randint(1, v - 1)),
    "caterpillar": lambda n, rng: _attach(n, lambda v: v - 1 if v <= n // 2 else rng.randint(1, n // 2)),
    "double star": lambda n, rng: _attach(n, lambda v: 1 if v == 2 else rng.randint(1, 2)),
    "tree with a cycle, and one vertex apart": _cycle_apart,
}
LEAST = 5  # vertices, so that every shape exists


@dataclass(frozen=True)
class LargeGraph:
    """A graph by its shape; the seed shuffles labels, edges and their ends."""

    shape: str
    n: int
    seed: int

    def graph(self) -> Graph:
        """Returns the graph. Raises KeyError for an unknown shape."""
        rng = random.Random(self.seed)
        edges = SHAPES[self.shape](self.n, rng)
        names = rng.sample(range(1, self.n + 1), self.n)
        turned = [(names[u - 1], names[v - 1])[:: rng.choice((1, -1))] for u, v in edges]
        rng.shuffle(turned)
        return Graph(self.n, tuple((u, v) for u, v in turned))
