"""A wired model with the names that belong to it: what the builder returns and the dump, the trace and the tests read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from constructions.layers import Transformer
from constructions.wiring import BlockPlan
from precision.format import Arithmetic


@dataclass(frozen=True, eq=False)
class Wired:
    """Weights and their names. Engines get `model` and `arithmetic` only.

    variant: "printed" if every finding is put back to print, else "repaired"; printed: the ids of those put back.
    registers: names in the order of coordinates. vocabulary: token strings in the order of token numbers.
    blocks: the plan that the weights were filled from.
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

    @cached_property
    def token(self) -> Mapping[str, int]:
        """The number of each token string."""
        return {word: number for number, word in enumerate(self.vocabulary)}

    def tokens(self, words: Iterable[str]) -> list[int]:
        """These token strings as numbers. Raises KeyError for one that is not in the vocabulary."""
        return [self.token[word] for word in words]
