"""The Transformer of Theorem 4.8 as a model that one can prompt, run and judge.

Source: Theorem 4.8; A.5 for an RNN that searches: each word of a result stands in the place of the word that the RNN would have
written before it could read it, which counts for nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from circuits.models import Rnn, simulation_models
from circuits.plan import Plan
from circuits.runs import Conversation, RnnStep, run_rnn, surroundings
from circuits.simulation import FINDINGS, SOURCE, least_precision, plan_of
from circuits.transition import load_file
from constructions.models.construction import Construction, Derived, numbers_of
from constructions.models.model import NOTHING, Ids, Model, Planned, PromptDomain, RunAnswer
from constructions.models.request import Request, Run
from constructions.wiring.part import Setting
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

MOST_TOKENS = 1 << 23
STATEMENT = "A Transformer of four blocks writes every gate of an RNN's steps, and the RNN's own words between them."


BLOCKS: Mapping[int, str] = {
    1: "looks up what the next gate is",
    2: "reads the operands; computes the gate; finds where the step's word stands",
    3: "reads the step's word, and the digits so far of the number that the next gate is a digit of",
    4: "compares the number with its digits; reads the output's digits; writes the next token",
}


def _glossary(rnn: Rnn) -> dict[str, str]:
    inputs, outputs = rnn.step.inputs, [f"x{name[1:]}" for name in rnn.step.outputs]
    return {
        "says 0": "1 at the RNN's first word, which stands for the value 0",
        "says 1": "1 at the RNN's second word, which stands for the value 1",
        "step": "how many steps have ended",
        "source": "one more: where in the prompt the word of this step stands, if it is there",
        "gate": "the number of the gate whose value this token is, 0 at a word",
        "value": "the value of this token's gate",
        "position": "this token's position, from 1",
        "one": "1 everywhere",
        "first": "1 at position 1, else 0",
        **{f"is_{kind}": f"1 if the next gate is {kind.upper()}" for kind in ("and", "xor", "one")},
        "is_state": "1 if the next gate is a state bit",
        "is_input": "1 if the next gate is an input bit",
        "is_digit": "1 if it is one of a magnitude",
        "initial": "what the state bit is in the first step",
        "last": "1 if the RNN's word is next",
        **{which: f"how many tokens back the next gate's {which} operand stands" for which in ("left", "right")},
        "place": "which bit of its number the next gate is, from 1",
        "weight": "what the next digit counts",
        "a": "the value of the left operand",
        "b": "the value of the right operand",
        "bit": "the value of the next gate, unless it is an input bit",
        "address": "where the word of this step stands",
        "number": "the number that the next input bit belongs to",
        "below": "what its digits so far, and the next one, count",
        "low": "the digits so far of the number that the next gate is a digit of",
        **{name: f"the RNN's number {name[2:-1]} of this word" for name in inputs},
        **{f"in {name}": f"the RNN's number {name[2:-1]} of this step's word" for name in inputs},
        **{f"pick {name}": f"1 if the next gate is a bit of {name[2:-1]}" for name in inputs},
        **{f"out {name}": f"twice the code of the output's number {name[2:-1]}" for name in outputs},
        **{f"sign {name}": f"the sign bit of the output's number {name[2:-1]}" for name in outputs},
    }


def expected_tokens(steps: Sequence[RnnStep]) -> list[int]:
    """Returns what the Transformer should write after the prompt, by the circuit, as numbers of the RNN's words from 0.

    The value of a gate is itself such a number: the print counts words from 1, and says value + 1.
    """
    return [token for step in steps for token in (*step.values, step.token)]


@dataclass(frozen=True, eq=False)
class Simulator(Model[Sequence[int], list[str]]):
    """The Transformer that runs one RNN on prompts of n words; the RNN then writes so many."""

    rnn: Rnn
    words: int = 1

    @property
    def results(self) -> int:
        """Returns the number of result words that it is wired for: 1 if the RNN searches."""
        return int(self.rnn.searches)

    @cached_property
    def construction(self) -> Construction:
        return Construction(
            name="simulate",
            source=SOURCE,
            statement=STATEMENT,
            model="transformer",
            findings=FINDINGS,
            precision="2q + 1, q about log2(32·G·L²·log p): L positions, G = O(log L)",
            glossary=_glossary(self.rnn),
        )

    block_texts = BLOCKS

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return (
            *numbers_of(setting.format),
            Derived("C", Fraction(setting.n), f"the gates of one step of {self.rnn.name}"),
            Derived("G", Fraction(setting.gap), f"a winning score's lead, for {setting.length} positions"),
            Derived("L", Fraction(setting.length_bound), "power of two above every position"),
        )

    def task(self, n: int) -> Plan:
        """Returns what the weights for prompts of n words are derived from. Raises ValueError."""
        if self.words > 1 and self.rnn.unread:
            some = self.rnn.vocabulary[min(self.rnn.unread)]
            raise ValueError(
                f"{self.rnn.name} may write {some!r}, which it cannot read: it writes one word after a prompt"
            )
        return Plan(self.rnn, n, self.words, self.results)

    def require(self, n: int) -> None:
        self.task(n)

    def what(self, n: int, discipline: Discipline) -> str:
        task = self.task(n)
        return f"{task.gates:,} gates and {task.length:,} positions"

    def length(self, n: int) -> int:
        return self.task(n).length

    def longest(self, n: int, printed: Ids) -> None:
        """Returns None: no engine refuses a longer sequence."""

    def setting(self, n: int, fmt: Format) -> Setting:
        return Setting(self.task(n).gates, self.length(n), fmt)

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        return least_precision(self.task(n), discipline)

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        """Plans the blocks. All of the RNN's words are listed."""
        return plan_of(self.task(n), fmt, printed)

    def request(self, wired: Wired, given: Sequence[int]) -> Request:
        """Makes a request of a prompt, as numbers of the RNN's words. Raises ValueError for results it is not wired for."""
        steps = self.steps(given)
        if (results := sum(step.result is not None for step in steps)) > self.results:
            raise ValueError(f"the RNN's searches find {results} words; this model is wired for {self.results}")
        expected = expected_tokens(steps)
        return Request(wired, given, set(), len(expected), np.array(expected), surroundings(self.rnn, given))

    def steps(self, given: Sequence[int]) -> list[RnnStep]:
        """Returns what the RNN does, by its circuit. Raises ValueError."""
        return run_rnn(self.rnn, given, self.words)

    def read(self, run: Run) -> list[str]:
        """Returns the words after the prompt that count: the RNN's own, and the results of its searches."""
        prompt, gates = run.request.prompt, len(self.rnn.step.circuit.gates)
        conversation = Conversation(self.rnn, prompt)
        for token in run.tokens[gates :: gates + 1].tolist():
            conversation.write(token)
        return [self.rnn.vocabulary[word] for word in conversation.read[len(prompt) :]]

    def judge(self, given: Sequence[int], run: Run, answer: Sequence[str]) -> str:
        """Returns the first token that is another one, if there is one."""
        steps = self.steps(given)
        expected, written = expected_tokens(steps), run.tokens.tolist()
        if written == expected:
            return ""
        place = next((i for i, (a, b) in enumerate(zip(written, expected, strict=False)) if a != b), len(written))
        actual = run.produced[place] if place < len(written) else "missing"
        right = run.request.wired.vocabulary[expected[place]]
        step, token = divmod(place, len(self.rnn.step.circuit.gates) + 1)
        return f"token {token + 1} of step {step + 1} is {actual}; the RNN's is {right}"

    # Callers

    size = "length"

    @property
    def usual(self) -> str:
        """A prompt to show: the RNN's own, or the first words that it reads."""
        known, rnn = simulation_models().get(self.rnn.name), self.rnn
        return known.prompt if known else " ".join(word for i, word in enumerate(rnn.vocabulary) if i not in rnn.unread)

    def read_each(self, run: Run) -> list[str]:
        """Returns the word of every step, those within the prompt too."""
        gates = len(self.rnn.step.circuit.gates)
        return [self.rnn.vocabulary[token] for token in run.tokens[gates :: gates + 1].tolist()]

    def sizes(self, wired: Wired) -> str:
        """Returns width, p and parameters of the weights, each with its bound."""
        plan, model = self.task(wired.n), wired.model
        of_model = wired.arithmetic.format.significand_bits + 1
        d, p, w, length = len(plan.numbers), plan.digits + 1, model.width, math.log2(plan.length)
        parameters = (3 * w + 2) * (plan.gates + 40 + 2 * d) + 20 * w * (p + d + 4)
        bits = 4 * length + 2 * math.log2(length) + 30
        return (
            f"C = {plan.gates:,} gates; width {w} of at most 5d + 29 = {5 * d + 29}; p = {of_model}"
            f", against 4·log2 L + 2·log2 log2 L + 30 = {math.floor(bits)}; {model.parameters:,} parameters, O(C):"
            f" at most {parameters:,}"
        )

    def with_options(self, options: Any, discipline: Discipline = Discipline.FUSED) -> Simulator:
        return simulator_of(options.rnn, options.rnn_p, options.n, options.words, discipline)

    def read_input(self, given: object, n: int | None) -> list[int]:
        if given is None:
            given = self.usual
        if not isinstance(given, str):
            given = " ".join(map(str, given)) if isinstance(given, Iterable) else str(given)
        prompt = _prompt(self.rnn, given)
        if n is not None and len(prompt) != n:
            raise ValueError(f"the prompt has {len(prompt)} words; this model is wired for {n}")
        return prompt

    def fitting(self, given: Sequence[int]) -> tuple[Simulator, int]:
        """Raises ValueError if the run would be too long."""
        length = self.length(len(given))
        if length > MOST_TOKENS:
            raise ValueError(f"this run has {length:,} tokens; at most {MOST_TOKENS:,} are written")
        return self, len(given)

    def examples(self, wired: Wired, given: Sequence[int] | None = None) -> Iterator[Request]:
        """Yields a prompt, by default the beginning of the usual one over and over."""
        usual = _prompt(self.rnn, self.usual)
        words = [usual[i % len(usual)] for i in range(wired.n)] if given is None else given
        yield self.request(wired, words)

    def run_answer(self, run: Run, answer: Sequence[str]) -> RunAnswer:
        *chain, last = run.produced
        rnn = self.rnn
        more = {"rnn": rnn.name, "gates": len(rnn.step.circuit.gates), "words": answer}
        return RunAnswer(chain, last, {**more, "vocabulary_of_rnn": list(rnn.vocabulary)})

    def particulars(self) -> Mapping[str, object]:
        return {"rnn": self.rnn.name}

    def domain(self, wired: Wired) -> PromptDomain:
        rnn, n = self.rnn, wired.n
        sentence = f"A prompt is {n} words of the RNN {rnn.name}, which writes {self.words} after them."
        sentence += " A prompt of another length needs a model that is wired for it."
        known = [word for i, word in enumerate(rnn.vocabulary) if i not in rnn.unread]
        word = f"(?:{'|'.join(map(re.escape, known))})"
        return PromptDomain(sentence, f"{word}(?: {word}){{{n - 1}}}", (n, n))


def simulator_of(
    name: str, p: int | None, n: int | None, words: int | None, discipline: Discipline, file: Path | None = None
) -> Simulator:
    """Returns the simulator of one RNN; what is None is as the RNN is usually shown. file: a circuit's words. Raises ValueError."""
    if is_own(name):
        return Simulator(load_file(name, file, n, p, discipline), 1 if words is None else words)
    if name not in simulation_models():
        raise ValueError(
            f"there is no RNN {name!r}; there are {', '.join(simulation_models())}, FILE.py[:NAME], and --circuit STEP.aag"
        )
    if file is not None:
        raise ValueError(f"--words {file} is for a circuit; the RNN {name} has its words")
    model = simulation_models()[name]
    return Simulator(model.load(p, model.n if n is None else n, discipline), model.words if words is None else words)


def is_own(name: str) -> bool:
    """Returns whether a name means a file."""
    return ".py" in name or name.endswith((".aag", ".aig"))


def _prompt(rnn: Rnn, text: str) -> list[int]:
    """Returns the words of a prompt. Raises ValueError for none, and for one that the RNN does not know."""
    number_of = {word: number for number, word in enumerate(rnn.vocabulary) if number not in rnn.unread}
    words = text.split()
    if not words:
        raise ValueError("a prompt has at least one word")
    for word in words:
        if word not in number_of:
            some = ", ".join([*number_of][:12])
            raise ValueError(f"{word!r} is not a word of {rnn.name} at n = {rnn.n}; it has {some}")
    return [number_of[word] for word in words]
