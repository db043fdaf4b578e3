"""Certificates of the models that write a Turing machine's tape: their texts, and runs that stay within what is certified."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.turing.library import find
from precision.format import Discipline, fixed_point
from tests.verify.certificates.runs import accepted, contradictions
from tests.verify.subjects import as_model
from verify.algebra.domains import Integer, Space
from verify.algebra.polynomial import atom
from verify.automata.token_automaton import Delayed, Label
from verify.certificates.building import automaton_of, build, families_of, model_of, part_of
from verify.certificates.document import CERTIFIED, UNKNOWN, certificate, judge
from verify.certificates.ranges import differences
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.turing.configurations import queue
from verify.dossiers.turing.models import walk
from verify.dossiers.turing.tapes import STEP
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import check
from verify.rounding.queues import queue_of

BB2, PALINDROME = str(find("bb2").machine), str(find("palindrome").machine)
SUBJECTS = [
    find_subject("turing", n, model=model, machine=machine, tape=tape)
    for model in ("hybrid", "rag")
    for n, machine, tape in ((5, BB2, ""), (3, PALINDROME, "12"))
]
each = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: f"{s.model} {s.dossier.tape or 'blank'}")


@pytest.mark.parametrize("subject", SUBJECTS[::3], ids=lambda s: s.model)
def test_runs_are_as_certified(subject: Subject) -> None:
    """The machine's own run, and texts in which every number is any."""
    wired, report, automaton = subject.dossier.solver.build(subject.n), check(*build(subject)), automaton_of(subject)
    request = subject.dossier.solver.request(wired, subject.n)
    own = [*request.prompt, *map(int, request.guess)][:-1]
    for tokens in (own, walk(automaton, wired, families_of(subject), random.Random(0))):
        assert contradictions(wired, report, tokens, set(range(1, len(tokens) + 1))) == []


@each
def test_the_machine_s_run_is_a_text_of_the_language(subject: Subject) -> None:
    wired, automaton = subject.dossier.solver.build(subject.n), automaton_of(subject)
    request = subject.dossier.solver.request(wired, subject.n)
    words = [wired.vocabulary[token] for token in (*request.prompt, *map(int, request.guess))][:-1]
    assert accepted(automaton, words)
    assert not accepted(automaton, [*words, words[0]])


def test_a_stored_certificate() -> None:
    document = json.loads(json.dumps(certificate(SUBJECTS[0])))
    assert document["verdict"] == CERTIFIED
    assert differences(document) == []
    assert "weights_sha256" in differences({**document, "tape": "1"})
    with pytest.raises(ValueError, match="row 'zz'"):
        differences({**document, "machine": "zz"})


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("model", ["hybrid", "rag"])
def test_any_number_of_steps(model: str, discipline: Discipline) -> None:
    """At 1,000 the logit of the cell furthest away is below the least number; n is in the weights from 143 to 157."""
    for n in (1000, 10**12):
        subject = find_subject("turing", n, discipline=discipline, model=model, machine=BB2)
        assert certificate(subject)["verdict"] == CERTIFIED
    part = part_of(replace(subject, n=143), 165)
    assert part.high >= 157
    assert judge(part.model, part.inputs).verdict == CERTIFIED


@each
def test_the_plan_is_what_is_built(subject: Subject) -> None:
    """With words for a few cells, of which polynomials describe the others, and as matrices with all of them."""
    for n in (1, 2, 9):
        one = replace(subject, n=n)
        assert model_of(one).digest == as_model(one, one.dossier.solver.build(n)).digest


def test_steps_between_two_numbers_of_them() -> None:
    """For n from 7 to 9 a text is one of at most 9 steps, and the cells are those from −n to n."""
    texts = part_of(find_subject("turing", 7, model="rag", machine=BB2), 9).inputs
    cell = next(state for state in texts.states if state.label == Label(STEP, number=3, case="cell"))
    assert [texts.range(end) for end in cell.numbers] == [(-9, -7), (7, 9)]
    assert texts.range(cell.high)[1] == 5 + 13 * 8 + 3


# The machine whose tape turns around

TURNING = find_subject("turing", 5, model="cot", machine="1RZ0LA", cells=3)


@pytest.mark.parametrize("tape", ["1", "111"])
def test_a_run_of_the_turning_tape_is_as_certified(tape: str) -> None:
    """One halts, the other leaves the space."""
    subject = TURNING.with_options(tape=tape)
    report = check(*build(subject))
    assert list(report.invariants) == [queue(1).name]
    wired = subject.dossier.solver.build(subject.n)
    request = subject.dossier.solver.request(wired, subject.n)
    tokens = [*request.prompt, *map(int, request.guess)][:-1]
    assert accepted(automaton_of(subject), [wired.vocabulary[token] for token in tokens])
    assert contradictions(wired, report, tokens, set(range(1, len(tokens) + 1))) == []


def test_no_turning_tape_without_its_invariant() -> None:
    model, automaton = build(TURNING)
    judgement = judge(model, replace(automaton, invariants=()))
    assert (judgement.verdict, judgement.what) == (UNKNOWN, "it is made of itself, and is no sum")


def test_what_is_a_queue() -> None:
    """One other number, and it is none."""
    invariant = Delayed("", "late", "early", 3, "")

    def found(base: int = 2, unit: int = 5, late: int = -40, known: Delayed = invariant) -> object:
        return queue_of(2, ((2, base),), ((0, unit), (1, late)), ("early", "late", "queue"), [known])

    assert found() is not None
    wrong = replace(invariant, by=2), replace(invariant, early="late", late="early"), replace(invariant, late="other")
    others = found(base=3), found(unit=4), found(late=-39), *(found(known=known) for known in wrong)
    assert others == (None,) * 6


@given(digits=st.lists(st.integers(-3, 3), min_size=1, max_size=12), base=st.integers(2, 5), by=st.integers(1, 4))
def test_what_a_queue_holds(digits: list[int], base: int, by: int) -> None:
    """The recurrence, number by number."""
    rows = (((2, base),), ((0, 1), (1, -(base**by))))
    actual = queue_of(2, *rows, ("e", "l", "h"), [Delayed("", "l", "e", by, "")])
    assert actual is not None
    space, number = (
        Space(fixed_point(99)),
        {"k": Integer(1, 12), "n": Integer(1, 1), "v": Integer(min(digits), max(digits))},
    )
    held = actual.held([AbstractState(space, {0: atom("v")}, number)], "here")
    state, past = 0, [0] * by
    for digit in digits:
        past.append(digit)
        state = base * state + digit - base**by * past[-1 - by]
        assert held.low <= state <= held.high
