"""The dossier of a program that somebody wrote: the program is the definition, and its oracle judges it.

The weights are compiled from it, or a person wired them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from constructions.language.compiler import Compiler
from constructions.language.files import is_file, load_model, names_of_gallery
from constructions.language.handwired import HandWired
from constructions.language.interpreter import Input
from constructions.language.model import ProgramModel, Prompt
from constructions.language.origins import origin_of_place, origin_of_terms
from constructions.language.program import NotCompiled, Program
from constructions.language.prompts import (
    drawn_prompt,
    equal_prompts,
    every_prompt,
    exchanged_examples,
    extreme_prompts,
    wrong_with,
)
from constructions.language.terms import Answer, Term
from constructions.language.texts import Texts, as_piece
from constructions.language.values import START
from constructions.models.search import END_SEARCH, retrieve
from constructions.wiring.numbered import Family
from constructions.wiring.plan import BlockPlan, Embedding
from constructions.wiring.wired import Wired
from precision.format import Format, fixed_point
from verify.automata.program_texts import text_automaton
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.certificates.ideal import decode
from verify.dossiers.dossier import ENDLESS, FEW, LEAST, DefinitionTrial, Dossier, HardInput, Subject

MOST_PROMPTS = 2000  # of a trial against the oracle: every short prompt, up to so many
TRIAL_N = 4
DRAWN = 200  # prompts beside these, longer ones
DRAWN_AT_N = 50  # and those of the n that is asked for, of up to as many tokens
EXCHANGED = 20  # times that the numbers of an example are exchanged
LONGEST_DRAWN = 24
LONGEST, LONGEST_EXTREME = 100, 1000  # tokens of a piece that are tried; in extreme prompts
LONGEST_THOUGHT = 48, 100  # the same where a chain of thought follows: each of its words asks for all that stand before
MOST_WORDS = 300  # of a chain of thought; a longer one is not tried
ALL_WORDS = 15_000  # of all chains of thought of one n; after so many the next prompts are not tried
EXTREME, SHORT = 60, 20  # prompts by which a precision is judged, beside the extreme ones: drawn ones, and short ones
RUNS, RUN_N = 60, 64  # prompts of the ideal model where the checker cannot tell; the largest n of such a run


def find_program(name: str, model: str | None = None) -> Dossier | None:
    """Finds a program as the registry does."""
    if not is_file(name) and name not in names_of_gallery():
        return None
    loaded = load_model(name)
    loaded = loaded.as_model(model or loaded.model)
    return ProgramDossier(loaded.program.name, loaded.model, loaded, name)


def by_hand(model: HandWired) -> Dossier:
    """Returns the dossier of a model of the package whose weights a person wired."""
    return ProgramDossier(model.program.name, model.model, model)


@dataclass(frozen=True)
class ProgramDossier(Dossier):
    """written_model: the program as a model. file: FILE.py, FILE.py:NAME, the one in the gallery, or "" for one of the package."""

    written_model: ProgramModel | None = None
    file: str = ""

    is_stepwise = True
    sentence = "each word that is due is the program's"
    every_input = "every prompt of n = {n}"

    @property
    def solver(self) -> ProgramModel:
        """The model. Raises TypeError where there is none."""
        if self.written_model is None:
            raise TypeError("a dossier of a program without one")
        return cast("ProgramModel", self.written_model.with_options(self))

    @property
    def written(self) -> Program:
        """The program."""
        return self.solver.program

    @property
    def fields(self) -> Mapping[str, Any]:
        return {**super().fields, **({"program_file": self.file} if self.file else {})}

    @property
    def is_by_hand(self) -> bool:
        return isinstance(self.solver, HandWired) or self.written.asks_n

    @property
    def variants(self) -> Sequence[str]:
        return (self.solver.variant,)

    def variant(self, printed: Sequence[str]) -> str:
        return self.solver.variant

    # Weights

    def families(self, subject: Subject) -> Sequence[Family]:
        return self.solver.families(subject.n)

    def plan(self, subject: Subject, fmt: Format) -> tuple[Embedding, Sequence[BlockPlan]]:
        weights = self.solver.weights(subject.n)
        low, high = weights.numbers
        return weights.embedding(min(high - low + 1, FEW)), weights.plan(weights.setting(fmt))

    # Texts and what is due in them

    def texts(self, subject: Subject) -> TokenAutomaton:
        return text_automaton(self.written.texts, subject.n, (subject.n, subject.n))

    def answer(self, subject: Subject) -> Answer | None:
        return self.written.output(subject.n)

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        return self.answer(subject) if label in self.texts(subject).answers else None

    # Prompts and what is right

    def small_prompts(self, subject: Subject) -> Iterator[Sequence[str]]:
        for prompt in every_prompt(self.written, subject.n):
            yield [START, *prompt]

    def prompts(self, subject: Subject, rng: random.Random) -> Iterator[Sequence[str]]:
        examples = (self.written.texts.complete(example.split()) for example in self.written.examples)
        yield from ([START, *words] for words in examples if self.written.texts.read(words)[1] <= subject.n)
        yield from itertools.islice(self.small_prompts(replace(subject, n=min(subject.n, TRIAL_N))), DRAWN)
        while True:
            yield [START, *drawn_prompt(self.written, subject.n, rng, subject.n)]

    def extreme_inputs(self, subject: Subject, wired: Wired) -> Iterator[HardInput]:
        """Yields the longest prompts, the extreme ones and others that are drawn, and some short ones; without repetition."""
        program, n, rng = self.written, subject.n, random.Random(0)
        drawn = (drawn_prompt(program, n, rng) for _ in range(DRAWN))
        short = every_prompt(program, min(n, TRIAL_N))
        for some, count in ((extreme_prompts(program, n, n), EXTREME), (drawn, EXTREME), (short, SHORT)):
            asked = (words for words in itertools.islice(some, DRAWN) if not wrong_with(program, words))
            for words in itertools.islice(dict.fromkeys(map(tuple, asked)), count):
                yield from self._ask(subject, wired, [START, *words])

    def oracle(self, subject: Subject, prompt: Sequence[str]) -> Sequence[str]:
        return said(self.written, subject.n, prompt)

    def wrong_run(self, subject: Subject) -> str | None:
        if subject.n > RUN_N:
            return None
        wired, solver = self.wired(subject), self.solver
        for words in itertools.islice(self.prompts(subject, random.Random(0)), RUNS):
            given = Prompt(tuple(words[1:]), subject.n)
            run = solver.request(wired, given).run(decode)
            due = self.oracle(subject, words)
            if [*run.produced] != [*due]:
                return f"on {' '.join(words)} it says {' '.join(run.produced)}; the program says {' '.join(due)}"
        return None

    def origin(self, subject: Subject, place: str, terms: Sequence[Term] = ()) -> str:
        try:
            compiler = self.solver.weights(subject.n if isinstance(subject.n, int) else LEAST)
        except NotCompiled:  # the weights are of another program
            return ""
        if not isinstance(compiler, Compiler):  # a person wired it
            return ""
        compiler.plan(compiler.setting(fixed_point(compiler.least_precision())))
        origin = origin_of_terms(compiler, terms) if terms else origin_of_place(compiler, place)
        return origin.text(Path(self.file.partition(".py:")[0].removesuffix(".py")).name + ".py")

    def trial(self, subject: Subject) -> DefinitionTrial | None:
        program, rng = self.written, random.Random(0)
        small = [*itertools.islice(every_prompt(program, TRIAL_N), MOST_PROMPTS)]
        longer = DRAWN * (
            1 if program.draw is None else 2
        )  # where a file draws some, no fewer are drawn token by token
        prompts = {
            TRIAL_N: small,
            LONGEST_DRAWN: [
                *exchanged_examples(program, LONGEST_DRAWN, EXCHANGED, rng),
                *(drawn_prompt(program, LONGEST_DRAWN, rng, LONGEST_DRAWN) for _ in range(longer)),
            ],
        }
        at_once = not program.stop
        longest_drawn, longest_extreme = (LONGEST, LONGEST_EXTREME) if at_once else LONGEST_THOUGHT
        for n in (subject.n, subject.last if subject.last != ENDLESS else 0):  # those that are asked for
            if n and n not in prompts:
                prompts[n] = [drawn_prompt(program, n, rng, min(n, longest_drawn)) for _ in range(DRAWN_AT_N)]
        for n, of_n in prompts.items():
            of_n += extreme_prompts(program, n, longest_extreme)
            of_n += equal_prompts(program, n, longest_drawn)
        trial = DefinitionTrial(0, "", 0)
        for n, of_n in sorted(prompts.items()):
            written = 0  # words of chains of thought
            for prompt in map(list, dict.fromkeys(map(tuple, of_n))):
                if program.stop and written > ALL_WORDS:
                    break
                if wrong_with(program, prompt):
                    trial = replace(trial, left_out=trial.left_out + 1)
                    continue
                words = said(program, n, [START, *prompt], MOST_WORDS)
                written += len(words)
                if len(words) >= MOST_WORDS and words[-1] != program.stop:
                    continue  # it goes on, and is not counted
                longest = max(trial.longest, len(prompt))
                trial = replace(trial, prompts=trial.prompts + 1, largest_n=n, longest=longest)
                if different := self._different(n, prompt, words):
                    return replace(trial, difference=different)
        return trial

    def _too_long(self, n: int, prompt: Sequence[str]) -> str:
        """Returns what is wrong with a chain of thought that does not end within its texts, and what to write if it ends at all."""
        program = self.written
        allowed = sum(piece.most(n) for piece in program.texts.thought)
        words = said(program, n, [START, *prompt], MOST_WORDS, beyond=True)
        if words[-1] != program.stop:
            return f"the program does not say {program.stop} within {len(words)} words, and `thought` allows {allowed}"
        needed = len(words) - 1
        longer = f"the program says {needed} words before {program.stop}, and `thought` allows {allowed} at n = {n}"
        repeated = [piece for piece in program.texts.thought if piece.repeats]
        if not repeated:
            return f"{longer}: let a piece of it repeat, as in some(…) or many(…)"
        times = max(piece.times for piece in repeated) + -(-(needed - allowed) // n)
        kind = "some" if max(repeated, key=lambda piece: piece.times).least else "many"
        return f"{longer}: write {kind}(…, times={times}), which allows up to {times}·n of a piece"

    def _different(self, n: int, prompt: Sequence[str], words: list[str]) -> str:
        """Returns what the program says of a prompt, these words, that its oracle does not, in words; "" for nothing."""
        program, shown = self.written, " ".join(prompt)
        if program.stop:
            if words[-1] != program.stop:
                return f"on {shown} {self._too_long(n, prompt)}"
            try:  # the theorem is about these texts alone
                Texts((*program.texts.pieces, as_piece(program.stop))).read([*prompt, *words])
            except ValueError as error:
                return f"on {shown} the program says none of its texts: {error}"
            words = words[:-1]
        answer, right = " ".join(self.solver.answer_of(words)), self.solver.expected(Prompt(tuple(prompt), n))
        return "" if answer == right else f"on {shown} the program says {answer}; the oracle says {right}"


def said(
    program: Program, n: int, prompt: Sequence[str], most: int | None = None, *, beyond: bool = False
) -> list[str]:
    """Returns what the program says after a prompt, by the plain meaning of each word, up to the word that ends it.

    most: words, after which it is given up. beyond: whether it may say more than its texts allow. What its searches find stands
    among it. Raises ValueError for a search that cannot be carried out.
    """
    answer, words = program.output(n), [*prompt]
    limit = len(words) + 1 + sum(piece.most(n) for piece in program.texts.thought)
    if most is not None:
        limit = len(words) + most if beyond else min(limit, len(words) + most)
    produced: list[str] = []
    text = Input(())
    while len(words) < limit:
        tokens = [(word, 0) if not word.isdecimal() else ("", int(word)) for word in words]
        text = replace(text, tokens=tokens)  # whose values are known as far as it went before
        word = text.word_at(answer, len(tokens))
        produced.append(word)
        words.append(word)
        if word == END_SEARCH:
            found = retrieve(words)
            produced += found
            words += found
        if not program.stop or word == program.stop:
            break
    return produced
