"""Where the machine code keeps its numbers: fields of each position's record, and cells that all positions share."""

from __future__ import annotations

from dataclasses import dataclass, field

from constructions.engines.lookup.values import Value

STRIDE = "STRIDE"  # stands in the code for the bytes of a record until all fields are known


@dataclass
class Layout:
    """stride: bytes of a record. cells: bytes of what is shared; the first eight hold how many tokens are known.
    hashes: where, among the cells, each table has its address and the bits of its size. known: the fields of numbers.
    """

    stride: int = 0
    cells: int = 8
    hashes: list[int] = field(default_factory=list)
    known: dict[Value, int] = field(default_factory=dict)

    def field(self, value: Value, extra_bits: int = 0) -> int:
        """Returns the offset of a new field that holds such a number, and so many bits more."""
        return self.room((value.width + extra_bits) // 8)

    def room(self, size: int) -> int:
        """Returns the offset of so many new bytes of a record."""
        self.stride += size
        return self.stride - size

    def cell(self, size: int = 8) -> int:
        """Returns the offset of so many new bytes among the cells."""
        self.cells += size
        return self.cells - size

    def table(self) -> int:
        """Returns the offset of a hash table's address; the bits that its size takes off a hash follow it."""
        self.hashes.append(self.cell(16))
        return self.hashes[-1]
