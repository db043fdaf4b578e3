"""Theorem 4.7, upper bound, where the reference engine cannot go: every small input in batches, and n up to --n-max.

Both feed the answer of Algorithm 1 behind the prompt. If the argmax at each position is the next token, induction over positions
shows that greedy decoding gives exactly this answer; nothing is decoded that is not checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st

from constructions.istree import transformer as istree
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, Graph, Layout, TokenLayout, expected_answer
from constructions.wired import Wired
from verify.check import Check
from verify.claim import Claim, Counterexample, claims
from verify.large_graphs import LEAST, SHAPES, LargeGraph
from verify.strategies import every_input, every_labelled_graph

CHUNK = 4096  # graphs to a batch of the dense engine
PRECISION = "p = least_precision(n)"


@cache
def model(n: int, layout: Layout) -> Wired:
    """The repaired model."""
    return istree.build(n, layout=layout)


def shown(tokens: list[int], wired: Wired) -> str:
    """For people."""
    return " ".join(wired.vocabulary[token] for token in tokens)


class Batches:
    """Judges graphs one by one, computing them many at a time with the dense engine."""

    def __init__(self, layout: TokenLayout, device: str) -> None:
        self.layout, self.device = layout, device
        self.mismatch: dict[Graph, int | None] = {}

    def ahead(self, graphs: Iterator[Graph]) -> Iterator[Graph]:
        """The same graphs, each judged before it is handed out."""
        while chunk := list(itertools.islice(graphs, CHUNK)):
            self._judge(chunk)
            yield from chunk

    def _judge(self, chunk: list[Graph]) -> None:
        from constructions.engines import dense

        for n, group in itertools.groupby(chunk, key=lambda graph: graph.n):
            graphs = list(group)
            wired = model(n, self.layout.name)
            prompts = [self.layout.prompt(graph) for graph in graphs]
            answers = [expected_answer(graph, self.layout) for graph in graphs]
            found = dense.matches(wired.model, wired.arithmetic, prompts, answers, device=self.device)
            self.mismatch.update(zip(graphs, found, strict=True))

    def as_algorithm_1(self, graph: Graph) -> Counterexample | None:
        """The verdict on one graph; a replayed one is computed alone."""
        if graph not in self.mismatch:
            self._judge([graph])
        first = self.mismatch.pop(graph)
        if first is None:
            return None
        wired = model(graph.n, self.layout.name)
        return Counterexample(expected=shown(expected_answer(graph, self.layout), wired), first_other_token=first)


@claims(
    "layout",
    [
        (Claim(f"4.7/small-{layout.name}", istree.SOURCE, f"On every small graph. Token layout {layout.name}."), layout)
        for layout in LAYOUTS.values()
    ],
)
def test_every_small_graph(check: Check, layout: TokenLayout) -> None:
    batches = Batches(layout, check.device)
    orders = "in every order and orientation of its edges (dense)"

    def exhaust(top: int, text: str, graphs: Iterator[Graph]) -> None:
        if top <= check.n_max:
            size = lambda graph: graph.n  # noqa: E731
            check.exhaustive(batches.ahead(graphs), batches.as_algorithm_1, range=text, size=size, precision=PRECISION)

    exhaust(1, f"every graph on 1 vertex {orders}", every_input(1))
    exhaust(4, f"every graph on 2 to 4 vertices {orders}", itertools.chain.from_iterable(map(every_input, (2, 3, 4))))
    labelled = itertools.chain.from_iterable(map(every_labelled_graph, (5, 6)))
    exhaust(6, "every graph on 5 or 6 vertices, labelled (dense)", labelled)
    exhaust(7, "every tree on 7 vertices, labelled (dense)", every_labelled_tree(7))


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


def as_algorithm_1(layout: TokenLayout, large: LargeGraph) -> Counterexample | None:
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


def paper_at_scale(large: LargeGraph) -> Counterexample | None:
    """`as_algorithm_1` in the layout of the paper."""
    return as_algorithm_1(PAPER, large)


def eos_at_scale(large: LargeGraph) -> Counterexample | None:
    """`as_algorithm_1` in the layout of the released data."""
    return as_algorithm_1(EOS, large)


JUDGES = {PAPER.name: paper_at_scale, EOS.name: eos_at_scale}


@claims(
    "layout",
    [
        (Claim(f"4.7/scale-{layout.name}", istree.SOURCE, f"At any size. Token layout {layout.name}."), layout)
        for layout in LAYOUTS.values()
    ],
)
def test_at_scale(check: Check, layout: TokenLayout) -> None:
    for n in check.sizes(LEAST, ratio=10):
        shapes = st.sampled_from(sorted(SHAPES))
        check.sampled(
            st.builds(LargeGraph, shapes, st.just(n), st.integers(0, 2**32 - 1)),
            JUDGES[layout.name],
            range=f"{', '.join(SHAPES)} at n = {n:,} (indexed)" if n == LEAST else f"the same at n = {n:,} (indexed)",
            size=lambda large: large.n,
            precision=PRECISION,
            max_examples=30 if n <= 1000 else 8,
        )
