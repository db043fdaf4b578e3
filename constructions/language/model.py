"""A program as a model that can be prompted, run and judged, and the way to it for callers."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from constructions.engines import no_response
from constructions.language.compiler import Compiler
from constructions.language.copies import text_of
from constructions.language.functions import FunctionError, report_failures, text_in_message
from constructions.language.program import ARCHITECTURES, NotCompiled, Program, in_architecture
from constructions.language.prompts import drawn_prompt, every_prompt, wrong_with
from constructions.language.texts import Piece
from constructions.language.values import START
from constructions.language.weights import ProgramWeights
from constructions.models.building import format_of
from constructions.models.construction import Construction, Derived, lead_of, numbers_of
from constructions.models.door import Door
from constructions.models.model import NOTHING, Ids, Model, Planned, PromptDomain, RunAnswer
from constructions.models.request import Request, Run
from constructions.models.search import END_SEARCH, SearchTool
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

TRIED, FULL = 100, 5  # prompts of an export's trial: so many short ones, as many drawn ones; some of full length
VARIANT = "program"  # of weights that a program was compiled to
SIZE_OF_EXAMPLES = 16  # the n at which the blocks of a program are described


@dataclass(frozen=True)
class Prompt:
    """The tokens of a prompt, without `<s>`, and the least n that it is one for."""

    tokens: tuple[str, ...]
    least_n: int


@dataclass(frozen=True, eq=False)
class ProgramModel(Model[Prompt, str]):
    """The compiled program."""

    program: Program

    variant: ClassVar[str] = VARIANT
    """What its weights are called."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.program.name})"

    def weights(self, n: Any) -> ProgramWeights:
        """Returns the weights for n, which may be a symbol. Raises NotCompiled, and says which architecture can do it."""
        try:
            return Compiler(self.program, n)
        except NotCompiled as refusal:
            raise NotCompiled(self._which_can(n, refusal)) from refusal

    def _which_can(self, n: Any, refusal: NotCompiled) -> str:
        """Returns one line: why this architecture cannot, and another that can, or why none can."""
        reasons = {str(refusal): [self.model]}
        for architecture in self.models[1:]:
            try:
                Compiler(in_architecture(self.program, architecture), n)
            except NotCompiled as other:
                reasons.setdefault(str(other), []).append(architecture)
            else:
                return f"{refusal}; as {architecture} it can be compiled: --model {architecture}"
        if len(reasons) == 1:
            return f"{refusal}; this holds for each architecture"
        told = "; ".join(f"as {' and '.join(names)}: {reason}" for reason, names in reasons.items())
        return f"no architecture can compile this: {told}"

    @property
    def model(self) -> str:
        """Returns the architecture."""
        return self.program.architecture

    @property
    def models(self) -> tuple[str, ...]:
        """Returns the architectures that it may have, the usual one first."""
        return tuple(dict.fromkeys((self.program.architecture, *ARCHITECTURES)))

    def as_model(self, name: str) -> ProgramModel:
        """Returns the same program for another architecture. Raises ValueError for one that there is not."""
        return ProgramModel(in_architecture(self.program, name))

    @property
    def door(self) -> Door[ProgramModel]:
        """Returns how callers open it."""
        return Door(self.program.name, {name: self.as_model(name) for name in self.models})

    @property
    def glossary(self) -> Mapping[str, str]:
        """Returns what registers hold, besides those of every embedding."""
        return {name: f"what the program calls {name}" for name in self.program.names.values()}

    def length(self, n: int) -> int:
        length: int = self.weights(n).length
        return length

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        return self.weights(n).least_precision(discipline)

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        weights = self.weights(n)
        return (Family("", *weights.numbers),) if weights.has_numbers else ()

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        """Raises ValueError for what the architecture cannot do."""
        weights = self.weights(n)
        return weights.embedding(listed), weights.plan(weights.setting(fmt))

    def request(self, wired: Wired, given: Prompt) -> Request:
        """Asks a model that this solver built. Raises ValueError for a prompt beyond its n, with the bound."""
        if given.least_n > wired.n:
            raise ValueError(f"this prompt needs n = {given.least_n}; the model is wired for {wired.n}")
        program, n = self.program, wired.n
        thought = sum(piece.most(n) for piece in program.texts.thought)
        stop = {wired.token[program.stop]} if program.stop else set()
        expected = self.expected(given).split()
        guess = [
            wired.token[word] for word in (*expected, *([program.stop] if program.stop else ())) if word in wired.token
        ]
        respond = SearchTool(wired.vocabulary) if END_SEARCH in program.texts.words else no_response
        return Request(wired, wired.tokens([START, *given.tokens]), stop, thought + 1, guess, respond)

    def tried(self, wired: Wired) -> Iterator[Request]:
        """Yields hard prompts for the n that a model is wired for: short ones, drawn ones, and some of full length."""
        program, n, rng = self.program, wired.n, random.Random(0)
        short = itertools.islice(every_prompt(program, min(n, 4)), TRIED)
        drawn = (drawn_prompt(program, n, rng, longest) for longest in [min(n, 24)] * TRIED + [n] * FULL)
        for tokens in (*short, *drawn):
            if not wrong_with(program, tokens):
                yield self.request(wired, Prompt(tuple(tokens), n))

    def expected(self, given: Prompt) -> str:
        """Returns the right answer. Raises ValueError if the oracle fails or takes too long."""
        name = self.program.name
        with report_failures(f"the oracle of {name} on {' '.join(given.tokens)[:40]!r}"):
            answer = self.program.oracle(list(given.tokens))
        if not isinstance(answer, str):
            raise FunctionError(
                f"the oracle of {name} returns text, with spaces between the words, not {text_in_message(answer)}"
            )
        return text_of(answer)

    def words(self, run: Run) -> list[str]:
        """Returns what was said, but for the word that ends it."""
        said = list(run.produced)
        return said[:-1] if self.program.stop and said and said[-1] == self.program.stop else said

    def read(self, run: Run) -> str:
        """Returns the answer as one text."""
        return " ".join(self.answer(run))

    def answer(self, run: Run) -> list[str]:
        """Returns the words of the answer. Raises ValueError if the file's function fails."""
        return self.answer_of(self.words(run))

    def answer_of(self, words: list[str]) -> list[str]:
        """Returns which of the words that were said are the answer. Raises FunctionError if the file's function fails."""
        if self.program.answer is None:
            return words
        what = f"answer of {self.program.name}"
        with report_failures(what):
            answer = self.program.answer([*words])
        if type(answer) is not list or not all(isinstance(word, str) for word in answer):
            raise FunctionError(f"{what} returns a list of words, not {text_in_message(answer)}")
        return [*map(text_of, answer)]

    def judge(self, given: Prompt, run: Run, answer: str) -> str:
        """Returns what is wrong with an answer, by the oracle; "" for nothing."""
        expected = self.expected(given)
        if self.program.stop and run.produced[-1] != self.program.stop:
            return f"the model does not say {self.program.stop} within {len(run.tokens)} tokens"
        return "" if answer == expected else f"the model answers {answer}; the right answer is {expected}"

    @cached_property
    def block_texts(self) -> Mapping[int, str]:
        """Returns what each block of a small n does, for people."""
        weights = self.weights(SIZE_OF_EXAMPLES)
        fmt = format_of(0, weights.least_precision(), "n")
        texts = {}
        for number, block in enumerate(weights.plan(weights.setting(fmt)), start=1):
            heads, units, gadgets = (
                [part.name for part in parts] for parts in (block.heads, block.linear_units, block.gadgets)
            )
            parts = [*heads, *units, *gadgets]
            texts[number] = "; ".join(parts[:4]) + ("; …" if len(parts) > 4 else "") or "nothing"
        return texts

    @property
    def construction(self) -> Construction:
        return Construction(
            name=self.program.name,
            source=self.program.source,
            statement=self.program.statement,
            model=self.model,
            findings=(),
            precision="the least p that each part of the weights fits",
            glossary={**GLOSSARY, **self.glossary},
            variants=(self.variant,),
        )

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return (*numbers_of(setting.format), lead_of(setting))

    # Callers

    def read_input(self, given: object, n: int | None) -> Prompt:
        """Returns the prompt that a text means, with spaces between its tokens, or a list of tokens."""
        if given is None:
            given = self.program.examples[0]
        if isinstance(given, Prompt):
            return given
        if isinstance(given, str):
            tokens = given.split()
        elif isinstance(given, Sequence):
            tokens = [str(token) for token in given]
        else:
            raise ValueError(
                f"a prompt is text such as {self.program.examples[0]!r}, or a list of tokens, not {given!r}"
            )
        tokens = self.program.texts.complete(tokens)
        _, least = self.program.texts.read(tokens)
        if wrong := wrong_with(self.program, tokens):
            raise ValueError(f"this is no prompt of {self.program.name}: {wrong}")
        return Prompt(tuple(tokens), least)

    def fitting(self, given: Prompt) -> tuple[ProgramModel, int]:
        return self, given.least_n

    def examples(self, wired: Wired, given: Prompt | None = None) -> Iterator[Request]:
        prompts = [self.read_input(example, None) for example in self.program.examples]
        for prompt in dict.fromkeys([*prompts, *([given] if given else [])]):
            if prompt.least_n <= wired.n:
                yield self.request(wired, prompt)

    def run_answer(self, run: Run, answer: str) -> RunAnswer:
        """Returns the answer and the chain of thought before it, which is empty if every word belongs to the answer."""
        return RunAnswer([] if self.program.answer is None else self.words(run), answer)

    def particulars(self) -> Mapping[str, object]:
        return {"model": self.model}

    def domain(self, wired: Wired) -> PromptDomain:
        pieces, n = self.program.texts.prompt, wired.n
        prompt = START + "".join(_pattern(piece, n) for piece in pieces)
        least = 1 + sum(piece.least for piece in pieces)
        sentence = f"A prompt is {START} and {', then '.join(_sentence(piece, n) for piece in pieces)}."
        return PromptDomain(sentence, prompt, (least, 1 + sum(piece.most(n) for piece in pieces)))

    def most_produced(self, wired: Wired) -> int:
        thought: int = sum(piece.most(wired.n) for piece in self.program.texts.thought)
        return 1 + thought


GLOSSARY: Mapping[str, str] = {
    "one": "1 everywhere",
    "first": "1 at position 1, else 0",
    "number": "this token's number, 0 at words; at the end, the output",
    "is_number": "1 if this token is a number",
    "position": "this token's position, from 1",
}


def _pattern(piece: Piece, n: int) -> str:
    one = "|".join([*map(re.escape, piece.words), *[r"\d+"] * piece.numbers])
    return f"(?: (?:{one})){{{piece.least},{piece.most(n)}}}"


def _sentence(piece: Piece, n: int) -> str:
    count = "" if not piece.repeats and piece.least else f"{piece.least} to {piece.most(n)} tokens, each "
    high = f" to {n}" if piece.numbers and piece.high is None and not piece.plus else ""
    return f"{count}{piece}{high}"
