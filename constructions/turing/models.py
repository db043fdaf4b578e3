"""The models that run Turing machines, as values that commands and claims run: see `Solver`.

A model is wired for one machine, one word on the tape and n steps, some also for a space. It reads the prompt, and writes what the
machine does, step by step; of its words alone, a configuration is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from constructions.engines import Respond, no_response
from constructions.models.construction import Construction
from constructions.models.lazily import Lazily
from constructions.models.solver import Request, Run, Tokens
from constructions.turing.library import find
from constructions.turing.machine import Machine
from constructions.turing.show import outcome
from constructions.turing.simulator import Configuration, Step, simulate_fast
from constructions.turing.tape_models import HALT
from constructions.wiring.wired import Wired


@dataclass(frozen=True)
class TuringModel:
    """A model and what it is wired for: a machine, a word on its tape and, for a model with a space, the number of its cells.

    describe(machine, tape=), wire, least_precision, prompt, expected(machine, steps=, tape=): its module's; some take cells, too.
    expected: the words behind the prompt, responses included, by the simulator. They end where the model may be stopped, and the
    last one says whether the machine has halted. expected_tokens: the same in numbers, for long runs.
    read_words, read_steps: what a prompt and the words behind it say, and nothing else; every step that is written in full.
    surroundings: what responds to it. left_the_space(words): why a run ended early, "" if it did not.
    """

    describe: Callable[..., Construction]
    wire: Callable[..., Wired]
    least_precision: Callable[..., int]
    prompt: Callable[..., list[str]]
    expected: Callable[..., list[str]]
    read_words: Callable[[Sequence[str]], Configuration]
    read_steps: Callable[[Sequence[str]], Iterator[Step]]
    expected_tokens: Callable[..., Tokens] | None = None
    surroundings: Callable[[Wired], Respond] = lambda wired: no_response
    left_the_space: Callable[[Sequence[str]], str] = lambda words: ""
    machine: Machine = find("bb2").machine
    tape: str = ""
    cells: int | None = None

    @property
    def has_space(self) -> bool:
        """Whether the tape that it may use ends somewhere."""
        return "left_the_space" in vars(self) and self.left_the_space is not TuringModel.left_the_space

    @property
    def task(self) -> dict[str, Any]:
        """What it is wired for besides machine and steps, by keyword."""
        return {"tape": self.tape} | ({} if self.cells is None else {"cells": self.cells})

    @property
    def construction(self) -> Construction:
        """The construction for this machine, word and space; its n is the number of steps."""
        return self.describe(self.machine, **self.task)

    def build(self, n: int, precision_bits: int | None = None, **how: Any) -> Wired:
        """The wired model for n steps; how: printed and discipline. Raises ValueError, MachineError among them."""
        return self.wire(self.machine, steps=n, precision_bits=precision_bits, **self.task, **how)

    def expects(self, wired: Wired, steps: int) -> Tokens:
        """What a repaired model should write, in numbers."""
        if self.expected_tokens is not None:
            return self.expected_tokens(self.machine, steps=steps, **self.task)
        return np.array(wired.tokens(self.expected(self.machine, steps=steps, **self.task)), np.int64)

    def request(self, wired: Wired, given: int) -> Request:
        """Asks for a run of so many steps. Raises ValueError where a space that grows with the steps is wired for others."""
        if self.has_space and self.cells is None and given != wired.n:
            raise ValueError(
                f"this model is wired for {wired.n} steps, not {given}: its space follows from them; give cells, too"
            )
        # Searches as printed find other words, which the vocabulary may lack: there is no guess then, only a limit.
        guess = () if wired.printed else self.expects(wired, given)
        limit = len(self.expected(self.machine, steps=given, **self.task) if wired.printed else guess)
        prompt = wired.tokens(self.prompt(self.machine, steps=given, **self.task))
        stop = {wired.token[HALT]} if HALT in wired.token else set()
        return Request(wired, prompt, stop, limit, guess, self.surroundings(wired))

    def read(self, run: Run) -> Configuration:
        """The machine's configuration at the end."""
        return self.read_words(run.words)

    def judge(self, given: int, run: Run, answer: Configuration) -> str:
        """Every word counts, and what they say; as printed, only this."""
        if wrong := "" if run.request.wired.printed else _deviation(run):
            return wrong
        is_so = simulate_fast(self.machine, self.tape, answer.steps if self.left_the_space(run.words) else given)
        return "" if answer == is_so else f"the words say: {outcome(answer)}; the machine: {outcome(is_so)}"


def _deviation(run: Run) -> str:
    produced, expected = run.tokens, np.asarray(run.request.guess)
    if produced is expected:
        return ""
    both = min(len(produced), len(expected))
    wrong = np.flatnonzero(produced[:both] != expected[:both])
    if len(wrong):
        word, right = (run.request.wired.vocabulary[tokens[wrong[0]]] for tokens in (produced, expected))
        return f"word {wrong[0] + 1} behind the prompt is {word}; the machine's run has {right}"
    if len(produced) != len(expected):
        return f"the model wrote {len(produced)} words behind the prompt; the machine's run has {len(expected)}"
    return ""


def _model(module: Any, **more: Any) -> TuringModel:
    """The model that a module describes."""
    has = (module.construction, module.build, module.least_precision, module.prompt, module.expected_sequence)
    return TuringModel(*has, module.read, module.read_steps, **more)


def _cot() -> TuringModel:
    from constructions.turing import cot

    return _model(cot, left_the_space=cot.left_the_space)


def _rag() -> TuringModel:
    from constructions.turing import rag

    return _model(rag, surroundings=rag.surroundings)


def _hybrid() -> TuringModel:
    from constructions.turing import hybrid

    return _model(hybrid, expected_tokens=hybrid.expected_tokens, left_the_space=hybrid.left_the_space)


MODELS: Mapping[str, TuringModel] = Lazily({"cot": _cot, "rag": _rag, "hybrid": _hybrid})
"""By the names of `--model`."""
VARIANTS = ("repaired", "printed")
"""Those of all models; a model that lacks one says so."""
