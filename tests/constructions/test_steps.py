"""The steps that a trace shows are those of the reference engine, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from constructions import counting, index, ngram
from constructions.engines import decode_by_reference
from constructions.istree import hybrid, rag, transformer
from constructions.istree.graphs import PAPER, expected_answer, parse_edges
from constructions.show.steps import observed_steps
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, Rounding, fixed_point

EDGES = "3-6,8-1,6-2,7-6,5-6,2-4,6-1"  # as printed, layer 7 averages two edges here


def check(wired: Wired, tokens: Sequence[int]) -> None:
    model, arithmetic = wired.model, wired.arithmetic
    wanted = decode_by_reference(model, arithmetic, tokens, set(), 1, keep_steps=True).steps
    actual = observed_steps(model, arithmetic, tokens)
    assert len(actual) == len(wanted) == len(tokens)
    for ours, theirs in zip(actual, wanted, strict=True):
        assert [tuple(row) for row in ours.registers] == list(theirs.registers)
        assert [tuple(block) for block in ours.attention] == list(theirs.attention)
        assert ours.next_token == theirs.next_token


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("printed", [(), ("layer-7",), ("score-range", "C.14")])
def test_istree(discipline: Discipline, printed: tuple[str, ...]) -> None:
    graph = parse_edges(EDGES)
    wired = transformer.build(8, printed=printed, discipline=discipline)
    check(wired, [*PAPER.prompt(graph), *expected_answer(graph, PAPER)[:7]])


def test_a_precision_at_which_everything_saturates() -> None:
    wired = transformer.build(8, 5, printed=transformer.FINDING_IDS)
    check(wired, PAPER.prompt(parse_edges(EDGES)))


@pytest.mark.parametrize("module", [rag, hybrid])
def test_istree_with_recurrences(module: object) -> None:
    graph = parse_edges("1-2,3-1")
    wired: Wired = module.build(3)  # type: ignore[attr-defined]
    tokens = wired.tokens([*(PAPER.vocabulary(3)[t] for t in PAPER.prompt(graph)), *module.expected_sequence(graph)])  # type: ignore[attr-defined]
    check(wired, tokens[:90])


@pytest.mark.parametrize(
    ("retrievers", "text"), [(index, "5 2 5 9 ? 3"), (ngram, "1 2 3 1 2 ? 1 2"), (counting, "1 1 2 ? 1 1")]
)
@pytest.mark.parametrize("discipline", Discipline)
def test_retrieval(retrievers: object, text: str, discipline: Discipline) -> None:
    for retriever in retrievers.RETRIEVERS:  # type: ignore[attr-defined]
        question = retriever.task.parse(text)
        wired = retriever.build(9, query_length=len(question.query), discipline=discipline)
        check(wired, wired.tokens(question.words()))


def test_another_rounding_is_refused() -> None:
    wired = transformer.build(2)
    arithmetic = Arithmetic(fixed_point(33), rounding=Rounding.TOWARD_ZERO)
    with pytest.raises(ValueError, match="rounded to the nearest"):
        observed_steps(wired.model, arithmetic, [0])


def test_a_certified_column_is_never_computed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = parse_edges(EDGES)
    wired = transformer.build(8)
    actual = observed_steps(wired.model, wired.arithmetic, [*PAPER.prompt(graph), *expected_answer(graph, PAPER)])

    def refuse(*_: object) -> object:
        raise AssertionError("a whole column")

    monkeypatch.setattr("constructions.show.steps.softmax", refuse)
    assert {len(block) for step in actual for block in step.attention} == {0, 1, 2}
    printed = transformer.build(8, printed=("score-range",))
    uncertified = observed_steps(printed.model, printed.arithmetic, PAPER.prompt(graph))
    with pytest.raises(AssertionError, match="a whole column"):
        [step.attention for step in uncertified]
