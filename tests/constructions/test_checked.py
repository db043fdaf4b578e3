"""What heads need, held against a run: wirings that were broken on purpose are found, the real ones pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from constructions import counting, index, ngram, recall
from constructions.istree.graphs import EOS, Graph
from constructions.istree.models import MODELS
from constructions.istree.transformer import TourTransformer
from constructions.models.checked import check_run
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import copy
from constructions.parts.heads.match import RegisterPair, match, match_precision
from constructions.turing.door import MODELS as MACHINES
from constructions.turing.library import find
from constructions.wiring.affine import Number, reg
from constructions.wiring.part import Setting
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, constant, linear, wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point

SETTING = Setting(4, 8, fixed_point(match_precision(4, 8)))
RIGHT: Mapping[str, Gadget] = {
    "one": constant("1", {"one": 1}),
    "first": indicator(reg("position"), 1, {"first": 1}),
    "position": square(reg("position"), "position_squared"),
    "key": square(reg("x"), "x_squared"),
}
START: Mapping[str, Number] = {"x": 0}


def wired(start: Mapping[str, Number] = START, **changed: Gadget) -> Wired:
    """A word's first occurrence, found by one Match head; gadgets of block 1 by name, some of them changed."""
    embedding = Embedding(("<s>", "a", "b"), (start, {"x": 3}, {"x": 2}), "position")
    pair = RegisterPair(reg("x"), reg("x"), reg("x_squared"), reg("x_squared"))
    heads = (
        match("where it was first", (pair,), {"found": reg("position")}, SETTING),
        copy("the token before", 1, {"before": reg("x")}, SETTING),
    )
    blocks = (BlockPlan((), tuple((RIGHT | changed).values())), BlockPlan(heads, ()))
    model, registers = wire(embedding, blocks, embedding.words, SETTING.format, longest=SETTING.length)
    arithmetic = Arithmetic(SETTING.format)
    return Wired("test", "", "repaired", (), 4, arithmetic, model, registers, embedding.vocabulary, blocks)


def findings(model: Wired) -> list[str]:
    return [str(unmet) for unmet in check_run(model, [0, 1, 2, 1])]


def test_a_right_wiring_has_what_it_needs() -> None:
    assert findings(wired()) == []


MATCH, COPY = "head 1 (where it was first)", "head 2 (the token before)"
NOT_A_SQUARE = linear("x, not x²", reg("x"), "x_squared")
SHIFTED = square(reg("position") + 1, "position_squared")
SECOND = indicator(reg("position"), 2, {"first": 1})
NOT_FIRST = (
    "= 1 at position 1: at position 1 it is 0, not 1",
    "= 0 at every later position: at position 2 it is 1, not 0",
)


@pytest.mark.parametrize(
    ("model", "heads", "found"),
    [
        (wired(key=NOT_A_SQUARE), [MATCH], ["x_squared = (x)²: at position 2 it is 3, not 9"]),
        (wired(position=SHIFTED), [MATCH, COPY], ["position_squared = (position)²: at position 1 it is 4, not 1"]),
        (wired(one=constant("2", {"one": 2})), [MATCH, COPY], ["one = 1: at position 1 it is 2, not 1"]),
        (wired(first=SECOND), [MATCH], [f"first {text}" for text in NOT_FIRST]),
        (wired({"x": 1}), [MATCH], ["x = 0 at position 1: at position 1 it is 1, not 0"]),
    ],
)
def test_a_broken_wiring_is_found_by_name(model: Wired, heads: list[str], found: list[str]) -> None:
    assert findings(model) == [f"block 2, {head} needs {text}" for head in heads for text in found]


def test_what_is_not_in_the_run_is_not_found() -> None:
    assert check_run(wired(key=NOT_A_SQUARE), [0, 0, 0]) == []


GRAPHS = (
    Graph(1, ()),
    Graph(5, ((2, 3), (5, 2), (1, 2), (4, 2))),
    Graph(5, ((1, 2), (2, 3), (3, 1), (4, 5))),
    Graph(4, ((1, 2), (3, 4))),
)


TREES = {**MODELS, "transformer-eos": TourTransformer(EOS)}


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("model", TREES.values(), ids=TREES)
def test_istree_has_what_it_needs(model, discipline: Discipline) -> None:
    for graph in GRAPHS:
        built = model.build(graph.n, discipline=discipline)
        request = model.request(built, graph)
        assert check_run(built, [*request.prompt, *request.guess]) == []


@pytest.mark.parametrize("task", [index, recall, ngram, counting])
def test_the_retrieval_tasks_have_what_they_need(task) -> None:
    for retriever in task.DOOR.wirings.values():
        built = retriever.build(12)
        for question in retriever.task.samples:
            if len(question.query) == retriever.query_length:
                assert check_run(built, retriever.request(built, question).prompt) == []


@pytest.mark.parametrize("model", MACHINES.values(), ids=list(MACHINES))
def test_machines_have_what_they_need(model) -> None:
    for name in ("bb2", "palindrome"):
        named = find(name)
        one = replace(model, machine=named.machine, tape=named.example)
        built = one.build(8)
        text = [*one.prompt(8), *one.expected(8)]
        assert check_run(built, built.tokens(text)) == []


def test_every_head_of_the_real_models_says_what_it_needs() -> None:
    built: Sequence[Wired] = [model.build(4) for model in TREES.values()]
    built = [*built, *(r.build(4) for task in (index, recall, ngram, counting) for r in task.DOOR.wirings.values())]
    heads = [head for wired_model in built for block in wired_model.blocks for head in block.heads]
    assert len(heads) > 20
    assert all(head.needs for head in heads)
