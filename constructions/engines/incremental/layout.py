"""Where the machine code keeps its numbers: fields of each position's record, and cells that all positions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from constructions.engines.incremental.values import Operand

STRIDE, ENTRY = (
    "STRIDE",
    "ENTRY",
)  # stand in the code for the bytes of a record and of a run, until all fields are known
OWN = "%own"  # the number of the record of the token at hand, from 0


@dataclass
class Layout:
    """stride: bytes of a record. entry: of what is kept of a run of several: how many others, and sums. cells: bytes of what is
    shared: of eight each, how many tokens are known, how many runs of several there are, and one, which record, from 0, the
    token at hand has, and how many records were taken. reused: a token takes the record of one that no table names any more.
    hashes: where, among the cells, each table has its address and the bits of its size. known: the fields of numbers.
    """

    stride: int = 0
    entry: int = 8
    cells: int = 32
    reused: bool = False
    hashes: list[int] = field(default_factory=list)
    known: dict[Operand, int] = field(default_factory=dict)

    def field(self, value: Operand) -> int:
        """Returns the offset of a new field that holds such a number."""
        return self.room(value.width // 8)

    def entry_fields(self, sums: Sequence[Operand]) -> list[int]:
        """Returns the offsets of these numbers in the entry of a run."""
        ends = [*accumulate((value.width // 8 for value in sums), initial=8)]
        self.entry = max(self.entry, ends[-1])
        return ends[:-1]

    def room(self, size: int) -> int:
        """Adds bytes to a record, and returns their offset."""
        self.stride += size
        return self.stride - size

    def cell(self, size: int = 8) -> int:
        """Adds bytes to the cells, and returns their offset."""
        self.cells += size
        return self.cells - size

    def table(self) -> int:
        """Returns the offset of a hash table's address; the bits that its size takes off a hash follow it."""
        self.hashes.append(self.cell(16))
        return self.hashes[-1]
