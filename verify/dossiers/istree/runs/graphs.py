"""A graph as runs of searches meet it: its records in a prompt, components, distances, and the symbols of lemmas on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from constructions.istree.graphs import Edge


@dataclass(frozen=True)
class Around:
    """A graph on vertices 1 … n; loops and repeated edges count."""

    n: int
    edges: Sequence[Edge]

    @cached_property
    def components(self) -> list[dict[int, int]]:
        """Returns the vertices of each component, and how far they are from its least one."""
        components = list[dict[int, int]]()
        for start in range(1, self.n + 1):
            if any(start in component for component in components):
                continue
            component, last, distance = {start: 0}, {start}, 0
            while last:
                distance += 1
                ends = {b for edge in self.edges for a, b in (edge, edge[::-1]) if a in last}
                last = ends - component.keys()
                component |= dict.fromkeys(last, distance)
            components.append(component)
        return components

    @property
    def reached(self) -> dict[int, int]:
        """The component of vertex 1."""
        return self.components[0]

    @property
    def missed(self) -> list[int]:
        """The vertices of the others."""
        return [v for v in range(1, self.n + 1) if v not in self.reached]

    @property
    def is_forest(self) -> bool:
        """Returns whether there is no cycle."""
        return len(self.edges) == self.n - len(self.components)

    @cached_property
    def ranks(self) -> dict[int, int]:
        """Returns each vertex's distance from the least one of its component."""
        return {v: distance for component in self.components for v, distance in component.items()}

    @cached_property
    def records(self) -> dict[Edge, int]:
        """Returns where in a prompt each vertex first has a record with another one."""
        records = dict[Edge, int]()
        for e, (a, b) in enumerate(self.edges, start=1):
            records.setdefault((b, a), 3 * e + 1)
            records.setdefault((a, b), 3 * e + 2)
        return records

    def symbols(self, visits: Mapping[int, int], depth: Callable[[int], int]) -> dict[str, Any]:
        """Returns what the symbols mean that lemmas on all searches share.

        visits: where each vertex is first reached, as far as known. depth: of a vertex in the search.
        """
        return {
            "n": self.n,
            "rec": lambda v, u: self.records.get((v, u), 0),
            "visit": lambda v: visits.get(v, 0),
            "depth": depth,
            "among": lambda m, i: sum(v <= m and visit <= i for v, visit in visits.items()),
            "rank": lambda v: self.ranks.get(v, 0),
            "ranked": self.is_forest,
            "closed": self.reached.__contains__,
            "v0": min(self.missed, default=0),
        }
