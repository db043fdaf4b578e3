"""Programs of a Linear RNN that writes: rules over the last tokens, each of which says what comes next.

Source: definitions 3.4, A.4 and A.5, Lemma C.20. The paper leaves the weights of sections 5.2 to 5.8 out.
Idea: the state is a shift register of the last tokens, so every choice that does not fit into a linear update goes through a token
that is written and read again. A rule is one ReGLU unit for a special token, and two for a number.

Tokens are special words, with one register each, and numbers of one or more families; number i of a family embeds as (i, i²)
in `number` and `number_squared`, and 1 in the family's own register. The output head is the embedding. The square's
register is always written as −1. A rule writes 1 for a special word; and 2v and 1 for the number v of a family, which gives its
number i the logit v² + 1 − (v − i)². Any other token has at least 1 less. So exactly one rule must fire wherever the next token
matters. Where none fires, as within a prompt, some special word leads by 1/2, so that the argmax is never a tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.parts.recurrences.recent import recent
from constructions.wiring.affine import Affine, as_affine, reg, total
from constructions.wiring.numbered import Family, Numbered, Powers
from constructions.wiring.register import Past, register, register_before, squared
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, LinearUnit, Unit, constant

NUMBER, SQUARE, POSITION = "number", squared("number"), "position"
IDLE = Fraction(1, 2)


@dataclass(frozen=True)
class Words:
    """A vocabulary: the families one after the other, then the special words.

    Raises ValueError if two tokens are spelled alike, or if two of what the embedding fills have one name: each word and each
    family has a register, beside those of numbers, squares and positions.
    """

    families: tuple[Family, ...]
    specials: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.vocabulary)) < len(self.vocabulary):
            raise ValueError("two tokens are spelled alike")
        for name, times in Counter((*self.registers, POSITION)).items():
            if times > 1:
                raise ValueError(
                    f"{name!r} names {times} registers: words and families need names of their own, "
                    f"and none of {NUMBER}, {SQUARE}, {POSITION}"
                )

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Token strings in the order of token numbers."""
        numbers = (family.text(i) for family in self.families for i in range(family.low, family.high + 1))
        return (*numbers, *self.specials)

    def number(self, family: str, value: int) -> int:
        """Returns the token of a number. Raises ValueError if its family does not have it."""
        start = 0
        for candidate in self.families:
            if candidate.name == family:
                if not candidate.low <= value <= candidate.high:
                    raise ValueError(f"{value} is not among the {family}s {candidate.low} … {candidate.high}")
                return start + value - candidate.low
            start += len(candidate)
        raise ValueError(f"there is no family {family!r}")

    def special(self, word: str) -> int:
        """Returns the token of a special word."""
        return sum(map(len, self.families)) + self.specials.index(word)

    @property
    def registers(self) -> tuple[str, ...]:
        """Returns the registers that the embedding of tokens fills."""
        return (NUMBER, SQUARE, *(family.name for family in self.families), *self.specials)

    def embedding(self) -> Embedding:
        """Returns the fixed embedding of these tokens."""
        numbers = tuple(
            Powers(family.low, family.high, {NUMBER: (1, 1), SQUARE: (1, 2), family.name: (1, 0)})
            for family in self.families
        )
        return Embedding(self.vocabulary, Numbered(numbers, tuple({word: 1} for word in self.specials)), POSITION)


@dataclass(frozen=True)
class Write:
    """The number `value` of a family, as the next token. It must be one that the family has."""

    value: Affine
    family: str


@dataclass(frozen=True)
class WriteRule:
    """If each form of `when` is 1, the next token is `write`. A form is 1 or an integer below: a register, or 1 − a register."""

    name: str
    when: tuple[Affine, ...]
    write: str | Write

    @property
    def gate(self) -> Affine:
        """1 if the rule fires, 0 or less otherwise."""
        return total(self.when) - (len(self.when) - 1)

    def units(self) -> tuple[Unit, ...]:
        """Returns what adds the token where the output head reads it."""
        one = as_affine(1)
        if isinstance(self.write, str):
            return (Unit(self.gate, one, {self.write: 1}),)
        return (Unit(self.gate, self.write.value, {NUMBER: 2}), Unit(self.gate, one, {self.write.family: 1}))


def back(name: str, by: int) -> Affine:
    """Returns the register `name` of the token `by` tokens before the latest one."""
    return reg(register_before(name, by) if by else name)


def decide(rules: Sequence[WriteRule], words: Words, *, idle: str = "") -> tuple[Gadget, ...]:
    """Returns the last feed-forward: takes the latest token's own embedding away, and lets the rule that fires write the next
    one.

    idle: the special word that is written where none fires, by default the first.
    Raises ValueError for a rule that writes a word or a family which is not there.
    """
    families = [family.name for family in words.families]
    for rule in rules:
        if isinstance(rule.write, str) and rule.write not in words.specials:
            raise ValueError(f"rule {rule.name!r} writes {rule.write!r}, which is no special word")
        if isinstance(rule.write, Write) and rule.write.family not in families:
            raise ValueError(f"rule {rule.name!r} writes a number of {rule.write.family!r}, which is no family")
    if idle and idle not in words.specials:
        raise ValueError(f"{idle!r} is to be written where no rule fires, but it is no special word")
    clear = tuple(Unit(as_affine(1), -reg(name), {name: 1}) for name in words.registers)
    idle = idle or words.specials[0]
    return (
        Gadget("clear the embedding", clear),
        constant(f"−1 for squares, and {idle} where no rule fires", {SQUARE: -1, idle: IDLE}),
        *(Gadget(rule.name, rule.units()) for rule in rules),
    )


def window(plans: Iterable[BlockPlan]) -> tuple[LinearUnit, ...]:
    """Returns the shift registers that the forms of these blocks look back into, as deep as they look."""
    depth: dict[str, int] = {}
    for form in _forms(plans):
        for name in form.terms:
            if (parts := register(name)).past is Past.KEPT:
                depth[parts.here] = max(depth.get(parts.here, 0), parts.before)
    return tuple(recent(f"the last {by + 1} of {name}", [name], by + 1) for name, by in depth.items())


def _forms(plans: Iterable[BlockPlan]) -> Iterable[Affine]:
    for plan in plans:
        for gadget in plan.gadgets:
            for unit in gadget.units:
                yield from (unit.gate, unit.up)
        for head in plan.heads:
            yield from head.reads.values()
            for component in head.components:
                yield from (component.key, component.query)
        for linear_unit in plan.linear_units:
            yield from (feed for _, feed in linear_unit.rows.values())
