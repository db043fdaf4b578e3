"""A model that a person wires: a program says what it is for, and the blocks are written by hand; in the package, or in a file.

The program is the definition, with its texts, its oracle and its examples. It is not compiled. The weights are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import islice
from typing import Any, ClassVar

from constructions.language.copies import exact_copy
from constructions.language.functions import FunctionError, report_failures, text_in_message
from constructions.language.model import SIZE_OF_EXAMPLES, ProgramModel
from constructions.language.program import Program
from constructions.language.values import START
from constructions.language.weights import ProgramWeights
from constructions.models.building import format_of
from constructions.models.door import Door
from constructions.models.options import ModelOptions
from constructions.wiring.affine import Affine
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan, Gadget, Head, LinearUnit
from precision.format import Discipline

MOST_BLOCKS = 1000


@dataclass(frozen=True, eq=False)
class HandWired(ProgramModel):
    """blocks(setting): the blocks, over registers of the embedding (weights.py) and those that they write.

    least_bits(n, length, discipline): the least p for which they hold; length: the most tokens of a text.
    meanings: register → what it holds, for people. Whether it is a Transformer, an RNN or a hybrid is read off the blocks.
    options: what it was made with. make: the function that makes it with other ones.

    In the package the program has a name, that of its module; in a file of one's own it may be called as the file.
    """

    blocks: Callable[[Setting], Sequence[BlockPlan]]
    least_bits: Callable[[Any, Any, Discipline], Any]
    meanings: Mapping[str, str] = field(default_factory=dict)
    options: ModelOptions = ModelOptions()
    make: Callable[[Any], HandWired] | None = None

    variant: ClassVar[str] = "by hand"

    def __post_init__(self) -> None:
        if not isinstance(self.program, Program) or not callable(self.blocks) or not callable(self.least_bits):
            raise ValueError("HandWired(program, blocks, least_bits): a program and two functions")
        odd = [pair for pair in dict(self.meanings).items() if not all(isinstance(text, str) for text in pair)]
        if odd:
            raise ValueError(f"the meaning of a register is text, not {odd[0]!r}")

    @property
    def door(self) -> Door[ProgramModel]:
        return Door(self.program.name, {self.model: self}, self.options)

    def with_options(self, options: Any, discipline: Discipline = Discipline.FUSED) -> HandWired:
        own = type(self.options)(**{name: getattr(options, name) for name in self.options.items()})
        return self if self.make is None or own == self.options else _make(self.make, own)

    def particulars(self) -> Mapping[str, object]:
        return {**super().particulars(), **self.options.fields}

    def weights(self, n: Any) -> ProgramWeights:
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


@cache
def _make(make: Callable[[Any], HandWired], options: ModelOptions) -> HandWired:
    return make(options)


class _ByHand(ProgramWeights):
    """The weights of such a model for one n."""

    def __init__(self, model: HandWired, n: Any) -> None:
        super().__init__(model.program, n)
        self.model = model

    def blocks(self, setting: Setting) -> tuple[BlockPlan, ...]:
        """Returns what the person wrote, for this setting."""
        what = f"blocks of {self.program.name}"
        with report_failures(what, ours_pass=True):
            return plain_blocks(self.model.blocks(setting))

    def plan(self, setting: Setting) -> tuple[BlockPlan, ...]:
        blocks, asked = self.blocks(setting), self.model.model
        if (found := architecture_of(blocks)) != asked:
            name = self.program.name
            raise ValueError(f"{name} is wired as {asked} at n = {SIZE_OF_EXAMPLES}, and as {found} here")
        return blocks

    def least_precision(self, discipline: Discipline = Discipline.FUSED) -> int:
        what = f"least_bits of {self.program.name}"
        with report_failures(what, ours_pass=True):
            bits = exact_copy(self.model.least_bits(self.n, self.length, discipline))
        if not is_exact(bits) or type(bits) is Fraction:
            raise FunctionError(f"{what} returns a whole number, not {text_in_message(bits)}")
        least: int = bits
        return least


def plain_blocks(given: Iterable[object]) -> tuple[BlockPlan, ...]:
    """Returns blocks as exact copies. Raises ValueError for too many, for what is no block of parts, and for an inexact number."""
    blocks = [*islice(given, MOST_BLOCKS + 1)]
    if len(blocks) > MOST_BLOCKS:
        raise ValueError(f"there are more than {MOST_BLOCKS}")
    copies: tuple[BlockPlan, ...] = tuple(map(exact_copy, blocks))
    for number, block in enumerate(copies, start=1):
        require_block(block, number)
    return copies


def is_exact(number: object) -> bool:
    """Returns whether it is an integer or a fraction, as numbers that depend on n are; a float's last digits nobody means."""
    return isinstance(number, int | Fraction) and not isinstance(number, bool)


def require_block(block: object, number: int) -> None:
    """Raises ValueError for what is no block of parts, and for a number that is not exact."""
    if not isinstance(block, BlockPlan):
        raise ValueError(f"block {number} is no BlockPlan: {block!r}")
    parts = ((block.heads, Head), (block.gadgets, Gadget), (block.linear_units, LinearUnit))
    for given, kind in parts:
        for part in given if isinstance(given, tuple) else (given,):
            if not isinstance(given, tuple) or not isinstance(part, kind):
                raise ValueError(f"block {number}: a tuple of {kind.__name__} is due, not {part!r}")
    forms: list[object] = []
    for gadget in block.gadgets:
        forms += [form for unit in gadget.units for form in (unit.gate, unit.up)]
        odd = [c for unit in gadget.units for c in unit.into.values()] + [*gadget.constants.values()]
        if inexact := [c for c in odd if not is_exact(c)]:
            raise ValueError(f"block {number}, {gadget.name}: {inexact[0]!r} is no integer and no Fraction")
    for head in block.heads:
        forms += [form for one in head.components for form in (one.key, one.query)] + [*head.reads.values()]
    forms += [form for unit in block.linear_units for row in unit.rows.values() for form in row]
    for form in forms:
        if not isinstance(form, Affine):
            raise ValueError(f"block {number}: {form!r} is no form, such as reg('position') - 1")
        if odd := [c for c in (*form.terms.values(), form.constant) if not is_exact(c)]:
            raise ValueError(f"block {number}: {odd[0]!r} in a form is no integer and no Fraction")


def architecture_of(blocks: Sequence[BlockPlan]) -> str:
    """Returns transformer (no recurrence), rnn (no attention) or hybrid (attention in the last block alone, definition 5.5).

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
