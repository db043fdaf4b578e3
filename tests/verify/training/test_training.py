"""The stored figures of training: each has its row, small ones are measured again, and the ledger shows them and no more."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from constructions.exports.weights import tensors
from verify.framework import ledger
from verify.framework.claim import Measured, Row, Verdict
from verify.training import cells, descent, learning, stored, wired
from verify.training.__main__ import draw, main, show
from verify.training.cells import TrainingCell
from verify.training.texts import NO, YES, Mode, TreeTask

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
STORED: dict[str, Any] = json.loads((DOCS / "training.json").read_text(encoding="utf-8"))
CLAIMS = (
    "6/istree-alone",
    "6/istree-chain",
    "6/istree-search",
    "6/descent-lean-istree",
    "6/descent-associative-recall",
)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As the command measures: the order of float sums depends on it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def rows_of(part: str, **about: Any) -> list[Mapping[str, Any]]:
    return [row for row in STORED[part] if about.items() <= row.items()]


def test_each_job_has_one_row() -> None:
    assert stored.read() == STORED
    wanted = Counter(json.dumps(job.about, sort_keys=True) for job in stored.jobs())
    measured = {"right", "right_before", "right_after", "right_rounded", "moved"}
    kept = [{name: row[name] for name in row.keys() - measured} for part in stored.PARTS for row in STORED[part]]
    assert Counter(json.dumps(row, sort_keys=True) for row in kept) == wanted
    assert set(wanted.values()) == {1}


def test_a_document_with_other_settings_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cells.SETTINGS, "batch", 33)
    with pytest.raises(ValueError, match="made with other settings"):
        stored.read()
    monkeypatch.undo()
    path = tmp_path / "training.json"
    path.write_text(json.dumps(STORED | {"settings": "0" * 64}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"training\.json was made with other settings"):
        stored.read(path)


def test_the_smallest_cell_is_as_told_again() -> None:
    cell = TrainingCell("RNN", Mode.CHAIN, 4)
    told = [row["right"] for row in rows_of("trained", **cell.about)]
    assert min(told) > 0.9  # so that chance, one half, is outside
    assert min(told) <= learning.accuracy(cell, 0) <= max(told)


def test_an_untrained_cell_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = TrainingCell("RNN", Mode.CHAIN, 4)
    monkeypatch.setitem(cells.STEPS, Mode.CHAIN, {4: 1})
    assert learning.accuracy(cell, 0) < min(row["right"] for row in rows_of("trained", **cell.about))


@pytest.mark.parametrize(("mode", "steps"), [(Mode.CHAIN, 60), (Mode.SEARCH, 20), (Mode.PLAIN, 10)])
def test_a_score_is_that_of_decoding_from_the_prompt(mode: Mode, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores read right texts first, and decode from the first mistake on. Here nothing but prompts is read."""
    monkeypatch.setitem(cells.STEPS, mode, {4: steps})
    monkeypatch.setattr(learning, "ASKED", 30)
    cell, task = TrainingCell("RNN", mode, 4), TreeTask(4, mode)
    model = learning.trained(cell, task, 1)
    generator, score = random.Random(5), 0.0
    for graph in (task.draw(generator) for _ in range(30)):
        with torch.no_grad():
            said = learning.decoded(model, task, task.prompt(graph))
        score += {True: 1.0, False: 0.0}[said == task.reply(graph)[-1]] if said in (YES, NO) else 0.5
    assert learning.judged(model, task, random.Random(5)) == score / 30
    assert 0 < score < 30  # or mistakes were not seen


def test_results_are_read_and_not_learned() -> None:
    task = TreeTask(4, Mode.SEARCH)
    graph = task.draw(random.Random(0))
    tokens, targets = learning.batch(task, [(task.prompt(graph), task.reply(graph))])
    written = (targets != cells.IGNORED)[0].tolist()
    assert written == ([False] * len(task.prompt(graph)) + task.is_written(task.reply(graph)))[1:]
    told = tokens[0, 1:].tolist()
    assert all(target in (cells.IGNORED, word) for target, word in zip(targets[0].tolist(), told, strict=False))


def test_wired_weights_in_float64_answer_as_the_engine() -> None:
    for name, subject in wired.SUBJECTS.items():
        model = subject.load(subject.formats[0])
        asked = descent.NextWordTexts.draw(model, subject, 20, random.Random(3))
        weights = {key: torch.from_numpy(array) for key, array in tensors(model.wired.model).items()}
        assert asked.right(weights) == asked.right_rounded(model, weights) == 1, name
        weights["unembed"] = -weights["unembed"]
        assert asked.right(weights) == asked.right_rounded(model, weights) == 0, name


@pytest.mark.parametrize("name", ["small-steps", "as-wired"])
def test_a_descent_ends_as_told(name: str) -> None:
    """small-steps stays, and as-wired leaves in float64. How far it goes then differs between processors, as float64 sums do."""
    (told,) = rows_of("wired", subject="lean-IsTree", p=15, descent=name, seed=0)
    chosen = next(one for one in wired.DESCENTS if one.name == name)
    again = descent.measure("lean-IsTree", 15, chosen, 0)
    assert (told["right_after"] == 1) == (again["right_after"] == 1) == (name == "small-steps")
    if name == "small-steps":
        assert told["right_rounded"] == again["right_rounded"] == 1
        assert again["moved"] == pytest.approx(told["moved"], rel=0.1)
        assert again["moved"] < 0.5  # quanta, so each weight rounds to what it was


def test_rounding_leads_back_what_moved_by_less_than_half_a_quantum() -> None:
    subject = wired.SUBJECTS["lean-IsTree"]
    model = subject.load(15)
    asked = descent.NextWordTexts.draw(model, subject, 20, random.Random(3))
    signs = torch.Generator().manual_seed(0)
    quantum = float(model.wired.arithmetic.format.quantum)

    def right_after(quanta: float) -> float:
        weights = {key: torch.from_numpy(array) for key, array in tensors(model.wired.model).items()}
        moved = {
            key: w + quanta * quantum * (2 * torch.randint(2, w.shape, generator=signs) - 1)
            for key, w in weights.items()
        }
        return asked.right_rounded(model, moved)

    assert right_after(0.49) == 1
    assert right_after(0.51) < 1


def test_the_least_p_at_which_a_descent_leaves() -> None:
    rows = [{"p": 21, "x": 0.5}, {"p": 15, "x": 1.0}, {"p": 17, "x": 0.99}]
    assert wired.leaves_at(rows, "x") == 17
    assert wired.leaves_at(rows[1:2], "x") is None


def test_the_ledger_has_these_numbers_and_trains_nothing(tmp_path: Path) -> None:
    """By a run of the claims in which no model can be made."""
    blocked = "import verify.training.models as m; m.LanguageModel.__init__ = None; import pytest, sys"
    blocked += "; sys.exit(pytest.main(sys.argv[1:]))"
    argv = [
        "verify/claims/experiments.py",
        "-q",
        "-W",
        "ignore",
        "-p",
        "no:cacheprovider",
        "--ledger",
        str(tmp_path / "a.json"),
    ]
    ran = subprocess.run([sys.executable, "-c", blocked, *argv], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = {row.claim.id: row for row in ledger.read(tmp_path / "a.json")}
    assert {*rows} == {*CLAIMS}
    for row in rows.values():
        assert (row.verdict, row.as_expected, row.witness) == (Verdict.MEASURED, True, None)
        assert all(isinstance(part, Measured) and part.settings == STORED["settings"] for part in row.evidence)
        assert all(part.command.startswith("python -m verify.training --only ") for part in measured(row))
    for cell in cells.cells():
        low, middle, high = sorted(row["right"] for row in rows_of("trained", **cell.about))
        (part,) = [part for row in rows.values() for part in measured(row) if part.command.endswith(f" {cell.name}")]
        assert (part.value, part.spread, part.runs) == (f"{middle:.3f}", f"{low:.3f} … {high:.3f}", 3)
        assert part.sizes == ((cell.n, cell.n),)
    left = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["not_judged"]
    assert [claim["id"] for claim in left] == ["6/hotpotqa", "6/hotpotqa-ordered", "6/istree", "B/training"]


def measured(row: Row) -> list[Measured]:
    return [part for part in row.evidence if isinstance(part, Measured)]


def test_the_stored_figure_is_of_the_stored_data(tmp_path: Path) -> None:
    """The same points; matplotlib's text may differ by version."""
    pytest.importorskip("matplotlib")
    draw(STORED, tmp_path / "training.svg")
    drawn, kept = (
        re.findall(r'<use [^>]*x="([^"]*)" y="([^"]*)"', path.read_text())
        for path in (tmp_path / "training.svg", DOCS / "training.svg")
    )
    assert drawn == kept
    assert len(drawn) > len({(row["architecture"], row["mode"], row["n"]) for row in STORED["trained"]})


def test_the_page_says_what_is_stored() -> None:
    page, lines = (DOCS / "training.md").read_text(encoding="utf-8"), [*show(STORED)]
    cells_of_page = "\n".join(line for line in lines if "leaves" not in line)
    wired_of_page = "\n".join(line for line in lines if "leaves" in line)
    assert f"```text\n{cells_of_page}\n```" in page
    assert f"```text\n{wired_of_page}\n```" in page
    assert len(lines) == len([*cells.cells()]) + len(wired.SUBJECTS) * len(wired.DESCENTS)


def test_the_command_measures_what_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(cells.STEPS, Mode.PLAIN, dict.fromkeys(cells.SIZES, 2))
    monkeypatch.setattr(learning, "ASKED", 10)
    assert main(["--only", "RNN/plain/4", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["architecture"], row["n"], row["seed"]) for row in document["trained"]] == [
        ("RNN", 4, s) for s in (0, 1, 2)
    ]
    assert main(["--only", "RNN/plain/4"]) == 0
    assert re.fullmatch(r"RNN/plain/4 +0\.\d{3}  from 0\.\d{3} to 0\.\d{3}, 3 seeds\n", capsys.readouterr().out)
    assert main(["--write", str(tmp_path), "--only", "RNN"]) == 2


def test_a_run_that_was_cut_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are there are not measured again; with other settings all are."""
    pytest.importorskip("matplotlib")
    stored.write(tmp_path / "training.json", {**STORED, "wired": STORED["wired"][:-1]})
    again: list[stored.TrainingJob] = []

    def measure(job: stored.TrainingJob) -> dict[str, Any]:
        again.append(job)
        return {**job.about, **FIGURES}

    monkeypatch.setattr(stored.TrainingJob, "measure", measure)
    assert main(["--write", str(tmp_path)]) == 0
    assert [job.about for job in again] == [next(job.about for job in reversed([*stored.jobs()]))]
    assert stored.read(tmp_path / "training.json")["trained"] == STORED["trained"]
    again.clear()
    (tmp_path / "training.json").write_text(json.dumps(STORED | {"settings": ""}), encoding="utf-8")
    assert main(["--write", str(tmp_path)]) == 0
    assert len(again) == len([*stored.jobs()])


FIGURES = {"right": 0.5, "right_before": 1.0, "right_after": 1.0, "right_rounded": 1.0, "moved": 0.0}
