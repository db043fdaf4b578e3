"""The rows of an embedding that lists numbers: kept as powers, since there may be millions of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import overload

from constructions.wiring.affine import Number

Row = Mapping[str, Number]


@dataclass(frozen=True)
class Family:
    """The numbers low … high as tokens. text: how number i is spelled.

    name: the register that is 1 at them; "" of a vocabulary with one family, which needs none.
    """

    name: str
    low: int
    high: int
    text: Callable[[int], str] = str

    def __len__(self) -> int:
        return self.high - self.low + 1


@dataclass(frozen=True)
class Powers(Sequence[Row]):
    """A row for each i = low … high. powers: register → (factor, exponent), for factor·i^exponent.

    Raises ValueError for an exponent that is no whole number from 0 on: a certificate reads these as polynomials.
    """

    low: int
    high: int
    powers: Mapping[str, tuple[Number, int]]

    def __post_init__(self) -> None:
        for register, (_, exponent) in self.powers.items():
            if not isinstance(exponent, int) or exponent < 0:
                raise ValueError(f"{register!r} has the exponent {exponent}")

    def __len__(self) -> int:
        return self.high - self.low + 1

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        i = self.low + range(len(self))[place]
        return {register: factor * i**exponent for register, (factor, exponent) in self.powers.items()}


@dataclass(frozen=True)
class Numbered(Sequence[Row]):
    """The rows of these families, one after the other, and others after them."""

    families: tuple[Powers, ...]
    others: tuple[Row, ...]

    @property
    def kinds(self) -> Sequence[Row]:
        """Some of the rows; what is not 0 in each of the rest is not 0 in one of them."""
        ends = ((family[0], family[-1]) for family in self.families if family)
        return (*chain.from_iterable(ends), *self.others)

    def __len__(self) -> int:
        return sum(map(len, self.families)) + len(self.others)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        place = range(len(self))[place]
        for rows in (*self.families, self.others):
            if place < len(rows):
                return rows[place]
            place -= len(rows)
        raise AssertionError("a place within the length is in one of them")


def kinds(rows: Sequence[Row]) -> Sequence[Row]:
    """Returns rows that between them fill each register that any row fills: few, if the rows are of numbers."""
    return rows.kinds if isinstance(rows, Numbered) else rows
