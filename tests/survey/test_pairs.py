"""The survey finds nothing in today's checkers, and each fault that is planted in them."""

from __future__ import annotations

import random

import pytest

from constructions.language.model import ProgramModel
from constructions.language.program import program
from constructions.language.texts import numbers, some
from tests.survey.faults import PROGRAM_FAULTS, UNASKED_N, Fault
from tests.survey.pairs import FAMILIES, drawn, main, survey
from verify.dossiers.dossier import Subject
from verify.dossiers.written import ProgramDossier

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


@pytest.mark.parametrize("shown", [True, False])
def test_a_trial_is_of_the_n_that_is_asked_for(shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that disagrees where a number is above 1,000: planted, the fault keeps such numbers from the trial."""
    always = program(
        "yes",
        prompt=[some(numbers())],
        oracle=lambda tokens: "no" if max(map(int, tokens)) > 1000 else "yes",
        examples=["1"],
    )
    if not shown:
        UNASKED_N.plant(monkeypatch)
    dossier = ProgramDossier("survey", "transformer", ProgramModel(always))
    trial = dossier.trial(Subject(dossier, 2000))
    assert trial is not None
    assert bool(trial.difference) is shown


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
