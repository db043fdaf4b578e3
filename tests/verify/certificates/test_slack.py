"""How far single weights may move: bisection's ends, and hard inputs that do contradict a wrong model."""

from __future__ import annotations

import json

import pytest

from verify import certify
from verify.certificates.building import Subject
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN
from verify.certificates.hard_inputs import first_wrong, hard_inputs
from verify.certificates.mutants import mutant, named, places, with_weight
from verify.certificates.slack import OTHER_FUNCTION, Surveyor

INDEX = Surveyor(Subject("index", 4))


def place(name: str) -> tuple[int, int, tuple[int, ...]]:
    (found,) = [place for place in places(INDEX.wired.model) if named(INDEX.wired, place) == name]
    return found


def test_a_survey() -> None:
    survey = INDEX.survey(40, 0, 50)
    assert survey.verdicts == {REFUSED: 12, OTHER_FUNCTION: 23, UNKNOWN: 3, CERTIFIED: 2}
    assert (survey.changes, survey.drawn, survey.inputs) == (173, 40, 50)
    assert {item.place for item in survey.slack} == {"block 1, head 0, W_Q, row 2, register one"}
    assert not any(item.wrong for item in survey.slack)


@pytest.mark.parametrize(
    ("name", "free"),
    [("block 1, head 0, W_Q, row 2, register one", True), ("block 1, head 0, W_Q, row 0, register one", False)],
)
def test_an_interval(name: str, free: bool) -> None:
    """Certified at its ends and between, and not a step beyond."""
    at = place(name)
    low, high = INDEX.interval(at)
    assert (low < high) == free
    for weight, verdict in ((low, True), ((low + high) // 2, True), (high, True), (low - INDEX.step, False)):
        judged = INDEX.judged(with_weight(INDEX.wired.model, at, weight))
        assert (judged.verdict == CERTIFIED) == verdict


def test_hard_inputs_contradict_a_model_that_is_wrong() -> None:
    inputs = hard_inputs(INDEX.subject, INDEX.wired, 30, 0)
    assert len({one.prompt for one in inputs}) == 30
    assert first_wrong(INDEX.wired, INDEX.wired.model, inputs) is None
    wrong = mutant(INDEX.wired.model, place("block 1, head 0, W_Q, row 0, register one"), "sign", INDEX.step)
    found = first_wrong(INDEX.wired, wrong, inputs)
    assert found is not None
    assert found[0] in inputs
    assert found[1] == 0


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(certify, "HARD_INPUTS", 20)
    assert certify.main(["index", "--n", "4", "--mutants", "5"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("index, n = 4, p = 19: 5 of 173 changes of one weight (sign, ")
    assert "; 20 hard inputs contradict none of them" in said
    assert certify.main(["index", "--n", "4", "--mutants", "5", "--json"]) == 0
    assert sum(json.loads(capsys.readouterr().out)["verdicts"].values()) == 5
