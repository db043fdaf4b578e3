"""Greedy decoding by the machine code of a model: memory that grows, and calls."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from constructions.engines.feeding import PIECE, Feeder
from constructions.engines.incremental.program import Assembler, MachineCode
from constructions.engines.linking import link
from constructions.engines.protocol import NotCovered
from constructions.engines.weights import Weights
from constructions.layers import Transformer
from precision.format import Arithmetic

Array = Any
LONGEST_BITS = 31  # positions are 32 bits in tables
FIRST_ROOM = 1 << 23  # positions whose groups the first tables hold
FIRST_RECORDS = 1 << 32  # bytes: memory that is not used takes none
BEGINNING = (0, 1, 0, 1)  # of the cells, see `Layout`


class LookupDecoder(Feeder):
    """One run of a model that lookups decide."""

    def __init__(
        self,
        model: Transformer,
        arithmetic: Arithmetic,
        most: int,
        *,
        beyond: bool = False,
        keep: frozenset[int] = frozenset(),
    ) -> None:
        fmt = arithmetic.format
        if not fmt.is_fixed_point or fmt.quantum_exponent > 0:
            raise NotCovered("an arithmetic other than fixed point")
        super().__init__(model, arithmetic, most, beyond=beyond, keep=keep)
        if (most := self._most).bit_length() >= LONGEST_BITS:
            raise NotCovered("a text longer than positions are counted")
        self._quantum = fmt.quantum_exponent
        self._program: MachineCode = Assembler(Weights(model, arithmetic), most.bit_length(), keep).compile()
        self._linked = link(self._program.text)
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        address = self._linked.get_function_address
        self._run = signature(address("feed"))
        self._rehash = [signature(address(f"rehash{i}")) for i in range(len(self._program.layout.hashes))]
        self._cells = np.zeros(self._program.layout.cells // 8, np.int64)
        self._records = np.zeros(0, np.uint8)
        self._hashes: list[Array] = []
        self._cells[:4] = BEGINNING
        self._runs = np.zeros(0, np.uint8)
        self._arguments = np.zeros(5 + len(self._program.tables), np.int64)
        self._room = 0  # records that the tables have room for
        layout = self._program.layout
        first = PIECE if layout.reused else min(FIRST_ROOM, FIRST_RECORDS // max(1, layout.stride))
        self._grow(min(most, first))

    @property
    def records(self) -> int:
        """Returns how many records were taken."""
        return int(self._cells[3]) if self._program.layout.reused else self.length

    def _make_room(self, end: int) -> None:
        """Makes room for the positions before `end`: for their tokens, and for all records that they may take."""
        super()._make_room(end)
        needed = self.records + end - self.length
        if needed > self._room:
            self._grow(max(needed, min(2 * self._room, self._most)))

    def _take_address(self) -> None:
        self._arguments[1] = self._tokens.ctypes.data

    def _grow(self, room: int) -> None:
        """Makes room for so many records."""
        layout = self._program.layout
        if (room + 1) * layout.stride + 8 > len(self._records):
            most = room if layout.reused else max(room, min(self._most, FIRST_RECORDS // max(1, layout.stride)))
            records = np.zeros((most + 1) * layout.stride + 8, np.uint8)
            records[: len(self._records)] = self._records
            self._records = records
        self._room = room
        arrays = [self._tokens, self._cells, self._stops, self._runs, *self._program.tables]
        self._arguments[:] = [self._records.ctypes.data + layout.stride, *(array.ctypes.data for array in arrays)]
        bits = room.bit_length() + 1
        old, self._hashes = self._hashes, [np.zeros(1 << bits, np.int32) for _ in layout.hashes]
        for i, (at, table) in enumerate(zip(layout.hashes, self._hashes, strict=True)):
            self._cells[at // 8], self._cells[at // 8 + 1] = table.ctypes.data, 64 - bits
            if old:
                self._rehash[i](self._arguments.ctypes.data, old[i].ctypes.data, len(old[i]))

    def restart(self) -> None:
        """Forgets the text, so that another one can go in."""
        self._cells[:] = 0
        self._cells[:4] = BEGINNING
        self.length = 0
        for at, table in zip(self._program.layout.hashes, self._hashes, strict=True):
            table[:] = 0
            self._cells[at // 8], self._cells[at // 8 + 1] = table.ctypes.data, 65 - len(table).bit_length()

    def _make_room_for_runs(self, tokens: int) -> None:
        """Grows the tables of runs. A token makes a run of several at most once for each head."""
        used, size = int(self._cells[1]), self._program.layout.entry
        if (used + tokens * self._program.heads) * size > len(self._runs):
            runs = np.zeros(
                2 * (used + PIECE * self._program.heads) * size, np.uint8
            )  # memory that is not used takes none
            copied = used * size if len(self._runs) else 0
            runs[:copied] = self._runs[:copied]
            self._runs = runs
            self._arguments[4] = runs.ctypes.data

    def _feed(self, known: int, end: int) -> int | str:
        self._make_room_for_runs(end - self.length)
        self._cells[0] = known
        fed: int = self._run(self._arguments.ctypes.data, self.length, end)
        return self._program.reasons[-1 - fed] if fed < 0 else fed

    def registers(self, sublayer: int) -> list[list[int]]:
        stride = self._program.layout.stride
        records = self._records[stride : (1 + self.length) * stride].reshape(self.length, stride)
        columns = []
        for field, value in self._program.kept[self._kept.index(sublayer)]:
            shift = value.exponent - self._quantum
            words = np.ascontiguousarray(records[:, field : field + value.width // 8]).view(np.int64)
            integers = words[:, -1].tolist()
            for i in reversed(range(words.shape[1] - 1)):
                integers = [
                    (high << 64) | low for high, low in zip(integers, words[:, i].view(np.uint64).tolist(), strict=True)
                ]
            columns.append([i << shift if shift >= 0 else i >> -shift for i in integers])
        return columns
