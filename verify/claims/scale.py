"""Theorem 4.7, upper bound, where the reference engine cannot go: every small input in batches, and n up to --n-max.

Both feed the answer of Algorithm 1 behind the prompt. If the argmax at each position is the next token, induction over positions
shows that greedy decoding gives exactly this answer; nothing is decoded that is not checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

from constructions.istree import transformer as istree
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, Graph, Layout, TokenLayout, expected_answer
from constructions.wiring.wired import Wired
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.hard_graphs import FAMILIES, LEAST
from verify.inputs.strategies import every_input, every_labelled_graph
from verify.oracles.counts import labelled_graphs, labelled_trees, ordered_graphs
from verify.runs.istree_walks import PRECISION, Large, every_hard_graph, first_others, large_graphs, shapes_at

CHUNK = 4096  # graphs to a batch of the dense engine


@cache
def model(n: int, layout: Layout) -> Wired:
    """The repaired model."""
    return istree.build(n, layout=layout)


def shown(tokens: list[int], wired: Wired) -> str:
    """The input as text for people."""
    return " ".join(wired.vocabulary[token] for token in tokens)


@claims(
    "layout",
    LAYOUTS.values(),
    lambda layout: Claim.about(
        "4.7", "istree", f"small-{layout.name}", istree.SOURCE, f"On every small graph. Token layout {layout.name}."
    ),
)
def test_every_small_graph(check: Check, layout: TokenLayout) -> None:
    batches = first_others(model, layout, check.device, CHUNK)
    orders = "in every order and orientation of its edges (dense)"

    def as_algorithm_1(graph: Graph) -> Counterexample | None:
        first = batches.found(graph)
        if first is None:
            return None
        expected = shown(expected_answer(graph, layout), model(graph.n, layout.name))
        return Counterexample(expected=expected, first_other_token=first)

    def exhaust(top: int, text: str, graphs: Iterator[Graph], count: int) -> None:
        if top <= check.n_max:
            size = lambda graph: graph.n  # noqa: E731
            ahead = batches.ahead(graphs)
            check.exhaustive(ahead, as_algorithm_1, count=count, range=text, size=size, precision=PRECISION)

    exhaust(1, f"every graph on 1 vertex {orders}", every_input(1), ordered_graphs(1))
    few = (2, 3, 4)
    inputs = itertools.chain.from_iterable(map(every_input, few))
    exhaust(4, f"every graph on 2 to 4 vertices {orders}", inputs, sum(map(ordered_graphs, few)))
    labelled = itertools.chain.from_iterable(map(every_labelled_graph, (5, 6)))
    exhaust(6, "every graph on 5 or 6 vertices, labelled (dense)", labelled, labelled_graphs((5, 6)))
    exhaust(7, "every tree on 7 vertices, labelled (dense)", every_labelled_tree(7), labelled_trees(7))


def every_labelled_tree(n: int) -> Iterator[Graph]:
    """The n^(n − 2) trees on n ≥ 2 vertices, from their Prüfer codes."""
    for code in itertools.product(range(1, n + 1), repeat=n - 2):
        degree = [0] + [1 + code.count(v) for v in range(1, n + 1)]
        edges = []
        for v in code:
            leaf = next(u for u in range(1, n + 1) if degree[u] == 1)
            edges.append((leaf, v))
            degree[leaf] -= 1
            degree[v] -= 1
        u, v = (w for w in range(1, n + 1) if degree[w] == 1)
        yield Graph(n, (*edges, (u, v)))


def by_index(layout: TokenLayout, large: Large) -> Counterexample | None:
    """Whether the indexed engine, every softmax column of it certified or dense, gives Algorithm 1's answer."""
    from constructions.engines import indexed

    graph = large.graph()
    wired = model(graph.n, layout.name)
    answer = expected_answer(graph, layout)
    first, run = indexed.first_mismatch(wired.model, wired.arithmetic, layout.prompt(graph), answer)
    if first is None:
        return None
    return Counterexample(
        expected=wired.vocabulary[answer[first]],
        first_other_token=first,
        columns_certified=run.columns.certified,
        columns_dense=run.columns.dense,
    )


def paper_at_scale(large: Large) -> Counterexample | None:
    """`by_index` in the layout of the paper."""
    return by_index(PAPER, large)


def eos_at_scale(large: Large) -> Counterexample | None:
    """`by_index` in the layout of the released data."""
    return by_index(EOS, large)


JUDGES = {PAPER.name: paper_at_scale, EOS.name: eos_at_scale}


@claims(
    "layout",
    LAYOUTS.values(),
    lambda layout: Claim.about(
        "4.7", "istree", f"scale-{layout.name}", istree.SOURCE, f"At large sizes. Token layout {layout.name}."
    ),
)
def test_at_scale(check: Check, layout: TokenLayout) -> None:
    for n in check.sizes(LEAST, ratio=50):
        right = JUDGES[layout.name]
        every_hard_graph(check, n, right, families=list(FAMILIES), first=n == LEAST)
        if n <= 1000:
            large_graphs(check, n, right, examples=20, text=shapes_at(n, LEAST))
