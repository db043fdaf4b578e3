"""Registers in pieces: what memory keeps of the keys so far, then a chunk's, part by part; joined only where that is asked for.

Heads that read the same register share what is joined of it, also where it stands unchanged in another block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import numpy as np

from constructions.engines.indexed.column import Column, concatenated
from constructions.engines.indexed.mantissas import Array


class Pieces:
    """One register, its values in pieces, in order."""

    def __init__(self, pieces: Sequence[Column]) -> None:
        self.pieces = pieces
        self._whole: Column | None = None

    @property
    def e(self) -> int:
        """The exponent of the whole."""
        return min((piece.e for piece in self.pieces if not piece.is_zero), default=0)

    def take(self, index: Array) -> Column:
        """Returns the values at a few places, which rise."""
        if self._whole is not None:
            return self._whole.take(index)
        ends = np.cumsum([len(piece) for piece in self.pieces])
        which = np.searchsorted(ends, index, "right")
        return concatenated(
            *(
                self.pieces[w].take(index[which == w] - (ends[w] - len(self.pieces[w])))
                for w in np.unique(which).tolist()
            )
        )

    def whole(self) -> Column:
        """Returns all of it."""
        if self._whole is None:
            self._whole = concatenated(*self.pieces)
        return self._whole


Shared = dict[tuple[int, ...], Pieces]
"""Registers by the identity of their pieces, which live as long as their entry: no other column can have their identity."""


class Joined(Mapping[int, Column]):
    """Registers at all keys of a head: where the memory has some, those that it keeps; else all."""

    def __init__(self, kept: Mapping[int, Column], parts: Sequence[Sequence[Column]], shared: Shared) -> None:
        self._registers: dict[int, Pieces] = {}
        for i in kept or range(len(parts[0])):
            pieces = [kept[i], *(part[i] for part in parts)] if kept else [part[i] for part in parts]
            self._registers[i] = shared.setdefault(tuple(map(id, pieces)), Pieces(pieces))

    def __getitem__(self, register: int) -> Column:
        return self._registers[register].whole()

    def __iter__(self) -> Iterator[int]:
        return iter(self._registers)

    def __len__(self) -> int:
        return len(self._registers)

    @property
    def pieces(self) -> Mapping[int, Pieces]:
        """The registers before they are joined."""
        return self._registers


class Registers(Sequence[Column]):
    """All registers of a stream in parts, each joined when it is asked for."""

    def __init__(self, parts: Sequence[Sequence[Column]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts[0])

    @overload
    def __getitem__(self, register: int) -> Column: ...
    @overload
    def __getitem__(self, register: slice) -> Sequence[Column]: ...
    def __getitem__(self, register: int | slice) -> Column | Sequence[Column]:
        if isinstance(register, slice):
            return [self[i] for i in range(len(self))[register]]
        return concatenated(*(part[register] for part in self._parts))
