"""What each symbol is after each step of a Turing machine's text: by the simulator and the terms' plain meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from constructions.language.interpreter import Input
from constructions.models.search import FAILED
from constructions.turing.door import MODELS
from constructions.turing.machine import LETTERS, Machine
from constructions.turing.rag import COPY
from constructions.turing.simulator import steps as simulated
from constructions.turing.tape_models import CELL, SYMBOL, AnyTapeTask
from verify.dossiers.turing.lemmas.machine import KINDS, NUMBERS, STEPS, translation
from verify.dossiers.turing.steps import WORDS
from verify.induction.evaluation import function_of
from verify.induction.place import Place
from verify.runs.turing_runs import tokens_of


def places(model: str, machine: Machine) -> Iterator[Place]:
    """Yields the places after each of the first steps, on the empty tape and on a word."""
    for tape in ("", "01"):
        run = MachineRun(model, machine, tape, 2)
        for state in run.states():
            yield Place(f"{machine} on {tape!r}, step {state['t']}", state, run.window, run.table)


def symbols_of_rules(machine: Machine, letters: Sequence[str]) -> dict[str, Callable[[int, int], int]]:
    """Returns what the symbols mean that tell a rule: what it writes, which of the letters it enters, which way the head moves."""

    def tell(part: str, s: int, x: int) -> int:
        if not (0 <= s < len(machine.states) and 0 <= x < machine.symbols):
            return 1
        rule = machine.rule(letters[s], x)
        return {"writes": rule.write, "enters": letters.index(rule.state), "moves": rule.move}[part]

    return {part: partial(tell, part) for part in ("writes", "enters", "moves")}


class MachineRun:
    """What each declared symbol is after each step of a run, by the simulator and the terms' plain meaning."""

    def __init__(self, model: str, machine: Machine, tape: str, steps: int) -> None:
        self.model, self.machine, self.tape, self.steps = model, machine, tape, list(simulated(machine, tape, steps))
        solver = replace(MODELS[model], machine=machine, tape=tape)
        words = [*solver.prompt(steps), *solver.expected(steps)]
        self.step = STEPS[model](AnyTapeTask(machine, steps, tape))
        self.n = max(steps, len(tape) - 1, 1)
        self.end = len(tape) + 1 if model == "hybrid" else words.index(FAILED) + 1
        self.words = self.step.searched + WORDS
        padded = [*tokens_of(words), *[("", 0)] * self.words]  # of a step that is not made nothing is asked
        self.text = Input(padded, frozenset(NUMBERS))
        self.functions = translation(self.step).functions
        self.window, self.table = range(-1, len(padded)), range(-5, len(padded) + 1)

    def token(self, j: int) -> tuple[str, int]:
        return self.text.tokens[j - 1] if 1 <= j <= len(self.text.tokens) else ("", 0)

    def states(self) -> Iterator[dict[str, Any]]:
        def number(family: str, j: int) -> int:
            return self.token(j)[1] if self.token(j)[0] == family else 0

        fixed: dict[str, Any] = {"n": self.n, "L": len(self.tape), "kind": lambda j: KINDS.get(self.token(j)[0], 0)}
        fixed |= {f"|number {family}|": partial(number, family) for family in NUMBERS}
        fixed |= symbols_of_rules(self.machine, LETTERS)
        fixed |= {name: function_of(self.text, atom) for atom, name in self.functions.items() if "|" not in name}
        copy, record = 0, self.words  # from the end of the prompt, and in a step: where a record stands
        if self.model == "rag":
            copy, record = COPY, self.words - 2
            fixed |= {"place": self.place, "left": lambda j: number(SYMBOL, j - 1)}
            fixed |= {"copy": lambda i: len(self.tape) + 1 + COPY * i, "stands": lambda i: i <= len(self.tape)}
        cells = dict(enumerate(map(int, self.tape)))
        last = {c: len(self.tape) + 1 + copy * (c + 1) if copy else c + 2 for c in cells}
        head, state = 0, 0
        for t in range(len(self.steps) + 1):
            k = self.end + self.words * t
            tracked = {"t": t, "k": k, "head": head, "state": state}
            at = {"tape": partial(lambda held, c: held.get(c, 0), dict(cells))}
            yield fixed | tracked | at | {"last": partial(lambda held, c: held.get(c, 1), dict(last))}
            if t < len(self.steps):
                step = self.steps[t]
                cells[step.head], last[step.head] = step.written, k + record
                head, state = step.head + step.move, LETTERS.index(step.next_state)

    def place(self, j: int) -> int:
        """Returns the number of a cell that is said twice, before j and there, with a symbol between."""
        (first, cell), (between, _), again = map(self.token, (j - 2, j - 1, j))
        return cell + self.n + 1 if (first, between, again) == (CELL, SYMBOL, (CELL, cell)) else 0
