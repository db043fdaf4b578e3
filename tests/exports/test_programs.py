"""Exports as files: written by command and from Python, run without this project, refused where they were not tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import constructions
from constructions.exports import writing
from constructions.exports.kinds import KINDS
from constructions.exports.limits import TRIED, ExportError, Tried, float_formats, longest_sequence
from constructions.exports.writing import require, sidecar_of
from constructions.istree.__main__ import main as istree
from constructions.retrieval.task import Question
from constructions.turing.__main__ import main as turing
from tests.exports.conftest import Ask, snippet
from tests.exports.held_out import MANY, asked, entries
from verify.certify import main as certify

RUN = """
import json
import torch
from torch.nn.utils.rnn import pad_sequence
torch.set_grad_enabled(False)
answer = []
for path, asked in given:
    files = {"sidecar.json": ""}
    model = torch.export.load(path, extra_files=files).module()
    sidecar = json.loads(files["sidecar.json"])
    found = [model(torch.tensor([tokens])).argmax(-1)[0].tolist() for tokens in asked]
    both = model(pad_sequence([torch.tensor(tokens) for tokens in asked[:2]], batch_first=True))
    assert both.shape[::2] == (2, len(sidecar["vocabulary"]))
    batch = both.argmax(-1).tolist()
    longest = sidecar["export"]["longest_sequence"]
    model(torch.zeros(1, longest, dtype=torch.int64))
    try:
        model(torch.zeros(1, longest + 1, dtype=torch.int64))
    except Exception as error:
        refused = str(error)
    answer.append({"found": found + batch, "dtype": str(both.dtype), "refused": refused, "sidecar": sidecar})
"""


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries())
def test_a_torch_program_runs_without_this_project(
    name: str, model: str, variant: str, float_name: str, ask: Ask, tmp_path: Path
) -> None:
    models, given = asked(name, model, variant, TRIED[name, model, variant][float_name].n, MANY), []
    for i, (loaded, cases) in enumerate(models):
        path = tmp_path / f"{i}.pt2"
        assert loaded.export("torch", path, float_name=float_name) == (path, sidecar_of(path))
        given.append((str(path), [case.tokens for case in cases]))
    for (path, _), (loaded, cases), answer in zip(given, models, ask("torch", RUN, tmp_path, given), strict=True):
        assert all(case.agrees(actual) for case, actual in zip([*cases, *cases[:2]], answer["found"], strict=True))
        longest, sidecar = longest_sequence(loaded.wired, model, float_name), answer["sidecar"]
        assert answer["dtype"] == f"torch.{float_name}"
        assert f"<= {longest}" in answer["refused"]
        assert sidecar == json.loads(sidecar_of(Path(path)).read_text(encoding="utf-8"))
        about = sidecar["export"]
        assert (about["longest_sequence"], about["float"], about["kind"]) == (longest, float_name, "torch")
        assert sidecar["n"] == loaded.n


@pytest.mark.exports
def test_the_page_runs_a_program(ask: Ask, tmp_path: Path) -> None:
    constructions.load("istree", n=4).export("torch", tmp_path / "program.pt2")
    assert ask("torch", snippet("torch.export.load") + "answer = said", tmp_path) == "YES"


def test_what_a_search_finds_is_not_asked_of_an_export() -> None:
    from constructions.exports.self_test import try_now

    model = constructions.load("trigram_search", n=4)
    requests = [*model.solver.examples(model.wired)]
    assert try_now(model.wired, requests, "float64")["inputs"] == len(requests)


def written(export: writing.Export, path: Path) -> None:
    """Instead of a writer, which takes long."""
    path.write_text(export.text)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    from constructions.exports import program

    monkeypatch.setattr(program, "write", written)


@pytest.mark.usefixtures("quick")
def test_the_command_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.pt2"
    assert istree(["--n", "4", "--export", "torch", str(path), "--float", "float32"]) == 0
    assert capsys.readouterr().err.endswith(f"wrote {path} and {tmp_path / 'a.pt2.json'}\n")
    assert json.loads(path.read_text())["export"]["float"] == "float32"
    assert istree(["--edges", "1-2", "--export", "torch", str(path), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "YES"
    assert (
        turing(
            ["--machine", "bb2", "--steps", "9", "--model", "rag", "--export", "torch", str(path), "--force", "--json"]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "not in the export: the regular-expression search that responds to this model" in said.err
    assert json.loads(said.out)["written"] == [str(path), str(sidecar_of(path))]
    assert json.loads(path.read_text())["export"]["not_carried"]


@pytest.mark.usefixtures("quick")
def test_files_of_one_name_have_a_sidecar_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """FILE.safetensors keeps FILE.json, which its certificate is made of."""
    dump, program = tmp_path / "a.safetensors", tmp_path / "a.pt2"
    assert istree(["--n", "4", "--dump-weights", str(dump), "--export", "torch", str(program)]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {"a.safetensors", "a.json", "a.pt2", "a.pt2.json"}
    assert len({sidecar_of(tmp_path / f"a{kind.suffix}") for kind in KINDS.values() if kind.suffix}) == 2
    assert certify([str(dump)]) == 0
    of_dump, of_program = (json.loads(file.read_text()) for file in (tmp_path / "a.json", tmp_path / "a.pt2.json"))
    about = of_program.pop("export")
    assert of_dump == of_program
    assert about["most_written"] == 9  # a tour of 2n − 1 vertices, and what may close it


@pytest.mark.usefixtures("quick")
def test_a_turing_export_says_its_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.pt2"
    assert turing(["--machine", "bb3", "--tape", "101", "--steps", "20", "--export", "torch", str(path)]) == 0
    sidecar = json.loads(path.read_text())
    assert sidecar["domain"]["size"] == {"steps": 20}
    assert "first 20 steps" in sidecar["domain"]["sentence"]
    assert "--steps" in sidecar["domain"]["sentence"]
    assert sidecar["export"]["most_written"] == 101  # five words a step, and HALT or a cell


@pytest.mark.usefixtures("quick")
def test_who_searches_is_asked(tmp_path: Path) -> None:
    """After a search the model waits for its result, so that is where a run has to stop."""
    stops = []
    for model in ("rag", "hybrid"):
        loaded = constructions.load("index", model, n=4)
        requests = [loaded.solver.request(loaded.wired, Question((2, 1), (1,)))]
        seen: list[writing.Export] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("constructions.exports.program.write", lambda export, path, seen=seen: seen.append(export))
            with pytest.raises(OSError, match="No such file"):  # nothing was written that could be moved into place
                writing.write("torch", tmp_path / "a.pt2", loaded.wired, loaded.solver, {}, requests, "float64", 9)
        stops.append([loaded.wired.vocabulary[token] for token in seen[0].stop])
    assert stops == [["<EndSearch>"], []]


def test_folders_are_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "find_spec", lambda name: object())
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "config.json").write_text("mine")
    require("hf", tmp_path / "fresh")
    with pytest.raises(ExportError, match="hf writes a folder, and this is a file"):
        require("hf", tmp_path / "file", force=True)
    with pytest.raises(ExportError, match="this folder is not empty"):
        require("hf", tmp_path / "full")
    require("hf", tmp_path / "full", force=True)


@pytest.mark.parametrize("kind", ["onnx", "transformerlens", "hf"])
def test_a_missing_package_is_one_line(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "find_spec", lambda name: None)
    model = constructions.load("index", n=3)
    with pytest.raises(ExportError, match=rf"export {kind} needs \w+.*pip install '.*\[export\]'"):
        model.export(kind, tmp_path / f"a{KINDS[kind].suffix}")


def test_what_was_tried_is_in_every_sidecar() -> None:
    def said(model: constructions.LoadedModel) -> Any:
        return float_formats(model.wired, model.solver.construction.model)

    small = constructions.load("istree", n=4)
    assert set(said(small)) == {"float64", "float32"}
    assert said(small)["float64"].startswith("without any R(…), the same next tokens on every input tried, of up to 29")
    large = said(constructions.load("turing", "cot", machine="bb2", steps=9))
    assert (
        large["float64"]
        == "turing (cot) keeps its tape in numbers of p = 83 bits, float64 holds 53, so it is not exported"
    )


def test_the_table_is_checked_before_all_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "constructions.exports.limits.TRIED", {("index", "rag", "repaired"): {"float64": Tried(5, 99, 9)}}
    )
    with pytest.raises(ExportError, match="no size of index \\(transformer\\) is known"):
        constructions.load("index", n=3).export("torch", tmp_path / "a.pt2")
    assert longest_sequence(constructions.load("index", "rag", n=5).wired, "rag", "float64") == 9
