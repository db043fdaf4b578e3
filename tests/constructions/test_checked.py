"""What heads need, held against a run: wirings that were broken on purpose are found, the real ones pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from constructions import counting, index, ngram, recall
from constructions.istree.graphs import EOS, Graph
from constructions.istree.models import MODELS
from constructions.istree.transformer import TourTransformer
from constructions.models.checked import check_run
from constructions.models.model import Model
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


TREES = [*MODELS.values(), TourTransformer(EOS)]
RETRIEVERS = [retriever for task in (index, recall, ngram, counting) for retriever in task.DOOR.wirings.values()]
CASES: list[tuple[Model[Any, Any], int, Any]] = [
    *((model, graph.n, graph) for model in TREES for graph in GRAPHS),
    *((r, 12, asked) for r in RETRIEVERS for asked in r.task.samples if len(asked.query) == r.query_length),
    *(
        (replace(model, machine=named.machine, tape=named.example), 8, 8)
        for model in MACHINES.values()
        for named in map(find, ("bb2", "palindrome"))
    ),
]


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(("model", "n", "given"), CASES)
def test_a_run_has_what_its_heads_need(model: Model[Any, Any], n: int, given: Any, discipline: Discipline) -> None:
    request = model.request(model.build(n, discipline=discipline), given)
    assert check_run(request.wired, [*request.prompt, *map(int, request.guess)]) == []


def test_every_head_of_the_real_models_says_what_it_needs() -> None:
    built = [model.build(4) for model in (*TREES, *RETRIEVERS)]
    heads = [head for wired_model in built for block in wired_model.blocks for head in block.heads]
    assert len(heads) > 20
    assert all(head.needs for head in heads)
