"""A model that a person wires: a program says what it is for, and the blocks are written by hand; in the package, or in a file.

The program is the definition, with its texts, its oracle and its examples. It is not compiled. The weights are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from constructions.language.functions import MISTAKES, told
from constructions.language.model import SIZE_OF_EXAMPLES, ProgramModel
from constructions.language.values import START
from constructions.language.weights import Weights
from constructions.models.building import format_of
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan
from precision.format import Discipline


@dataclass(frozen=True, eq=False)
class HandWired(ProgramModel):
    """blocks(setting): the blocks, over registers of the embedding (weights.py) and those that they write.

    least_bits(n, length, discipline): the least p for which they hold; length: the most tokens of a text.
    meanings: register → what it holds, for people. Whether it is a Transformer, an RNN or a hybrid is read off the blocks.

    In the package the program has a name, that of its module; in a file of one's own it may be called as the file.
    """

    blocks: Callable[[Setting], Sequence[BlockPlan]]
    least_bits: Callable[[Any, Any, Discipline], Any]
    meanings: Mapping[str, str] = field(default_factory=dict)

    variant: ClassVar[str] = "by hand"

    def weights(self, n: Any) -> Weights:
        return _ByHand(self, n)

    @property
    def model(self) -> str:
        return self._model

    @cached_property
    def _model(self) -> str:
        weights = _ByHand(self, SIZE_OF_EXAMPLES)
        return architecture_of(weights.blocks(weights.setting(format_of(0, weights.least_precision(), "n"))))

    @property
    def models(self) -> tuple[str, ...]:
        return (self.model,)

    def as_model(self, name: str) -> ProgramModel:
        if name != self.model:
            raise ValueError(f"{self.program.name} is wired by hand, as {self.model}; there is no {name} of it")
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

    def blocks(self, setting: Setting) -> tuple[BlockPlan, ...]:
        """What the person wrote, for this setting."""
        with told(f"blocks of {self.program.name}", MISTAKES):
            return tuple(self.model.blocks(setting))

    def plan(self, setting: Setting) -> tuple[BlockPlan, ...]:
        blocks, asked = self.blocks(setting), self.model.model
        if (found := architecture_of(blocks)) != asked:
            name = self.program.name
            raise ValueError(f"{name} is wired as {asked} at n = {SIZE_OF_EXAMPLES}, and as {found} here")
        return blocks

    def least_precision(self, discipline: Discipline = Discipline.FUSED) -> int:
        with told(f"least_bits of {self.program.name}", MISTAKES):
            bits: int = self.model.least_bits(self.n, self.length, discipline)
        return bits


def architecture_of(blocks: Sequence[BlockPlan]) -> str:
    """transformer: no recurrence; rnn: no attention; hybrid: attention in the last block alone (definition 5.5).

    Raises ValueError for another mixture.
    """
    attention = [i for i, block in enumerate(blocks, start=1) if block.heads]
    if not any(block.linear_units for block in blocks):
        return "transformer"
    if not attention:
        return "rnn"
    if attention == [len(blocks)] and not blocks[-1].linear_units:
        return "hybrid"
    raise ValueError(
        f"linear units stand beside heads in block {attention[0]}: a hybrid has heads in its last block alone, and no unit there"
    )
