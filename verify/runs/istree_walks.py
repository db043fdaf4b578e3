"""What the claims about IsTree share: random graphs, small and large."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from hypothesis import strategies as st

from constructions.istree.base import IsTreeOptions
from constructions.istree.graphs import Graph, Layout, TokenLayout
from constructions.istree.models import MODELS
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.framework.batches import Batches, first_other_tokens
from verify.framework.check import Check
from verify.framework.claim import Counterexample
from verify.framework.predicates import Predicate
from verify.inputs.hard_graphs import FAMILIES as HARD_FAMILIES
from verify.inputs.hard_graphs import HardGraph
from verify.inputs.large_graphs import SHAPES, LargeGraph
from verify.inputs.strategies import FAMILIES, all_edges, every_input, every_labelled_graph, every_labelled_tree, graphs
from verify.oracles.counts import labelled_graphs, labelled_trees, ordered_graphs
from verify.runs.costs import PRECISION

ORDERS = "in every order and orientation of its edges"
Large = LargeGraph | HardGraph  # by its name: of what is judged at scale


@cache
def build_model(
    name: str,
    layout: Layout,
    variant: str,
    n: int,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
    p_bits: int | None = None,
) -> Wired:
    """Returns a wired model, by the names of its solver, built once for each size."""
    model = MODELS[name].with_options(IsTreeOptions(variant == "lean", layout))
    return model.build(n, p_bits, printed=printed, discipline=discipline)


Kind = Literal["ordered", "labelled", "trees"]
EVERY: Mapping[Kind, tuple[Callable[..., Iterable[Graph]], Callable[..., int]]] = {
    "ordered": (every_input, ordered_graphs),
    "labelled": (lambda n, edges: every_labelled_graph(n), lambda n, edges: labelled_graphs([n])),
    "trees": (lambda n, edges: every_labelled_tree(n), lambda n, edges: labelled_trees(n)),
}
"""What lists the graphs on n vertices, and how many there are."""


def every_graph(
    check: Check,
    sizes: Sequence[int],
    right: Predicate[Graph],
    text: str,
    *,
    kind: Kind = "ordered",
    edges: Mapping[int, Sequence[int]] | None = None,
    precision: str = "",
    by: Batches[Graph, Any] | None = None,
) -> None:
    """Tries all graphs with n from `sizes`, by default each in every order and orientation of its edges.

    kind: labelled graphs or trees, each in one order and orientation. edges: at some n, only so many. by: what judges ahead.
    """
    (every, count), some = EVERY[kind], edges or {}
    cases = itertools.chain.from_iterable(every(n, some.get(n)) for n in sizes)
    check.exhaustive(
        cases if by is None else by.compute_ahead(cases),
        right,
        count=sum(count(n, some.get(n)) for n in sizes),
        range=text,
        precision=precision,
    )


def on_small_graphs(check: Check, right: Predicate[Graph], what: str) -> None:
    """Tries graphs on 1 to 3 vertices with every order and orientation of edges, and those with 3 edges on 4 in every order."""
    text = f"{what}: every graph on 1 to 3 vertices, every order and orientation of its edges"
    every_graph(check, (1, 2, 3), right, text)
    check.exhaustive(
        (Graph(4, edges) for edges in itertools.permutations(all_edges(4), 3)),
        right,
        count=math.perm(6, 3),
        range=f"{what}: every graph with 3 edges on 4 vertices, every order of its edges",
        size=4,
    )


def random_graphs(
    check: Check,
    sizes: Sequence[int],
    right: Predicate[Graph],
    *,
    examples: int,
    families: Sequence[str] = tuple(FAMILIES),
    precision: str = PRECISION,
    by: str = "",
) -> None:
    """Tries graphs of some families, n from `sizes`; a witness is shrunk. by: the engine, if not the one that is asked for."""
    check.sampled(
        graphs(sizes, families),
        right,
        range=f"{', '.join(families)}; n = {', '.join(map(str, sizes))}" + (f" ({by})" if by else ""),
        precision=check.precision_text(precision) if not by else precision,
        max_examples=examples,
    )


def first_others(
    name: str,
    layout: TokenLayout,
    build: Callable[[int], Wired],
    device: str,
    chunk: int,
    judge: Callable[[Graph, int | None], Counterexample | None],
) -> Batches[Graph, Counterexample | None]:
    """Judges the first token that is not the one that is due, of graphs of one size at once, by the dense engine."""

    def compute(graphs: list[Graph]) -> Iterator[Counterexample | None]:
        solver, wired = replace(MODELS[name], layout=layout), build(graphs[0].n)
        requests = [solver.request(wired, graph) for graph in graphs]
        prompts, due = [asked.prompt for asked in requests], [list(asked.guess) for asked in requests]
        return map(judge, graphs, first_other_tokens(wired, prompts, due, device))

    return Batches(compute, key=lambda graph: graph.n, chunk=chunk)


def every_hard_graph(
    check: Check, n: int, right: Predicate[HardGraph], *, families: Sequence[str], first: bool
) -> None:
    """Tries the extreme graphs on n vertices, one of each family. first: whether the ledger has yet to name them all."""
    which = "the same extreme graphs"
    if first or len(families) < len(HARD_FAMILIES):
        which = f"extreme graphs: {', '.join(families)};"
    check.chosen([HardGraph(family, n) for family in families], right, range=f"{which} n = {n:,}", precision=PRECISION)


def large_graphs(
    check: Check, n: int, right: Predicate[LargeGraph], *, examples: int, text: str, precision: str = PRECISION
) -> None:
    """Tries graphs on n vertices, each from a seed. text: which they are."""
    check.sampled(
        st.builds(LargeGraph, st.sampled_from(sorted(SHAPES)), st.just(n), st.integers(0, 2**32 - 1)),
        right,
        range=text,
        precision=precision,
        max_examples=examples,
    )


def shapes_at(n: int, first: int, engine: str = "auto") -> str:
    """Names the large graphs for the ledger: only the first part of a claim lists the shapes."""
    by = f" ({engine})" if engine else ""
    return f"{', '.join(SHAPES) if n == first else 'the same'} at n = {n:,}{by}"
