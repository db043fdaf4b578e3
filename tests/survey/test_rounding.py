"""What checkers of rounding certify near the edges of their rules holds of each run, and each fault that is planted is found."""

from __future__ import annotations

import pytest

from tests.survey.edges import DRAWN, FAMILIES
from tests.survey.faults import ROUNDING_FAULTS, Fault
from tests.survey.rounding import CHECKERS, main, survey

CASES = 50  # of a family
FAULTS = [("bounds", *item) for item in ROUNDING_FAULTS.items()]


def test_nothing_is_certified_wrongly() -> None:
    assert survey([*FAMILIES], CASES, seed=1).findings == []


@pytest.mark.parametrize("family", FAMILIES)
def test_each_checker_certifies_some_of_a_family(family: str) -> None:
    certified = survey([family], CASES // 2, seed=0).certified
    assert {name for name in CHECKERS if certified[name]} == {*CHECKERS}


@pytest.mark.parametrize(("checker", "name", "fault"), FAULTS, ids=[f"{checker}-{name}" for checker, name, _ in FAULTS])
def test_a_planted_fault_is_found(checker: str, name: str, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.plant(monkeypatch)
    assert survey([fault.family], DRAWN, 0, {checker: CHECKERS[checker]}).findings


def test_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sums", "--cases", "20"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == ""
    ROUNDING_FAULTS["all_is_joined"].plant(monkeypatch)
    assert main(["positions", "--cases", "50"]) == 1
    assert "bounds: certified;" in capsys.readouterr().out
    for wrong in (["nobody"], ["--cases", "0"]):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)
        assert "error:" in capsys.readouterr().err
