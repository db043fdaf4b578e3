"""What all weights of a program have, compiled or wired by hand: a vocabulary, the embedding, the blocks, the least p."""

from __future__ import annotations

from constructions.language.bounds import Bound
from constructions.language.program import Program
from constructions.language.terms import Answer, If, Say
from constructions.language.values import START
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan, Embedding
from constructions.wiring.register import squared
from precision.format import Discipline, Format

ONE_REGISTER, FIRST, IS_NUMBER, NUMBER, POSITION = "one", "first", "is_number", "number", "position"


class ProgramWeights:
    """Those of one program for one n, which may be a symbol."""

    def __init__(self, program: Program, n: Bound) -> None:
        self.program, self.n, self.texts, self.answer = program, n, program.texts, program.output(n)
        largest = max((piece.largest(n) for piece in self.texts.pieces if piece.numbers), default=0)
        self.numbers = (self.texts.lowest, largest)
        self.length = self.texts.length(n)

    @property
    def words(self) -> tuple[str, ...]:
        """Returns the words of the vocabulary: those of texts, and those that are only said."""
        return tuple(dict.fromkeys((START, *self.texts.words, *_words_of(self.answer))))

    @property
    def has_numbers(self) -> bool:
        """True if numbers are tokens."""
        return any(piece.numbers for piece in self.texts.pieces)

    def embedding(self, listed: int | None = None) -> Embedding:
        """Returns the embedding of so many numbers, by default all: 1 for each token; a number as (v, v²), a word by a register.

        `<s>` has `first` as well: it stands at position 1 alone.
        """
        low, high = self.numbers
        families: tuple[Powers, ...] = ()
        if self.has_numbers:
            high = high if listed is None else min(high, low + listed - 1)
            powers = {NUMBER: (1, 1), squared(NUMBER): (1, 2), IS_NUMBER: (1, 0), ONE_REGISTER: (1, 0)}
            families = (Powers(low, high, powers),)
        spelled = [str(i) for family in families for i in range(low, high + 1)]
        rows = [{word: 1, ONE_REGISTER: 1} | ({FIRST: 1} if word == START else {}) for word in self.words]
        return Embedding((*spelled, *self.words), Numbered(families, tuple(rows)), POSITION)

    def setting(self, fmt: Format) -> Setting:
        """Returns what the constants of this model are derived from."""
        return Setting(self.n, self.length, fmt)

    def plan(self, setting: Setting) -> tuple[BlockPlan, ...]:
        raise NotImplementedError

    def least_precision(self, discipline: Discipline = Discipline.FUSED) -> int:
        """Returns the least p for which the blocks are derived."""
        raise NotImplementedError


def _words_of(answer: Answer) -> list[str]:
    match answer:
        case If(_, then, otherwise):
            return [*_words_of(then), *_words_of(otherwise)]
        case Say(text):
            return [text]
    return []
