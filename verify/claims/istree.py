"""Theorem 4.7, upper bound: the Transformer that decides IsTree, and Lemma C.29."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from constructions.engines import find_engine
from constructions.istree import transformer as istree
from constructions.istree.graphs import (
    LAYOUTS,
    PAPER,
    Graph,
    Layout,
    TokenLayout,
    depth_first_tour,
    expected_answer,
    is_tree,
)
from constructions.layers import block_arrays
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.dossiers.dossier import LEAST
from verify.dossiers.registry import find_subject
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claim, claims
from verify.inputs.strategies import FAMILIES, every_input, every_labelled_graph, graphs
from verify.oracles.counts import labelled_graphs, ordered_graphs
from verify.runs.bits import ALL_NUMBERS, BIT_LENGTHS, EVERY_N, numbers_of, span_of
from verify.runs.istree_walks import LADDER, ORDERS, PRECISION, first_above_bounds, random_graphs

AFFORDABLE = {"reference": 64, "dense": 256}  # the largest n that an engine decodes in seconds
STATEMENT = (
    "A Transformer of 9 blocks decides by a chain of thought of at most 2n − 1 vertices whether a graph is a tree."
)


@cache
def model(n: int, layout: Layout, printed: tuple[str, ...], discipline: Discipline, p_bits: int | None) -> Wired:
    """The wired model, built once for each size."""
    return istree.build(n, p_bits, layout=layout, printed=printed, discipline=discipline)


def decode(
    check: Check,
    graph: Graph,
    layout: TokenLayout,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
) -> list[int]:
    """What the model says to the graph, token by token, until YES or NO or two tokens more than any right answer has."""
    n = graph.n
    wired = model(n, layout.name, printed, discipline, check.p_bits)
    stop = {layout.token(layout.yes, n), layout.token(layout.no, n)}
    run = find_engine(check.engine)
    guess = (
        () if printed else expected_answer(graph, layout)
    )  # spares the engines that run whole sequences most of the work
    return run(wired.model, wired.arithmetic, layout.prompt(graph), stop, 2 * n + 3, guess=guess).produced


def spoken(tokens: Sequence[int], n: int, layout: TokenLayout) -> str:
    """The input as text for people."""
    words = layout.vocabulary(n)
    return " ".join(words[token] for token in tokens)


def wrong(graph: Graph, tokens: Sequence[int], layout: TokenLayout) -> Counterexample | None:
    """A wrong verdict, a chain of thought that is no prefix of Algorithm 1's tour, or YES after less than all of it.

    Theorem 4.7 allows an early NO, so that is not wrong, wherever it comes.
    """
    n = graph.n
    tour = list(depth_first_tour(graph))
    chain = [token + 1 for token in tokens if token < n]
    verdict = is_tree(graph)
    right = layout.answer(tour if verdict else chain, verdict, n)
    if list(tokens) == right and chain == tour[: len(chain)]:
        return None
    return Counterexample(is_tree=verdict, tour=" ".join(map(str, tour)), answered=spoken(tokens, n, layout))


@dataclass(frozen=True)
class Setup:
    """One way to run the repaired model."""

    layout: TokenLayout
    discipline: Discipline

    @property
    def aspect(self) -> str:
        """The claim's variant."""
        marks = [self.layout.name] if self.layout is not PAPER else []
        marks += [self.discipline.value] if self.discipline is not Discipline.FUSED else []
        return "-".join(["repaired", *marks])

    @property
    def statement(self) -> str:
        """The claim's statement."""
        return f"{STATEMENT} Token layout {self.layout.name}, rounding {self.discipline.value}."


SETUPS = [Setup(layout, discipline) for discipline in Discipline for layout in LAYOUTS.values()]


@claims("setup", SETUPS, lambda setup: Claim.about("4.7", "istree", setup.aspect, istree.SOURCE, setup.statement))
def test_istree(check: Check, engine: str, setup: Setup) -> None:
    layout, discipline = setup.layout, setup.discipline
    fused = discipline is Discipline.FUSED

    def as_algorithm_1(graph: Graph) -> Counterexample | None:
        tokens = decode(check, graph, layout, discipline=discipline)
        expected = expected_answer(graph, layout)
        if tokens != expected:
            return Counterexample(expected=spoken(expected, graph.n, layout), answered=spoken(tokens, graph.n, layout))
        return wrong(graph, tokens, layout)

    top = AFFORDABLE.get(engine, check.n_max) // (1 if fused else 4)
    sizes = check.sizes(cap=max(top, 1))
    sizes = check.certified_sizes(sizes, lambda n: istree.least_precision(n, discipline))
    precision = check.precision_text(PRECISION)
    biggest = sizes[-1]

    def exhaust(inputs: Iterable[Graph], n: int, text: str, count: int) -> None:
        if n <= biggest:
            size = lambda graph: graph.n  # noqa: E731
            check.exhaustive(inputs, as_algorithm_1, count=count, range=text, size=size, precision=precision)

    few = (1, 2, 3)
    exhaust(
        itertools.chain.from_iterable(map(every_input, few)), 3, f"every graph {ORDERS}", sum(map(ordered_graphs, few))
    )
    wide = fused and engine != "reference"  # the reference takes minutes; the dense engine covers more in 4.7/small
    if wide:
        text = f"every graph with 3 edges on 4 vertices {ORDERS}"
        exhaust(every_input(4, [3]), 4, text, ordered_graphs(4, [3]))
    largest = 5 if wide else 4
    orders = range(1, largest + 1)
    labelled = itertools.chain.from_iterable(map(every_labelled_graph, orders))
    exhaust(labelled, largest, "every labelled graph", labelled_graphs(orders))
    small = [n for n in sizes if n <= 16]
    large = [n for n in sizes if n > 16]  # a few: what 4.7/scale-… runs by certificates
    for some, examples in ((small, 60 if fused else 25), (large, 6)):
        if some:
            random_graphs(check, some, as_algorithm_1, examples=examples)


# Sizes


@dataclass(frozen=True)
class Size:
    """One model to measure."""

    n: int
    layout: Layout


@claim(
    theorem="4.7",
    task="istree",
    aspect="size",
    source=istree.SOURCE,
    statement="The Transformer has constant size: 9 blocks, at most 2 heads each, and no matrix but the vocabulary grows with n.",
)
def test_constant_size(check: Check) -> None:
    def shapes(size: Size) -> list[list[tuple[int, ...]]]:
        blocks = model(size.n, size.layout, (), Discipline.FUSED, None).model.blocks
        return [[array.shape for array in block_arrays(block)] for block in blocks]

    def as_small(size: Size) -> Counterexample | None:
        built = model(size.n, size.layout, (), Discipline.FUSED, None)
        heads = max(len(block.heads) for block in built.model.blocks)
        if len(built.model.blocks) != 9 or heads > 2:
            return Counterexample(blocks=len(built.model.blocks), heads=heads)
        if built.model.words.shape != (size.n + len(LAYOUTS[size.layout].specials), built.model.width):
            return Counterexample(words=built.model.words.shape)
        smallest = shapes(Size(LADDER[0], size.layout))
        return None if shapes(size) == smallest else Counterexample(expected=smallest, got=shapes(size))

    cases = [Size(n, layout.name) for layout in LAYOUTS.values() for n in LADDER]
    check.chosen(
        cases,
        as_small,
        range="matrices of both layouts at n = 10, 100, 1000",
        size=lambda size: size.n,
        precision=PRECISION,
    )


@claim(
    theorem="4.7",
    task="istree",
    aspect="precision",
    source=istree.SOURCE,
    statement="O(log n) bits suffice: least_precision(n) ≤ 8·log2 n + 2·log2(1 + log2 n) + 29; for sequential 4·log2 n + 8 more.",
)
def test_logarithmic_precision(check: Check) -> None:
    bounds = {Discipline.FUSED: (8, 29), Discipline.SEQUENTIAL: (12, 37)}

    def within(bits: int) -> Counterexample | None:
        return first_above_bounds(istree.least_precision, bounds, bits)

    check.exhaustive(BIT_LENGTHS, within, count=ALL_NUMBERS, inputs=numbers_of, range=EVERY_N, span=span_of)
    if check.p_bits is None:
        text = "so many bits suffice: every simple graph, any chain of thought"
        check.certified([find_subject("istree", LEAST)], range=f"{text}; n = {LEAST}", precision=PRECISION)


@claim(
    "C.29",
    source="Lemma C.29",
    statement="A graph is a tree if and only if it has n − 1 edges and Algorithm 1 yields 2n − 1 vertices.",
)
def test_tour_decides(check: Check) -> None:
    def equivalent(graph: Graph) -> Counterexample | None:
        length = len(list(depth_first_tour(graph)))
        by_tour = len(graph.edges) == graph.n - 1 and length == 2 * graph.n - 1
        return None if by_tour == is_tree(graph) else Counterexample(is_tree=is_tree(graph), tour_length=length)

    check.exhaustive(
        itertools.chain.from_iterable(map(every_labelled_graph, range(1, min(6, check.n_max) + 1))),
        equivalent,
        count=labelled_graphs(range(1, min(6, check.n_max) + 1)),
        range="every labelled graph",
        size=lambda graph: graph.n,
    )
    check.sampled(
        graphs(check.sizes(cap=256)),
        equivalent,
        range=", ".join(FAMILIES),
        size=lambda graph: graph.n,
        max_examples=200,
    )
