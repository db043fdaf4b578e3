"""The lemmas on a Turing machine's text: two solvers find that they follow, they are true of runs, and what is wrong is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

import pytest

from constructions.turing import hybrid
from constructions.turing.library import find
from constructions.turing.machine import LETTERS, Machine, parse_standard
from constructions.turing.simulator import steps as simulated
from constructions.turing.tape_models import CELL, HALT, STATE, SYMBOL, TO_LEFT, TO_RIGHT, TaskOfAnySize
from tests.verify.induction.runs import Compiled, answers_of_another_solver, value
from verify import induction
from verify.certificates.symbolic import symbol
from verify.induction.__main__ import main
from verify.induction.machine import theory, translation
from verify.induction.theory import Theory
from verify.induction.translation import Translation
from verify.programs.interpreter import Input
from verify.programs.machines import WORDS, Step
from verify.programs.terms import POSITION, Above, Answer, Back, If, NumberOf, Pick, Read, SayNumber, Term, as_term
from verify.runs.turing_runs import tokens_of

BB2 = find("bb2").machine
KINDS = {CELL: 1, SYMBOL: 2, STATE: 3, TO_RIGHT: 4, TO_LEFT: 5}


@pytest.mark.parametrize("machine", [BB2, find("counter").machine], ids=str)
def test_they_follow(machine: Machine) -> None:
    made = theory(machine)
    assert {name: doubt for name in made.lemmas if (doubt := made.doubt(name))} == {}


def test_another_solver_finds_that_all_follow() -> None:
    assert {name: said for name, said in answers_of_another_solver(theory(BB2)).items() if said != "unsat"} == {}


class Run:
    """What each declared symbol is behind each step of a run, by the simulator and the terms' plain meaning."""

    def __init__(self, machine: Machine, tape: str, steps: int) -> None:
        self.machine, self.tape, self.steps = machine, tape, list(simulated(machine, tape, steps))
        prompt = hybrid.prompt(machine, steps=steps, tape=tape)
        words = [*prompt, *hybrid.expected_sequence(machine, steps=steps, tape=tape)]
        self.n, self.end = max(steps, len(tape) - 1, 1), len(prompt)
        padded = [*tokens_of(words), *[("", 0)] * WORDS]  # of a step that is not made nothing is asked
        self.text = Input(padded, frozenset([CELL, SYMBOL, STATE]))
        self.functions = translation(Step(TaskOfAnySize(machine, steps, tape))).functions
        self.window = range(-1, len(padded))

    def rule(self, part: str, s: int, x: int) -> int:
        if not (0 <= s < len(self.machine.states) and 0 <= x < self.machine.symbols):
            return 1
        rule = self.machine.rule(LETTERS[s], x)
        return {"writes": rule.write, "enters": LETTERS.index(rule.state), "moves": rule.move}[part]

    def token(self, j: int) -> tuple[str, int]:
        return self.text.tokens[j - 1] if 1 <= j <= len(self.text.tokens) else ("", 0)

    def states(self) -> Iterator[dict[str, Any]]:
        def number(family: str, j: int) -> int:
            return self.token(j)[1] if self.token(j)[0] == family else 0

        fixed: dict[str, Any] = {"n": self.n, "L": len(self.tape), "kind": lambda j: KINDS.get(self.token(j)[0], 0)}
        fixed |= {f"|number {family}|": partial(number, family) for family in (CELL, SYMBOL, STATE)}
        fixed |= {part: partial(self.rule, part) for part in ("writes", "enters", "moves")}
        fixed |= {name: partial(value, self.text, atom) for atom, name in self.functions.items() if "|" not in name}
        cells, last = dict(enumerate(map(int, self.tape))), {c: c + 2 for c in range(len(self.tape))}
        head, state = 0, 0
        for t in range(len(self.steps) + 1):
            k = self.end + WORDS * t
            tracked = {"t": t, "k": k, "head": head, "state": state}
            at = {"tape": partial(lambda held, c: held.get(c, 0), dict(cells))}
            yield fixed | tracked | at | {"last": partial(lambda held, c: held.get(c, 1), dict(last))}
            if t < len(self.steps):
                step = self.steps[t]
                cells[step.head], last[step.head] = step.written, k + WORDS
                head, state = step.head + step.move, LETTERS.index(step.next_state)


RUNS = [(BB2, "", 8), (BB2, "0110", 3), (parse_standard("1RA0LA"), "1", 4), (find("counter").machine, "31", 3)]


@pytest.mark.parametrize(("machine", "tape", "steps"), RUNS, ids=lambda part: str(part))
def test_they_are_true_of_runs(machine: Machine, tape: str, steps: int) -> None:
    """Axioms and invariants behind each step of a run, and lemmas where all that they suppose is true; which is so at some step."""
    made, run, met = theory(machine), Run(machine, tape, steps), set[str]()
    tried = {name: fact for name, fact in made.facts.items() if not name.endswith("s/step")}
    compiled = Compiled(made, tried)
    for state in run.states():
        true = compiled.truths(state, run.window)
        for name, fact in tried.items():
            due = name in made.invariants or (fact.uses is None and not fact.supposes)
            if due or (fact.uses is not None and all(true.get(supposed, True) for supposed in fact.supposes)):
                assert true[name], (state["t"], name)
                met.add(name)
        assert true["starts"] == (state["t"] == 0)
        assert true["goes-on"] == (state["t"] < len(run.steps))
        ended = state["t"] == len(run.steps)
        assert compiled.functions["halts"]() == (ended and run.token(state["k"] + 1) == (HALT, 0))
    assert {name for name in tried if made.facts[name].uses} == met & {name for name in tried if made.facts[name].uses}


def back(family: str, steps: int) -> Term:
    return as_term(Read(as_term(NumberOf(family)), Back(steps)))


@dataclass(frozen=True)
class Wrong(Step):
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
        if self.what == "the first record":
            (atom,) = found.atoms
            assert isinstance(atom, Read)
            assert isinstance(atom.where, Pick)
            found = as_term(Read(atom.value, Pick(atom.where.matching)))
        return found

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


@pytest.mark.parametrize(("what", "lemma"), WRONG.items(), ids=WRONG)
def test_of_a_wrong_definition_not_all_follow(what: str, lemma: str) -> None:
    made = theory(BB2, Wrong(TaskOfAnySize(BB2, symbol(2, 2**64), ""), what))
    assert made.doubt(lemma, effort=2_000_000)


TEXT = resources.files(induction).joinpath("turing.smt2").read_text(encoding="utf-8")
CHANGES = [  # of the text: what stands there, what shall, and a lemma that follows no longer
    ("(ite (= c head) (writes state read) (tape c))", "(tape c)", "records/goes-on"),
    ("(ite (= c head) (+ k 5) (last c))", "(last c)", "no-later-record/goes-on"),
    ("(head (+ head (moves state read)))", "(head (+ head 1))", "head-there/goes-on"),
    ("(state (enters state read))", "(state state)", "state-there/goes-on"),
    ("(and (not halts) (< t n)", "(and (not halts)", "steps/goes-on"),
    ("(= halts (>= state B))", "(= halts (> state B))", "halts-rightly"),
    ("(+ c 2) 1))", "(+ c 1) 1))", "records/starts"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[lemma for *_, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    made = Theory(theory(BB2).parts)
    assert TEXT.count(old) == 1
    made.add(TEXT.replace(old, new))
    assert made.doubt(lemma, effort=2_000_000)


def test_a_coefficient_that_is_1_at_the_least_n_alone() -> None:
    n = symbol(2, 9)
    assert Translation().value(as_term(POSITION) * (n - 1), "k") == "(* (+ n (- 1)) k)"
    assert n.sizes.high == 9


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["turing", "--machine", "1RZ0LA"]) == 0
    assert "lemmas, all follow" in capsys.readouterr().out
    assert main(["turing", "--machine", "zz"]) == 2
    assert main(["turing", "--tokens", "eos"]) == 2
    assert main(["--machine", "bb2"]) == 2
