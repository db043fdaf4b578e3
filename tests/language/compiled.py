"""A program, compiled for one n: its matrices, what is certified of them, and its runs on texts against the interpreter."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from constructions.engines.incremental import LookupDecoder
from constructions.engines.protocol import GaveUp, NotCovered
from constructions.engines.reference import ReferenceEngine
from constructions.language.compiler import Compiler
from constructions.language.interpreter import Input
from constructions.language.program import Architecture, Program, program
from constructions.language.texts import Piece, Texts
from constructions.language.values import Output, Value
from constructions.wiring.numbered import Family
from constructions.wiring.wire import wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.verify.certificates.runs import contradictions
from verify.algebra.domains import Refused, Undecided
from verify.automata.program_texts import text_automaton
from verify.automata.token_automaton import TokenAutomaton
from verify.programs.decisions import first_mismatch
from verify.programs.extraction import extract
from verify.programs.normal import Normalizer
from verify.programs.text import TermPrinter
from verify.rounding.checker import Report, check
from verify.rounding.model import ExactModel, planned

Words = tuple[str, ...]


def written(
    says: Output | Value | str,
    prompt: Sequence[Piece | str],
    example: str,
    *,
    thought: Sequence[Piece | str] = (),
    architecture: Architecture = "transformer",
) -> Program:
    """A program without an oracle."""
    return program(
        says,
        prompt=prompt,
        oracle=lambda words: "",
        examples=[example],
        thought=thought,
        stop="END" if thought else "",
        architecture=architecture,
    )


@dataclass(frozen=True)
class Compiled:
    """p: by default the least one that the compiler claims."""

    program: Program
    n: int
    discipline: Discipline = Discipline.FUSED
    p: int = 0

    @cached_property
    def compiler(self) -> Compiler:
        return Compiler(self.program, self.n)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        return Arithmetic(fixed_point(self.p or self.compiler.least_precision(self.discipline)), self.discipline)

    @cached_property
    def wired(self) -> Wired:
        """The matrices that engines run."""
        embedding = self.compiler.embedding()
        plan = self.compiler.plan(self.compiler.setting(self.arithmetic.format))
        model, registers = wire(
            embedding, plan, embedding.words, self.arithmetic.format, longest=self.program.texts.length(self.n)
        )
        return Wired("", "", "repaired", (), self.n, self.arithmetic, model, registers, embedding.vocabulary, plan)

    @cached_property
    def model(self) -> ExactModel:
        """The exact layers that certificates are about."""
        families = [Family("", *self.compiler.numbers)] if self.compiler.has_numbers else []
        plan = self.compiler.plan(self.compiler.setting(self.arithmetic.format))
        return planned(self.compiler.embedding(5 if families else None), plan, self.arithmetic, families, rounded=False)

    @cached_property
    def automaton(self) -> TokenAutomaton:
        return text_automaton(self.program.texts, self.n, (self.n, self.n))

    @cached_property
    def report(self) -> Report | str:
        """What is certified of its rounding, or why it is not."""
        try:
            return check(self.model, self.automaton)
        except Refused as refused:
            return f"{type(refused).__name__}: {refused.where}: {refused.what}"

    @property
    def refusal(self) -> str:
        """Why rounding is refused, "" if it is certified or no rule covers it."""
        return self.report if isinstance(self.report, str) and not self.report.startswith(Undecided.__name__) else ""

    @cached_property
    def mismatches(self) -> list[str]:
        """Where the program that the weights are is not seen to be this one."""
        wrong = []
        try:
            read = extract(self.model, self.automaton)
            for i, state in enumerate(self.automaton.states):
                if state.label in self.automaton.answers:
                    normal = Normalizer(read.facts.ending(i))
                    registers = {r: normal.term(value) for r, value in read.stages[-1].registers.items()}
                    mismatch = first_mismatch(self.model, registers, self.compiler.answer, normal)
                    if mismatch is not None:
                        wrong.append(f"{state.label}: {mismatch.text(TermPrinter(), normal)}")
        except Undecided as undecided:
            wrong.append(f"{undecided.where}: {undecided.what}")
        return wrong

    @property
    def certified(self) -> bool:
        """Of both kinds."""
        return isinstance(self.report, Report) and not self.mismatches

    def expected(self, words: Words) -> dict[int, str]:
        """What is said at each position where an answer is due; words: without `<s>`."""
        spoken = [("<s>", 0), *(("", int(word)) if word.isdecimal() else (word, 0) for word in words)]
        text = Input(spoken)
        return {k: text.word_at(self.compiler.answer, k) for k in due(self.program.texts, words)}

    def says(self, words: Words) -> list[str]:
        """What `reference` says at each position."""
        engine = ReferenceEngine(self.wired.model, self.arithmetic)
        return [self.wired.vocabulary[engine.append(t).next_token] for t in self.wired.tokens(["<s>", *words])]

    def says_by_lookups(self, words: Words) -> list[str]:
        """Returns what lookups say at each position; where they do not decide, what `reference` says."""
        tokens = self.wired.tokens(["<s>", *words])
        with suppress(NotCovered, GaveUp):
            decoder = LookupDecoder(self.wired.model, self.arithmetic, len(tokens))
            return [self.wired.vocabulary[decoder.append(token)] for token in tokens]
        return self.says(words)

    def slips(self, texts: Sequence[Words], *, by_lookups: bool = False) -> list[str]:
        """Where a run says another word than the interpreter."""
        wrong = []
        for words in texts:
            said = (self.says_by_lookups if by_lookups else self.says)(words)
            wrong += [
                f"{' '.join(words)!r} at {k}: says {said[k - 1]}, due is {word}"
                for k, word in self.expected(words).items()
                if said[k - 1] != word
            ]
        return wrong

    def strays(self, texts: Sequence[Words]) -> list[str]:
        """Where a run is not as its certificate of rounding says."""
        assert isinstance(self.report, Report)
        wrong: list[str] = []
        for words in texts:
            answers = due(self.program.texts, words)
            found = contradictions(self.wired, self.report, self.wired.tokens(["<s>", *words]), {*answers})
            wrong += [f"{' '.join(words)!r}: {what}" for what in found]
        return wrong


def due(texts: Texts, words: Words) -> list[int]:
    """Positions, of `<s>` too, at which an answer is due: at the end of a prompt, and in what is said after it.

    By enumeration of all ways in which pieces can be laid out, and no automaton.
    """
    ends = [i for i in range(1, len(words) + 1) if reads_as(texts.prompt, words[:i])]
    begun = range(ends[0], len(words) + 1) if texts.thought and ends else ()
    return [i + 1 for i in sorted({*ends, *begun}) if not i or words[i - 1] != "<EndSearch>"]


def reads_as(pieces: Sequence[Piece], words: Sequence[str], limit: int = 10**9) -> bool:
    """Whether the words are these pieces, for an n up to the limit."""
    if not pieces:
        return not words
    piece, *rest = pieces
    most = limit * piece.times if piece.repeats else 1
    count = 0
    if piece.least == 0 and reads_as(rest, words, limit):
        return True
    while count < min(most, len(words)) and piece.takes(words[count]):
        if words[count].isdecimal() and int(words[count]) > piece.largest(limit):
            break
        count += 1
        if count >= piece.least and reads_as(rest, words[count:], limit):
            return True
    return False


def tokens_of(piece: Piece, n: int) -> list[str]:
    """What may stand there."""
    return [*piece.words, *(str(v) for v in range(piece.low, piece.largest(n) + 1) if piece.numbers)]


def every_text(texts: Texts, n: int) -> Iterator[Words]:
    """Each text that no piece makes longer: a prompt of each shape, and the longest thoughts after it."""

    def laid(pieces: Sequence[Piece], longest: bool) -> Iterator[list[Piece]]:
        if not pieces:
            yield []
            return
        counts = range(piece.least, piece.most(n) + 1) if (piece := pieces[0]) else ()
        for count in counts if not longest else counts[-1:]:
            for rest in laid(pieces[1:], longest):
                yield [piece] * count + rest

    several = len(texts.prompt) > 1 or bool(texts.thought)
    for prompt in laid(texts.prompt, not several):
        for thought in laid(texts.thought, True):
            if prompt or thought:
                yield from itertools.product(*(tokens_of(piece, n) for piece in (*prompt, *thought)))
