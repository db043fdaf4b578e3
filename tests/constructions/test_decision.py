"""Which head decided a word, against the reference engine with position 1 as the head's only key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from constructions import counting, index, ngram
from constructions.engines.reference import ReferenceEngine
from constructions.istree import hybrid, transformer
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, expected_answer, parse_edges
from constructions.show.decision import Decision, decide
from constructions.show.steps import observed
from constructions.wiring.wired import Wired
from precision.format import Discipline


class First(list[list[int]]):
    """Keys of which only the first is kept: a head with them reads position 1 alone."""

    def append(self, key: list[int]) -> None:
        if not self:
            super().append(key)


def words_without(wired: Wired, tokens: Sequence[int], block: int, number: int) -> list[int]:
    """Returns the word at each position if this head reads position 1, and later blocks mix in what they did in the run."""
    whole, cut = (ReferenceEngine(wired.model, wired.arithmetic) for _ in range(2))
    cut._blocks[block].heads[number].keys = First()
    words = []
    for token in tokens:
        ran, stream = whole.append(token).registers, list(cut.append(token).registers[2 * block + 1])
        for later in range(block, len(wired.blocks)):
            if later > block:
                mixed = zip(ran[2 * later + 1], ran[2 * later], strict=True)
                stream = [value + new - old for value, (new, old) in zip(stream, mixed, strict=True)]
            cut._feed_forward(later + 1, cut._blocks[later], stream)
        logits = cut._rows(cut._unembed, stream, 0, "logit")
        words.append(logits.index(max(logits)))
    return words


def check(wired: Wired, tokens: Sequence[int]) -> list[Decision | None]:
    steps = observed(wired.model, wired.arithmetic, tokens)
    heads = [(b, h) for b, block in enumerate(wired.model.blocks) for h in range(len(block.heads))]
    without = {head: words_without(wired, tokens, *head) for head in heads}
    result = []
    for place, word in enumerate(steps.next_tokens):
        changing = [head for head in heads if without[head][place] != word]
        last = max(changing, default=None)
        expected = last and Decision(last[0] + 1, last[1] + 1, without[last][place])
        assert decide(steps, place + 1) == expected, place
        result.append(expected)
    assert len({decision and (decision.block, decision.number) for decision in result}) > 1
    return result


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(("layout", "edges"), [("paper", "1-2,3-1,1-4"), ("eos", "1-2,2-3,3-1")])
def test_istree(discipline: Discipline, layout: str, edges: str) -> None:
    model, graph = transformer.TourTransformer(LAYOUTS[layout]), parse_edges(edges)
    wired = model.build(graph.n, discipline=discipline)
    check(wired, [*model.layout.prompt(graph), *expected_answer(graph, model.layout)][:-1])


def test_a_hybrid() -> None:
    graph = parse_edges("1-2,3-1")
    wired = hybrid.HYBRID.build(3)
    tokens = wired.tokens([*(PAPER.vocabulary(3)[t] for t in PAPER.prompt(graph)), *hybrid.HYBRID.expected(graph)])
    check(wired, tokens[:60])


@pytest.mark.parametrize(
    ("retrievers", "text"), [(index, "5 2 5 9 ? 3"), (ngram, "1 2 3 1 2 ? 1 2"), (counting, "1 1 2 ? 1 1")]
)
def test_retrieval(retrievers: object, text: str) -> None:
    for retriever in retrievers.DOOR.wirings.values():  # type: ignore[attr-defined]
        question = retriever.task.parse(text)
        wired = replace(retriever, query_length=len(question.query)).build(9)
        if any(block.heads for block in wired.model.blocks):
            check(wired, wired.tokens(question.words()))


def test_a_cycle_is_decided_by_the_head_that_looks_for_visits() -> None:
    """At 2 the next edge leads to the father 1, so the edge after it decides; at 3 the vertex 1 was seen before."""
    model, graph = transformer.TourTransformer(EOS), parse_edges("1-2,2-3,3-1")
    wired = model.build(3)
    prompt, answer = EOS.prompt(graph), expected_answer(graph, EOS)
    steps = observed(wired.model, wired.arithmetic, [*prompt, *answer][:-1])
    names = []
    for position in range(len(prompt), len(prompt) + len(answer)):
        decision = decide(steps, position)
        names.append(decision and wired.blocks[decision.block - 1].heads[decision.number - 1].name)
    assert wired.spelled(answer)[:] == ["1", "2", "3", "[EOS]", "FALSE"]
    assert names == ["end of prompt", "next edge", "edge after the next", "seen before", None]
