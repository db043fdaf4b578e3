"""How far single weights may move: bisection's ends, and hard inputs that do contradict a wrong model."""

from __future__ import annotations

import json
import random

import pytest

from constructions.turing.library import find
from tests.verify.subjects import as_model
from verify import certify
from verify.certificates.building import build
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, held_against, judge
from verify.certificates.hard_inputs import first_wrong, hard_inputs
from verify.certificates.mutants import Place, describe_weight, mutant, places, with_weight
from verify.certificates.weight_margins import OTHER_FUNCTION, Surveyor
from verify.dossiers.registry import find_subject

INDEX = Surveyor(find_subject("index", 4))


def place(name: str) -> Place:
    (result,) = [place for place in places(INDEX.wired.model) if describe_weight(INDEX.wired, place) == name]
    return result


def test_a_survey() -> None:
    survey = INDEX.survey(40, 0, 50)
    assert survey.verdicts == {REFUSED: 4, OTHER_FUNCTION: 31, UNKNOWN: 1, CERTIFIED: 4}
    assert (survey.changes, survey.drawn, survey.inputs) == (173, 40, 50)
    # Row 2 is what all keys of a query share: any number in it is as good.
    shared = [("W_Q", "number"), ("W_Q", "one"), ("W_K", "one")]
    head = "block 2, head 1 (token at the position asked for)"
    assert {item.place for item in survey.margins} == {f"{head}, {of}, row 2, register {name}" for of, name in shared}
    assert not any(item.wrong for item in survey.margins)


SURVEYORS = [
    (INDEX, 40),
    (Surveyor(find_subject("ngram", 4)), 30),
    (Surveyor(find_subject("recall", 4, model="hybrid")), 15),
    (Surveyor(find_subject("counting", 4)), 6),
]


@pytest.mark.parametrize(("surveyor", "count"), SURVEYORS, ids=["index", "ngram", "recall, hybrid", "counting"])
def test_a_check_from_the_changed_block_on_says_what_the_whole_one_does(surveyor: Surveyor, count: int) -> None:
    wired, subject = surveyor.wired, surveyor.subject
    own, automaton = build(subject)
    judgement = judge(own, automaton)
    for place, change in random.Random(1).sample(surveyor.changes, count):
        model = mutant(wired.model, place, change, surveyor.step)
        changed = as_model(subject, wired, model)
        judged = held_against(judge(changed, automaton), changed, subject.construction, own, judgement)
        verdict = surveyor.verdict(model, place)
        expected = REFUSED if judged.is_unmet else judged.verdict
        assert verdict in (expected, OTHER_FUNCTION), (place, change)  # it ends where the other function begins
        assert (verdict == CERTIFIED) == (judged.verdict == CERTIFIED), (place, change)


def test_a_register_that_nobody_read_before() -> None:
    """A key of the last block reads one that the check of the model itself has forgotten there."""
    surveyor = Surveyor(find_subject("ngram", 4))
    own = surveyor.wired.model
    queries = [(len(own.blocks) - 1, "attn.0.W_Q", (row, 9)) for row in (0, 1)]
    assert [surveyor.verdict(with_weight(own, at, 1.0), at) for at in queries] == [OTHER_FUNCTION, OTHER_FUNCTION]


@pytest.mark.parametrize(
    ("name", "free"),
    [
        ("block 2, head 1 (token at the position asked for), W_Q, row 2, register one", True),
        ("block 2, head 1 (token at the position asked for), W_Q, row 0, register one", False),
    ],
)
def test_an_interval(name: str, free: bool) -> None:
    """Certified at its ends and between, and not a step beyond."""
    at = place(name)
    low, high = INDEX.interval(at)
    assert (low < high) == free
    for weight, verdict in ((low, True), ((low + high) // 2, True), (high, True), (low - INDEX.step, False)):
        changed = with_weight(INDEX.wired.model, at, weight)
        assert (INDEX.verdict(changed, at) == CERTIFIED) == verdict


def test_hard_inputs_contradict_a_model_that_is_wrong() -> None:
    inputs = hard_inputs(INDEX.subject, INDEX.wired, 30, 0)
    assert len({one.prompt for one in inputs}) == 30
    assert first_wrong(INDEX.wired, INDEX.wired.model, inputs) is None
    wrong = mutant(
        INDEX.wired.model,
        place("block 2, head 1 (token at the position asked for), W_Q, row 0, register one"),
        "sign",
        INDEX.step,
    )
    actual = first_wrong(INDEX.wired, wrong, inputs)
    assert actual is not None
    assert actual[0] in inputs
    assert actual[1] == 0


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(certify, "HARD_INPUTS", 20)
    assert certify.main(["index", "--n", "4", "--mutants", "5"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("index, n = 4, p = 19: 5 of 173 changes of one weight (sign, ")
    assert "; 20 hard inputs contradict none of them" in said
    assert certify.main(["index", "--n", "4", "--mutants", "5", "--json"]) == 0
    assert sum(json.loads(capsys.readouterr().out)["verdicts"].values()) == 5


@pytest.mark.parametrize("model", ["cot", "hybrid", "rag"])
def test_hard_inputs_of_a_turing_machine(model: str) -> None:
    """The model itself answers all of them; one whose words are read wrongly does not."""
    cells = 4 if model == "cot" else None
    subject = find_subject("turing", 4, model=model, machine=str(find("bb2").machine), cells=cells)
    surveyor = Surveyor(subject)
    inputs = hard_inputs(subject, surveyor.wired, 6, 0)
    assert len({one.prompt for one in inputs}) == 6
    own = surveyor.wired.model
    assert first_wrong(surveyor.wired, own, inputs) is None
    wrong = [mutant(own, at, "zero", surveyor.step) for at in random.Random(0).sample(places(own), 4)]
    assert any(first_wrong(surveyor.wired, model, inputs) for model in wrong)
