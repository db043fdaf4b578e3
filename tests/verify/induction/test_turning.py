"""The lemmas on configurations: two solvers find that they follow, they are true of runs, and what is wrong is seen."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

import pytest

from constructions.language.terms import Answer, SayNumber, as_term
from constructions.turing.configurations import CELL, HALT, HEAD, OUT, Code
from constructions.turing.library import find
from constructions.turing.machine import LEFT, Machine, Rule, parse_standard
from tests.verify.induction.lemmas import Trial, doubts_of_another_solver, require_doubt, with_another_text
from tests.verify.programs.wrong import with_one_wrong_word
from verify.dossiers.turing.lemmas.turning import theory
from verify.dossiers.turing.runs.turning import Turning
from verify.dossiers.turing.turning import Later

BB2, COUNTER = find("bb2").machine, find("counter").machine


def test_they_follow() -> None:
    """For a machine that no claim is about."""
    made = theory(COUNTER)
    assert {name: doubt for name in made.lemmas if (doubt := made.doubt(name))} == {}


def test_another_solver_finds_that_all_follow() -> None:
    assert doubts_of_another_solver(theory(BB2)) == {}


RUNS = [
    (BB2, "", 8, 7),
    (BB2, "0110", 3, 4),
    (parse_standard("1RA0LA"), "1", 4, 1),
    (parse_standard("1RA0LA"), "", 4, 3),
    (COUNTER, "31", 3, 3),
]


@pytest.mark.parametrize(("machine", "tape", "steps", "cells"), RUNS, ids=lambda part: str(part))
def test_they_are_true_of_runs(machine: Machine, tape: str, steps: int, cells: int) -> None:
    """Axioms and invariants after each configuration, and lemmas where all that they suppose is true."""
    made, run = theory(machine), Turning(machine, tape, steps, cells)
    tried = {name: fact for name, fact in made.facts.items() if not name.endswith("/step")}
    trial = Trial(made, tried)
    for t, (_, _, true) in enumerate(trial.along(run)):
        ended = t == run.configurations - 1
        assert (true["starts"], true["goes-on"]) == (t == 0, not ended)
        assert true["leaves"] == (ended and run.words[-1] == OUT)
        assert trial.compiled.functions["halts"]() == (ended and run.words[-1] == HALT)
        assert true["as-said"]
    of_case = {"goes-on": run.configurations > 1, "leaves": run.words[-1] == OUT}
    missed = {name for name in tried if made.facts[name].uses} - trial.met
    assert all(any(not of_case.get(case, True) for case in made.facts[name].supposes) for name in missed)


def test_runs_end_in_every_way() -> None:
    assert {Turning(*run).words[-1] for run in RUNS} == {HALT, OUT, "|"}


@dataclass(frozen=True)
class Wrong(Later):
    """Another definition than it should be. what: where."""

    what: str = ""

    @property
    def heads(self) -> list[tuple[int, Rule]]:
        turned = self.what == "the head goes the other way"
        return [(digit, rule._replace(move=-rule.move) if turned else rule) for digit, rule in super().heads]

    def leaves(self, rule: Rule) -> Answer:
        if self.what == "no end of the space":
            return SayNumber(as_term(1 + rule.write), CELL)
        if self.what == "OUT at the left end alone" and rule.move != LEFT:
            return SayNumber(as_term(1 + rule.write), CELL)
        if self.what == "another word than OUT":
            return next(with_one_wrong_word(super().leaves(rule), ("", "")))
        return super().leaves(rule._replace(write=0) if self.what == "nothing is left" else rule)

    def comes(self, kind: str) -> Answer:
        if self.what == "a head comes to no blank" and kind != CELL:
            return SayNumber(as_term(0), kind)
        if self.what == "a blank is a symbol" and kind != CELL:
            return SayNumber(as_term(1), CELL)
        return super().comes(kind)

    def digit(self, kind: str, at: int) -> Any:
        """As it is, or that of the cell on the left."""
        return super().digit(kind, at + (self.what == "a cell beside it" and kind != HEAD))


WRONG = {
    "the head goes the other way": "head-came",
    "no end of the space": "out",
    "OUT at the left end alone": "out",
    "another word than OUT": "out",
    "nothing is left": "head-left",
    "a head comes to no blank": "head-came",
    "a blank is a symbol": "others-stay",
    "a cell beside it": "others-stay",
}


@pytest.mark.parametrize(("what", "lemma"), WRONG.items(), ids=WRONG)
def test_of_a_wrong_definition_not_all_follow(what: str, lemma: str) -> None:
    require_doubt(theory(BB2), theory(BB2, Wrong(Code(BB2), what=what)), lemma)


TEXT = resources.files("verify.dossiers.turing.lemmas").joinpath("turning.smt2").read_text(encoding="utf-8")
CHANGES = [  # of the text: what stands there, what shall, and a lemma that follows no longer
    ("(ite (= c head) (writes state read) (tape c))", "(tape c)", "row/goes-on"),
    ("(or (seen c) (= c beside))", "(seen c)", "place/goes-on"),
    ("(head beside)", "(head head)", "row/goes-on"),
    ("(state (enters state read))", "(state state)", "row/goes-on"),
    ("(lemma halts-rightly (heads) (= halts (>= state B)))", "(lemma halts-rightly (heads) halts)", "halts-rightly"),
    ("(and (< (+ m 2) p) (<= p last))", "(and (< (+ m 3) p) (<= p last))", "queue"),
    ("(ite (> k m) (later-digit (- k m)) 0)", "(later-digit (- k m 1))", "queue"),
    (
        "(and (< state B) (<= 0 beside) (< beside m)\n",
        "(and (< state B) (<= 0 beside) (<= beside m)\n",
        "place/goes-on",
    ),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[lemma for *_, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    require_doubt(theory(BB2), with_another_text(theory(BB2), TEXT, old, new), lemma)
