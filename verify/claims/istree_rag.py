"""Theorem 5.3: the Linear RNN that decides IsTree by searches of its own text, and Algorithm 2."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from constructions.engines import decode_together, find_engine
from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph, is_tree
from constructions.istree.models import MODELS
from constructions.models.search import SearchError, SearchTool
from constructions.wiring.finding import Finding
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.claims.models import ISTREE_RAG
from verify.claims.readings_of_searches import as_printed
from verify.dossiers.istree.lemmas.turns import defined, theory
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim, claims
from verify.inputs.hard_graphs import FAMILIES, LEAST
from verify.inputs.large_graphs import LargeGraph
from verify.inputs.strategies import all_edges
from verify.runs.costs import PRECISION, require_logarithmic
from verify.runs.istree_walks import (
    ORDERS,
    Large,
    build_model,
    every_graph,
    every_hard_graph,
    large_graphs,
    random_graphs,
    shapes_at,
)

AT_SCALE = 300  # its 19,157 tokens hold 1,796 searches of a text of 100,000 characters
AT_LENGTH = ("double star", "path in two passes")  # hard graphs where each takes a second
CHUNK = 256  # graphs to a batch of the dense engine
WALKER = MODELS["rag"]
model = partial(build_model, "rag", PAPER.name, "repaired")


def judged(graph: Graph, words: Sequence[str], searches: int) -> Counterexample | None:
    """Judges every token, the verdict, and how many tokens and searches there were: of a tree, exactly so many."""
    expected, tree, n = rag.RAG.expected(graph), is_tree(graph), graph.n
    if list(words) != expected:
        pairs = enumerate(itertools.zip_longest(words, expected))
        first = next(i for i, (got, wanted) in pairs if got != wanted)
        return Counterexample(first_other_token=first, expected=expected[first:], answered=list(words[first:]))
    if words[-1] != (PAPER.yes if tree else PAPER.no):
        return Counterexample(is_tree=tree, answered=words[-1])
    spent, most = (len(words), searches), (64 * n - 43, 6 * n - 4)
    if spent != most if tree else spent[0] > most[0] or spent[1] > most[1]:
        return Counterexample(tokens_and_searches=spent, bound=most, is_tree=tree)
    return None


def searched(wired: Wired, graph: Graph, engine: str) -> tuple[list[str], int]:
    """Returns what follows the prompt, and how many searches were made. Raises SearchError."""
    respond = SearchTool(wired.vocabulary)
    run = replace(WALKER.request(wired, graph), respond=respond).run(find_engine(engine))
    return run.produced[:], respond.searches


def judged_run(wired: Wired, graph: Graph, engine: str) -> Counterexample | None:
    """Returns what it writes, and its searches."""
    return judged(graph, *searched(wired, graph, engine))


def verdicts(device: str) -> Batches[Graph, Counterexample | None]:
    """Judges graphs of one size by the dense engine, which makes every search again."""

    def compute(cases: list[Graph]) -> Iterator[Counterexample | None]:
        wired = model(cases[0].n)
        searches = [SearchTool(wired.vocabulary) for _ in cases]
        asked = [
            replace(WALKER.request(wired, graph), respond=search).decoding()
            for graph, search in zip(cases, searches, strict=True)
        ]
        for graph, search, decoded in zip(cases, searches, decode_together(asked, device), strict=True):
            yield judged(graph, [wired.vocabulary[token] for token in decoded.produced], search.searches)

    return Batches(compute, key=lambda graph: graph.n, chunk=CHUNK)


# At scale


def right_by_auto(graph: Graph) -> Counterexample | None:
    """Returns how the run differs from Algorithm 1's."""
    return judged_run(model(graph.n), graph, "auto")


def right_at_scale(large: Large) -> Counterexample | None:
    """Returns the same for a graph by its name."""
    return right_by_auto(large.graph())


@ISTREE_RAG.judges("scale", f"{rag.STATEMENT} Every search is made by Python's re.")
def test_at_scale(check: Check) -> None:
    random_graphs(check, check.sizes(cap=64), right_by_auto, examples=20, by="auto")
    if check.n_max < LEAST:
        return
    for n in check.sizes(LEAST, cap=AT_SCALE, ratio=10):
        few = n >= 200
        every_hard_graph(check, n, right_at_scale, families=AT_LENGTH if few else list(FAMILIES), first=n == LEAST)
        if not few:
            large_graphs(check, n, right_at_scale, examples=10 if n < 50 else 3, text=shapes_at(n, LEAST))


# As printed


PRINTS = [*((finding,) for finding in rag.FINDINGS), rag.FINDINGS]


@claims("findings", PRINTS, partial(as_printed, "5.3", "istree", rag.SOURCE, rag.STATEMENT))
def test_as_printed(check: Check, engine: str, findings: tuple[Finding, ...]) -> None:
    """Looks for a wrong verdict, after any walk. Graphs are connected, so the root has a neighbour to find."""
    printed = tuple(finding.id for finding in findings)

    def right(graph: Graph) -> Counterexample | None:
        expected = PAPER.yes if is_tree(graph) else PAPER.no
        wired = model(graph.n, printed, p_bits=check.p_bits)
        try:
            words, _ = searched(wired, graph, engine)
        except SearchError as error:
            return Counterexample(expected=expected, failed=str(error))
        said = words[-1] if words[-1] in (PAPER.yes, PAPER.no) else f"no verdict within {len(words)} tokens"
        return None if said == expected else Counterexample(expected=expected, said=said, answered=words[:40])

    for n in (2, 3):
        if n <= check.sizes(2)[-1]:
            edges = all_edges(n)  # on 2 or 3 vertices, n − 1 of them are connected
            chosen = itertools.chain.from_iterable(
                itertools.combinations(edges, m) for m in range(n - 1, len(edges) + 1)
            )
            check.exhaustive(
                (Graph(n, edges) for edges in chosen),
                right,
                count={2: 1, 3: 4}[n],  # the connected ones, OEIS A001187
                range=f"every connected labelled graph on {n} vertices",
                precision=check.precision_text(PRECISION),
            )


def algorithm_2(graph: Graph) -> bool:
    """Returns whether Algorithm 2 says YES, if its searches find what they should. The root has no record."""
    around: dict[int, list[int]] = {v: [] for v in range(1, graph.n + 1)}
    for a, b in graph.edges:
        around[a].append(b)
        around[b].append(a)
    father: dict[int, int] = {}  # by the first record, as a search finds it
    stack, before, closed = [1], 0, set()
    while stack:
        v = stack[-1]
        ahead = around[v] if before in (0, father.get(v)) else around[v][around[v].index(before) + 1 :]
        following = next((w for w in ahead if w != father.get(v)), 0)
        if following == 0:
            closed.add(before := stack.pop())
        elif following in father:
            return False
        else:
            father[following], before = v, v
            stack.append(following)
    return len(closed) == graph.n


@claim(
    "5.3/root-unrecorded",
    source=rag.SOURCE,
    statement="Algorithm 2 decides IsTree, if its searches find what they should, although no record names the root.",
    variant="printed",
)
def test_missing_record_is_harmless(check: Check) -> None:
    def right(graph: Graph) -> Counterexample | None:
        return None if algorithm_2(graph) == is_tree(graph) else Counterexample(is_tree=is_tree(graph))

    small, labelled = min(4, check.n_max), min(6, check.n_max)
    every_graph(check, range(1, small + 1), right, f"every graph {ORDERS}")
    every_graph(check, range(1, labelled + 1), right, "every labelled graph", kind="labelled")


# Length and bits


def within_length(large: LargeGraph) -> Counterexample | None:
    """Returns how long the expected sequence is; that the model writes it is another claim."""
    words = rag.RAG.expected(large.graph())
    return judged(large.graph(), words, words.count("<EndSearch>"))


@ISTREE_RAG.judges(
    "length",
    "O(n) steps: a tree takes exactly 64n − 43 tokens, 6n − 4 searches with their results among them; no graph more.",
)
def test_linear_length(check: Check) -> None:
    for n in check.sizes(LEAST, cap=10_000, ratio=10):
        examples, text = 40 if n <= 1000 else 3, shapes_at(n, LEAST, "")
        large_graphs(check, n, within_length, examples=examples, text=text, precision="")
    text = "so many tokens, as 5.3/istree-search says of the defined words: invariants at the start and after each turn"
    check.follows(theory(defined()), range=f"{text}; every n")
    check.argued("Induction over the turns.")


@ISTREE_RAG.judges("precision", "O(log n) bits suffice: least_precision(n) ≤ 4·log2 n + 11, fused or sequential.")
def test_logarithmic_precision(check: Check) -> None:
    least = (partial(rag.RAG.least_precision, discipline=discipline) for discipline in Discipline)
    require_logarithmic(check, [(one, lambda log2: 4 * log2 + 11) for one in least])
