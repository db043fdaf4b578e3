"""Theorem 4.7, upper bound, by the lean variant: five blocks and about half of the bits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache

from constructions.istree import lean
from constructions.istree.graphs import LAYOUTS, PAPER, Graph, Layout, TokenLayout, expected_answer
from constructions.layers import block_arrays
from constructions.wiring.wired import Wired
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claim, claims
from verify.inputs.hard_graphs import FAMILIES, LEAST
from verify.inputs.strategies import every_input, every_labelled_graph
from verify.oracles.counts import labelled_graphs, ordered_graphs
from verify.runs.istree_walks import (
    LADDER,
    ORDERS,
    PRECISION,
    Large,
    every_hard_graph,
    first_others,
    large_graphs,
    shapes_at,
)

ONE_BY_ONE = 1000  # n whose p is looked at one after the other
STATEMENT = "Five blocks decide by the same chain of thought whether a graph is a tree"


@cache
def model(n: int, layout: Layout) -> Wired:
    """The lean model."""
    return lean.build(n, layout=layout)


@claims(
    "layout",
    LAYOUTS.values(),
    lambda layout: Claim.about(
        "4.7", "istree", f"lean-small-{layout.name}", lean.SOURCE, f"{STATEMENT}; layout {layout.name}.", variant="lean"
    ),
)
def test_every_small_graph(check: Check, layout: TokenLayout) -> None:
    batches = first_others(model, layout, check.device, 4096)

    def as_algorithm_1(graph: Graph) -> Counterexample | None:
        first = batches.found(graph)
        return None if first is None else Counterexample(first_other_token=first)

    def exhaust(top: int, text: str, graphs: Iterator[Graph], count: int) -> None:
        if top <= check.n_max:
            size = lambda graph: graph.n  # noqa: E731
            ahead = batches.ahead(graphs)
            check.exhaustive(ahead, as_algorithm_1, count=count, range=text, size=size, precision=PRECISION)

    few = (1, 2, 3)
    inputs = itertools.chain.from_iterable(map(every_input, few))
    exhaust(3, f"every graph on 1 to 3 vertices {ORDERS} (dense)", inputs, sum(map(ordered_graphs, few)))
    some = (0, 1, 2, 3, 4)
    text = f"every graph on 4 vertices with up to 4 edges {ORDERS} (dense)"
    exhaust(4, text, every_input(4, some), ordered_graphs(4, some))
    exhaust(5, "every graph on 5 vertices, labelled (dense)", every_labelled_graph(5), labelled_graphs([5]))


def at_scale(large: Large) -> Counterexample | None:
    """Whether the indexed engine gives Algorithm 1's answer, every softmax column certified."""
    from constructions.engines import indexed

    graph = large.graph()
    wired = model(graph.n, PAPER.name)
    answer = expected_answer(graph, PAPER)
    first, run = indexed.first_mismatch(wired.model, wired.arithmetic, PAPER.prompt(graph), answer)
    if first is None and not run.columns.dense:
        return None
    return Counterexample(first_other_token=first, columns_dense=run.columns.dense)


@claim(
    theorem="4.7",
    task="istree",
    aspect="lean-scale",
    source=lean.SOURCE,
    statement=f"{STATEMENT}, at large sizes.",
    variant="lean",
)
def test_at_scale(check: Check) -> None:
    for n in check.sizes(LEAST, ratio=50):
        large_graphs(check, n, at_scale, examples=6 if n <= 1000 else 1, text=shapes_at(n, LEAST))
        every_hard_graph(check, n, at_scale, families=list(FAMILIES), first=n == LEAST)


@claim(
    theorem="4.7",
    task="istree",
    aspect="lean-size",
    source=lean.SOURCE,
    statement="The lean Transformer has 5 blocks, at most 5 heads each, and no matrix but the vocabulary grows with n.",
    variant="lean",
)
def test_constant_size(check: Check) -> None:
    def as_small(n: int) -> Counterexample | None:
        found, least = (lean.build(m).model for m in (n, LADDER[0]))
        heads = max(len(block.heads) for block in found.blocks)
        if len(found.blocks) != 5 or heads > 5:
            return Counterexample(blocks=len(found.blocks), heads=heads)
        shapes = [[[a.shape for a in block_arrays(block)] for block in m.blocks] for m in (found, least)]
        return None if shapes[0] == shapes[1] else Counterexample(expected=shapes[1], got=shapes[0])

    check.chosen(LADDER, as_small, range="matrices at n = 10, 100, 1000", size=lambda n: n, precision=PRECISION)


@claim(
    theorem="4.7",
    task="istree",
    aspect="lean-precision",
    source=lean.SOURCE,
    statement="The p that the lean weights are derived for is at most 3·log2 n + 2·log2(1 + log2 n) + 11 and 4·log2 n + 11 in the "
    "paper's layout, 4·log2 n + 2·log2(1 + log2 n) + 13 where prompts have any length.",
    variant="lean",
)
def test_precision(check: Check) -> None:
    def within(n: int) -> Counterexample | None:
        bits, paper, eos = math.log2(n), lean.least_precision(n), lean.least_precision(n, layout="eos")
        more = 2 * math.log2(1 + bits) + 1e-9
        if paper <= min(3 * bits + more, 4 * bits) + 11 and eos <= 4 * bits + more + 13:
            return None
        return Counterexample(paper=paper, eos=eos)

    few = range(1, min(ONE_BY_ONE, check.n_max) + 1)
    check.exhaustive(few, within, count=len(few), range="each n, one by one", size=lambda n: n)
    cases = sorted({*(2**e + d for e in range(10, 65) for d in (-1, 0, 1)), *(10**k for k in range(4, 20))})
    check.chosen(cases, within, range="n = 2^e, 2^e ± 1 and 10^e, up to 2^64", size=lambda n: n)
