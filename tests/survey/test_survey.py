"""The survey finds nothing in today's checkers, and each fault that is planted in them."""

from __future__ import annotations

import random

import pytest

from tests.survey.faults import PROGRAM_FAULTS, Fault
from tests.survey.pairs import FAMILIES, drawn, main, survey

PAIRS = 300  # of all families
ENOUGH = 600  # of one family, to notice a fault


def test_nothing_is_certified_wrongly() -> None:
    draw = random.Random(1)
    outcome = survey(drawn([*FAMILIES], draw), PAIRS, draw, each=8)
    assert outcome.findings == []
    assert outcome.pairs == PAIRS
    assert outcome.certified > PAIRS // 10
    assert outcome.different > PAIRS // 2


@pytest.mark.parametrize("fault", PROGRAM_FAULTS.values(), ids=PROGRAM_FAULTS)
def test_a_planted_fault_is_found(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.plant(monkeypatch)
    draw = random.Random(fault.seed)
    assert survey(drawn([fault.family], draw), ENOUGH, draw, stop=True).findings


def test_each_family_has_definitions_that_are_certified() -> None:
    for family in FAMILIES:
        draw = random.Random(0)
        assert survey(drawn([family], draw), 5, draw, each=0).certified, family


def test_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ties", "--pairs", "30"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == ""
    PROGRAM_FAULTS["tie_is_won"].plant(monkeypatch)
    assert main(arguments) == 1
    assert "ties: certified is " in capsys.readouterr().out
    for wrong in (["nobody"], ["--pairs", "0"]):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)
        assert "error:" in capsys.readouterr().err
