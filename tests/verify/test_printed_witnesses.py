"""Witnesses of rows about printed score factors and the printed head: the slip is to blame, and not that n is small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from constructions import counting
from constructions.engines import Decoding, find_engine
from constructions.istree import blocks, transformer
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.parts.heads.count import count
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup
from constructions.wiring.part import Setting
from constructions.wiring.wire import Component, Head
from precision.format import Discipline
from verify.claims import istree_printed, retrieval
from verify.claims.istree import decode, wrong
from verify.claims.retrieval import QuestionCase, ask
from verify.framework.check import Check
from verify.framework.claim import Claim
from verify.framework.ledger import load_witnesses
from verify.framework.options import Options
from verify.framework.order import WITNESSES
from verify.runs.istree_walks import build_model
from verify.runs.turing_runs import RAG, Case, judge

CHECK = Check(Claim("X.1", "here", "It holds."), Options(n_max=10_000), engine="reference")


def case_of(id: str) -> Any:
    return load_witnesses(WITNESSES)[id].case


def graph_of(case: Any) -> Graph:
    return Graph(case["n"], tuple((u, v) for u, v in case["edges"]))


def count_by_score(
    name: str, x: Affine, x_squared: Affine, into: str, setting: Setting, *, query: Any = None, printed: bool = False
) -> Head:
    """Wires −n(X' − X)² + n·1[k' = 1]X² where the print is asked for: its score, with its factor, by keys that give it."""
    head = count(name, x, x_squared, into, setting, query=query)
    if not printed:
        return head
    n, one, (sought, sought_squared) = setting.n, reg("one"), query or (x, x_squared)
    components = (
        Component(n * x_squared, -one),
        Component(n * x, 2 * sought),
        Component(n * (one - reg("first")), -sought_squared),
    )
    return Head(name, components, {into: reg("first")}, "Lemma C.14's score", head.needs, Lookup(((x, sought),), n))


@pytest.fixture
def by_score(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The printed score stands in for the printed keys and queries."""
    for module in (counting, blocks):
        monkeypatch.setattr(module, "count", count_by_score)
    retrieval.model.cache_clear()
    build_model.cache_clear()
    yield
    retrieval.model.cache_clear()
    build_model.cache_clear()


def answers_wrong(
    stem: str, n: int, sequence: Sequence[int], query: Sequence[int], printed: tuple[str, ...] = ("C.14",)
) -> bool:
    case = QuestionCase(n, tuple(sequence), tuple(query))
    return ask(CHECK, stem, case, printed, Discipline.FUSED, "reference") is not None


@pytest.mark.parametrize("stem", ["4.6/counting", "5.6/counting"])
def test_the_printed_score_is_right_on_the_witness(stem: str, by_score: None) -> None:
    case = case_of(f"{stem}/C.14")
    assert not answers_wrong(stem, case["n"], case["sequence"], case["query"])
    assert answers_wrong(stem, 2, (), (1, 0))  # where n is small the factor alone is to blame


@pytest.mark.parametrize("stem", ["4.6/counting", "5.6/counting"])
def test_the_printed_keys_are_wrong_on_the_witness(stem: str) -> None:
    case = case_of(f"{stem}/C.14")
    assert answers_wrong(stem, case["n"], case["sequence"], case["query"])


def test_the_printed_score_finds_the_tour_of_the_witness(by_score: None) -> None:
    graph = graph_of(case_of("4.7/C.14"))
    assert wrong(graph, decode(CHECK, graph, PAPER, ("C.14",)), PAPER) is None


def test_more_bits_set_right_the_witness_of_the_score_range() -> None:
    graph = graph_of(case_of("4.7/score-range"))
    assert graph.n >= istree_printed.HOLDS_FROM
    wired = transformer.TRANSFORMER.build(
        graph.n, istree_printed.roomy_precision(graph.n), printed=(istree_printed.SCORE_RANGE.id,)
    )
    expected, stop = expected_answer(graph, PAPER), {PAPER.token(word, graph.n) for word in (PAPER.yes, PAPER.no)}
    asked = Decoding(wired.model, wired.arithmetic, PAPER.prompt(graph), stop, 2 * graph.n + 3, expected)
    assert wrong(graph, find_engine("reference")(asked).produced, PAPER) is None


def test_the_witness_of_the_tied_head_needs_a_number_in_the_middle() -> None:
    graph = graph_of(case_of("4.7/printed"))
    assert any(1 < v < graph.n for edge in graph.edges for v in edge)


@pytest.mark.parametrize(
    ("stem", "slip"),
    [
        ("4.6/counting", "C.14"),
        ("5.6/counting", "C.14"),
        ("5.2/index", "regex-characters"),
        ("5.2/counting", "regex-adjacent"),
    ],
)
def test_of_several_printed_lines_a_slip_alone_is_wrong_on_the_witness(stem: str, slip: str) -> None:
    """A row that is called a slip is not refuted by a gap."""
    case = case_of(f"{stem}/printed")
    assert answers_wrong(stem, case["n"], case["sequence"], case["query"], (slip,))


def test_the_prompt_search_alone_is_wrong_on_the_witness_of_all_lines() -> None:
    case = case_of("5.4/printed")
    judged = judge(RAG, "reference", printed=("prompt-characters",), p_bits=None)(Case(**case))
    assert judged is not None
