"""A model as a list of operations over one memory of numbers: what the machine code of `machine.py` reads.

The memory begins with the residual stream. After it stand, block by block, what the sublayers compute, and the states of
recurrences. Every matrix row of the model, the words among them, is a sparse row over addresses of the memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from constructions.engines.native.cells import OperationCode
from constructions.engines.weights import Weights
from constructions.layers import Block, Matrix, Transformer
from precision.format import Arithmetic

Array = Any
WIDTHS = (64, 128)  # bits of a number in memory; sums of products have twice as many
# Of the range, what these sums may take. It leaves enough for a bias, which is less than a product; for what rounding adds; and for
# the error of floats. As a square of the largest number takes no more, a position's offset fits as well.
SLACK = 2.0**-3


class TooWide(ValueError):
    """A sum of the model may need more bits than the machine has; the message is one line."""


@dataclass(frozen=True, eq=False)
class Listing:
    """operations: shape (operations, 4). registers: that ADD reads. heads: query, key, score width, value, value width, where
    to, offset in a position's record; shape (heads, 7). record: numbers that heads keep of a position. memory: numbers in all.

    starts, places, weights, biases: the rows; the weights and biases in quanta. words, unembed: their first rows. sloped, slopes:
    the registers that positions fill, and by how much. bits: of a number in memory.
    """

    operations: Array
    registers: Array
    heads: Array
    record: int
    memory: int
    starts: Array
    places: Array
    weights: Array
    biases: Array
    words: int
    unembed: int
    sloped: Array
    slopes: Array
    bits: int


@dataclass
class _Rows:
    """Rows that are put one after the other."""

    counts: list[Array] = field(default_factory=list)
    places: list[Array] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)
    biases: list[Array] = field(default_factory=list)
    size: int = 0

    def add(self, matrix: Matrix, addresses: Array, bias: Matrix | None = None) -> int:
        """Returns the number of the first new row. addresses: where the columns stand in memory."""
        rows, columns = np.nonzero(matrix)
        self.counts.append(np.bincount(rows, minlength=len(matrix)))
        self.places.append(addresses[columns])
        self.weights.append(matrix[rows, columns])
        self.biases.append(np.zeros(len(matrix)) if bias is None else bias)
        self.size += len(matrix)
        return self.size - len(matrix)


class _Lister:
    """Lists the operations of a model's blocks."""

    def __init__(self, width: int) -> None:
        self.rows = _Rows()
        self.operations: list[tuple[int, int, int, int]] = []
        self.registers: list[int] = []
        self.heads: list[tuple[int, ...]] = []
        self.stream = np.arange(width)
        self.memory = width
        self.record = 0

    def room(self, size: int) -> int:
        """Returns the address of so many new numbers."""
        self.memory += size
        return self.memory - size

    def say(self, operation: OperationCode, a: int, b: int = 0, c: int = 0) -> None:
        self.operations.append((operation, a, b, c))

    def compute(self, matrix: Matrix, addresses: Array, bias: Matrix | None = None) -> int:
        """Returns where a matrix times what stands at these addresses, and the bias, come to stand."""
        into = self.room(len(matrix))
        self.say(OperationCode.ROWS, self.rows.add(matrix, addresses, bias), len(matrix), into)
        return into

    def add(self, registers: Array, change: int) -> None:
        """Adds numbers to registers of the stream."""
        self.say(OperationCode.ADD, len(self.registers), len(registers), change)
        self.registers += registers.tolist()

    def mix(self, block: Block) -> None:
        """Lists the heads, or the recurrence."""
        outputs: list[Array] = []
        for head in block.heads:
            query, key, value = (self.compute(side, self.stream) for side in (head.query, head.key, head.value))
            width, read = len(head.key), len(head.value)
            outputs.append(np.arange(read) + self.room(read))
            self.say(OperationCode.HEAD, len(self.heads))
            self.heads.append((query, key, width, value, read, int(outputs[-1][0]) if read else 0, self.record))
            self.record += width + read
        if outputs:
            out = np.hstack([head.out for head in block.heads])
            written = np.flatnonzero(out.any(axis=1))
            self.add(written, self.compute(out[written], np.concatenate(outputs)))
        if block.recurrence is not None:
            carry, feed = block.recurrence.carry, block.recurrence.feed
            kept = np.flatnonzero(carry.any(axis=1) | feed.any(axis=1))
            states = np.zeros(
                len(carry), np.int64
            )  # what has no state is 0, as this address is not: its column is left out
            states[kept] = state = self.room(len(kept)) + np.arange(len(kept))
            carried = np.zeros_like(carry)
            carried[:, kept] = carry[:, kept]
            change = self.compute(np.hstack([carried[kept], feed[kept]]), np.concatenate([states, self.stream]))
            if len(kept):
                self.say(OperationCode.COPY, change, int(state[0]), len(kept))
            self.add(kept, change)

    def feed_forward(self, block: Block) -> None:
        """Lists the units, and what is made of them."""
        layer = block.feed_forward
        gates, ups = (
            self.compute(matrix, self.stream, bias)
            for matrix, bias in ((layer.gate, layer.gate_bias), (layer.up, layer.up_bias))
        )
        self.say(OperationCode.PRODUCT, gates, ups, len(layer.gate))
        written = np.flatnonzero(layer.down.any(axis=1) | (layer.down_bias != 0))
        units = gates + np.arange(len(layer.gate))
        self.add(written, self.compute(layer.down[written], units, layer.down_bias[written]))


def list_operations(model: Transformer, arithmetic: Arithmetic, keep: tuple[int, ...], longest: int) -> Listing:
    """Returns the operations of a model for texts of so many tokens. keep: the sublayers, in order, whose stream is kept.

    Raises TooWide.
    """
    lister = _Lister(model.width)
    if 0 in keep:
        lister.say(OperationCode.KEEP, keep.index(0))
    for place, block in enumerate(model.blocks, start=1):
        for sublayer, list_it in ((2 * place - 1, lister.mix), (2 * place, lister.feed_forward)):
            list_it(block)
            if sublayer in keep:
                lister.say(OperationCode.KEEP, keep.index(sublayer))
    rows = lister.rows
    words = rows.add(model.words, lister.stream)
    unembed = words if model.unembed is model.words else rows.add(model.unembed, lister.stream)
    sloped = np.flatnonzero(model.position)
    counts, places = np.concatenate(rows.counts), np.concatenate(rows.places)
    parts = [*rows.weights, *rows.biases, model.position[sloped]]
    quanta, which = Weights(model, arithmetic).distinct(np.concatenate(parts)[:, None])
    at = which[:, 0]
    entries, ends = len(places), len(places) + len(counts)
    bits = _bits(arithmetic, quanta, at, counts, max([0, *(head[2] for head in lister.heads)]), longest)
    numbers = in_memory(quanta, bits)[at]
    return Listing(
        operations=np.array(lister.operations, np.int64).reshape(-1, 4),
        registers=np.array(lister.registers, np.int64),
        heads=np.array(lister.heads, np.int64).reshape(-1, 7),
        record=lister.record,
        memory=lister.memory,
        starts=np.array([0, *accumulate(counts.tolist())], np.int64),
        places=places.astype(np.int64),
        weights=numbers[:entries],
        biases=numbers[entries:ends],
        words=words,
        unembed=unembed,
        sloped=sloped.astype(np.int64),
        slopes=numbers[ends:],
        bits=bits,
    )


def _bits(arithmetic: Arithmetic, quanta: list[int], at: Array, counts: Array, width: int, longest: int) -> int:
    """Returns the bits of a number with which no sum is too large. width: of the widest score. Raises TooWide."""
    fmt = arithmetic.format
    largest, one = float(fmt.max_quanta), 2.0**-fmt.quantum_exponent
    weights = np.array([float(abs(number)) for number in quanta])[at[: int(counts.sum())]]
    rows = np.bincount(np.repeat(np.arange(len(counts)), counts), weights=weights, minlength=len(counts))
    sums = [
        float(rows.max(initial=0)) * largest,
        largest * largest * max(1, width),  # a product of a gate and an up, and a score
        largest * one * longest,  # what a head reads: each weight is 1 at most
    ]
    for bits in WIDTHS:
        if max(sums) < SLACK * 2.0 ** (2 * bits - 1):
            return bits
    raise TooWide(f"sums of more than {2 * WIDTHS[-1]} bits")


def in_memory(numbers: list[int], bits: int) -> Array:
    """Returns integers as the machine code reads them: 64 bits each, or two such parts, the lower one first."""
    if bits == WIDTHS[0]:
        return np.array(numbers, np.int64)
    low = np.array([number & ((1 << 64) - 1) for number in numbers], np.uint64).view(np.int64)
    return np.stack([low, np.array([number >> 64 for number in numbers], np.int64)], axis=-1)


def from_memory(numbers: Array, bits: int) -> list[int]:
    """Returns the integers of an array that `in_memory` could have made, of one dimension for each number."""
    if bits == WIDTHS[0]:
        return numbers.tolist()  # type: ignore[no-any-return]
    low, high = numbers[..., 0].view(np.uint64), numbers[..., 1]
    return [(above << 64) | below for above, below in zip(high.tolist(), low.tolist(), strict=True)]
