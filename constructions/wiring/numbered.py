"""The rows of an embedding that lists numbers: kept as powers, since there may be millions of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from constructions.wiring.affine import Number

Row = Mapping[str, Number]


@dataclass(frozen=True)
class Numbered(Sequence[Row]):
    """A row for each i = 1 … last, and others behind them. powers: register → (factor, exponent), for factor·i^exponent."""

    last: int
    powers: Mapping[str, tuple[Number, int]]
    others: tuple[Row, ...]

    @property
    def kinds(self) -> Sequence[Row]:
        """Some of the rows; each of the rest fills the same registers as one of them does."""
        return (*(self[i] for i in range(min(self.last, 1))), *self.others)

    def __len__(self) -> int:
        return self.last + len(self.others)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        place = range(len(self))[place]
        if place >= self.last:
            return self.others[place - self.last]
        return {register: factor * (place + 1) ** exponent for register, (factor, exponent) in self.powers.items()}


def kinds(rows: Sequence[Row]) -> Sequence[Row]:
    """Rows that fill all the registers that any of these does: fewer, where that is known."""
    return rows.kinds if isinstance(rows, Numbered) else rows
