"""Theorem 5.7: the hybrid RNN that decides IsTree by O(n log n) tokens of chain of thought."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from constructions.engines import find_engine
from constructions.istree import hybrid
from constructions.istree.graphs import PAPER, Graph, depth_first_tour, is_tree
from constructions.istree.models import MODELS
from constructions.models.building import wired_of
from constructions.parts.heads.match import pair
from constructions.parts.heads.match_close import match_close
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify.claims.models import ISTREE_HYBRID
from verify.dossiers.istree.frames import Frames
from verify.dossiers.istree.lemmas.frames import N, theory
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claims
from verify.inputs.hard_graphs import FAMILIES as HARD_FAMILIES
from verify.inputs.large_graphs import LEAST, SHAPES, LargeGraph
from verify.runs.costs import PRECISION
from verify.runs.istree_walks import (
    ORDERS,
    Large,
    build_model,
    every_graph,
    every_hard_graph,
    first_others,
    large_graphs,
    random_graphs,
    shapes_at,
)

AFFORDABLE = {"reference": 8, "dense": 32, "native": 64, "incremental": 64}  # the largest n, for an engine's sake
AT_SCALE = 10_000  # up to 1.2 million tokens in one pass, half a minute, and 1.7 GB
MODERATE = ((10, 20), (64,))  # the n of random graphs that are small enough to be shrunk
LONGEST_WALKS = ("star seen from a leaf", "path in two passes")  # the largest counts, and the most tokens
CHUNK = 1024  # graphs to a batch of the dense engine
ONE_KEY = 64  # vertices
WALKER = MODELS["hybrid"]
model = partial(build_model, "hybrid", PAPER.name, "repaired")


def walk(wired: Wired, graph: Graph, engine: str) -> list[str]:
    """Returns what follows the prompt."""
    return WALKER.request(wired, graph).run(find_engine(engine)).produced[:]


def tour(words: Sequence[str]) -> list[str]:
    """Returns the vertices where the search is, one after the other: the first token, and where each frame goes down or up."""
    moves = (words[i + 2 : i + 3] for i, word in enumerate(words) if word in (hybrid.DOWN, hybrid.UP))
    return [*words[:1], *itertools.chain.from_iterable(moves)]


def judged(graph: Graph, words: Sequence[str]) -> Counterexample | None:
    """Returns every token, the verdict, Algorithm 1's tour for a tree, and how many tokens there were at most."""
    expected, tree = hybrid.HYBRID.expected(graph), is_tree(graph)
    if list(words) != expected:
        pairs = enumerate(itertools.zip_longest(words, expected))
        first = next(i for i, (got, wanted) in pairs if got != wanted)
        shown = slice(first, first + 10)
        return Counterexample(
            first_other_token=first, expected=" ".join(expected[shown]), answered=" ".join(words[shown])
        )
    if words[-1] != (PAPER.yes if tree else PAPER.no):
        return Counterexample(is_tree=tree, answered=words[-1])
    if tree and tour(words) != (right := [str(v) for v in depth_first_tour(graph)]):
        return Counterexample(tour=" ".join(right), walked=" ".join(tour(words)))
    if len(words) > (most := hybrid.HYBRID.limit(graph.n)):
        return Counterexample(tokens=len(words), bound=most)
    return None


def judged_run(wired: Wired, graph: Graph, engine: str) -> Counterexample | None:
    """Decodes a graph. Returns the words that the model writes."""
    return judged(graph, walk(wired, graph, engine))


def verdicts(device: str) -> Batches[Graph, Counterexample | None]:
    """Judges graphs of one size by the dense engine: by the first token that is not due, or by what is wrong with those due."""

    def wrong(graph: Graph, first: int | None) -> Counterexample | None:
        expected = hybrid.HYBRID.expected(graph)
        if first is not None:
            return Counterexample(expected=" ".join(expected), first_other_token=first)
        return judged(graph, expected)

    return first_others("hybrid", PAPER, model, device, CHUNK, wrong)


# At scale


def right_by_auto(graph: Graph) -> Counterexample | None:
    """Returns how the run differs from Algorithm 1's."""
    return judged_run(model(graph.n), graph, "auto")


def right_at_scale(large: Large) -> Counterexample | None:
    """Returns the same for a graph by its name."""
    return right_by_auto(large.graph())


@ISTREE_HYBRID.judges("scale", f"{hybrid.STATEMENT} At large sizes.")
def test_at_scale(check: Check) -> None:
    for some in MODERATE:
        if some[-1] <= check.n_max:
            random_graphs(check, some, right_by_auto, examples=8, by="auto")
    for n in check.sizes(10, ratio=10, cap=AT_SCALE):
        families = list(HARD_FAMILIES) if n <= 1000 else LONGEST_WALKS
        every_hard_graph(check, n, right_at_scale, families=families, first=n == 10)
        if n <= 1000:
            large_graphs(check, n, right_at_scale, examples=5 if n <= 100 else 1, text=shapes_at(n, 10))


# How long the chain of thought is


LONGEST = 10  # tokens for each n·log2 n, from n = 64 on; paths take the most, 9.55 at n = 64 and 8.7 at n = 10,000


@ISTREE_HYBRID.judges(
    "length",
    f"The chain of thought has O(n log n) tokens: at most {LONGEST}·n·log2 n for n ≥ 64 in what was measured,"
    " and never more than (8·bits(3n) + 14)(n − 1) + 4.",
)
def test_length(check: Check) -> None:
    def short(large: LargeGraph) -> Counterexample | None:
        """Returns the exact number of tokens; the claims above show that the model writes just these."""
        n, tokens = large.n, len(hybrid.HYBRID.expected(large.graph()))
        bounds = {
            "(8·bits(3n) + 14)(n − 1) + 4": (8 * (3 * n).bit_length() + 14) * (n - 1) + 4,
            f"{LONGEST}·n·log2 n": LONGEST * n * math.log2(n) if n >= 64 else math.inf,
        }
        for text, bound in bounds.items():
            if tokens > bound:
                return Counterexample(tokens=tokens, bound=text, value=bound, per_n_log_n=tokens / (n * math.log2(n)))
        return None

    for n in check.sizes(LEAST, ratio=4, cap=10_000):
        text = f"{', '.join(SHAPES)}; n = {n:,}"
        large_graphs(check, n, short, examples=20 if n <= 1000 else 4, text=text, precision="")
    text = "never more than that, as 5.7/search says of the defined words: invariants at the start and after each frame"
    check.follows(theory(Frames(N)), range=f"{text}; every n from 2 on")
    check.argued("Induction over the frames.")


# As printed


def far_apart(n: int) -> Graph:
    """Returns the path n, 1, 2, …, n − 1, its edges in order but for n–1, which comes last: far after 1–2 in the prompt."""
    return Graph(n, (*((v, v + 1) for v in range(1, n - 1)), (n, 1)))


FAR = (8, 9, 16)


def look_for_wrong_answers(check: Check, printed: tuple[str, ...], *, far: bool) -> None:
    """Looks for a wrong verdict, among small inputs or paths whose edges are far apart."""

    def right(graph: Graph) -> Counterexample | None:
        wired = model(graph.n, printed, p_bits=check.p_bits)
        words = walk(wired, graph, check.engine)
        verdict = words[-1] if words[-1] in (PAPER.yes, PAPER.no) else "none"
        if verdict == (PAPER.yes if is_tree(graph) else PAPER.no):
            return None
        return Counterexample(is_tree=is_tree(graph), verdict=verdict, answered=" ".join(words[:100]))

    precision = check.precision_text(PRECISION)
    if far:
        paths = [far_apart(n) for n in FAR if n <= check.n_max]
        text = f"the path n, 1, 2, …, n − 1 with the edge n–1 last, n = {', '.join(map(str, FAR))}"
        check.chosen(paths, right, range=text, precision=precision)
        return
    few = range(1, min(3, check.n_max) + 1)
    every_graph(check, few, right, f"every graph on 1 to 3 vertices {ORDERS}", precision=precision)


PRINTED = {
    hybrid.SEARCH_RANGE: (
        Reading("i ends at log2 n, and positions count tokens, three to an edge.", holds=False),
        Reading(
            "pos counts edges, not tokens: i up to log2 n is enough, but MatchNearest (C.11) measures in positions of tokens.",
            holds=False,
        ),
        Reading(
            "i ends where the target is after the last edge, at log2(3n) at most; so it does if n is the length of the input,"
            " 3n − 2 tokens.",
            holds=True,
            shown="5.7",
        ),
    ),
    hybrid.PARENT: (
        Reading("Every visit of a vertex is a record of its predecessor, a return from a child too.", holds=False),
        Reading(
            "The records are those of Theorem 5.3, of which this proof is a variant: one where a vertex is first reached.",
            holds=True,
            shown="5.7/parent-records",
        ),
    ),
}


def printed_claim(finding: Finding) -> Claim:
    """Returns the claim with this finding as printed, alone."""
    return ISTREE_HYBRID.as_printed(finding, hybrid.STATEMENT, Kind.OPEN, *PRINTED[finding])


@claims("finding", PRINTED, printed_claim)
def test_finding_alone(check: Check, engine: str, finding: Finding) -> None:
    look_for_wrong_answers(
        check, (finding.id,), far=finding is hybrid.SEARCH_RANGE
    )  # which takes edges far apart to meet


# What the print leaves open, filled in otherwise


@dataclass(frozen=True)
class KeyLayout:
    """Where keys of edges stand. apart: each so many tokens after the previous one. quarters: how many are added to pos + 2^i."""

    name: str
    statement: str
    apart: int
    quarters: int
    why: str


KEYS = (
    KeyLayout(
        "nearest-one-key",
        "Where each edge has one key, three tokens after the previous one, no two edges are equally near to pos + 2^i.",
        3,
        0,
        "Edges at pos + 3j and pos + 3k tie if 3(j + k) = 2^(i + 1), but no power of two is a multiple of 3.",
    ),
    KeyLayout(
        "nearest-quarter",
        "Where keys stand at any tokens, as our two records of each edge do, no two keys are equally near to pos + 2^i + 1/4.",
        1,
        1,
        "Keys at pos + j and pos + k tie if j + k = 2^(i + 1) + 1/2, which is no integer.",
    ),
)


@claims("layout", KEYS, lambda one: ISTREE_HYBRID.claim(one.name, one.statement, source=hybrid.NEAREST_TIE.source))
def test_no_tie(check: Check, layout: KeyLayout) -> None:
    def no_tie(n: int) -> Counterexample | None:
        keys = range(3, 3 * n, layout.apart)
        for pos, i in itertools.product(keys, range((3 * n).bit_length() + 1)):
            distances = Counter(abs(4 * (key - pos - (1 << i)) - layout.quarters) for key in keys)
            if max(distances.values()) > 1:
                return Counterexample(pos=pos, i=i)
        return None

    sizes = range(2, min(ONE_KEY, check.n_max) + 1)
    check.exhaustive(sizes, no_tie, count=len(sizes), range="n − 1 edges, each pos and i")
    check.argued(layout.why)


@cache
def with_close(n: int) -> Wired:
    """Returns the model whose head for the father is MatchClose, over the records of vertices that were just reached."""
    fmt = fixed_point(hybrid.HYBRID.least_precision(n))
    embedding, (linear, attention) = hybrid.HYBRID.plan(n, fmt)
    setting, child = Setting(n, hybrid.HYBRID.length(n), fmt), (pair("child", "asked"),)
    heads = []
    for head in attention.heads:
        if "father" in head.reads:
            heads.append(match_close("father", child, {"father": head.reads["father"]}, setting))
            head = replace(head, reads={name: form for name, form in head.reads.items() if name != "father"})
        heads.append(head)
    blocks, arithmetic = (linear, replace(attention, heads=tuple(heads))), Arithmetic(fmt, Discipline.FUSED)
    return wired_of("istree", hybrid.SOURCE, (), frozenset(), n, embedding, blocks, arithmetic, hybrid.HYBRID.length(n))


@ISTREE_HYBRID.judges(
    "parent-records",
    f"{hybrid.STATEMENT} MatchClose finds the father, among the records of vertices that were just reached.",
    source=hybrid.PARENT.source,
)
def test_parent_by_records(check: Check, engine: str) -> None:
    def right(graph: Graph) -> Counterexample | None:
        return judged_run(with_close(graph.n), graph, engine)

    few = range(1, min(3, check.n_max) + 1)
    every_graph(check, few, right, f"every graph on 1 to 3 vertices {ORDERS}", precision=PRECISION)
    random_graphs(check, check.sizes(cap=AFFORDABLE.get(engine, check.n_max)), right, examples=15)
