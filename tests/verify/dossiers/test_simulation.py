"""Rounding of the Transformer that runs an RNN gate by gate: certified for a small circuit, refused where a margin is too small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from circuits import simulation
from circuits.runs import run_rnn
from circuits.simulator import Simulator, expected_tokens
from constructions.wiring.wire import Gadget
from verify.algebra.domains import Refused, Undecided
from verify.dossiers.dossier import Subject
from verify.dossiers.simulation import BIT, Simulation, load
from verify.rounding.checker import check

LATCH = """
STATE_BITS = 1
WORDS = (0, 1)
RNN = (lambda: 0, lambda state, word: word, lambda state, query: state)
"""


@pytest.fixture
def latch(tmp_path: Path) -> Subject:
    file = tmp_path / "latch.py"
    file.write_text(LATCH)
    return Subject(Simulation(rnn=str(file)), 1)


def judged(subject: Subject) -> Any:
    return check(subject.dossier.exact_model(subject), subject.dossier.texts(subject))


def test_a_latch_is_certified(latch: Subject) -> None:
    report = judged(latch)
    assert {*report.errors} == {"step"}  # the quotient alone is rounded


def test_texts_have_every_run(latch: Subject) -> None:
    """Each token of a run is one that the automaton has at its position."""
    for n in (1, 2):
        subject = replace(latch, n=n)
        assert isinstance(subject.dossier, Simulation)
        automaton, rnn = subject.dossier.texts(subject), load(subject.dossier.rnn)
        for given in subject.dossier.every(subject):
            tokens = [*given, *expected_tokens(run_rnn(rnn, given, 1))]
            for position, token in enumerate(tokens[:-1], start=1):
                here = [state for state in automaton.states if state.low == position == state.high]
                has = [s for s in here if (s.family == BIT and token in range(s.numbers[0], s.numbers[1] + 1))]
                assert has or rnn.vocabulary[token] in [state.word for state in here]
            assert len(tokens) - 1 == automaton.states[-1].high
            assert Simulator(rnn).task(n).length == len(tokens)


def test_a_lead_of_a_quarter_is_refused(latch: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    class Narrow(simulation.Setting):
        @property
        def gap(self) -> int:
            return super().gap // 4

    monkeypatch.setattr(simulation, "Setting", Narrow)
    with pytest.raises(Refused, match="is needed"):
        judged(latch)


def test_a_quotient_whose_rounding_matters_is_not_certified(latch: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Added twice, the quotient without rounding is nearer to another position than the rounded one."""
    quotient = simulation.quotient

    def twice(*args: Any, **how: Any) -> Gadget:
        gadget = quotient(*args, **how)
        return replace(gadget, units=gadget.units * 2)

    monkeypatch.setattr(simulation, "quotient", twice)
    with pytest.raises(Undecided, match="wins without rounding"):
        judged(latch)
