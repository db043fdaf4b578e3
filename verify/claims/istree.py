"""Theorem 4.7, upper bound: the Transformer that decides IsTree, and Lemma C.29."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from constructions.engines import Decoding, find_engine
from constructions.istree import transformer as istree
from constructions.istree.graphs import LAYOUTS, PAPER, Graph, TokenLayout, depth_first_tour, expected_answer, is_tree
from precision.format import Discipline
from verify.claims.models import ISTREE
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim, claims
from verify.inputs.strategies import FAMILIES, graphs
from verify.runs.costs import PRECISION
from verify.runs.istree_walks import ORDERS, build_model, every_graph, random_graphs

AFFORDABLE = {"reference": 64, "dense": 256, "native": 256}  # the largest n that an engine decodes in seconds
STATEMENT = (
    "A Transformer of 9 blocks decides by a chain of thought of at most 2n − 1 vertices whether a graph is a tree."
)


def decode(
    check: Check,
    graph: Graph,
    layout: TokenLayout,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
) -> list[int]:
    """Returns what the model says to the graph, token by token, until YES or NO or two tokens more than any right answer has."""
    n = graph.n
    wired = build_model("transformer", layout.name, "repaired", n, printed, discipline, check.p_bits)
    stop = {layout.token(layout.yes, n), layout.token(layout.no, n)}
    # A guess spares the engines that run whole sequences most of the work.
    guess = () if printed else expected_answer(graph, layout)
    asked = Decoding(wired.model, wired.arithmetic, layout.prompt(graph), stop, 2 * n + 3, guess)
    return find_engine(check.engine)(asked).produced


def spoken(tokens: Sequence[int], n: int, layout: TokenLayout) -> str:
    """Returns the input as text for people."""
    words = layout.vocabulary(n)
    return " ".join(words[token] for token in tokens)


def wrong(graph: Graph, tokens: Sequence[int], layout: TokenLayout) -> Counterexample | None:
    """Returns a wrong verdict, a chain of thought that is no prefix of Algorithm 1's tour, or YES after less than all of it.

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
class IsTreeSetup:
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


SETUPS = [IsTreeSetup(layout, discipline) for discipline in Discipline for layout in LAYOUTS.values()]


@claims("setup", SETUPS, lambda setup: ISTREE.claim(setup.aspect, setup.statement))
def test_istree(check: Check, engine: str, setup: IsTreeSetup) -> None:
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
    sizes = check.certified_sizes(sizes, lambda n: istree.TRANSFORMER.least_precision(n, discipline))
    biggest = sizes[-1]

    every = partial(every_graph, check, right=as_algorithm_1, precision=check.precision_text(PRECISION))
    if biggest >= 3:
        every(sizes=(1, 2, 3), text=f"every graph {ORDERS}")
    wide = fused and engine != "reference"  # the reference takes minutes; the dense engine covers more in 4.7/small
    if wide and biggest >= 4:
        every(sizes=(4,), text=f"every graph with 3 edges on 4 vertices {ORDERS}", edges={4: (3,)})
    largest = 5 if wide else 4
    if biggest >= largest:
        every(sizes=range(1, largest + 1), text="every labelled graph", kind="labelled")
    small = [n for n in sizes if n <= 16]
    large = [n for n in sizes if n > 16]  # a few: what 4.7/scale-… runs by certificates
    for some, examples in ((small, 60 if fused else 25), (large, 6)):
        if some:
            random_graphs(check, some, as_algorithm_1, examples=examples)


@claim("C.29", statement="A graph is a tree if and only if it has n − 1 edges and Algorithm 1 yields 2n − 1 vertices.")
def test_tour_decides(check: Check) -> None:
    def equivalent(graph: Graph) -> Counterexample | None:
        length = len(list(depth_first_tour(graph)))
        by_tour = len(graph.edges) == graph.n - 1 and length == 2 * graph.n - 1
        return None if by_tour == is_tree(graph) else Counterexample(is_tree=is_tree(graph), tour_length=length)

    few = range(1, min(6, check.n_max) + 1)
    every_graph(check, few, equivalent, "every labelled graph", kind="labelled")
    check.sampled(graphs(check.sizes(cap=256)), equivalent, range=", ".join(FAMILIES), max_examples=200)
