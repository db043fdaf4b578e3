"""What the models that run Turing machines share: what they are wired for, how a run is asked for, read and judged."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar, cast

import numpy as np

from constructions.engines import Respond, no_response
from constructions.models.model import Model, PromptDomain, RunAnswer
from constructions.models.request import Request, Run, Tokens
from constructions.turing.library import find
from constructions.turing.machine import DIGITS, Machine
from constructions.turing.show import outcome
from constructions.turing.simulator import Configuration, TuringStep, simulate_fast
from constructions.wiring.part import Setting
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

HALT = "HALT"
EXAMPLE_WORDS = 250  # of a run, as a worked example beside the weights


@dataclass(frozen=True)
class TuringModel(Model[int, Configuration]):
    """A model and what it is wired for: a machine, a word on its tape and, for a model with a space, the number of its cells.

    It is wired for n steps. It reads the prompt, and writes what the machine does, step by step; of its words alone, a
    configuration is read. cells: by default, the model chooses them.
    """

    machine: Machine = find("bb2").machine
    tape: str = ""
    cells: int | None = None

    has_space: ClassVar[bool] = False
    """Whether the tape that it may use ends somewhere."""

    def with_options(self, options: Any, discipline: Discipline = Discipline.FUSED) -> TuringModel:
        return replace(self, machine=options.rules, tape=options.tape, cells=options.cells)

    @abstractmethod
    def any_task(self, n: int) -> Any:
        """Returns what the weights for n steps are derived from, without the bounds of what can be wired. Raises MachineError."""

    @abstractmethod
    def task(self, n: int) -> Any:
        """Returns `any_task(n)`, as far as a model can be wired for it and run. Raises MachineError."""

    @abstractmethod
    def expected(self, n: int) -> list[str]:
        """Returns the words after the prompt of n steps, responses included, by the simulator.

        They end where the model may be stopped, and the last one says whether the machine has halted.
        """

    @abstractmethod
    def read_words(self, words: Sequence[str]) -> Configuration:
        """Returns what a prompt and the words after it say, and nothing else."""

    @abstractmethod
    def read_steps(self, words: Sequence[str]) -> Iterator[TuringStep]:
        """Yields every step that is written in full."""

    def surroundings(self, wired: Wired) -> Respond:
        """Returns what responds to it."""
        return no_response

    def left_the_space(self, words: Sequence[str]) -> str:
        """Returns the line for a run that ends because there is no cell for the head, else "". words: the prompt's as well."""
        return ""

    def prompt(self, n: int) -> list[str]:
        """Returns the words that ask for n steps."""
        words: list[str] = self.task(n).prompt()
        return words

    def expected_tokens(self, wired: Wired, n: int) -> Tokens:
        """Returns what a repaired model should write, in numbers."""
        return np.array(wired.tokens(self.expected(n)), np.int64)

    def require(self, n: int) -> None:
        self.task(n)

    def what(self, n: int, discipline: Discipline) -> str:
        return f"{n} steps"

    def setting(self, n: int, fmt: Format) -> Setting:
        return Setting(max(n, 1), self.length(n), fmt)

    def request(self, wired: Wired, given: int) -> Request:
        """Requests a run of this many steps. Raises ValueError if that is more than the weights were wired for."""
        if self.has_space and self.cells is None and given > wired.n:
            raise ValueError(
                f"{given} steps; this model is wired for {wired.n} at most, and its space follows from them"
            )
        # Searches as printed find other words, which the vocabulary may lack: there is no guess then, only a limit.
        guess = () if wired.printed else self.expected_tokens(wired, given)
        limit = len(self.expected(given) if wired.printed else guess)
        stop = {wired.token[HALT]} if HALT in wired.token else set()
        return Request(wired, wired.tokens(self.prompt(given)), stop, limit, guess, self.surroundings(wired))

    def read(self, run: Run) -> Configuration:
        """Returns the machine's configuration at the end."""
        return self.read_words(run.words)

    def judge(self, given: int, run: Run, answer: Configuration) -> str:
        """Compares every word, and what the words say; as printed, only the latter."""
        if wrong := "" if run.request.wired.printed else _deviation(run):
            return wrong
        is_so = simulate_fast(self.machine, self.tape, answer.steps if self.left_the_space(run.words) else given)
        return "" if answer == is_so else f"the words say: {outcome(answer)}; the machine: {outcome(is_so)}"

    # Callers

    size = "steps"

    def read_input(self, given: object, n: int | None) -> int:
        steps = n if given is None else given
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise ValueError(
                f"a run is asked for by its number of steps, not by {given!r}; machine and tape are those loaded"
            )
        if n is not None and steps > n:
            raise ValueError(f"{steps} steps; this model is wired for {n} at most")
        return steps

    def fitting(self, given: int) -> tuple[TuringModel, int]:
        return self, given

    def examples(self, wired: Wired, given: int | None = None) -> Iterator[Request]:
        """Yields requests: how a repaired run begins."""
        if not wired.printed:
            request = self.request(wired, min(wired.n, EXAMPLE_WORDS))  # no step has less than a word
            guess = request.guess[:EXAMPLE_WORDS]
            yield replace(request, guess=guess, limit=len(guess))

    def most_produced(self, wired: Wired) -> int:
        """Returns the words that the longest text leaves for a run which does not halt.

        Of hybrid and rag; a cot's text has no end by steps.
        """
        return cast(int, wired.model.longest) - len(self.prompt(wired.n))

    def run_answer(self, run: Run, answer: Configuration) -> RunAnswer:
        """Returns the words of a run, HALT as the answer if they end with it, and the configuration that the words describe."""
        produced = run.produced
        halted = produced[-1:] == [HALT]  # by itself
        stopped = {
            "halted": answer.halted,
            "steps": answer.steps,
            "state": answer.state,
            "head": answer.head,
            "nonblank": answer.nonblank,
            "tape": answer.tape,
        }
        return RunAnswer(produced[: len(produced) - halted], HALT if halted else None, stopped)

    def particulars(self) -> Mapping[str, object]:
        named = {"model": self.construction.model, "machine": str(self.machine), "tape": self.tape}
        return named if self.cells is None else {**named, "cells": self.cells}

    def domain(self, wired: Wired) -> PromptDomain:
        """Describes the prompts: all words of one length have the same weights, and prompts that differ in symbols alone."""
        machine, prompt = self.machine, self.prompt(wired.n)
        symbols = DIGITS[: machine.symbols]

        def like(word: str) -> str:
            head = word[:-1] if word[-1] in symbols else word
            return re.escape(head) + (f"[{symbols}]" if head != word else "")

        start, *others = map(like, prompt)
        places = "".join(f"(?: {word}){{{len(list(same))}}}" for word, same in groupby(others))
        word = f"a word of {len(self.tape)} symbols on the tape"
        if prompt[1:] == list(self.tape):
            shape = f"{start} and {word}, the head's cell first" if self.tape else f"{start} alone: the tape is blank"
        else:
            shape = f"a configuration of {len(prompt) - 2} cells between {start} and {prompt[-1]}, of {word} in their middle"
        sentence = f"A prompt is {shape}. The model is for the first {wired.n} steps:"
        sentence += " more need one that is wired for them, by --steps."
        return PromptDomain(sentence, start + places, (len(prompt), len(prompt)))


def _deviation(run: Run) -> str:
    produced, expected = run.tokens, np.asarray(run.request.guess)
    if produced is expected:
        return ""
    both = min(len(produced), len(expected))
    wrong = np.flatnonzero(produced[:both] != expected[:both])
    if len(wrong):
        word, right = (run.request.wired.vocabulary[tokens[wrong[0]]] for tokens in (produced, expected))
        return f"word {wrong[0] + 1} after the prompt is {word}; the machine's run has {right}"
    if len(produced) != len(expected):
        return f"the model wrote {len(produced)} words after the prompt; the machine's run has {len(expected)}"
    return ""
