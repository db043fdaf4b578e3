"""A graph as a scene of the page: a place for each vertex, and where the search is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from constructions.istree.graphs import Graph


def graph_scene(graph: Graph) -> Mapping[str, object]:
    """Returns the graph as scenes.js reads it: its kind, the vertices' places and the edges."""
    places = [[round(x, 4), round(y, 4)] for x, y in place_vertices(graph)]
    return {"kind": "graph", "vertices": places, "edges": graph.edges}


WALK = ("current", "previous", "father", "next")  # registers of the Transformer


def walk_of(values: Mapping[str, Fraction]) -> dict[str, int]:
    """Returns where the Transformer's search is, from its registers."""
    return {name: int(values[name]) for name in WALK if name in values and values[name].denominator == 1}


def walks(words: Sequence[str], prompt_length: int, *, marks_first: bool) -> list[dict[str, int]]:
    """Returns where a recurrent model's search is at each position, by its turns' heads: `u - v` down to v, `u ^ v` back.

    marks_first: whether the mark stands before both vertices. The root's own record, `1 - 1`, has no father.
    """
    states, now = list[dict[str, int]](), dict[str, int]()
    for place in range(1, len(words) + 1):
        if place >= prompt_length + 3:
            three = words[place - 3 : place]
            mark, u, v = three if marks_first else (three[1], three[0], three[2])
            if mark in ("-", "^") and u.isdecimal() and v.isdecimal():
                now = (
                    {"current": int(v)}
                    if u == v
                    else {"current": int(v), "father" if mark == "-" else "previous": int(u)}
                )
        elif marks_first and place == prompt_length + 1:
            now = {"current": 1}
        states.append(now)
    return states


def walk_sentence(walk: Mapping[str, int]) -> str:
    if not walk:
        return ""
    current = walk["current"]
    if "father" in walk:
        return f"At {current}, reached from its father {walk['father']}. "
    return f"Back at {current} from {walk['previous']}. " if "previous" in walk else f"At {current}, the root. "


def place_vertices(graph: Graph) -> list[tuple[float, float]]:
    """Returns a place for each vertex: depth downwards, children of a breadth-first tree and components side by side."""
    neighbours: dict[int, list[int]] = {v: [] for v in range(1, graph.n + 1)}
    for u, v in graph.edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    children: dict[int, list[int]] = {v: [] for v in neighbours}
    depth: dict[int, int] = {}
    order: list[int] = []
    roots = []
    for root in neighbours:
        if root in depth:
            continue
        roots.append(root)
        depth[root] = 0
        queue = [root]
        for top in queue:  # grows while it is walked
            order.append(top)
            for v in neighbours[top]:
                if v not in depth:
                    depth[v] = depth[top] + 1
                    children[top].append(v)
                    queue.append(v)
    across: dict[int, float] = {}
    column = 0.0
    stack = list(reversed(roots))
    while stack:  # leaves from left to right
        top = stack.pop()
        if not children[top]:
            across[top] = column
            column += 1
        stack.extend(reversed(children[top]))
    for top in reversed(order):  # a parent above the middle of its children, which come later in the order
        if children[top]:
            across[top] = (across[children[top][0]] + across[children[top][-1]]) / 2
    return [(across[v], float(depth[v])) for v in range(1, graph.n + 1)]
