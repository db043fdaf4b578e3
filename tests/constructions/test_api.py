"""The constructions from Python: the same runs as the commands', registers and attention as the reference engine has them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import constructions
from constructions.engines.reference import ReferenceEngine
from constructions.models.door import find_door
from constructions.models.registry import find_constructions
from constructions.turing.simulator import simulate
from tests.constructions.commands import command

ROOT = Path(__file__).parents[2]
RUNS: list[tuple[tuple[str, ...], dict[str, Any], Any, str]] = [
    (("istree",), {}, [(1, 2), (2, 3)], "--edges 1-2,2-3"),
    (("istree",), {"tokens": "eos", "n": 4}, "1-2,2-3,3-1", "--tokens eos --n 4 --edges 1-2,2-3,3-1"),
    (("istree", "rag"), {}, ((1, 2),), "--model rag --edges 1-2"),
    (("istree", "hybrid"), {"sequential": True}, "1-2", "--model hybrid --discipline sequential --edges 1-2"),
    (("recall",), {}, ([5, 2, 7], [2]), "5_2_7_?_2"),
    (("ngram", "rag"), {}, "5 2 7 ? 5 2", "--model rag 5_2_7_?_5_2"),
    (("counting", "hybrid"), {"p": 45}, "5 2 5 ? 5 1", "--model hybrid --precision 45 5_2_5_?_5_1"),
    (("index",), {"n": 9}, "5 2 7 ? 2", "--n 9 5_2_7_?_2"),
    (("turing",), {"machine": "bb2", "steps": 9}, None, "--machine bb2 --steps 9"),
    (("turing", "rag"), {"machine": "1RB1LB_1LA1RZ", "steps": 3}, 3, "--model rag --machine 1RB1LB_1LA1RZ --steps 3"),
    (("turing", "cot"), {"machine": "bb2", "steps": 9, "cells": 6}, 9, "--model cot --machine bb2 --steps 9 --cells 6"),
    (("simulate",), {"rnn": "parity"}, "1", "--rnn parity 1"),
]


@pytest.mark.parametrize(("names", "options", "given", "argv"), RUNS, ids=lambda value: str(value)[:40])
def test_a_run_is_the_commands(
    names: tuple[str, ...], options: dict[str, Any], given: Any, argv: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = "incremental"
    result = constructions.load(*names, **options).run(given, engine=engine)
    words = [word.replace("_", " ") if "?" in word else word for word in argv.split()]
    code = command(names[0])([*words, "--engine", engine, "--json"])
    assert code == 0
    document = json.loads(capsys.readouterr().out)
    assert result.document == document
    assert result.complaint == ""
    assert result.tokens[: len(result.input)] == document["input"]
    for name, value in document.items():
        assert getattr(result, name) == value, name


def test_every_construction_can_be_loaded() -> None:
    for item in find_constructions():
        name, model = item.names
        door = find_door(name)
        assert model in door.models
        options = {"machine": "bb2"} if name == "turing" else {}
        solver, _ = door.open(model, constructions.api.Discipline.FUSED, options)
        assert solver.names == item.names


@pytest.mark.parametrize("engine", ["reference", "incremental"])
def test_registers_and_attention_are_those_of_the_reference_engine(engine: str) -> None:
    model = constructions.load("istree", n=3)
    result = model.run([(1, 2), (3, 2)], engine=engine)
    assert result.engine == engine
    wired = model.wired
    reference, quantum = ReferenceEngine(wired.model, wired.arithmetic), wired.arithmetic.format.quantum
    steps = [reference.append(token) for token in wired.tokens(result.tokens[:-1])]
    for place, name in enumerate(model.registers):
        assert result[name] == tuple(step.registers[-1][place] * quantum for step in steps)
        assert result.register(name, 2) == tuple(step.registers[4][place] * quantum for step in steps)
        assert result.array(name, 0).tolist() == [float(step.registers[0][place] * quantum) for step in steps]
    for number, (block, name) in enumerate(result.heads()):
        weights = result.attention(block, name)
        assert weights.shape == (len(steps),) * 2
        index = number - sum(other < block for other, _ in result.heads())
        assert np.array_equal(weights, result.attention(block, index + 1))
        for row, step in enumerate(steps):
            pairs = dict(step.attention[block - 1][index])
            wanted = [float(pairs.get(k + 1, 0) * quantum) for k in range(len(steps))]
            assert weights[row].tolist() == wanted


def test_without_n_the_model_is_wired_for_its_input() -> None:
    model = constructions.load("istree")
    assert [model.run(edges).answer for edges in ("1-2", "1-2,2-3,3-1", [(1, 4)])] == ["YES", "NO", "NO"]
    assert [constructions.load("ngram").run(text).answer for text in ("3 1 ? 3", "3 1 4 ? 3 1")] == ["1", "4"]
    with pytest.raises(ValueError, match="without a size"):
        _ = model.wired


def test_a_finding_is_refuted() -> None:
    result = constructions.load("istree", findings="layer-7").run("1-2,4-1,1-3,1-5,6-1")
    assert result.complaint.startswith("the model says NO")
    assert result.document["printed"] == ["layer-7"]
    assert "refuted" in repr(result)
    printed = constructions.load("recall", variant="printed", n=4)
    assert printed.wired.variant == "printed"


@pytest.mark.parametrize(
    ("names", "options", "given", "message"),
    [
        (("nothing",), {}, None, "there is no construction 'nothing'; there are counting, index, istree"),
        (("models.door",), {}, None, "there is no construction"),
        (("istree", "cot"), {}, None, "istree has no model 'cot'; it has transformer, rag, hybrid"),
        (("istree",), {"machine": "bb2"}, None, "istree has no option 'machine'; it has n, tokens"),
        (("istree", "rag"), {"tokens": "eos"}, None, "istree as rag has no option 'tokens'"),
        (
            ("istree",),
            {"n": 4, "p": 7},
            None,
            "p = 7 is too small for n = 4 (fused); the least p it is wired for is 39",
        ),
        (("istree",), {"n": 0}, None, "n = 0|at least 1"),
        (("istree",), {"n": "4"}, None, "n is a whole number, not '4'"),
        (("recall",), {"n": 4.0}, None, "n is a whole number, not 4.0"),
        (("istree",), {"n": 4, "p": 39.5}, None, "p is a whole number, not 39.5"),
        (("istree",), {"variant": "best"}, None, "istree, transformer, has no variant best; it has repaired, printed"),
        (("istree",), {"findings": "layer-8"}, "1-2", "unknown finding 'layer-8'; known: "),
        (("istree",), {"variant": "printed", "findings": "layer-7"}, None, "the printed one has all of them"),
        (("istree",), {"n": 4}, "1-9", "vertex 9 of edge 1-9 is not in 1 … 4"),
        (("istree",), {}, 5, "a graph is a list of edges"),
        (("istree",), {}, [(1, 2, 3)], "an edge is a pair of vertices"),
        (("recall",), {}, [5], "a question is text such as '5 2 5 9 ? 5'"),
        (("recall",), {"n": 4}, "5 2 ? 5", "5 is above 4"),
        (("recall",), {"query_length": 2}, None, "query_length = 2: the query of recall is one key"),
        (("turing",), {}, None, "turing needs a machine"),
        (("turing",), {"machine": "bb99"}, None, "no machine of the library"),
        (("turing",), {"machine": "bb2", "steps": 5}, 6, "6 steps; this model is wired for 5 at most"),
        (("turing", "rag"), {"machine": "bb2", "cells": 6}, None, "turing as rag has no option 'cells'"),
        ((None,), {}, None, "a construction is named by a text, a path or a program, not None"),
        ((3,), {}, None, "a construction is named by a text, a path or a program, not 3"),
        (("istree",), {"machine": "bb2"}, None, "and all have model, variant, findings, p, sequential"),
        (("istree",), {"n": True}, None, "n is a whole number, not True"),
        (("istree",), {"n": 4, "sequential": "no"}, None, "sequential is True or False, not 'no'"),
        (("istree",), {"findings": 3}, None, "findings are names of findings, not 3"),
        (("turing",), {"machine": 3}, None, "a machine is a text as 1RB1LB_1LA1RZ, or a Machine, not 3"),
        (("turing",), {"machine": "bb2", "tape": 3}, None, "a tape is a text of symbols as 0110, not 3"),
        (("turing",), {"machine": "bb2"}, True, "a run is asked for by its number of steps, not by True"),
        (("simulate",), {"rnn": "lstm"}, None, "there is no RNN 'lstm'; there are shift, sum, parity"),
        (("simulate",), {"length": 2}, "1 0 1", "the prompt has 3 words; this model is wired for 2"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_said_in_one_line(
    names: tuple[str, ...], options: dict[str, Any], given: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message).replace(r"\|", "|")) as excinfo:
        constructions.load(*names, **options).run(given)
    assert "\n" not in str(excinfo.value)


@pytest.mark.parametrize("model", [None, "rag", "cot"])
@pytest.mark.parametrize(("machine", "tape"), [("1RB1LB_1LA1RZ", ""), ("1RB---_0LB1LA", "101"), ("bb4", "")])
def test_fewer_steps_than_wired_are_a_run(model: str | None, machine: str, tape: str) -> None:
    """The usual model was wired for 1000 steps, and refused 20. What is said after t steps is what the machine does."""
    loaded = constructions.load("turing", model, machine=machine, tape=tape, steps=40)
    for steps in (0, 1, 2, 5, 39, 40):
        result = loaded.run(steps)
        configuration = simulate(loaded.solver.machine, tape, steps)
        assert result.complaint == ""
        assert (result.steps, result.state, result.head) == (
            configuration.steps,
            configuration.state,
            configuration.head,
        )
        assert result.nonblank == configuration.nonblank
        assert [r.steps for r in loaded.run_many([steps])] == [configuration.steps]


def test_unknown_names_of_a_result_are_said() -> None:
    result = constructions.load("istree").run("1-2")
    for block in ("6", None, 1.0):
        with pytest.raises(IndexError, match=f"there is no block {block!r}; there are blocks 1 … 9"):
            result.attention(block, "father")
    with pytest.raises(KeyError, match="no register 'mother'; there are vertex"):
        _ = result["mother"]
    with pytest.raises(KeyError, match=r"block 6 has no head 'mother'; it has head 1 \(father\)"):
        result.attention(6, "mother")
    with pytest.raises(KeyError, match="block 1 has no head 1; it has none"):
        result.attention(1)
    with pytest.raises(KeyError, match=r"block 4 has no head 0; it has head 1 \(@2\), head 2 \(@3\)"):
        result.attention(4, 0)
    for wrong in (lambda: result.attention(10), lambda: result.register("father", 10)):
        with pytest.raises(IndexError, match="no block 10; there are blocks 1 … 9"):
            wrong()
    with pytest.raises(AttributeError, match="a result of istree has no 'halted'"):
        _ = result.halted
    with pytest.raises(AttributeError, match="no attribute 'unload'"):
        _ = constructions.unload  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "option", "size"),
    [
        ("istree", "n", 10**30),
        ("recall", "n", 1 << 21),
        ("recall", "query_length", 10**9),
        ("ngram", "query_length", 1025),
        ("turing", "steps", 10**12),
        ("simulate", "n", 10**9),
    ],
)
def test_a_size_beyond_memory_is_refused_before_anything_is_wired(name: str, option: str, size: int) -> None:
    with pytest.raises(ValueError, match=rf"^{option} = [\d,]+ is above [\d,]+, the largest that is wired here$"):
        constructions.load(name, **{option: size})


@pytest.mark.parametrize(("name", "given"), [("istree", [(10**7, 1)]), ("recall", ([5, 10**8], [5]))])
def test_an_input_that_needs_a_size_beyond_memory_is_refused(name: str, given: object) -> None:
    """Where the model is loaded without a size, the input says it."""
    with pytest.raises(ValueError, match=r"^n = 100?,000,000 is above 1,048,576, the largest that is wired here$"):
        constructions.load(name).run(given)


@pytest.mark.parametrize(
    ("option", "size", "says"),
    [
        ("n", 1 << 16609, "n = a number of 16,610 bits is above 1,048,576, the largest that is wired here"),
        ("n", -1 << 16609, "n = a number of 16,610 bits is below 0"),
        ("p", 10**9 + 1, "p = 1,000,000,001 is not in 5 … 1,023, the bits that are wired here"),
        ("p", -1 << 16609, "p = a number of 16,610 bits is not in 5 … 1,023, the bits that are wired here"),
    ],
    ids=["large n", "small n", "large p", "small p"],
)
def test_a_number_of_any_length_is_refused_in_one_line(option: str, size: int, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}$"):
        constructions.load("istree", **{"n": 4, option: size})


def test_a_notebook_shows_tables() -> None:
    model = constructions.load("turing", machine="bb2", steps=9)
    assert "<th>machine</th><td>1RB1LB_1LA1RZ</td>" in model._repr_html_()
    shown = model.run()._repr_html_()
    assert "<th>answer</th><td>HALT</td>" in shown
    assert "&lt;turing model=" in shown
    assert re.search(r"… \d+ more", shown)
    assert Fraction(1) in model.run()["one"]


def test_the_package_itself_imports_nothing() -> None:
    code = """if True:
        import sys
        before = set(sys.modules)
        import constructions
        loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
        assert loaded <= {"__future__", "constructions", "importlib", "types", "warnings", "_weakrefset", "_warnings"}, loaded
        assert [name for name in sys.modules if name.startswith("constructions")] == ["constructions"]
        assert {"load", "Result", "LoadedModel"} <= set(dir(constructions))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_the_stub_declares_what_the_package_has() -> None:
    stub = (ROOT / "constructions" / "__init__.pyi").read_text(encoding="utf-8")
    assert re.findall(r"^from constructions\.api import (\w+) as \1$", stub, re.MULTILINE) == constructions.__all__
    assert constructions.load is constructions.api.load
    assert re.fullmatch(r"\d+\.\d+\.\d+", constructions.__version__)
