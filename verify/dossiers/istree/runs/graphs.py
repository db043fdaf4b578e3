"""Components of a graph, and distances in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
