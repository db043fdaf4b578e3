"""The lemmas on a Turing machine's text: two solvers find that they follow, they are true of runs, and what is wrong is seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources

import pytest

from constructions.language.terms import (
    POSITION,
    Above,
    Answer,
    Back,
    If,
    IsNumber,
    NumberOf,
    Pick,
    Read,
    Say,
    SayNumber,
    Term,
    as_term,
)
from constructions.turing.library import find
from constructions.turing.machine import Machine, parse_standard
from constructions.turing.rag import COPY, PLACE
from constructions.turing.tape_models import CELL, HALT, STATE, SYMBOL, TO_LEFT, AnyTapeTask
from tests.verify.induction.lemmas import Trial, doubts_of_another_solver, require_doubt, with_another_text
from verify.algebra.interval import symbol
from verify.dossiers.turing.lemmas.machine import STEPS, theory
from verify.dossiers.turing.runs.machine import MachineRun
from verify.dossiers.turing.steps import WORDS, MachineStep, SearchedStep
from verify.induction.translation import Translation
from verify.programs.shorthand import let

BB2 = find("bb2").machine


@pytest.mark.parametrize("model", STEPS)
def test_they_follow(model: str) -> None:
    """For a machine that no claim is about."""
    made = theory(find("counter").machine, model)
    assert {name: doubt for name in made.lemmas if (doubt := made.doubt(name))} == {}


@pytest.mark.parametrize("model", STEPS)
def test_another_solver_finds_that_all_follow(model: str) -> None:
    assert doubts_of_another_solver(theory(BB2, model)) == {}


RUNS = [
    ("hybrid", BB2, "", 8),
    ("hybrid", BB2, "0110", 3),
    ("hybrid", parse_standard("1RA0LA"), "1", 4),
    ("hybrid", find("counter").machine, "31", 3),
    ("rag", BB2, "", 3),
    ("rag", parse_standard("1RA0LA"), "01", 2),
    ("rag", find("counter").machine, "3", 2),
]


@pytest.mark.parametrize(("model", "machine", "tape", "steps"), RUNS, ids=lambda part: str(part))
def test_they_are_true_of_runs(model: str, machine: Machine, tape: str, steps: int) -> None:
    """Axioms and invariants after each step of a run, and lemmas where all that they suppose is true; which is so at some step."""
    made, run = theory(machine, model), MachineRun(model, machine, tape, steps)
    tried = {name: fact for name, fact in made.facts.items() if not name.endswith("s/step")}
    trial = Trial(made, tried)
    for state, _, true in trial.along(run):
        ended = state["t"] == len(run.steps)
        assert (true["starts"], true["goes-on"]) == (state["t"] == 0, not ended)
        assert trial.compiled.functions["halts"]() == (ended and run.token(state["k"] + 1) == (HALT, 0))
    assert {name for name in tried if made.facts[name].uses} <= trial.met


def back(family: str, steps: int) -> Term:
    return as_term(Read(as_term(NumberOf(family)), Back(steps)))


def first(read: Term) -> Term:
    """What is read at the first position that matches."""
    (atom,) = read.atoms
    assert isinstance(atom, Read)
    assert isinstance(atom.where, Pick)
    return as_term(Read(atom.value, Pick(atom.where.matching)))


@dataclass(frozen=True)
class Wrong(MachineStep):
    """Another definition than it should be. what: where."""

    what: str

    @property
    def head(self) -> Term:
        return super().head * (-1 if self.what == "the head goes the other way" else 1)

    @property
    def place(self) -> Term:
        return super().place + (as_term(POSITION) if self.what == "a record of another cell" else 0)

    @property
    def left(self) -> Term:
        return super().left + (1 if self.what == "another symbol is left" else 0)

    def read(self, written: int) -> Term:
        found = super().read(written)
        return first(found) if self.what == "the first record" else found

    def says(self, written: int) -> Answer | None:
        said = super().says(written)
        if self.what == "the state before last" and written == 3:
            return SayNumber(back(STATE, 9), STATE)
        if self.what == "HALT a state too early" and written == WORDS:
            return If(as_term(Above(back(STATE, 1))), said.then, said.otherwise) if isinstance(said, If) else said
        return SayNumber(self.head + 1, CELL) if self.what == "the cell beside it" and written == 2 else said


WRONG = {
    "the head goes the other way": "cells-said",
    "a record of another cell": "found",
    "another symbol is left": "states-said",
    "the first record": "found",
    "the state before last": "states-said",
    "HALT a state too early": "halts-rightly",
    "the cell beside it": "cells-said",
}


@dataclass(frozen=True)
class WrongSearch(SearchedStep):
    """Other searches than they should be, or other copies of the word. what: where."""

    what: str

    @property
    def in_cell(self) -> Term:
        return first(super().in_cell) if self.what == "the first record" else super().in_cell

    @property
    def in_word(self) -> Term:
        return super().in_word + (as_term(IsNumber(SYMBOL)) if self.what == "a symbol found twice" else 0)

    @property
    def record(self) -> Term:
        return let("record", as_term(IsNumber(CELL))) if self.what == "a record at each cell" else super().record

    def finds(self, found: Term) -> Answer:
        return super().finds(found + 1 if self.what == "another symbol" else found)

    @property
    def to_head(self) -> Answer:
        return SayNumber(self.head + 1, CELL) if self.what == "the cell beside it" else super().to_head

    def copies(self, written: int) -> Answer | None:
        if self.what == "the cell of the next place" and written == 4:
            return SayNumber(back(PLACE, 2) + 1, CELL)
        if self.what == "the same place again" and written == 1:
            return SayNumber(back(CELL, 1), PLACE)
        return super().copies(written)


WRONG_SEARCH = {
    "the first record": "found-last",
    "a record at each cell": "records-found",
    "another symbol": "finds-symbol",
    "the cell beside it": "asked",
    "the cell of the next place": "copied/step",
    "the same place again": "copied/step",
}


@pytest.mark.parametrize(("what", "lemma"), WRONG.items(), ids=WRONG)
def test_of_a_wrong_definition_not_all_follow(what: str, lemma: str) -> None:
    wrong = Wrong(AnyTapeTask(BB2, symbol(2, 2**64), ""), what)
    require_doubt(theory(BB2), theory(BB2, step=wrong), lemma)


@pytest.mark.parametrize(("what", "lemma"), WRONG_SEARCH.items(), ids=WRONG_SEARCH)
def test_of_wrong_searches_not_all_follow(what: str, lemma: str) -> None:
    wrong = WrongSearch(AnyTapeTask(BB2, symbol(2, 2**64), ""), what)
    require_doubt(theory(BB2, "rag"), theory(BB2, step=wrong), lemma)


@pytest.mark.parametrize(
    ("kind", "name", "at"),
    [
        (MachineStep, "begins", None),
        (MachineStep, "says", WORDS),
        (SearchedStep, "says", WORDS),
        (SearchedStep, "says", 0),
        (SearchedStep, "copies", COPY),
    ],
)
def test_a_step_begins_with_one_word_wherever_it_is_said(kind: type[MachineStep], name: str, at: int | None) -> None:
    """The lemmas are on what is said once: the head's cell, or a search."""

    def other(step: MachineStep, written: int) -> Answer | None:
        said = getattr(kind, name)(step, written)
        return (
            said if written != at else replace(said, otherwise=Say(TO_LEFT)) if isinstance(said, If) else Say(TO_LEFT)
        )

    changed = property(lambda step: Say(TO_LEFT)) if at is None else other
    wrong = type("Wrong", (kind,), {name: changed})(AnyTapeTask(BB2, symbol(2, 2**64), ""))
    with pytest.raises(ValueError, match="begins with another word"):
        theory(BB2, step=wrong)


CHANGES = [  # of a text: the model, what stands there, what shall, and a lemma that follows no longer
    ("hybrid", "(ite (= c head) (writes state read) (tape c))", "(tape c)", "records/goes-on"),
    ("hybrid", "(ite (= c head) record-there (last c))", "(last c)", "no-later-record/goes-on"),
    ("hybrid", "(head (+ head (moves state read)))", "(head (+ head 1))", "head-there/goes-on"),
    ("hybrid", "(state (enters state read))", "(state state)", "state-there/goes-on"),
    ("hybrid", "(and (not halts) (< t n)", "(and (not halts)", "steps/goes-on"),
    ("hybrid", "(= halts (>= state B))", "(= halts (> state B))", "halts-rightly"),
    ("hybrid", "(+ c 2) 1))", "(+ c 1) 1))", "records/starts"),
    ("rag", "(searched k)", "true", "step-kinds"),
    ("rag", "(+ (copy c) 7) 1))", "(+ (copy c) 5) 1))", "records/starts"),
    ("rag", "(and (<= 0 i) (< i L) (copy-sought", "(and (<= 0 i) (copy-sought", "finds-symbol"),
    ("rag", "(=> (not (fails i)) (copy-written (copy i)))", "true", "copied/step"),
    ("rag", "record-there () Int (+ k 11)", "record-there () Int (+ k 9)", "record-here"),
]


@pytest.mark.parametrize(
    ("model", "old", "new", "lemma"), CHANGES, ids=[f"{change[0]}, {change[-1]}" for change in CHANGES]
)
def test_what_is_wrong_does_not_follow(model: str, old: str, new: str, lemma: str) -> None:
    text = resources.files("verify.dossiers.turing.lemmas").joinpath("turing.smt2").read_text("utf-8")
    right = theory(BB2, model)
    require_doubt(right, with_another_text(right, text, old, new), lemma)


def test_a_coefficient_that_is_1_at_the_least_n_alone() -> None:
    n = symbol(2, 9)
    assert Translation().value(as_term(POSITION) * (n - 1), "k") == "(* (+ n (- 1)) k)"
    assert n.oracle.high == 9
