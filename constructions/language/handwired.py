"""A model that a person wires: a program says what it is for, and the blocks are written by hand; in the package, or in a file.

The program is the definition, with its texts, its oracle and its examples. It is not compiled. The weights are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from constructions.language.functions import MISTAKES, told
from constructions.language.model import SIZE_OF_EXAMPLES, ProgramModel
from constructions.language.values import START
from constructions.language.weights import Weights
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan
from precision.format import Discipline


@dataclass(frozen=True, eq=False)
class HandWired(ProgramModel):
    """blocks(setting): the blocks, over registers of the embedding (weights.py) and those that they write.

    least_bits(n, length, discipline): the least p for which they hold; length: the most tokens of a text.
    meanings: register → what it holds, for people. kind: transformer, rag, hybrid or cot.

    In the package the program has a name, that of its module; in a file of one's own it may be called as the file.
    """

    blocks: Callable[[Setting], Sequence[BlockPlan]]
    least_bits: Callable[[Any, Any, Discipline], Any]
    meanings: Mapping[str, str] = field(default_factory=dict)
    kind: str = "transformer"

    variant: ClassVar[str] = "by hand"

    def weights(self, n: Any) -> Weights:
        return _ByHand(self, n)

    @property
    def model(self) -> str:
        return self.kind

    @property
    def models(self) -> tuple[str, ...]:
        return (self.kind,)

    def as_model(self, name: str) -> ProgramModel:
        if name != self.kind:
            raise ValueError(f"{self.program.name} is wired by hand, as {self.kind}; there is no {name} of it")
        return self

    @property
    def glossary(self) -> Mapping[str, str]:
        read = self.program.texts.words
        only_said = [word for word in self.weights(SIZE_OF_EXAMPLES).words if word not in (START, *read)]
        words = {word: f"1 at the token {word}, else 0" for word in read}
        return {**words, **dict.fromkeys(only_said, "an answer: the output writes it"), **self.meanings}


class _ByHand(Weights):
    """The weights of such a model for one n."""

    def __init__(self, model: HandWired, n: Any) -> None:
        super().__init__(model.program, n)
        self.model = model

    def plan(self, setting: Setting) -> tuple[BlockPlan, ...]:
        with told(f"blocks of {self.program.name}", MISTAKES):
            return tuple(self.model.blocks(setting))

    def least_precision(self, discipline: Discipline = Discipline.FUSED) -> int:
        with told(f"least_bits of {self.program.name}", MISTAKES):
            bits: int = self.model.least_bits(self.n, self.length, discipline)
        return bits
