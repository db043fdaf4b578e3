"""The dossier of the Transformer that runs an RNN gate by gate: of which texts it speaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from circuits.runs import run_rnn
from circuits.simulator import Simulator, expected_tokens
from verify.certificates.document import certificate
from verify.dossiers.dossier import Subject
from verify.dossiers.simulation import BIT, Simulation, load

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


def test_a_file_is_certified(latch: Subject) -> None:
    document = certificate(latch)
    assert document["verdict"] == "certified"
    assert {*document["error_in_steps"]} == {"step"}  # the quotient alone is rounded
    assert document["kinds"] == [document["kinds"][0]] * 4


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
