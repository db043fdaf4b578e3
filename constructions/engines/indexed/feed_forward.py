"""A block's feed-forward on columns; a table over few values is looked up, not computed at every position.

A unit is a function of the registers that it reads. Where these take few values, as a token's number does, many units over them are
computed once for each, and so is a row that reads no others. What saturates is counted as often as it occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from constructions.engines.indexed.column import Column, multiply, positive_part
from constructions.engines.indexed.mantissas import Array, Digits
from constructions.engines.indexed.operators import Operators
from constructions.rows import Sublayer, Unit

Registers = Sequence[Column] | Mapping[int, Column]
MANY_UNITS = 16  # over the same registers; looking their values up costs about as much as two of them
FEWER_VALUES = 4  # than positions, so many times


def changes(
    operators: Operators, sublayer: Sublayer, stream: Registers, length: int, number: int
) -> Iterator[tuple[int, Column]]:
    """Yields what the feed-forward of a block adds to each register. number: of the block, in the names of what saturates."""
    everywhere = _Places(operators, stream, length)
    places = [everywhere] * len(sublayer.units)
    for registers, units in sublayer.readers.items():
        if len(units) >= MANY_UNITS and (few := _looked_up(operators, stream, registers, length)):
            for unit in units:
                places[unit] = few
    for i, place in enumerate(places):
        place.add_unit(sublayer.units[i], i, number)
    for register, row, bias in sublayer.down:
        readers = {id(places[unit]): places[unit] for unit, _ in row}
        one = next(iter(readers.values())) if len(readers) == 1 else None
        at = everywhere if one is None else one
        hidden: Mapping[int, Column] = at.hidden if one else {unit: places[unit].spread(unit) for unit, _ in row}
        change = at.operators.row(row, hidden, bias, at.length, f"{number}.down[{register}]")
        yield register, at.everywhere(change)


@dataclass(eq=False)
class _Places:
    """Positions at which units are computed. found: for each position of the sequence, which of these has its values."""

    operators: Operators
    stream: Registers
    length: int
    found: Array | None = None
    hidden: dict[int, Column] = field(default_factory=dict)

    def add_unit(self, unit: Unit, i: int, number: int) -> None:
        """Computes ReLU(gate)·up."""
        do = self.operators
        gate = do.row(unit.gate, self.stream, unit.gate_bias, self.length, f"{number}.gate[{i}]")
        up = do.row(unit.up, self.stream, unit.up_bias, self.length, f"{number}.up[{i}]")
        self.hidden[i] = do.round(multiply(positive_part(gate), up), f"{number}.product[{i}]")

    def spread(self, unit: int) -> Column:
        """Returns a unit at every position."""
        return self.everywhere(self.hidden[unit])

    def everywhere(self, column: Column) -> Column:
        """Returns a column of these places at every position."""
        return column if self.found is None else column.take(self.found)


def _looked_up(operators: Operators, stream: Registers, registers: Sequence[int], length: int) -> _Places | None:
    """Returns one position for each combination of values, or None if the registers' ranges allow too many."""
    size, codes = 1, np.zeros(length, np.int64)
    for register in registers:
        m = stream[register].m
        if isinstance(m, Digits):
            return None
        low, count = int(m.min()), int(m.max()) - int(m.min()) + 1
        size *= count
        if size * FEWER_VALUES > length:
            return None
        codes = codes * count + (m - low)
    times = operators.counted(codes, size)
    present = np.flatnonzero(times)
    place = np.empty(size, np.int64)
    place[codes] = np.arange(length)
    columns = {register: stream[register].take(place[present]) for register in registers}
    rank = np.cumsum(times > 0) - 1
    return _Places(operators.for_many(times[present]), columns, len(present), rank[codes])
