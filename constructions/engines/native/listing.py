"""A model as a list of operations over one memory of numbers: what the machine code of `machine.py` reads.

The memory begins with the residual stream. After it stand, block by block, what the sublayers compute, and the states of
recurrences. Every matrix row of the model, the words among them, is a sparse row over addresses of the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from constructions.engines.native.cells import CellIndex, OperationCode
from constructions.engines.protocol import NotCovered
from constructions.engines.weights import Weights
from constructions.layers import Block, Matrix, Transformer
from precision.format import Arithmetic

Array = Any
WORD = 64
WIDTHS = (WORD, 128, 256)  # bits of a number in memory; sums of products have twice as many
# Of the range, what these sums may take. It leaves enough for a bias, which is less than a product; for what rounding adds; and for
# the error of floats. As a square of the largest number takes no more, a position's offset fits as well.
SLACK = 2.0**-3


class FlagSites(NamedTuple):
    """Places of a block where flags are counted. operators: what is computed at each index, one after the other; in which array its
    flags are, and where they begin there. indices: None if there is no index.
    """

    block: int
    operators: Sequence[tuple[str, CellIndex, int]]
    indices: Sequence[int] | None


@dataclass(frozen=True, eq=False)
class Listing:
    """operations: shape (operations, 4). registers: that ADD reads. heads: query, key, score width, value, value width, where
    to, offset in a position's record; shape (heads, 7). record: numbers that heads keep of a position. memory: numbers in all.

    sites: what the places are called whose flags are counted, in the order in which `reference` computes them.
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
    sites: Sequence[FlagSites]


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
        self.block = 0
        self.sites = [FlagSites(0, [("embedding", CellIndex.MEMORY_FLAGS, 0)], range(width))]

    def room(self, size: int) -> int:
        """Returns the address of so many new numbers."""
        self.memory += size
        return self.memory - size

    def say(self, operation: OperationCode, a: int, b: int = 0, c: int = 0) -> None:
        self.operations.append((operation, a, b, c))

    def compute(self, name: str, matrix: Matrix, addresses: Array, bias: Matrix | None = None) -> int:
        """Returns where a matrix times what stands at these addresses, and the bias, come to stand. name: of the rows' flags."""
        into, first = self.room(len(matrix)), self.rows.add(matrix, addresses, bias)
        self.say(OperationCode.ROWS, first, len(matrix), into)
        if name:
            self.call(name, CellIndex.ROW_FLAGS, first, range(len(matrix)))
        return into

    def add(self, name: str, registers: Array, change: int, computed: str = "") -> None:
        """Adds numbers to registers of the stream. computed: what the rows that are these numbers are called, if nothing so far."""
        self.say(OperationCode.ADD, start := len(self.registers), len(registers), change)
        self.registers += registers.tolist()
        operators = [(computed, CellIndex.ROW_FLAGS, self.rows.size - len(registers))] if computed else []
        operators.append((name, CellIndex.ADD_FLAGS, start))
        self.sites.append(FlagSites(self.block, operators, self.registers[start:]))

    def call(self, name: str, flags: CellIndex, start: int, indices: Sequence[int] | None) -> None:
        """Says what an operator is called."""
        self.sites.append(FlagSites(self.block, [(name, flags, start)], indices))

    def mix(self, block: Block) -> None:
        """Lists the heads, or the recurrence."""
        outputs: list[Array] = []
        self.block += 1
        for i, head in enumerate(block.heads):
            query, key, value = (
                self.compute(f"attn.{i}.{side}", getattr(head, side), self.stream) for side in ("query", "key", "value")
            )
            width, read = len(head.key), len(head.value)
            outputs.append(np.arange(read) + self.room(read))
            self.say(OperationCode.HEAD, len(self.heads))
            if width:  # else its scores are 0, and nothing stands at the query's address
                self.call(f"attn.{i}.score", CellIndex.MEMORY_FLAGS, query, None)
            self.call(f"attn.{i}.sum", CellIndex.MEMORY_FLAGS, self.memory - read, range(read))
            self.heads.append((query, key, width, value, read, int(outputs[-1][0]) if read else 0, self.record))
            self.record += width + read
        if outputs:
            out = np.hstack([head.out for head in block.heads])
            written = np.flatnonzero(out.any(axis=1))
            change = self.compute("", out[written], np.concatenate(outputs))
            self.add("attn.residual", written, change, "attn.out")
        if block.recurrence is not None:
            carry, feed = block.recurrence.carry, block.recurrence.feed
            kept = np.flatnonzero(carry.any(axis=1) | feed.any(axis=1))
            states = np.zeros(
                len(carry), np.int64
            )  # what has no state is 0, as this address is not: its column is left out
            states[kept] = state = self.room(len(kept)) + np.arange(len(kept))
            carried = np.zeros_like(carry)
            carried[:, kept] = carry[:, kept]
            change = self.compute("", np.hstack([carried[kept], feed[kept]]), np.concatenate([states, self.stream]))
            self.call("state", CellIndex.ROW_FLAGS, self.rows.size - len(kept), kept.tolist())
            if len(kept):
                self.say(OperationCode.COPY, change, int(state[0]), len(kept))
            self.add("recurrence.residual", kept, change)

    def feed_forward(self, block: Block) -> None:
        """Lists the units, and what is made of them."""
        layer = block.feed_forward
        gates = self.compute("ffn.gate", layer.gate, self.stream, layer.gate_bias)
        ups = self.compute("ffn.up", layer.up, self.stream, layer.up_bias)
        self.say(OperationCode.PRODUCT, gates, ups, len(layer.gate))
        self.call("ffn.product", CellIndex.MEMORY_FLAGS, gates, range(len(layer.gate)))
        written = np.flatnonzero(layer.down.any(axis=1) | (layer.down_bias != 0))
        units = gates + np.arange(len(layer.gate))
        change = self.compute("", layer.down[written], units, layer.down_bias[written])
        self.add("ffn.residual", written, change, "ffn.down")


def list_operations(model: Transformer, arithmetic: Arithmetic, keep: Sequence[int], longest: int) -> Listing:
    """Returns the operations of a model for texts of so many tokens. keep: the sublayers, in order, whose stream is kept.

    Raises NotCovered for sums of more bits than the machine has.
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
    lister.block += 1
    lister.call("logit", CellIndex.ROW_FLAGS, unembed, range(len(model.unembed)))
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
        sites=lister.sites,
    )


def _bits(arithmetic: Arithmetic, quanta: list[int], at: Array, counts: Array, width: int, longest: int) -> int:
    """Returns the bits of a number with which no sum is too large. width: of the widest score. Raises NotCovered."""
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
    raise NotCovered(f"sums of more than {2 * WIDTHS[-1]} bits")


def in_memory(numbers: list[int], bits: int) -> Array:
    """Returns integers as the machine code reads them: 64 bits each, or several such parts, the lowest one first."""
    if bits == WORD:
        return np.array(numbers, np.int64)
    parts = [[number >> place & ((1 << WORD) - 1) for number in numbers] for place in range(0, bits, WORD)]
    return np.array(parts, np.uint64).view(np.int64).T.copy()


def from_memory(numbers: Array, bits: int) -> list[int]:
    """Returns the integers of an array that `in_memory` could have made, of one dimension for each number."""
    if bits == WORD:
        return numbers.tolist()  # type: ignore[no-any-return]
    *low, integers = numbers.T.tolist()
    for parts in reversed(low):
        integers = [(high << WORD) | (part & ((1 << WORD) - 1)) for high, part in zip(integers, parts, strict=True)]
    return integers  # type: ignore[no-any-return]
