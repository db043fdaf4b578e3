"""Many inputs at once give what each of them gives alone, and models and results survive pickling."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest

import constructions
from constructions.engines import find_engine
from constructions.models import many

RANDOM = random.Random(11)
TREES = [[(v, RANDOM.randrange(1, v)) for v in range(2, 7)] for _ in range(6)]
CYCLE, FOREST = [(1, 2), (2, 3), (1, 3), (4, 5), (6, 5)], [(2, 1), (3, 4)]
GRAPHS = [*TREES, CYCLE, FOREST, []]
MODELS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("istree", {"n": 6}, GRAPHS),
    ("istree", {}, [TREES[0], CYCLE, [(1, 2)], [(2, 1), (3, 2)], TREES[1]]),
    ("istree", {"n": 6, "findings": ["layer-7"]}, GRAPHS),
    ("istree", {"n": 6, "variant": "lean", "tokens": "eos"}, GRAPHS),
    ("istree", {"n": 6, "model": "rag"}, GRAPHS[4:]),
    ("istree", {"n": 4, "model": "hybrid", "sequential": True}, [[(1, 2), (2, 3), (2, 4)], [(1, 2), (2, 3), (1, 3)]]),
    ("recall", {"n": 9}, ["5 2 7 9 ? 7", "1 1 ? 1", "? 3", ([1, 2, 3], [2])]),
    ("index", {"model": "rag"}, ["5 2 5 9 ? 3", "3 3 ? 2"]),
    ("turing", {"machine": "bb2", "steps": 20}, [None, None]),
]


def facts(result: Any) -> tuple[Any, ...]:
    return result.input, result.chain_of_thought, result.answer, result.complaint, result.document["flags"]


@pytest.mark.parametrize(("name", "options", "inputs"), MODELS)
def test_many_inputs_give_what_each_gives_alone(name: str, options: dict[str, Any], inputs: list[Any]) -> None:
    model = constructions.load(name, **options)
    together = model.run_many(inputs)
    alone = [model.run(given, engine="reference") for given in inputs]
    assert [facts(result) for result in together] == [facts(result) for result in alone]
    assert {result.engine for result in together} == {"dense"}
    register = together[-1].loaded.registers[0]
    assert together[-1][register] == alone[-1][register]


def test_a_long_input_is_run_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    model = constructions.load("istree", n=6)
    wanted = [facts(result) for result in model.run_many(GRAPHS)]
    monkeypatch.setattr(many, "LONGEST", 26)  # the tours of trees are longer
    monkeypatch.setattr(many, "CHUNK", 2)
    results = model.run_many(GRAPHS)
    assert [facts(result) for result in results] == wanted
    assert {result.engine for result in results} == {"dense", "reference"}


def test_a_request_of_no_tokens_gets_none() -> None:
    request = replace(constructions.load("recall", n=9).run("5 2 7 9 ? 7").run.request, limit=0)
    (run,) = many.run_together([request])
    assert run.tokens.tolist() == request.run(find_engine("reference")).tokens.tolist() == []


def test_an_engine_of_ones_choice_runs_each() -> None:
    model = constructions.load("recall", n=9)
    results = model.run_many(["5 2 7 9 ? 7", "1 1 ? 1"], engine="incremental", progress=True)
    assert [(result.answer, result.engine) for result in results] == [("9", "incremental"), ("1", "incremental")]
    assert model.run_many([]) == []


def test_an_engine_that_is_not_there_is_said_before_any_work() -> None:
    model = constructions.load("recall", n=9)
    for engine, device in (("none", None), ("auto", "nope"), ("incremental", "cpu")):
        with pytest.raises(ValueError, match=r"engine|device"):
            model.run_many([], engine=engine, device=device)


def test_what_is_no_input_is_named_by_its_place() -> None:
    with pytest.raises(ValueError, match=r"^input 1: edge 2-2 is a self-loop"):
        constructions.load("istree", n=4).run_many([[(1, 2)], [(2, 2)]])


def test_models_and_results_survive_pickling() -> None:
    for name, options, inputs in MODELS[:2] + MODELS[4:5] + MODELS[-2:]:
        model = constructions.load(name, **options)
        results = pickle.loads(pickle.dumps(model.run_many(inputs[:3])))
        alone = [model.run(given) for given in inputs[:3]]
        assert [facts(result) for result in results] == [facts(result) for result in alone]
        again = pickle.loads(pickle.dumps(model))
        assert facts(again.run(inputs[0])) == facts(alone[0])
        if model.n is not None:
            assert results[0].loaded is results[1].loaded  # it is wired once


def test_numbers_of_numpy_and_graphs_of_networkx_are_taken() -> None:
    model = constructions.load("istree", n=np.int64(4))
    plain = model.run([(1, 2), (2, 3), (2, 4)])
    assert facts(model.run(np.array([[1, 2], [2, 3], [2, 4]]))) == facts(plain)
    graph = networkx.Graph([(1, 2), (2, 3), (2, 4)])
    assert facts(model.run(graph)) == facts(plain)
    graph.add_node(5)
    assert constructions.load("istree").run(graph).answer == "NO"
    with pytest.raises(ValueError, match="vertex 0 of edge 0-1 is not in 1 … 3"):
        constructions.load("istree").run(networkx.path_graph(3))


class Table:
    """What a pandas table offers of itself."""

    def itertuples(self, index: bool) -> Any:
        assert not index
        return iter([(np.int64(1), np.int64(2)), (np.int64(2), np.int64(3))])


def test_a_table_of_edges_is_a_graph() -> None:
    assert constructions.load("istree").run(Table()).answer == "YES"


class Client:
    """What a cluster's client offers, in this process; what it is given and gives back goes through pickle."""

    def submit(self, function: Any, *given: Any, pure: bool) -> Any:
        assert not pure
        function, given = pickle.loads(pickle.dumps((function, given)))
        return Future(lambda: pickle.loads(pickle.dumps(function(*given))))


class Future:
    def __init__(self, result: Any) -> None:
        self.result = result


def test_a_cluster_takes_the_same_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constructions.api, "SHARE", 2)
    model = constructions.load("istree", n=6)
    spread = model.run_many(GRAPHS, client=Client())
    assert [facts(result) for result in spread] == [facts(result) for result in model.run_many(GRAPHS)]
    with pytest.raises(ValueError, match=r"^input 3: edge 2-2 is a self-loop"):
        model.run_many([*GRAPHS[:3], [(2, 2)]], client=Client())
