"""What each symbol is after each configuration of a Turing machine's text: by the simulator and the terms' plain meaning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from constructions.language.interpreter import Input, Spoken
from constructions.turing.configurations import HALT, HALTED, OUT, RUN, START, Code, TextTask, words_after_prompt
from constructions.turing.machine import Machine
from constructions.turing.simulator import steps as simulated
from verify.dossiers.turing.lemmas.turning import KINDS, translation
from verify.dossiers.turing.runs.machine import symbols_of_rules
from verify.dossiers.turing.turning import Later
from verify.induction.evaluation import function_of
from verify.induction.place import Place
from verify.runs.turing_runs import digits_of

NUMBERED = {**KINDS, START: 7, RUN: 8}


def places(machine: Machine) -> Iterator[Place]:
    """Yields the places after each configuration of short runs, in spaces that the head leaves or does not."""
    for tape, cells in (("", 1), ("", 3), ("1", 4)):
        run = Turning(machine, tape, 3, cells)
        for state in run.states():
            yield Place(f"{machine} on {tape!r} in {cells} cells, position {state['e']}", state, run.window, run.table)


class Turning:
    """What each declared symbol is after each configuration of a run, by the simulator and the terms' plain meaning."""

    def __init__(self, machine: Machine, tape: str, steps: int, cells: int) -> None:
        task = TextTask(machine, steps, tape, cells)
        self.task, self.code, self.words = task, Code(machine), [*task.prompt(), *words_after_prompt(task)]
        self.steps = list(simulated(machine, tape, steps))
        self.configurations = 1 + self.words.count("|")
        padded = [*digits_of(machine, self.words), *[("", 0)] * (cells + 2)]  # of what is not said nothing is asked
        self.text = Input(padded, frozenset(KINDS))
        self.later, self.window = Later(self.code).said, range(-1, len(padded))
        self.table = range(-5, len(padded) + 1)

    def token(self, j: int) -> Spoken:
        return self.text.tokens[j - 1] if 1 <= j <= len(self.text.tokens) else ("", 0)

    def said(self, j: int) -> Spoken:
        """Returns the word that is due m − 1 positions later, for the cell before this one."""
        family, number = self.text.spoken(self.later, j) if j > 0 else (HALTED, 0)
        return family, int(number)

    def states(self) -> Iterator[dict[str, Any]]:
        task, m = self.task, self.task.cells
        word = dict(enumerate(map(int, task.tape)))
        fixed: dict[str, Any] = {"m": m, "L": len(task.tape), "origin": task.left, "word": lambda i: word.get(i, 0)}
        fixed |= {"kind": lambda j: NUMBERED.get(self.token(j)[0], 0), "digit": lambda j: self.token(j)[1]}
        fixed |= {"later-kind": lambda j: NUMBERED[self.said(j)[0]], "later-digit": lambda j: self.said(j)[1]}
        fixed |= symbols_of_rules(task.machine, self.code.letters)
        functions = translation().functions
        fixed |= {name: function_of(self.text, atom) for atom, name in functions.items() if "|" not in name}
        fixed["last"] = len(self.words) - (self.words[-1] in (HALT, OUT))
        cells = {task.left + i: x for i, x in word.items()}
        visited, head, state = {task.left, *cells}, task.left, 0
        for t in range(self.configurations):
            tracked = {"e": (m + 1) * (t + 1) + 1, "head": head, "state": state}
            at = {"tape": partial(lambda held, c: held.get(c, 0), dict(cells)), "seen": frozenset(visited).__contains__}
            yield fixed | tracked | at
            if t < len(self.steps):
                step = self.steps[t]
                cells[head] = step.written
                head, state = head + step.move, self.code.letters.index(step.next_state)
                visited.add(head)
