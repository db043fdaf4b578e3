"""`python -m constructions.turing`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from constructions.turing.__main__ import main
from constructions.turing.door import MODELS
from constructions.turing.library import find
from constructions.turing.machine import parse_standard
from constructions.turing.simulator import simulate

BB2 = "1RB1LB_1LA1RZ"
ours = pytest.mark.parametrize("model", ["rag", "hybrid"])
every = pytest.mark.parametrize("model", MODELS)


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(argv)
    said = capsys.readouterr()
    return code, said.out, said.err


@every
def test_a_run_in_json(capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, out, err = run(capsys, "--machine", BB2, "--model", model, "--steps", "10", "--json")
    document = json.loads(out)
    assert (code, err) == (0, f"engine: {document['engine']}\n")
    end = {"halted": True, "steps": 6, "state": "Z", "head": 0, "nonblank": 4, "tape": "1111"}
    assert {key: document[key] for key in end} == end
    assert (document["schema"], document["construction"], document["model"], document["n"]) == (1, "turing", model, 10)
    assert document["answer"] == "HALT"
    assert document["variant"] == "repaired"
    assert {"source", "engine", "precision_bits", "input", "chain_of_thought", "flags"} <= set(document)


@every
def test_a_run_that_does_not_halt(capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, out, _ = run(capsys, "--machine", BB2, "--tape", "1000", "--model", model, "--steps", "3", "--json")
    document = json.loads(out)
    expected = simulate(parse_standard(BB2), "1000", 3)
    assert code == 0
    assert (document["halted"], document["steps"], document["answer"]) == (False, 3, None)
    assert (document["state"], document["head"], document["tape"]) == (expected.state, expected.head, expected.tape)
    assert "still running" in run(capsys, "--machine", BB2, "--model", model, "--steps", "3")[1]


@every
def test_the_trace_is_of_the_words_that_were_written(capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, out, _ = run(capsys, "--machine", BB2, "--model", model, "--steps", "10", "--trace")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 8
    assert lines[0].split() == ["0", "A", "0", "0[0]0"]
    assert lines[6].split() == ["6", "Z", "1", "1[1]1"]
    assert lines[7].startswith("halted in state Z after 6 steps")


def test_a_library_machine_takes_its_words_and_its_rules_take_any(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--machine", "increment", "--tape", "2122")[0] == 0
    rules = str(find("increment").machine)
    assert run(capsys, "--machine", rules, "--tape", "1011")[0] == 0
    assert run(capsys, "--machine", "bb2", "--tape", "01")[0] == 0


def test_rules_may_begin_with_one_that_is_undefined(capsys: pytest.CaptureFixture[str]) -> None:
    assert "halted in state Z after 1 step" in run(capsys, "--machine", "---1RB_1LA1RZ")[1]


def test_a_table_of_a_simulator_says_what_it_was_read_as(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "increment.txt"
    path.write_text("0 0 0 r 0\n0 1 1 r 0\n0 _ _ l c\nc 1 0 l c\nc 0 1 l halt\nc _ 1 l halt\n")
    code, out, err = run(capsys, "--machine", str(path), "--tape", "1011", "--json")
    assert code == 0
    assert json.loads(out)["tape"].strip("0") == "2211"
    assert "read as 0LB1RA2RA_2LZ2LZ1LB: symbols _ → 0, 0 → 1, 1 → 2; states 0 → A, c → B, halt → Z" in err
    code, _, err = run(capsys, "--machine", str(path), "--tape", "12")
    assert (code, err.count("\n")) == (2, 1)
    assert "'2' at place 2 of the tape is not one of the text's symbols _ 0 1" in err


def test_names_files_and_standard_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "head on cell 0, 4 cells not blank, 5 on the tape" in run(capsys, "--machine", "increment")[1]
    assert "still running" not in run(capsys, "--machine", "increment", "--tape", "22")[1]
    path = tmp_path / "machine.txt"
    path.write_text("# two rules\nA 0 -> 1 R B\nB 0 -> ---\n", encoding="utf-8")
    assert "after 2 steps, head on cell 2, 2 cells not blank" in run(capsys, "--machine", str(path))[1]
    path.write_text("root:x:0 Say so", encoding="utf-8")
    code, _, err = run(capsys, "--machine", str(path))
    assert (code, err.count("\n")) == (2, 1)
    assert f"{path}: 'root:x:0' is not made of rules" in err


@pytest.mark.parametrize(
    "finding", [(m, f.id) for m in ("rag", "hybrid") for f in MODELS[m].construction.findings], ids=str
)
def test_what_is_printed_is_refuted(capsys: pytest.CaptureFixture[str], finding: tuple[str, str]) -> None:
    model, name = finding
    machine = {"first-write": "0LB---_1RA0LB", "own-record": "1LZ---_------"}
    tape = ("--tape", "1") if name == "prompt-characters" else ()
    argv = ("--machine", machine.get(name, "1LB---_0RB0LZ"), "--model", model, "--steps", "10", *tape)
    assert run(capsys, *argv)[0] == 0
    code, _, err = run(capsys, *argv, "--printed", name)
    assert code == 1
    assert "refuted" in err


@ours
def test_the_printed_variant_is_refuted(capsys: pytest.CaptureFixture[str], model: str) -> None:
    argv = ("--machine", "0LB---_1RA0LB", "--model", model, "--steps", "10", "--variant", "printed")
    code, _, err = run(capsys, *argv)
    assert code == 1
    assert "refuted" in err


@every
def test_weights_are_dumped(capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str) -> None:
    argv = ("--machine", BB2, "--steps", "6", "--model", model, "--dump-weights")
    code, out, _ = run(capsys, *argv)
    assert code == 0
    assert "\nblock 1: " in out
    path = tmp_path / "weights.npz"
    assert run(capsys, *argv, str(path))[0] == 0
    assert np.load(path)["embed.words"].shape[0] > 0
    document = json.loads(run(capsys, *argv, "--json")[1])
    assert (document["machine"], document["tape"], document["model"]) == (BB2, "", model)
    assert ("<EndSearch>" in document.get("search", "")) == (model == "rag")
    (example,) = document["examples"]
    right = [(a, b) for a, b in zip(example["expected_next"], example["tokens"][1:], strict=False) if a is not None]
    assert len(right) > 10
    assert all(a == b for a, b in right)
    assert all(document["meanings"][name] for name in document["registers"] if "-" not in name), document["meanings"]


def test_every_discipline(capsys: pytest.CaptureFixture[str]) -> None:
    for model in ("rag", "hybrid"):
        argv = ("--machine", "bb3", "--steps", "25", "--model", model)
        assert run(capsys, *argv, "--discipline", "sequential") == run(capsys, *argv, "--discipline", "fused")


def test_help_and_the_module_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "constructions.turing", "--help"], capture_output=True, text=True, check=True
    )
    for text in ("1RB1LB_1LA1RZ", "bb5", "own-record", "first-write", "examples:", "exit codes:"):
        assert text in done.stdout
