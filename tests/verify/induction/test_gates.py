"""The lemmas on runs gate by gate: they follow, they are true of runs, and what is wrong is seen."""

from __future__ import annotations

import itertools

import pytest

from circuits.circuit import GateKind
from tests.verify.induction.lemmas import require_doubt, with_another_text
from verify.dossiers.rnn.lemmas.gates import theory
from verify.dossiers.rnn.runs.gates import CIRCUITS, places
from verify.induction.along import check_along_runs
from verify.induction.evaluation import Compiled
from verify.induction.theory import text_of

TEXT = text_of("gates", "verify.dossiers.rnn.lemmas")


def test_they_follow() -> None:
    made = theory()
    assert {name: doubt for name in made.lemmas if (doubt := made.doubt(name))} == {}
    assert check_along_runs(made, made.lemmas).doubt == ""


def test_all_is_true_of_runs() -> None:
    made = theory()
    compiled, names = Compiled(made, made.facts), list[str]()
    for place in places():
        true = compiled.truths(place.symbols, place.window)
        assert {name for name, holds in true.items() if not holds} == set()
        names.append(place.name)
    assert len(names) == 4


def test_runs_have_each_kind_of_gate() -> None:
    assert {gate.kind for circuit in CIRCUITS for gate in circuit.gates} == {*GateKind}


@pytest.mark.parametrize(("at", "other"), [*itertools.product(range(1, 21, 3), (-1, 5))])
def test_another_token_is_no_run(at: int, other: int) -> None:
    """Some line on what is written is false of a text with another token."""
    made = theory()
    compiled, place = Compiled(made, made.facts), next(places())
    token = place.symbols["token"]
    wrong = {**place.symbols, "token": lambda j: token(j) + other if j == at else token(j)}
    true = compiled.truths(wrong, place.window)
    assert not all(holds for name, holds in true.items() if name.startswith("says-"))


@pytest.mark.parametrize(
    ("old", "new", "lemma"),
    [
        ("(= (token j) (both (token (left-of j)) (token (right-of j)))))", "true)", "next-and"),
        ("(= (token j) (differ (token (left-of j)) (token (right-of j)))))", "(= (token j) 1))", "next-xor"),
        (
            "(= (token j) (ite (= (step j) 0) (initial (gate j)) (token (before-of j)))))",
            "(= (token j) 0))",
            "next-state",
        ),
        ("(<= 0 (left g)) (< (left g) g) (<= 0 (right g))", "(<= 0 (right g))", "next-and"),
        ("(= (token j) (word-of (code (- j 1)))))", "(= (token j) (word-of (code j))))", "next-word"),
        ("(<= (first g) h g)) (= (kind h) 1)", "(<= (first g) h g)) true", "next-input"),
        ("(axiom size (and (>= C 1) (>= n 1)", "(axiom size (and (>= C 1) (>= n 0)", "same-entry"),
        ("(ite (= (gate j) C) (+ (step j) 1) (step j))", "(+ (step j) 1)", "places/step"),
    ],
)
def test_a_lemma_needs_what_it_uses(old: str, new: str, lemma: str) -> None:
    require_doubt(theory(), with_another_text(theory(), TEXT, old, new), lemma)
