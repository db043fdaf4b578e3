"""The steps that a trace shows are those of the reference engine, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from constructions import counting, index, ngram
from constructions.engines.reference import ReferenceEngine
from constructions.istree import hybrid, rag, transformer
from constructions.istree.base import IsTreeModel
from constructions.istree.graphs import PAPER, expected_answer, parse_edges
from constructions.show.steps import observed
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, Rounding, fixed_point

EDGES = "3-6,8-1,6-2,7-6,5-6,2-4,6-1"  # as printed, layer 7 averages two edges here


def check(wired: Wired, tokens: Sequence[int]) -> None:
    model, arithmetic = wired.model, wired.arithmetic
    engine, actual = ReferenceEngine(model, arithmetic), observed(model, arithmetic, tokens)
    for place, token in enumerate(tokens):
        step = engine.append(token)
        assert [tuple(register[place] for register in stream) for stream in actual.streams] == list(step.registers)
        assert [tuple(block) for block in actual.attention(place + 1)] == list(step.attention)
        assert actual.next_tokens[place] == step.next_token
    assert {len(register) for stream in actual.streams for register in stream} == {len(tokens)}
    assert len(actual.next_tokens) == len(tokens)


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("printed", [(), ("layer-7",), ("score-range", "C.14")])
def test_istree(discipline: Discipline, printed: tuple[str, ...]) -> None:
    graph = parse_edges(EDGES)
    wired = transformer.TRANSFORMER.build(8, printed=printed, discipline=discipline)
    check(wired, [*PAPER.prompt(graph), *expected_answer(graph, PAPER)[:7]])


def test_a_precision_at_which_everything_saturates() -> None:
    wired = transformer.TRANSFORMER.build(8, 5, printed=transformer.FINDING_IDS)
    check(wired, PAPER.prompt(parse_edges(EDGES)))


@pytest.mark.parametrize("model", [rag.RAG, hybrid.HYBRID])
def test_istree_with_recurrences(model: IsTreeModel) -> None:
    graph = parse_edges("1-2,3-1")
    wired = model.build(3)
    tokens = wired.tokens([*(PAPER.vocabulary(3)[t] for t in PAPER.prompt(graph)), *model.expected(graph)])
    check(wired, tokens[:90])


@pytest.mark.parametrize(
    ("retrievers", "text"), [(index, "5 2 5 9 ? 3"), (ngram, "1 2 3 1 2 ? 1 2"), (counting, "1 1 2 ? 1 1")]
)
@pytest.mark.parametrize("discipline", Discipline)
def test_retrieval(retrievers: object, text: str, discipline: Discipline) -> None:
    for retriever in retrievers.DOOR.wirings.values():  # type: ignore[attr-defined]
        question = retriever.task.parse(text)
        wired = replace(retriever, query_length=len(question.query)).build(9, discipline=discipline)
        check(wired, wired.tokens(question.words()))


def test_another_rounding_is_refused() -> None:
    wired = transformer.TRANSFORMER.build(2)
    arithmetic = Arithmetic(fixed_point(33), rounding=Rounding.TOWARD_ZERO)
    with pytest.raises(ValueError, match="rounded to the nearest"):
        observed(wired.model, arithmetic, [0])
