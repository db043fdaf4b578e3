"""Operations: the data that the passes hand on. Nothing here decides anything.

A *value* is a product of atoms, a `Monomial`. Beside the atoms of programs there are those below, which no program has: they stand
for numbers that the weights need on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from constructions.language.bounds import Bound
from constructions.language.terms import Atom, Count, Monomial, Selection, Term
from constructions.wiring.affine import Affine, Number

Corners: TypeAlias = "tuple[tuple[int, int], ...]"
"""Units on a number x, Σ weight·max(0, x + corner), as pairs of corner and weight."""


# Atoms


@dataclass(frozen=True, eq=False)
class Share(Atom):
    """1/(1 + count)."""

    count: Count


@dataclass(frozen=True, eq=False)
class TimesShare(Atom):
    """factor·share, for one comparison."""

    factor: Term
    share: Share
    comparison: Atom


@dataclass(frozen=True, eq=False)
class Mean(Atom):
    """The mean of a term over the positions up to this one, for one comparison."""

    of: Term
    comparison: Atom


@dataclass(frozen=True, eq=False)
class Outside(Atom):
    """max(0, distance)²: how far a position that is asked for lies outside of the text, on one side."""

    distance: Term


@dataclass(frozen=True, eq=False)
class Factors(Atom):
    """The product of those factors of one product that are no bits."""

    of: Term


# What a value is


@dataclass(frozen=True)
class BoundNeed:
    """A number that must be less than 2^q. label: what it is, with a `{}` for the form of each of `terms`."""

    label: str
    terms: tuple[Term, ...]
    value: Bound


@dataclass(frozen=True)
class Same:
    """The sum of terms, in this order. computed: what stands in the model before it, whether they read it or not."""

    terms: tuple[Term, ...]
    computed: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Computation:
    """What computes a value, of operands, in this order.

    kind: what its register is called, if the program has no name for it. means: the term that the register holds, if it is one.
    pin: the atom by which a program pins it to a block. vanishes: whether it is 0 where its first operand is wired as 0.
    """

    operands: tuple[Term, ...]
    kind: str
    means: Term | None
    _: KW_ONLY
    pin: Atom | None = None
    vanishes: bool = False


@dataclass(frozen=True)
class Ramps:
    """A bit: constant + Σ weight·max(0, (slope·x + corner)·part) over pairs of corner and weight.

    label: what it is, with a `{}` for the form of each of `terms`. steep: whether the slope grows with the length.
    """

    label: str
    terms: tuple[Term, ...]
    x: Term
    corners: Corners
    slope: Bound = 1
    _: KW_ONLY
    operands: tuple[Term, ...]
    part: Fraction = Fraction(1)
    constant: int = 0
    source: str = "Lemma C.5"
    steep: bool = False
    needs: tuple[BoundNeed, ...] = ()

    @property
    def negation(self) -> Ramps:
        """The other bit."""
        corners = tuple((corner, -weight) for corner, weight in self.corners)
        return replace(self, corners=corners, constant=1 - self.constant)


@dataclass(frozen=True)
class Compare(Computation):
    """Units of a feed-forward that compare."""

    ramps: Ramps


@dataclass(frozen=True)
class Multiply(Computation):
    """Units max(0, gate)·up of a feed-forward. label: as of ramps."""

    units: tuple[tuple[Term, Term], ...]
    label: str
    terms: tuple[Term, ...]
    source: str = "Lemma C.1"


@dataclass(frozen=True)
class Select:
    """Which positions a head reads, and what it compares. where: which head it is; all that is read there is read by one head.

    pairs: keys and queries, 0 at `<s>`. target: the position that is asked for. outside: what is taken off all scores.
    """

    where: Selection | Count
    operands: tuple[Term, ...] = ()
    pairs: tuple[tuple[Term, Term], ...] = ()
    target: Term | None = None
    outside: tuple[Outside, ...] = ()


@dataclass(frozen=True)
class Attend(Computation):
    """What a head reads. value: None for the register that is 1 at position 1."""

    select: Select
    value: Term | None = None


@dataclass(frozen=True)
class Cycle(Computation):
    """A recurrence: a sum, and what it was one position before, two, … up to `steps` − 1. sign: that of the sum `steps` before."""

    of: Term
    steps: int = 1
    sign: int = 1
    before: tuple[Atom, ...] = ()


@dataclass(frozen=True)
class Shift(Computation):
    """A recurrence: what a term was so many steps before."""

    of: Term
    steps: int


# What is said


@dataclass(frozen=True)
class Saying:
    """Units that say a word or a number: each `up` is added to registers, so often. label, terms: as of ramps."""

    label: str
    terms: tuple[Term, ...]
    operands: tuple[Term, ...]
    parts: tuple[tuple[Term, Mapping[str, Number]], ...]
    needs: tuple[BoundNeed, ...] = ()


@dataclass(frozen=True)
class OutputRule:
    """What is said where all conditions hold.

    compared: the comparisons among them. late: those that may be made where it is said.
    """

    conditions: tuple[Term, ...]
    saying: Saying
    compared: tuple[Ramps | Same, ...]
    late: Mapping[Term, Ramps]


@dataclass(frozen=True)
class Signed:
    """Two words that factor·share tells apart. saying: the share, times the factor. constants: word → what is added to it."""

    saying: Saying
    factor: Term
    constants: Mapping[str, Number]


# Where it stands


@dataclass(frozen=True)
class PlacedComputation:
    """A value with the operation that computes it, in its block."""

    value: Monomial
    operation: Computation
    block: int


@dataclass(frozen=True)
class Schedule:
    """All values, each after those that it is made of; and the output.

    needs: what comparisons, and counts that are said, need. depth: the number of blocks. rules: each with the comparison that is
    made where the word is said, if there is one.
    """

    values: Mapping[Monomial, PlacedComputation | Same]
    needs: tuple[BoundNeed, ...]
    depth: int
    rules: tuple[tuple[OutputRule, Term | None], ...]

    @cached_property
    def blocks(self) -> Mapping[int, Sequence[PlacedComputation]]:
        """The operations of each block, in order."""
        blocks: dict[int, list[PlacedComputation]] = {number: [] for number in range(1, self.depth + 1)}
        for step in self.values.values():
            if isinstance(step, PlacedComputation):
                blocks[step.block].append(step)
        return blocks


def show_form(form: Affine) -> str:
    """Returns a form for people; its registers alone where a number in it depends on n."""
    plain = all(type(c) is Fraction for c in (form.constant, *form.terms.values()))
    return str(form) if plain else f"a form of n, {', '.join(form.terms)}"
