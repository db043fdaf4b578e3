"""Theorems 4.7, 5.3 and 5.7: every small graph, random ones and the size of each model of IsTree. A row of `MODELS` is a model.

Where the reference engine cannot go, what is due is fed after the prompt. If the argmax at each position is the next token,
induction over positions shows that greedy decoding gives exactly this answer; nothing is decoded that is not checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from constructions.engines.known import first_mismatch
from constructions.istree import hybrid, lean, rag, transformer
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, Graph, Layout, TokenLayout, expected_answer
from constructions.measures import HYBRID_RNN, LINEAR_RNN, TRANSFORMER
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.claims import istree_hybrid, istree_rag
from verify.claims.models import ISTREE, ISTREE_HYBRID, ISTREE_LEAN, ISTREE_RAG, Told
from verify.dossiers.dossier import LEAST as LEAST_CERTIFIED
from verify.dossiers.registry import find_subject
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.hard_graphs import FAMILIES, LEAST
from verify.runs.costs import LADDER, PRECISION, Cost, exactly, require_logarithmic
from verify.runs.istree_walks import (
    ORDERS,
    Kind,
    Large,
    build_model,
    every_graph,
    every_hard_graph,
    first_others,
    large_graphs,
    random_graphs,
    shapes_at,
)

Judged = Batches[Graph, Counterexample | None]


@dataclass(frozen=True)
class SmallGraphs:
    """Graphs of which each is tried, with n from `sizes`. edges: at some n, only so many."""

    text: str
    sizes: Sequence[int]
    kind: Kind = "ordered"
    edges: Mapping[int, Sequence[int]] | None = None


@dataclass(frozen=True)
class LayoutModel:
    """A model in one layout of tokens, and which small graphs are tried. says: what its claims begin with.

    ahead: judges many graphs of one size at once, on a device.
    """

    told: Told
    says: str
    ahead: Callable[[LayoutModel, str], Judged]
    small: Sequence[SmallGraphs]
    layout: TokenLayout = PAPER

    def build(self, n: int) -> Wired:
        """Returns the wired model, built once for each size."""
        return build_model(self.told.model, self.layout.name, self.told.variant, n)

    def claim(self, aspect: str, statement: str) -> Claim:
        """Returns a claim about its runs; the Transformers' name the layout."""
        if self.told.model != "transformer":
            return self.told.claim(aspect, f"{self.says} {statement}")
        said = f"{self.says}; layout" if self.told is ISTREE_LEAN else f"{statement} Token layout"
        return self.told.claim(f"{aspect}-{self.layout.name}", f"{said} {self.layout.name}.")


def as_algorithm_1(model: LayoutModel, device: str) -> Judged:
    """Returns where the dense engine says another token than Algorithm 1."""

    def other(graph: Graph, first: int | None) -> Counterexample | None:
        if first is None:
            return None
        expected = " ".join(model.build(graph.n).vocabulary[token] for token in expected_answer(graph, model.layout))
        return Counterexample(expected=expected, first_other_token=first)

    return first_others(model.told.model, model.layout, model.build, device, 4096, other)


REPAIRED = LayoutModel(
    ISTREE,
    "",
    as_algorithm_1,
    (
        SmallGraphs(f"every graph on 1 vertex {ORDERS} (dense)", (1,)),
        SmallGraphs(f"every graph on 2 to 4 vertices {ORDERS} (dense)", (2, 3, 4)),
        SmallGraphs("every graph on 5 or 6 vertices, labelled (dense)", (5, 6), "labelled"),
        SmallGraphs("every tree on 7 vertices, labelled (dense)", (7,), "trees"),
    ),
)
LEAN = LayoutModel(
    ISTREE_LEAN,
    "Five blocks decide by the same chain of thought whether a graph is a tree",
    as_algorithm_1,
    (
        SmallGraphs(f"every graph on 1 to 3 vertices {ORDERS} (dense)", (1, 2, 3)),
        SmallGraphs(f"every graph on 4 vertices with up to 4 edges {ORDERS} (dense)", (4,), edges={4: range(5)}),
        SmallGraphs("every graph on 5 vertices, labelled (dense)", (5,), "labelled"),
    ),
)
TRANSFORMERS = (REPAIRED, replace(REPAIRED, layout=EOS), LEAN, replace(LEAN, layout=EOS))
RAG = LayoutModel(
    ISTREE_RAG,
    rag.STATEMENT,
    lambda model, device: istree_rag.verdicts(device),
    (
        SmallGraphs("the graph on 1 vertex (dense)", (1,)),
        SmallGraphs(f"every graph on 2 or 3 vertices {ORDERS} (dense)", (2, 3)),
        SmallGraphs(f"every graph on 4 vertices with up to 3 edges {ORDERS} (dense)", (4,), edges={4: range(4)}),
        SmallGraphs("every labelled graph on up to 5 vertices (dense)", range(1, 6), "labelled"),
    ),
)
HYBRID = LayoutModel(
    ISTREE_HYBRID,
    hybrid.STATEMENT,
    lambda model, device: istree_hybrid.verdicts(device),
    (
        SmallGraphs(f"every graph on 1 vertex {ORDERS} (dense)", (1,)),
        SmallGraphs(
            f"every graph on 2 or 3 vertices, and with 3 edges on 4, {ORDERS} (dense)", (2, 3, 4), edges={4: (3,)}
        ),
        SmallGraphs("every graph on 4 or 5 vertices, labelled (dense)", (4, 5), "labelled"),
    ),
)


@claims("model", (*TRANSFORMERS, RAG, HYBRID), lambda model: model.claim("small", "On every small graph."))
def test_every_small_graph(check: Check, model: LayoutModel) -> None:
    batches = model.ahead(model, check.device)

    def right(graph: Graph) -> Counterexample | None:
        return batches.outcome(graph)

    for some in model.small:
        if some.sizes[-1] <= check.n_max:
            every_graph(
                check, some.sizes, right, some.text, kind=some.kind, edges=some.edges, precision=PRECISION, by=batches
            )


# Large graphs


def scale_of(model: LayoutModel) -> Claim:
    """Returns the claim about large graphs; the lean variant is tried in the paper's layout alone."""
    if model.told is ISTREE:
        return model.claim("scale", "At large sizes.")
    return model.told.claim("scale", f"{model.says}, at large sizes.")


@claims("model", TRANSFORMERS[:3], scale_of)
def test_at_scale(check: Check, model: LayoutModel) -> None:
    layout, is_lean = model.layout, model.told is ISTREE_LEAN

    def by_auto(large: Large) -> Counterexample | None:
        """Returns where the model gives another answer than Algorithm 1."""
        graph = large.graph()
        wired, answer = model.build(graph.n), expected_answer(graph, layout)
        first, _ = first_mismatch(wired.model, wired.arithmetic, layout.prompt(graph), answer)
        return (
            None if first is None else Counterexample(expected=wired.vocabulary[answer[first]], first_other_token=first)
        )

    for n in check.sizes(LEAST, ratio=50):
        if is_lean:
            large_graphs(check, n, by_auto, examples=6 if n <= 1000 else 1, text=shapes_at(n, LEAST))
        every_hard_graph(check, n, by_auto, families=list(FAMILIES), first=n == LEAST)
        if not is_lean and n <= 1000:
            large_graphs(check, n, by_auto, examples=20, text=shapes_at(n, LEAST))


# Random graphs, up to --n-max


@dataclass(frozen=True)
class Random:
    """How a recurrent model is tried on random graphs.

    judged: what it says, by an engine. affordable: by engine, the largest n; under sequential one divided by `divisor`.
    examples: how many graphs, fused and sequential.
    """

    model: LayoutModel
    judged: Callable[[Wired, Graph, str], Counterexample | None]
    least_precision: Callable[[int, Discipline], int]
    affordable: Mapping[str, int]
    examples: tuple[int, int]
    divisor: int
    discipline: Discipline = Discipline.FUSED

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        aspect = "" if self.discipline is Discipline.FUSED else self.discipline.value
        return self.model.claim(aspect, f"Rounding {self.discipline.value}.")


OF_RAG = {"reference": 8, "dense": 64, "native": 64, "incremental": 64}  # what an engine walks in seconds
OF_HYBRID = {"reference": 8, "dense": 32, "native": 64, "incremental": 64}
RANDOM = (
    Random(RAG, istree_rag.judged_run, rag.RAG.least_precision, OF_RAG, (20, 8), 1),
    Random(HYBRID, istree_hybrid.judged_run, hybrid.HYBRID.least_precision, OF_HYBRID, (15, 10), 4),
)


@claims("case", [replace(one, discipline=d) for one in RANDOM for d in Discipline], lambda case: case.claim)
def test_random_graphs(check: Check, engine: str, case: Random) -> None:
    model, discipline, fused = case.model, case.discipline, case.discipline is Discipline.FUSED
    sizes = check.sizes(cap=case.affordable.get(engine, check.n_max) // (1 if fused else case.divisor))
    sizes = check.certified_sizes(sizes, lambda n: case.least_precision(n, discipline))

    def right(graph: Graph) -> Counterexample | None:
        wired = build_model(model.told.model, PAPER.name, "repaired", graph.n, (), discipline, check.p_bits)
        return case.judged(wired, graph, engine)

    random_graphs(check, sizes, right, examples=case.examples[not fused])


# Size, and bits


@dataclass(frozen=True)
class ModelCost:
    """How large a model is."""

    told: Told
    statement: str
    cost: Cost
    layouts: Sequence[Layout] = (PAPER.name,)
    text: str = "matrices"


@dataclass(frozen=True)
class MeasuredModel:
    """One model to measure."""

    n: int
    layout: Layout


OF_LAYOUTS: Sequence[Layout] = tuple(layout.name for layout in LAYOUTS.values())
SIZES = (
    ModelCost(
        ISTREE,
        "The Transformer has constant size: 9 blocks, at most 2 heads each, and no matrix but the vocabulary grows with n.",
        Cost(TRANSFORMER, lambda heads: len(heads) == 9 and max(heads) <= 2, exactly(0)),
        OF_LAYOUTS,
        "matrices of both layouts",
    ),
    ModelCost(
        ISTREE_LEAN,
        "The lean Transformer has 5 blocks, at most 5 heads each, and no matrix but the vocabulary grows with n.",
        Cost(TRANSFORMER, lambda heads: len(heads) == 5 and max(heads) <= 5, exactly(0)),
    ),
    ModelCost(
        ISTREE_RAG,
        "A Linear RNN of constant size: 2 blocks, a state of 90 numbers, no matrix but the vocabulary grows.",
        Cost(LINEAR_RNN, lambda heads: len(heads) == 2, exactly(90)),
    ),
    ModelCost(
        ISTREE_HYBRID,
        "The hybrid RNN has constant size: a Linear RNN block with 32 numbers of state, a Transformer block"
        " with 3 heads, and no matrix but the vocabulary grows with n.",
        Cost(HYBRID_RNN, lambda heads: list(heads) == [0, 3], exactly(32)),
    ),
)


@claims("size", SIZES, lambda size: size.told.claim("size", size.statement))
def test_constant_size(check: Check, size: ModelCost) -> None:
    def as_small(case: MeasuredModel) -> Counterexample | None:
        large, small = (build_model(size.told.model, case.layout, size.told.variant, n) for n in (case.n, LADDER[0]))
        more = len(large.vocabulary) - len(small.vocabulary)
        if size.told is not ISTREE_HYBRID and more != case.n - LADDER[0]:  # the hybrid has words for positions
            return Counterexample(words=more)
        return size.cost.excess(large, small)

    check.chosen(
        [MeasuredModel(n, layout) for layout in size.layouts for n in LADDER],
        as_small,
        range=f"{size.text} at n = 10, 100, 1000",
        precision=PRECISION,
    )


BITS = (
    "O(log n) bits suffice: least_precision(n) ≤ 8·log2 n + 2·log2(1 + log2 n) + 29; for sequential 4·log2 n + 8 more."
)


@claims("told", (ISTREE, ISTREE_HYBRID), lambda told: told.claim("precision", BITS))
def test_logarithmic_precision(check: Check, told: Told) -> None:
    least = transformer.TRANSFORMER.least_precision if told is ISTREE else hybrid.HYBRID.least_precision
    fused = lambda n: least(n, Discipline.FUSED), lambda log2: 8 * log2 + 2 * math.log2(1 + log2) + 29
    sequential = lambda n: least(n, Discipline.SEQUENTIAL), lambda log2: 12 * log2 + 2 * math.log2(1 + log2) + 37
    require_logarithmic(check, [fused, sequential])
    if told is ISTREE and check.p_bits is None:
        text = "so many bits suffice: every simple graph, any chain of thought"
        check.certified(
            [find_subject("istree", LEAST_CERTIFIED)], range=f"{text}; n = {LEAST_CERTIFIED}", precision=PRECISION
        )


@ISTREE_LEAN.judges(
    "precision",
    "The p that the lean weights are derived for is at most 3·log2 n + 2·log2(1 + log2 n) + 11 and 4·log2 n + 11 in the "
    "paper's layout, 4·log2 n + 2·log2(1 + log2 n) + 13 where prompts have any length.",
)
def test_lean_precision(check: Check) -> None:
    def within(n: int) -> Counterexample | None:
        bits, paper, eos = math.log2(n), lean.LEAN.least_precision(n), lean.Lean(EOS).least_precision(n)
        more = 2 * math.log2(1 + bits) + 1e-9
        if paper <= min(3 * bits + more, 4 * bits) + 11 and eos <= 4 * bits + more + 13:
            return None
        return Counterexample(paper=paper, eos=eos)

    few = range(1, min(1000, check.n_max) + 1)
    check.exhaustive(few, within, count=len(few), range="each n, one by one")
    cases = sorted({*(2**e + d for e in range(10, 65) for d in (-1, 0, 1)), *(10**k for k in range(4, 20))})
    check.chosen(cases, within, range="n = 2^e, 2^e ± 1 and 10^e, up to 2^64")
