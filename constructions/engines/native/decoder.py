"""Greedy decoding by the machine code that all models share: memory that grows, and calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from constructions.engines.feeding import Feeder
from constructions.engines.native.cells import FLAG_NUMBERS, CellIndex, Flag, MachineKind
from constructions.engines.native.listing import (
    WIDTHS,
    WORD,
    Listing,
    from_memory,
    in_memory,
    list_operations,
)
from constructions.engines.protocol import NotCovered
from constructions.engines.reference import Flags, FlagSite, ReferenceEngine
from constructions.layers import Transformer
from precision.format import Arithmetic, Discipline, Rounding
from precision.softmax import softmax
from precision.winners import decisive_gap, winners_share

Array = Any
FIRST_ROOM = 256  # positions
LONGEST = 1 << 20  # tokens: beyond, each key against each query takes days
ASKED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@cache
def _linked(code: MachineKind) -> tuple[Any, Callable[[int, int, int], int]]:
    """Returns what holds the machine code, and its `feed`."""
    from constructions.engines.linking import link
    from constructions.engines.native.machine import text

    linked = link(text(code))
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return linked, signature(linked.get_function_address("feed"))


def prepare() -> None:
    """Links the machine code that most models run, once for a process."""
    _linked(MachineKind(WORD, True, False))


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
    """One run of a model. count_flags: count them, for `flags`.

    Raises NotCovered for numbers of more bits than the machine has, for stochastic rounding, and for formats without fixed point or
    without 1.
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
        count_flags: bool = False,
    ) -> None:
        if not covers(arithmetic):
            raise NotCovered("an arithmetic that this machine has not")
        super().__init__(model, arithmetic, most, beyond=beyond, keep=keep)
        if (most := self._most) > LONGEST:
            raise NotCovered(f"a text of more than {LONGEST:,} tokens")
        self._listing: Listing = list_operations(model, arithmetic, self._kept, most)
        listing, bits = self._listing, self._listing.bits
        self._run = _linked(MachineKind(bits, arithmetic.discipline is Discipline.FUSED, count_flags))[1]
        places = {
            CellIndex.ROW_FLAGS: len(listing.biases),
            CellIndex.ADD_FLAGS: len(listing.registers),
            CellIndex.MEMORY_FLAGS: listing.memory + 1,
            CellIndex.LOGIT_FLAGS: 1,
        }
        self._flags = {cell: np.zeros((size * count_flags, FLAG_NUMBERS), np.int64) for cell, size in places.items()}
        self._columns = _Columns(arithmetic, bits)
        self._ask = ASKED(self._columns.answer)
        gap = decisive_gap(most, arithmetic)
        beyond_all = 2 * arithmetic.format.max_quanta + 1
        self._lead = in_memory([beyond_all if gap is None else gap], 2 * bits)
        self._constants = in_memory(_constants(arithmetic), 2 * bits)
        self._memory = in_memory([0] * listing.memory, bits)
        self._records = self._kept_streams = in_memory([], bits)
        self._room = 0  # positions that there is room for
        self._cells = np.zeros(len(CellIndex), np.int64)
        values: dict[CellIndex, Array | int] = {
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
            CellIndex.TOKENS: self._tokens,
            CellIndex.FORMAT: self._constants,
            **self._flags,
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
        self._fill(values)
        self._grow(min(most, FIRST_ROOM))

    def _fill(self, values: Mapping[CellIndex, Array | int]) -> None:
        """Writes arguments: numbers, and addresses of arrays."""
        for cell, value in values.items():
            self._cells[cell] = value if isinstance(value, int) else value.ctypes.data

    def _feed(self, known: int, end: int) -> int | str:
        self._fill({CellIndex.KNOWN: known})
        fed = self._run(self._cells.ctypes.data, self.length, end)
        if fed < 0:
            raise self._columns.error or AssertionError
        return fed

    def _take_address(self) -> None:
        self._fill({CellIndex.TOKENS: self._tokens})

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
        self._fill(
            {CellIndex.RECORDS: self._records, CellIndex.KEPT: self._kept_streams, CellIndex.SCORES: columns.scores}
        )
        self._fill(
            {CellIndex.COLUMN: columns.column, CellIndex.SHARES: columns.shares, CellIndex.SHARE_COUNT: room + 1}
        )

    def registers(self, sublayer: int) -> list[list[int]]:
        count, width = len(self._kept), self._model.width
        streams = self._kept_streams[: self.length * count * width]
        streams = streams.reshape(self.length, count, width, *np.shape(streams)[1:])
        own = np.moveaxis(streams[:, self._kept.index(sublayer)], 1, 0)
        return [from_memory(np.ascontiguousarray(column), self._listing.bits) for column in own]

    def flags(self) -> Flags:
        """Returns the flags of what has gone in, those first raised first, as `reference` raises them."""
        flags = ReferenceEngine(self._model, self._arithmetic).flags  # of the weights
        raised = list[tuple[int, int, FlagSite, int]]()  # first position, place in the order of computing, site, count
        kinds = ((Flag.SATURATION, "saturation"), (Flag.TIE, "rounding tie"))
        for sites in self._listing.sites:
            for i, index in enumerate([None] if sites.indices is None else sites.indices):
                for name, cell, start in sites.operators:
                    numbers = self._flags[cell][start + i].tolist()
                    called = name if index is None else f"{name}[{index}]"
                    for flag, kind in kinds:
                        site = FlagSite(kind, sites.block, called)
                        raised.append((numbers[flag + 1], len(raised), site, numbers[flag]))
        numbers = self._flags[CellIndex.LOGIT_FLAGS][0].tolist()
        site = FlagSite("logit tie", len(self._model.blocks) + 1, "logit")
        raised.append((numbers[Flag.TIE + 1], len(raised), site, numbers[Flag.TIE]))
        for position, _, site, count in sorted(raised):
            if count:
                flags.counts[site], flags.first_position[site] = count, position
        return flags


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
    tie = half if half and arithmetic.rounding is not Rounding.TOWARD_ZERO else -1
    return [shift, *((before, odd, negative) if shift else (0, 0, 0)), tie, arithmetic.format.max_quanta]
