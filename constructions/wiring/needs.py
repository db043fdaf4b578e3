"""What a head is right under: the values of forms over registers, as data that a run can be held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.register import squared

ZERO = Fraction(0)
Place = Literal["every position", "position 1", "every later position"]


@dataclass(frozen=True)
class Need:
    """`form` must be `equals`, or its square where `squared`, at these positions; a square may be rounded once."""

    form: Affine
    equals: Affine
    squared: bool = False
    place: Place = "every position"

    def holds_at(self, position: int) -> bool:
        """Returns whether it says anything about this position, counted from 1."""
        return self.place == "every position" or (self.place == "position 1") == (position == 1)

    def __str__(self) -> str:
        at = "" if self.place == "every position" else f" at {self.place}"
        return f"{self.form} = {f'({self.equals})²' if self.squared else self.equals}{at}"


@dataclass(frozen=True, eq=False)
class Registers(Mapping[str, Fraction]):
    """The residual vector at one position by name; a value is made when it is asked for. row: in quanta. places: coordinates."""

    row: Sequence[int]
    places: Mapping[str, int]
    quantum: Fraction

    def __getitem__(self, name: str) -> Fraction:
        quanta = self.row[self.places[name]]
        return quanta * self.quantum if quanta else ZERO  # as most registers are

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def value(form: Affine, registers: Mapping[str, Fraction]) -> Fraction:
    """Returns the form over these registers, exactly."""
    return sum((c * registers[name] for name, c in form.terms.items()), form.constant)


def is_square(square: Affine, root: Affine) -> Need:
    """Returns a register, or a form of registers, that holds a square."""
    return Need(square, root, squared=True)


def is_bit(form: Affine) -> Need:
    """Returns the need that a form is 0 or 1: a number that is its own square."""
    return is_square(form, form)


def is_zero_at_first(form: Affine) -> Need:
    """Returns a key: position 1 is what a head reads by default, so it must match nothing."""
    return Need(form, as_affine(0), place="position 1")


ONE = Need(reg("one"), as_affine(1))
FIRST = (
    Need(reg("first"), as_affine(1), place="position 1"),
    Need(reg("first"), as_affine(0), place="every later position"),
)
POSITION = is_square(reg(squared("position")), reg("position"))
