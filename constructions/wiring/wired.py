"""A wired model with the names that belong to it: what the builder returns and the dump, the trace and the tests read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from constructions.layers import Transformer
from constructions.wiring.numbered import Powers
from constructions.wiring.wire import BlockPlan
from precision.format import Arithmetic

BLOCK = 1 << 16  # token strings that are looked up at a time


class UnknownToken(ValueError):
    """A word or number that a model has no token for; the message is one line."""


@dataclass(frozen=True, eq=False)
class Wired:
    """Weights and their names. Engines get `model` and `arithmetic` only.

    variant: "printed" if every finding is put back to print, else "repaired"; printed: the ids of those put back.
    registers: names in the order of coordinates. vocabulary: token strings in the order of token numbers.
    blocks: the plan that the weights were filled from. families: the numbers that the first words are, as powers.
    """

    construction: str
    source: str
    variant: str
    printed: tuple[str, ...]
    n: int
    arithmetic: Arithmetic
    model: Transformer
    registers: tuple[str, ...]
    vocabulary: tuple[str, ...]
    blocks: tuple[BlockPlan, ...]
    families: tuple[Powers, ...] = ()

    @cached_property
    def token(self) -> Mapping[str, int]:
        """The number of each token string."""
        return {word: number for number, word in enumerate(self.vocabulary)}

    def tokens(self, words: Iterable[str]) -> list[int]:
        """Returns the numbers of these tokens. Raises UnknownToken for one that is not in the vocabulary."""
        try:
            return [self.token[word] for word in words]
        except KeyError as error:
            raise UnknownToken(
                f"{error.args[0]!r} is none of the {len(self.vocabulary):,} tokens of this model, which is wired for n = {self.n:,}"
            ) from error

    def numbers(self, words: Iterable[str]) -> NDArray[np.integer]:
        """Returns the same in an array. Words that are spelled by just this vocabulary are numbers already."""
        if isinstance(words, SpelledTokens) and words.vocabulary == self.vocabulary:
            return words.numbers(slice(None))
        return np.array(self.tokens(words), np.int64)

    def spelled(self, tokens: Iterable[int]) -> SpelledTokens:
        """Returns the token strings of these numbers."""
        numbers = tokens if isinstance(tokens, np.ndarray) else np.array(list(tokens), np.int64)
        return SpelledTokens(self.vocabulary, numbers)


@dataclass(frozen=True, eq=False)
class SpelledTokens(Sequence[str]):
    """Token strings that are looked up when they are asked for: a long run has hundreds of millions.

    before: tokens that stand before the others, a prompt's for example.
    """

    vocabulary: tuple[str, ...]
    tokens: NDArray[np.integer]
    before: NDArray[np.integer] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.before) + len(self.tokens)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self.vocabulary[token] for token in self.numbers(place).tolist()]
        place = range(len(self))[place]
        behind = place - len(self.before)
        return self.vocabulary[int(self.before[place] if behind < 0 else self.tokens[behind])]

    def numbers(self, places: slice) -> NDArray[np.integer]:
        """Returns the tokens there."""
        begin, end, step = places.indices(len(self))
        if step < 0:
            return np.concatenate([self.before, self.tokens])[places]
        given = len(self.before)
        behind = self.tokens[max(begin - given, 0) : max(end - given, 0)]
        both = behind if begin >= given else np.concatenate([self.before[begin:end], behind])
        return both[::step]

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), BLOCK):
            yield from self[begin : begin + BLOCK]
