"""Every model of every task as a `Model`: what it writes holds up, and what it does not write is complained of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from circuits.models import SMALL
from circuits.simulator import Simulator
from constructions import counting, index, ngram, recall
from constructions.engines import find_engine
from constructions.istree.graphs import EOS, LAYOUTS, Graph
from constructions.istree.lean import Lean
from constructions.istree.models import MODELS as TREES
from constructions.istree.transformer import TourTransformer
from constructions.models.model import Model
from constructions.models.registry import find_constructions
from constructions.show.run import run_model
from constructions.turing.door import MODELS as MACHINES
from precision.format import Discipline
from tests.engines.agreement import agree
from tests.engines.cases import EngineCase

LEAN = [Lean(layout) for layout in LAYOUTS.values()]
RETRIEVERS = [retriever for task in (index, recall, ngram, counting) for retriever in task.DOOR.wirings.values()]
CASES: list[tuple[Model[Any, Any], int, Any]] = [
    *((model, 4, Graph(4, ((1, 2), (2, 3), (2, 4)))) for model in [*TREES.values(), TourTransformer(EOS), *LEAN]),
    *((model, 4, Graph(4, ((1, 2), (2, 3), (3, 1)))) for model in [*TREES.values(), TourTransformer(EOS), *LEAN]),
    *((retriever, 12, retriever.task.parse(retriever.task.example)) for retriever in RETRIEVERS),
    *((model, 7, 7) for model in MACHINES.values()),
    *((replace(MACHINES[name], cells=3), 7, 7) for name in ("cot", "hybrid")),
    (Simulator(SMALL["parity"].load(None, 1)), 1, (1,)),
]


def fitting(model: Model[Any, Any], given: Any) -> Model[Any, Any]:
    """The retriever for queries as long as this one."""
    return replace(model, query_length=len(given.query)) if model in RETRIEVERS else model


@pytest.mark.parametrize(
    ("engine", "discipline"),
    [
        *((engine, Discipline.FUSED) for engine in ("reference", "dense", "native", "incremental")),
        *((engine, Discipline.SEQUENTIAL) for engine in ("native", "incremental")),
    ],
)
@pytest.mark.parametrize(("model", "n", "given"), CASES)
def test_a_run_holds_up_and_a_changed_one_does_not(
    model: Model[Any, Any], n: int, given: Any, engine: str, discipline: Discipline
) -> None:
    model = fitting(model, given)
    request = model.request(model.build(n, discipline=discipline), given)
    run = request.run(find_engine(engine))
    assert run.produced[:] == list(request.wired.spelled(request.guess))
    assert run.words[:] == [*run.prompt, *run.produced]
    assert model.judge(given, run, model.read(run)) == ""

    last = run.tokens.copy()
    last[-1] = (last[-1] + 1) % len(request.wired.vocabulary)
    wrong = replace(run, tokens=last)
    assert model.judge(given, wrong, model.read(wrong)) != ""


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    ("model", "n", "given"),
    [
        *((model, n, given) for model, n, given in CASES[:-1] if model not in RETRIEVERS),
        *((retriever, 12, question) for retriever in RETRIEVERS for question in retriever.task.samples),
    ],
)
def test_engines_agree_and_lookups_decide(model: Model[Any, Any], n: int, given: Any, discipline: Discipline) -> None:
    model = fitting(model, given)
    request = model.request(model.build(n, discipline=discipline), given)
    wired = request.wired
    tokens = [*request.prompt, *map(int, request.guess[:-1])]
    assert agree(EngineCase(wired.model, wired.arithmetic, tokens)) == {"dense", "native", "incremental"}


@pytest.mark.parametrize("more", [2, 10, 40])
@pytest.mark.parametrize(("model", "n", "given"), CASES[:-1])
def test_more_bits_change_nothing(model: Model[Any, Any], n: int, given: Any, more: int) -> None:
    model = fitting(model, given)
    request = model.request(model.build(n, model.least_precision(n) + more), given)
    assert request.run(find_engine("auto")).tokens.tolist() == list(request.guess)


@pytest.mark.parametrize("model", [TREES["transformer"], MACHINES["hybrid"]])
@pytest.mark.parametrize("engine", ["auto", "dense", "native", "incremental"])
def test_a_wrong_guess_changes_no_run(model: Model[Any, Any], engine: str) -> None:
    """Also where the guess is followed first, and decoding goes on after it."""
    n, given = next((n, given) for candidate, n, given in CASES if candidate is model)
    request = model.request(model.build(n), given)
    right = np.asarray(request.guess)
    wrong = np.concatenate([right[:-3], (right[-3:-2] + 1) % 4, right[-2:]])
    for guess in (wrong, right[:-2], right[:0], np.append(right, right[:1])):
        run = run_model(replace(request, guess=guess), engine, "")
        assert run.tokens.tolist() == right.tolist()


def test_every_construction_is_tried() -> None:
    models = {s.names for s, *_ in CASES}
    assert models == {c.names for c in find_constructions()}
