"""Greedy decoding by the machine code that all models share: memory that grows, and calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from constructions.engines.feeding import Feeder
from constructions.engines.native.cells import CellIndex
from constructions.engines.native.listing import WIDTHS, Listing, TooWide, from_memory, in_memory, list_operations
from constructions.layers import Transformer
from precision.format import Arithmetic, Discipline, Rounding
from precision.softmax import softmax
from precision.winners import vanishing_lead, winners_share

Array = Any
FIRST_ROOM = 256  # positions
LONGEST = 1 << 20  # tokens: beyond, each key against each query takes days
ASKED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@cache
def _linked(bits: int, fused: bool) -> tuple[Any, Callable[[int, int, int], int]]:
    """Returns what holds the machine code, and its `feed`."""
    from constructions.engines.linking import link
    from constructions.engines.native.machine import text

    linked = link(text(bits, fused))
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return linked, signature(linked.get_function_address("feed"))


def prepare() -> None:
    """Links the machine code that most models run, once for a process."""
    _linked(WIDTHS[0], True)


class _Columns:
    """The softmax columns that the machine code asks for."""

    def __init__(self, arithmetic: Arithmetic, bits: int) -> None:
        self.arithmetic, self.bits = arithmetic, bits
        self.scores = self.column = self.shares = in_memory([], bits)
        self.error: BaseException | None = None

    def grow(self, room: int) -> None:
        """Makes room for columns of so many positions."""
        self.shares = in_memory([0] * (2 * room + 2), self.bits)  # 0 until it is asked for
        self.scores, self.column = np.empty_like(self.shares), np.empty_like(self.shares)

    def answer(self, keys: int, winners: int, losers: int) -> int:
        """Finds the share of winners that lead clearly, else the whole column. Returns 0, else `error` has what was raised."""
        try:
            if winners:
                share = winners_share(winners, self.arithmetic, losers=bool(losers))
                self.shares[losers * (len(self.shares) // 2) + winners] = in_memory([share], self.bits)[0]
            else:
                weights = softmax(from_memory(self.scores[:keys], self.bits), self.arithmetic).weights
                self.column[:keys] = in_memory(weights, self.bits)
        except BaseException as error:  # which machine code does not hand on
            self.error = error
            return 1
        return 0


class NativeDecoder(Feeder):
    """One run of a model. keep: of which sublayers, from 0, the embedding, the registers of all positions are kept.

    most: tokens of the longest text. Raises TooWide for numbers of more bits than the machine has, for stochastic rounding, and
    for formats without fixed point or without 1.
    """

    piece = FIRST_ROOM

    def __init__(
        self,
        model: Transformer,
        arithmetic: Arithmetic,
        most: int,
        *,
        beyond: bool = False,
        keep: frozenset[int] = frozenset(),
    ) -> None:
        if not covers(arithmetic):
            raise TooWide("an arithmetic that this machine has not")
        if model.longest is not None and not beyond:
            most = min(most, model.longest)
        if most > LONGEST:
            raise TooWide(f"a text of more than {LONGEST:,} tokens")
        super().__init__(model, beyond=beyond)
        self._kept = tuple(sorted(keep))
        self._listing: Listing = list_operations(model, arithmetic, self._kept, most)
        bits, fused = self._listing.bits, arithmetic.discipline is Discipline.FUSED
        self._run = _linked(bits, fused)[1]
        self._columns = _Columns(arithmetic, bits)
        self._ask = ASKED(self._columns.answer)
        lead = -(-vanishing_lead(most, -arithmetic.format.quantum_exponent) // arithmetic.format.quantum)
        self._lead = _wide([int(lead)], bits)
        self._constants = _wide(_constants(arithmetic), bits)
        self._memory = in_memory([0] * self._listing.memory, bits)
        self._records = self._kept_streams = in_memory([], bits)
        self._room = 0  # positions that there is room for
        self._cells = self._first_cells()
        self._grow(min(most, FIRST_ROOM))

    def _first_cells(self) -> Array:
        listing = self._listing
        cells = np.zeros(len(CellIndex), np.int64)
        arrays = {
            CellIndex.OPERATIONS: listing.operations,
            CellIndex.REGISTERS: listing.registers,
            CellIndex.HEADS: listing.heads,
            CellIndex.STARTS: listing.starts,
            CellIndex.PLACES: listing.places,
            CellIndex.WEIGHTS: listing.weights,
            CellIndex.BIASES: listing.biases,
            CellIndex.SLOPED: listing.sloped,
            CellIndex.SLOPES: listing.slopes,
            CellIndex.MEMORY: self._memory,
            CellIndex.LEAD: self._lead,
            CellIndex.STOPS: self._stops,
            CellIndex.FORMAT: self._constants,
        }
        numbers = {
            CellIndex.OPERATION_COUNT: len(listing.operations),
            CellIndex.WORDS: listing.words,
            CellIndex.UNEMBED: listing.unembed,
            CellIndex.WORD_COUNT: len(self._model.words),
            CellIndex.SLOPE_COUNT: len(listing.sloped),
            CellIndex.WIDTH: self._model.width,
            CellIndex.RECORD: listing.record,
            CellIndex.KEPT_COUNT: len(self._kept),
            CellIndex.ASK: ctypes.cast(self._ask, ctypes.c_void_p).value or 0,
        }
        for cell, array in arrays.items():
            cells[cell] = array.ctypes.data
        for cell, number in numbers.items():
            cells[cell] = number
        return cells

    def _feed(self, known: int, end: int) -> int | str:
        self._cells[CellIndex.KNOWN] = known
        fed = self._run(self._cells.ctypes.data, self.length, end)
        if fed < 0:
            raise self._columns.error or AssertionError
        return fed

    def _take_address(self) -> None:
        self._cells[CellIndex.TOKENS] = self._tokens.ctypes.data

    def _make_room(self, end: int) -> None:
        super()._make_room(end)
        if end > self._room:
            self._grow(2 * end)

    def _grow(self, room: int) -> None:
        listing, columns = self._listing, self._columns
        shape = np.shape(self._memory)[1:]
        kept = len(self._kept) * self._model.width
        for name, size in (("_records", listing.record), ("_kept_streams", kept)):
            old = getattr(self, name)
            new = np.zeros((room * size, *shape), np.int64)
            new[: self.length * size] = old[: self.length * size] if self.length else 0
            setattr(self, name, new)
        columns.grow(room)
        self._room = room
        self._cells[CellIndex.RECORDS], self._cells[CellIndex.KEPT] = (
            self._records.ctypes.data,
            self._kept_streams.ctypes.data,
        )
        self._cells[CellIndex.SCORES], self._cells[CellIndex.COLUMN] = (
            columns.scores.ctypes.data,
            columns.column.ctypes.data,
        )
        self._cells[CellIndex.SHARES], self._cells[CellIndex.SHARE_COUNT] = columns.shares.ctypes.data, room + 1

    def registers(self, sublayer: int) -> list[list[int]]:
        count, width = len(self._kept), self._model.width
        streams = self._kept_streams[: self.length * count * width]
        streams = streams.reshape(self.length, count, width, *np.shape(streams)[1:])
        own = np.moveaxis(streams[:, self._kept.index(sublayer)], 1, 0)
        return [from_memory(np.ascontiguousarray(column), self._listing.bits) for column in own]


def covers(arithmetic: Arithmetic) -> bool:
    """Returns whether the machine may run models in this arithmetic."""
    fmt = arithmetic.format
    exact = arithmetic.rounding is not Rounding.STOCHASTIC and fmt.max_quanta.bit_length() < WIDTHS[-1]
    return exact and fmt.is_fixed_point and fmt.quantum_exponent <= 0 and fmt.max_value >= 1


def _constants(arithmetic: Arithmetic) -> list[int]:
    """Returns the values of `Constant`."""
    shift = -arithmetic.format.quantum_exponent
    half = (1 << shift) >> 1
    before, odd, negative = {
        Rounding.NEAREST_EVEN: (half - 1, 1, 0),
        Rounding.NEAREST_AWAY: (half, 0, -1),
        Rounding.TOWARD_ZERO: (0, 0, (1 << shift) - 1),
    }[arithmetic.rounding]
    return [shift, *((before, odd, negative) if shift else (0, 0, 0)), arithmetic.format.max_quanta]


def _wide(numbers: list[int], bits: int) -> Array:
    """Returns integers of twice the bits of a number, in parts of 64 bits."""
    parts = range(2 * bits // 64)
    return np.array([[number >> (64 * i) & ((1 << 64) - 1) for i in parts] for number in numbers], np.uint64).view(
        np.int64
    )
