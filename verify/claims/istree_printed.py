"""Theorem 4.7, upper bound, as printed: each finding put back alone. Layer 7 has a file of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from constructions.engines import Decoding, find_engine
from constructions.istree import transformer as istree
from constructions.istree.blocks import EDGE_COUNT, LAYER_7, TIED_HEAD
from constructions.istree.graphs import PAPER, Edge, Graph, depth_first_tour, expected_answer, is_tree
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.threshold import FINDING as THRESHOLD
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.wiring.finding import Finding
from verify.claims.istree import STATEMENT, decode, spoken, wrong
from verify.claims.istree_layer7 import TREES, by_algorithm_1
from verify.claims.models import ISTREE
from verify.claims.readings_of_heads import EMBEDDED, TIED_HEAD_ID, count, indicator, threshold, tied_outputs
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Kind, Reading, claim, claims, judges
from verify.framework.predicates import Predicate
from verify.runs.costs import PRECISION
from verify.runs.istree_walks import ORDERS, build_model, every_graph, random_graphs

REPAIRED = "4.7/repaired"
model = partial(build_model, "transformer", PAPER.name, "repaired")


# The output head


@dataclass(frozen=True)
class LastVertex:
    """A vertex that the last layer is to say, of n."""

    n: int
    v: int


def between(vertex: LastVertex) -> Counterexample | None:
    """Refutes a vertex whose word lies halfway between two others: so does its logit then, whatever the output is."""
    n, v = vertex.n, vertex.v
    if not 1 < v < n:
        return None
    words = model(n, (TIED_HEAD.id,)).model.words  # numbers before special words
    below, row, above = words[v - 2 : v + 1].tolist()
    if any(low + high != 2 * middle for low, middle, high in zip(below, row, above, strict=True)):
        return None
    return Counterexample(word_of=v, halfway_between=(v - 1, v + 1))


EVERY_VERTEX = "For each vertex v, some output of the last layer makes v, and v alone, the likeliest vertex."


@judges(ISTREE.as_printed(TIED_HEAD, EVERY_VERTEX, Kind.FALSE, *tied_outputs(stem=REPAIRED, of_model=False)))
def test_tied_head(check: Check) -> None:
    sizes = small(check, range(1, 7))
    check.exhaustive(
        (LastVertex(n, v) for n in sizes for v in range(1, n + 1)),
        between,
        count=sum(sizes),
        range="each vertex of n, against every output",
    )


# How many edges there are

PROMISED_ID = "edge-count-promised"


def ends_at(graph: Graph) -> int:
    """Returns the position of the tour's last vertex after the prompt; 0 if the search meets a cycle, which means NO."""
    tour = list(depth_first_tour(graph))
    walked = sum(u in tour for u, _ in graph.edges)
    return 1 + 3 * len(graph.edges) + len(tour) if walked < len(set(tour)) else 0


@judges(
    ISTREE.as_printed(
        EDGE_COUNT,
        STATEMENT,
        Kind.OPEN,
        Reading("any prompt; a full chain of thought is recognised by ending at position 5n − 3", holds=False),
        Reading("inputs have n − 1 edges, as |Tokenize(G)| = 3n − 2 says", holds=True, shown=f"4.7/{PROMISED_ID}"),
        Reading(
            "a prompt of other than n − 1 edges means NO, which the print allows at any time; C.29 asks for n − 1 edges",
            holds=True,
            shown=REPAIRED,
        ),
    )
)
def test_edge_count(check: Check, engine: str) -> None:
    def by_position(graph: Graph) -> Counterexample | None:
        """Returns a search that ends where the print says YES is one of a tree."""
        yes = ends_at(graph) == 5 * graph.n - 3
        return None if yes == is_tree(graph) else Counterexample(ends_at=ends_at(graph), is_tree=is_tree(graph))

    def by_weights(graph: Graph) -> Counterexample | None:
        tokens = decode(check, graph, PAPER, (EDGE_COUNT.id,))
        yes = tokens[-1] == PAPER.token(PAPER.yes, graph.n)
        if yes == is_tree(graph):
            return None
        return Counterexample(
            is_tree=is_tree(graph),
            answered=spoken(tokens, graph.n, PAPER),
            ends_at=ends_at(graph),
            wanted=5 * graph.n - 3,
        )

    few = range(1, min(6, check.n_max) + 1)
    text = "every labelled graph: the search ends at position 5n − 3 for trees alone"
    every_graph(check, few, by_position, text, kind="labelled", precision="exact")
    if check.n_max >= 7:
        pairs = list(itertools.combinations(range(2, 8), 2))
        check.exhaustive(
            (Graph(7, edges) for edges in itertools.combinations(pairs, 10)),
            by_weights,
            count=math.comb(len(pairs), 10),
            range="every graph of vertex 1 alone and 10 edges between the 6 others, by the weights",
            size=7,
            precision=check.precision_text(PRECISION),
        )


@ISTREE.judges(
    PROMISED_ID,
    f"{STATEMENT} A full chain of thought is recognised by ending at position 5n − 3 alone, where the input has"
    " n − 1 edges.",
    source=EDGE_COUNT.source,
    finding=EDGE_COUNT.id,
)
def test_edge_count_promised(check: Check) -> None:
    batches, right = by_algorithm_1(check, EDGE_COUNT)
    few, precision = small(check, range(1, 5)), check.precision_text(PRECISION)
    text = f"every graph with n − 1 edges on 1 to 4 vertices {ORDERS} (dense)"
    every_graph(check, few, right, text, edges={n: (n - 1,) for n in few}, precision=precision, by=batches)
    if check.n_max >= 5:
        pairs = list(itertools.combinations(range(1, 6), 2))
        check.exhaustive(
            batches.compute_ahead(Graph(5, edges) for edges in itertools.combinations(pairs, 4)),
            right,
            count=math.comb(len(pairs), 4),
            range="every labelled graph with 4 edges on 5 vertices (dense)",
            size=5,
            precision=check.precision_text(PRECISION),
        )


# Single lines, and factors


SLIPS = {
    INDICATOR: indicator(REPAIRED),
    THRESHOLD: threshold((Reading("the slope 1/ε, as ours has it, is as exact", True, REPAIRED),)),
    COUNT: count(REPAIRED),
}


@claims("finding", SLIPS, lambda finding: ISTREE.as_printed(finding, STATEMENT, Kind.SLIP, *SLIPS[finding]))
def test_slip(check: Check, engine: str, finding: Finding) -> None:
    look_for_wrong_answers(check, finding, check.precision_text(PRECISION))


def by_decoding(check: Check, *printed: Finding) -> Predicate[Graph]:
    """Returns the judge of what the model with these findings put back to print decodes."""

    def right(graph: Graph) -> Counterexample | None:
        return wrong(graph, decode(check, graph, PAPER, tuple(finding.id for finding in printed)), PAPER)

    return right


def look_for_wrong_answers(check: Check, printed: Finding, precision: str) -> None:
    """Looks for a wrong answer among small inputs one by one, then among random ones."""
    right = by_decoding(check, printed)
    every_graph(check, (2, 3), right, f"every graph on 2 or 3 vertices {ORDERS}", precision=precision)
    random_graphs(check, small(check, range(4, 9)), right, examples=400, families=TREES, precision=precision)


def small(check: Check, sizes: Sequence[int]) -> list[int]:
    """Returns the sizes up to --n-max."""
    return [n for n in sizes if n <= check.n_max]


ROOMY = "p = the least odd number from 30·log2 n + 20 on"
ROOMY_ID = "score-range-roomy"
# Of the printed factors at this p. Below, some stars fail, though not in exact arithmetic: at so few tokens the runner-up of
# block 7's heads keeps a weight that the registers after it show.
HOLDS_FROM = 9
FAILING_STARS: Sequence[tuple[Edge, ...]] = (
    ((4, 3), (2, 3), (3, 6), (3, 1), (3, 5)),
    ((5, 3), (3, 6), (3, 7), (3, 2), (1, 3), (3, 4)),
    ((2, 3), (2, 4), (2, 5), (2, 6), (2, 7), (2, 1), (2, 8)),
)


def roomy_precision(n: int) -> int:
    """Returns p in which every printed score fits: n^9 of Lemma C.15 takes 18·log2 n, times squares of positions below n^2."""
    return math.ceil(30 * math.log2(n) + 20) | 1


@judges(
    ISTREE.as_printed(
        SCORE_RANGE,
        STATEMENT,
        Kind.OPEN,
        Reading(
            "numbers of R_p, which is fixed point, and p is the least odd number above 10·log2 n, the constant printed for"
            " MatchNext alone.",
            holds=False,
        ),
        Reading(
            "p-bit floating point, as the sentences call the numbers, at the same p, from n = 9 on as far as tried.",
            holds=True,
            shown="4.7/score-range-floating",
        ),
        Reading(
            "p = O(log n) with a larger constant: the printed factors do, from n = 9 on as far as tried.",
            holds=True,
            shown=f"4.7/{ROOMY_ID}",
        ),
    )
)
def test_score_range(check: Check, engine: str) -> None:
    right = by_decoding(check, SCORE_RANGE)
    if sizes := small(check, range(HOLDS_FROM, 17)):  # below, e^−n alone could be to blame
        precision = check.precision_text("p = the least odd number above 10·log2 n")
        random_graphs(check, sizes, right, examples=400, families=TREES, precision=precision)


@ISTREE.judges(
    ROOMY_ID, f"{STATEMENT} With the printed score factors, at {ROOMY}.", source=SCORE_RANGE.source, variant="printed"
)
def test_roomy(check: Check, engine: str) -> None:
    def right(graph: Graph) -> Counterexample | None:
        wired = istree.TRANSFORMER.build(graph.n, roomy_precision(graph.n), printed=(SCORE_RANGE.id,))
        expected, stop = expected_answer(graph, PAPER), {PAPER.token(word, graph.n) for word in (PAPER.yes, PAPER.no)}
        asked = Decoding(wired.model, wired.arithmetic, PAPER.prompt(graph), stop, 2 * graph.n + 3, expected)
        return wrong(graph, find_engine(engine)(asked).produced, PAPER)

    sizes = check.sizes(HOLDS_FROM, cap=16)
    stars = (Graph(len(edges) + 1, edges) for edges in FAILING_STARS)
    check.fails_below(HOLDS_FROM, stars, right, range="stars on 6 to 8 vertices", precision=ROOMY)
    random_graphs(check, sizes, right, examples=60, precision=ROOMY)


# All that nothing in print sets right


@ISTREE.judges(
    "printed",
    f"The printed weights of Theorem 4.7 decide IsTree, with the slips of C.3, C.5, C.14 and the edge count set right, and"
    f" bits enough. {EMBEDDED}",
    variant="printed",
    kind=Kind.FALSE,
    slip="tied-head",
    readings=tied_outputs(TIED_HEAD_ID, REPAIRED),
)
def test_istree_as_printed(check: Check, engine: str) -> None:
    """Judges the print with its output head and its layer 7; edges are written smaller end first."""

    right = by_decoding(check, TIED_HEAD, LAYER_7)
    # Of two vertices both are ends of the vocabulary, which some output writes.
    few, precision = range(3, min(4, check.n_max) + 1), check.precision_text(PRECISION)
    every_graph(check, few, right, "every labelled graph on 3 or 4 vertices", kind="labelled", precision=precision)


# The sentence before Lemma C.29


def told_search(graph: Graph) -> Iterator[int]:
    """Returns the vertices in the order in which the search pops them: pop S1, add to S2, push the neighbours not in S2."""
    neighbours: dict[int, list[int]] = {v: [] for v in range(1, graph.n + 1)}
    for u, v in graph.edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    stack, done = [1], set[int]()
    while stack:
        top = stack.pop()
        if top not in done:
            yield top
            done.add(top)
            stack += [v for v in neighbours[top] if v not in done]


@claim(
    "C.29/told",
    source="Lemma C.29, the sentence before it",
    statement="The search that pops the top of S1, puts it into S2 and pushes all its neighbours outside S2 yields 2n − 1 vertices"
    " of a tree, neighbours one after the other.",
    variant="printed",
    kind=Kind.SLIP,
    readings=(
        Reading("Each vertex is yielded when it is popped: n vertices.", holds=False),
        Reading(
            "The top stays until it has no neighbour outside both stacks, and one neighbour is pushed at a time.",
            holds=True,
            shown="C.29",
            stands="Algorithm 1, and the proof: “push one of the neighbors”; the main text says Euler tour",
        ),
    ),
)
def test_search_as_told(check: Check) -> None:
    def is_tour(graph: Graph) -> Counterexample | None:
        if not is_tree(graph):
            return None
        told, tour = list(told_search(graph)), list(depth_first_tour(graph))
        return None if len(told) == 2 * graph.n - 1 else Counterexample(yields=told, euler_tour=tour)

    few = range(1, min(3, check.n_max) + 1)
    every_graph(check, few, is_tour, "every labelled graph", kind="labelled")
