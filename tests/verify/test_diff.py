"""Two ledgers side by side: what is the same is silent, whatever differs is told by name, and noise of the clock is not."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from verify.diff import difference, main
from verify.framework import ledger
from verify.framework.claim import Claim, Exhaustive, Row, Sampled, Verdict, Witness
from verify.framework.options import Options

SAMPLED = Sampled("trees", "p = 33", 1200, 64, False)
WITNESS = Witness({"edge": [1, 2]}, {"found": 3}, "all edges", 64, None, "reference", 0)
HELD = [Row(Claim(f"C.{i}/repaired", "C", "It holds."), Verdict.HOLDS, (SAMPLED,), None, "", 4.0) for i in range(40)]
REFUTED = Row(
    Claim("D/printed", "D", "It holds.", "printed", expected=Verdict.REFUTED),
    Verdict.REFUTED,
    (Exhaustive("all edges", "", 3, 2, True),),
    WITNESS,
    "reference",
    4.0,
)
ROWS = [*HELD, REFUTED]


def compared(
    new: Sequence[Row], old: Sequence[Row] = ROWS, *, n_max: int = Options.n_max, times: bool = True
) -> list[tuple[Any, ...]]:
    """What is told as changed: claim, what, old, new."""
    actual = difference(old, new, asdict(Options()), asdict(Options(n_max)), times=times)
    assert actual.same is not bool(actual.changed or actual.came or actual.went or actual.options)
    return [(change.id, change.what, change.old, change.new) for change in actual.changed]


def changed(what: Callable[[Row], Row], claim: str = "C.7/repaired") -> list[Row]:
    return [what(row) if row.claim.id == claim else row for row in ROWS]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (lambda row: replace(row, verdict=Verdict.UNKNOWN), ("verdict", "holds", "unknown")),
        (lambda row: replace(row, note="late"), ("note", "", "late")),
        (lambda row: replace(row, claim=replace(row.claim, statement="No.")), ("statement", "It holds.", "No.")),
        (lambda row: replace(row, evidence=(replace(SAMPLED, cases=9),)), ("evidence: cases", 1200, 9)),
        (lambda row: replace(row, evidence=(replace(SAMPLED, n_max=65),)), ("evidence: n_max", 64, 65)),
        (
            lambda row: replace(row, evidence=(Exhaustive(**asdict(SAMPLED)),)),
            ("evidence: kind", "sampled", "exhaustive"),
        ),
        (lambda row: replace(row, seconds=9.0), ("seconds", 4.0, 9.0)),
    ],
)
def test_each_change_is_told(what: Callable[[Row], Row], told: tuple[object, ...]) -> None:
    assert compared(changed(what)) == [("C.7/repaired", *told)]


def test_a_witness_that_changes_comes_or_goes_is_told() -> None:
    other = replace(WITNESS, case={"edge": [2, 3]})
    assert compared(changed(lambda row: replace(row, witness=other), "D/printed")) == [
        ("D/printed", "witness: case", {"edge": [1, 2]}, {"edge": [2, 3]})
    ]
    of_another_run = replace(WITNESS, seed=1, n_max=65)
    assert not compared(changed(lambda row: replace(row, witness=of_another_run), "D/printed"))
    held = changed(lambda row: replace(row, verdict=Verdict.HOLDS, witness=None, evidence=(SAMPLED,)), "D/printed")
    names = [what for _, what, _, _ in compared(held)]
    assert names == ["verdict", "evidence", "evidence", "witness"]


def test_noise_is_not_told() -> None:
    assert not compared(ROWS)
    assert not compared([replace(row, seconds=row.seconds * 3) for row in ROWS])  # a slower machine
    assert not compared(changed(lambda row: replace(row, seconds=7.9)))
    quick = [replace(row, seconds=0.01) for row in ROWS]
    assert not compared([replace(row, seconds=0.9) for row in quick], quick)
    assert not compared(changed(lambda row: replace(row, seconds=99.0)), times=False)
    assert not compared(changed(lambda row: replace(row, seconds=99.0)), n_max=9)
    assert compared([replace(row, seconds=40.0) for row in ROWS[:3]], ROWS[:3])  # too few to know a pace


def test_what_came_and_went_and_the_options() -> None:
    actual = difference(ROWS[1:], ROWS[:-1], asdict(Options()), asdict(Options(seed=1)))
    assert [row.claim.id for row in actual.came] == ["C.0/repaired"]
    assert [row.claim.id for row in actual.went] == ["D/printed"]
    assert actual.options == {"seed": (0, 1)}
    assert actual.common == 39
    with pytest.raises(ValueError, match=r"C\.0/repaired stands there twice"):
        difference([*ROWS, ROWS[0]], ROWS, {}, {})


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    ledger.write(old, ROWS, Options())
    ledger.write(new, changed(lambda row: replace(row, verdict=Verdict.UNKNOWN))[1:], Options())
    assert main([str(old), str(old)]) == 0
    assert capsys.readouterr().out == "the same: 41 claims\n"
    assert main([str(old), str(new)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "C.0/repaired",
        "  − holds: samples",
        "C.7/repaired",
        "  verdict: holds → unknown",
        "0 came, 1 went, 1 changed of 40 that are in both",
    ]
    assert main([str(old), str(new), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [entry["id"] for entry in document["went"]] == ["C.0/repaired"]
    assert document["same"] is False
    for missing in (tmp_path / "none.json", tmp_path):
        assert main([str(old), str(missing)]) == 2
        said = capsys.readouterr()
        assert not said.out
        assert str(missing) in said.err
        assert said.err.count("\n") == 1


def test_a_ledger_may_be_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.write(old := tmp_path / "old.json", ROWS, Options())
    read_end, write_end = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(write_end, old.read_bytes()), os.close(write_end)))
    writer.start()
    assert main([str(old), f"/dev/fd/{read_end}"]) == 0
    writer.join()
    os.close(read_end)
    assert capsys.readouterr().out == "the same: 41 claims\n"
