"""The way to IsTree for callers: its options, the graphs that they write, the worked examples."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from constructions.istree.base import Answer, IsTreeModel
from constructions.istree.graphs import Graph, parse_edges
from constructions.istree.models import MODELS
from constructions.models.door import LARGEST_N, Domain, Door, Said
from constructions.models.solver import Request, Run
from constructions.wiring.wired import Wired
from precision.format import Discipline

EXAMPLE_N = 12  # vertices of a worked example that does not have all
MOST_WALKED, MOST_SEARCHED = 60_000, 4_000  # tokens of a worked example that has all; with searches in it


def _solver(
    model: str, discipline: Discipline, *, n: int | None = None, tokens: str = "paper"
) -> tuple[IsTreeModel, int | None]:
    if (model, tokens) not in MODELS:
        layouts = " or ".join(layout for name, layout in MODELS if name == model)
        raise ValueError(f"the model {model} reads the token layout {layouts}, not {tokens}")
    return MODELS[model, tokens], n


def _read(solver: IsTreeModel, given: object, n: int | None) -> Graph:
    if isinstance(given, Graph):
        return given
    if isinstance(given, str):
        return parse_edges(given, n)
    edges_of, size_of = getattr(given, "edges", None), getattr(given, "number_of_nodes", None)
    if callable(edges_of) and callable(size_of):  # a graph of networkx
        return Graph(n or max(size_of(), 1), tuple(map(_whole_ends, edges_of())))
    rows_of = getattr(given, "itertuples", None)
    if callable(rows_of):  # a table of pandas, an edge a row
        given = rows_of(index=False)
    if not isinstance(given, Iterable):
        raise ValueError(f'a graph is a list of edges such as (1, 2), or text as "1-2,2-3", not {given!r}')
    edges = []
    for pair in given:
        ends = tuple(pair) if isinstance(pair, Iterable) else (pair,)
        if len(ends) != 2:
            raise ValueError(f"an edge is a pair of vertices such as (1, 2), not {pair!r}")
        edges.append(_whole_ends(ends))
    largest = max((v for edge in edges for v in edge if isinstance(v, int)), default=1)
    return Graph(largest if n is None else n, tuple(edges))


def _whole_ends(ends: tuple[object, ...]) -> tuple[int, int]:
    """An edge in Python's own integers, whatever kind of integers they were; other things are left for `Graph` to name."""
    u, v = (operator.index(end) if hasattr(end, "__index__") else end for end in ends)
    return cast("tuple[int, int]", (u, v))


def examples(model: IsTreeModel, wired: Wired, given: Graph | None = None) -> Iterator[Request]:
    """A tree, or a part of the graph that is one where a run over all n vertices is too long; and a graph with a cycle."""
    n = wired.n
    size = min(n, EXAMPLE_N)
    most = MOST_SEARCHED if model.searches else MOST_WALKED
    whole = n == size or (3 * n + model.limit(n) <= most and not wired.printed)  # as printed, it may go on for ever
    graphs = [Graph(n, tuple(_tree(n)))] if whole else []
    if n >= 4:  # three of the first vertices are a cycle; as many edges as a tree has, where the model counts them
        rest = size if model.searches else n
        graphs.append(Graph(n, ((1, 2), (3, 2), (1, 3), *((max(1, v // 2), v) for v in range(4, rest)))))
    if not whole and n >= size + 3:  # a tree on the first vertices, a cycle on the others
        others = range(size + 1, n)
        cycle = [] if model.searches else [*((v, v + 1) for v in others), (n, size + 1)]
        graphs.append(Graph(n, (*_tree(size), *cycle)))
    for graph in graphs:
        yield replace(model.request(wired, graph), limit=model.limit(size if wired.printed else n))


def _tree(n: int) -> list[tuple[int, int]]:
    """A tree in which a vertex has up to two children, its edges this way and that."""
    return [(max(1, v // 2), v) if v % 3 else (v, max(1, v // 2)) for v in range(2, n + 1)]


def _said(model: IsTreeModel, run: Run, answer: Answer) -> Said:
    return Said(*answer)


def _about(model: IsTreeModel) -> Mapping[str, object]:
    return {"layout": model.layout.name, "model": model.construction.model}


def _domain(model: IsTreeModel, wired: Wired) -> Domain:
    """Any simple graph, whose edges stand in any order and orientation."""
    n, layout = wired.n, model.layout
    joint, ends = layout.joint, layout.end_of_prompt is not None  # neither ~ nor - is a sign of `re`
    loop = rf"(?!.* (\d+) {joint} \1(?!\S))"
    again = rf"(?!.* (\d+) {joint} (\d+) .*(?<=\d )(?:\2 {joint} \3|\3 {joint} \2)(?!\S))"
    end = re.escape(f" {layout.end_of_prompt}") if ends else ""
    edges = f"u {layout.joint} v for each edge"
    sentence = f"A prompt is {layout.start}, then {edges}{f', then {layout.end_of_prompt}' if ends else ''}: the edges of a simple"
    sentence += f" graph on the vertices 1 … {n}, in any order and orientation, without loops or repetitions."
    if not ends and not model.searches:
        sentence += f" Behind n − 1 = {n - 1} edges the graph is searched; behind any other number"
        sentence += f" the answer is {layout.no} at once."
    prompt = rf"{re.escape(layout.start)}{loop}{again}(?: \d+ {joint} \d+)*{end}"
    return Domain(sentence, prompt, (1 + ends, 1 + 3 * (n * (n - 1) // 2) + ends))


DOOR = Door[IsTreeModel, Graph, Answer](
    name="istree",
    models=tuple(dict.fromkeys(model for model, _ in MODELS)),
    solver=_solver,
    options={"n": LARGEST_N, "tokens": None},
    read=_read,
    fitting=lambda model, graph: (model, graph.n),
    examples=examples,
    said=_said,
    about=_about,
    domain=_domain,
)
