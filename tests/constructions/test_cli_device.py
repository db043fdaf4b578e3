"""`--device` on every command that runs weights, and `device` in Python: what torch computes on, and why not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import constructions
from constructions.engines import ENGINES, dense
from tests.constructions.commands import command

COMMANDS = {
    "istree": ("--edges", "1-2,3-2"),
    "recall": ("2 1 ? 2",),
    "turing": ("--machine", "bb2", "--steps", "3"),
    "simulate": ("1",),
}
NEEDS_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
WITHOUT_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")


def run(name: str, *options: str) -> int:
    return command(name)((*options, *COMMANDS[name]))


@WITHOUT_CUDA
@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_device_is_one_line(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert run(name, "--engine", "dense", "--device", "cuda") == 2
    captured = capsys.readouterr()
    why = "torch finds 0" if torch.version.cuda else "this torch is built without CUDA"
    said = f"error: --device: device 'cuda': no such CUDA device on this machine; {why}\n"
    assert captured.out == ""
    assert captured.err == f"python -m constructions.{name}: {said}"


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "dense"])
def test_other_engines_have_no_device(capsys: pytest.CaptureFixture[str], engine: str) -> None:
    assert run("istree", "--engine", engine, "--device", "cpu") == 2
    assert f"--device: device cpu does not apply to the engine {engine}; dense alone" in capsys.readouterr().err


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=NEEDS_CUDA)])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_answer_does_not_depend_on_it(capsys: pytest.CaptureFixture[str], name: str, device: str) -> None:
    assert run(name, "--engine", "reference") == 0
    expected = capsys.readouterr().out
    assert run(name, "--engine", "dense", "--device", device) == 0
    assert capsys.readouterr().out == expected


def test_the_engine_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told, compute = list[str](), dense.run

    def on_the_cpu(*arguments: Any, device: str, **options: Any) -> dense.DenseRun:
        told.append(device)
        return compute(*arguments, **options)

    monkeypatch.setattr(dense, "find_device", torch.device)
    monkeypatch.setattr(dense, "run", on_the_cpu)
    assert run("istree", "--engine", "dense", "--device", "cuda", "--json") == 0
    assert told == ["cuda"]  # the flags are counted by machine code
    result = constructions.load("istree", n=3).run([(1, 2), (3, 2)], engine="dense", device="cuda")
    assert result.answer == "YES"
    assert told == ["cuda"] * 2


def test_python_says_why_not() -> None:
    model = constructions.load("istree", n=2)
    with pytest.raises(ValueError, match="device cuda does not apply to the engine auto"):
        model.run([(1, 2)], device="cuda")
    with pytest.raises(ValueError, match="unknown device 'abacus': expected cpu or cuda"):
        model.run([(1, 2)], engine="dense", device="abacus")
