"""One pass of the indexed engine over a chunk of positions, from the state before it to the state after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from constructions.engines.indexed.column import Column, combine, concatenated
from constructions.engines.indexed.feed_forward import changes
from constructions.engines.indexed.head import Attended, Head, Memory
from constructions.engines.indexed.loaded import Loaded
from constructions.engines.indexed.mantissas import Array, integers
from constructions.engines.indexed.operators import Operators
from constructions.engines.indexed.pieces import Joined, Registers, Shared
from constructions.engines.indexed.repeats import different_rows
from constructions.engines.indexed.scan import states
from constructions.engines.weights import ZERO
from constructions.rows import HeadRows, Layer

Observer = Callable[[int, str, Sequence[Column]], None]
"""Called after each sublayer with the block (0: embedding), "embedding", "attention" or "feed-forward", and all registers."""
HeadObserver = Callable[[int, int, Attended], None]
"""Called after each head with its block and its number there, from 0, and what it did."""
Stream = list[Column] | dict[int, Column]
TOGETHER = 8  # parts of which equal rows are looked for at once


@dataclass
class Columns:
    """How softmax columns were decided: by certificate, or densely after a failed one.

    certified, dense: softmax columns, over all heads. dense_by_head: those of each head that has any. dense_logits: positions
    whose argmax was taken over all logits. saturations: how many, by site; those of dense columns are not counted.
    """

    certified: int = 0
    dense: int = 0
    dense_by_head: dict[str, int] = field(default_factory=dict)
    dense_logits: int = 0
    saturations: dict[str, int] = field(default_factory=dict)

    def add(self, other: Columns) -> None:
        """Count those of a further chunk."""
        self.certified += other.certified
        self.dense += other.dense
        self.dense_logits += other.dense_logits
        for mine, theirs in ((self.dense_by_head, other.dense_by_head), (self.saturations, other.saturations)):
            for site, number in theirs.items():
                mine[site] = mine.get(site, 0) + number


@dataclass(frozen=True)
class IndexedRun:
    """The result for one sequence, or one chunk of it.

    next_tokens: the argmax at each position, the first of equals. registers: after the last block. columns: how it came about.
    """

    next_tokens: Array
    registers: Sequence[Column]
    columns: Columns


@dataclass(frozen=True)
class State:
    """What a prefix leaves behind. length: its tokens. By block: what its heads remember, and what its recurrence holds."""

    length: int
    heads: tuple[tuple[Memory, ...], ...]
    recurrences: tuple[Mapping[int, Fraction], ...]


class Chunk:
    """One pass over the model, block by block, and through a block part by part: what a part computes stays in the caches.

    size: positions of a part. Only keys and values are gathered over the whole chunk, for as long as a head reads them.
    """

    def __init__(
        self, loaded: Loaded, state: State, tokens: Array, size: int, observe: Observer, observe_head: HeadObserver
    ) -> None:
        self.loaded, self.model, self.arithmetic = loaded, loaded.model, loaded.arithmetic
        self.before, self.tokens, self.length = state, tokens, len(tokens)
        self.operators = Operators(loaded.arithmetic)
        self.columns = Columns(saturations=self.operators.saturations)
        self.observe, self.observe_head = observe, observe_head
        self.begins = range(0, len(tokens), size)
        self.parts = [self._embed(begin, tokens[begin : begin + size]) for begin in self.begins]

    def advance(self, *, remember: bool, forget: bool) -> tuple[State, IndexedRun]:
        self.observe(0, "embedding", tuple(self.parts[0]))
        shared: Shared = {}
        heads, recurrences = [], []
        for number, (block, memories, recurrence) in enumerate(
            zip(self.loaded.weights.blocks, self.before.heads, self.before.recurrences, strict=True), start=1
        ):
            outputs: list[list[Column]] = [[] for _ in self.parts]
            after = [
                self._attend(f"{number}.attn.{index}", head, memory, outputs, shared, remember=remember, forget=forget)
                for index, (head, memory) in enumerate(zip(block.heads, memories, strict=True))
            ]
            if not remember:
                shared.clear()
            for part, read in zip(self.parts, outputs, strict=True):
                before = list(part)
                recurrence = self._mix(number, block, part, read, recurrence)
                self.observe(number, "attention", tuple(part))
                if number < len(self.before.heads):
                    self._feed_forward(self.operators, block, part, len(part[0]), number)
                    self.observe(number, "feed-forward", tuple(part))
                _pack(part, before)
            heads.append(tuple(after))
            recurrences.append(recurrence)
        state = State(self.before.length + self.length, tuple(heads), tuple(recurrences))
        groups = [self.parts[i : i + TOGETHER] for i in range(0, len(self.parts), TOGETHER)]
        next_tokens = np.concatenate([self._finish(parts) for parts in groups])
        if heads:
            self.observe(len(heads), "feed-forward", tuple(self.parts[0]))
        return state, IndexedRun(next_tokens, Registers(self.parts), self.columns)

    def _finish(self, parts: Sequence[list[Column]]) -> Array:
        """Returns the last block's feed-forward and the argmax; once for all positions that agree in what these read."""
        pieces, lengths = Joined({}, parts, {}).pieces, [len(part[0]) for part in parts]
        rows = different_rows([pieces[i] for i in self.loaded.read_last], sum(lengths))
        if rows is None:
            return np.concatenate([self._finish_part(self.operators, part, len(part[0])) for part in parts])
        tokens, parts_of_rows, size = [], [], self.begins.step
        for begin in range(0, len(rows.places), size):
            places, times = rows.places[begin : begin + size], rows.times[begin : begin + size]
            part_of_rows = {i: pieces[i].take(places) for i in self.loaded.read_last}
            tokens.append(self._finish_part(self.operators.for_many(times), part_of_rows, len(places)))
            parts_of_rows.append(part_of_rows)
        written = {i: concatenated(*(part[i] for part in parts_of_rows)).packed() for i in self.loaded.written_last}
        for part, which in zip(parts, np.split(rows.which, np.cumsum(lengths)[:-1]), strict=True):
            for i, column in written.items():
                part[i] = column.take(which)
        return np.concatenate(tokens)[rows.which]

    def _finish_part(self, operators: Operators, part: Stream, length: int) -> Array:
        """Computes the last block and the argmax at a part's positions, or at one position for each different row."""
        number = len(self.loaded.weights.blocks)
        for block in self.loaded.weights.blocks[-1:]:
            self._feed_forward(operators, block, part, length, number)
        return self._decode(operators, part, length)

    def _feed_forward(self, operators: Operators, block: Layer, part: Stream, length: int, number: int) -> None:
        for register, change in list(changes(operators, block.feed_forward, part, length, number)):
            _add(operators, part, register, change, f"{number}.residual[{register}]")

    # Sublayers

    def _embed(self, begin: int, tokens: Array) -> list[Column]:
        operators, length, begin = self.operators, len(tokens), self.before.length + begin
        positions = Column(np.arange(begin + 1, begin + length + 1, dtype=np.int64), 0, begin + length)
        part = []
        for i, of_words in enumerate(self.loaded.words):
            word = of_words.take(tokens)
            slope = Fraction(self.loaded.weights.position.get(i, 0)) * self.arithmetic.format.quantum
            offset = combine([(slope, positions)], Fraction(0), length)
            if not operators.fused:
                offset = operators.round(offset, f"embedding[{i}]")
            part.append(operators.round(operators.sum(word, offset, length), f"embedding[{i}]").packed())
        return part

    def _attend(
        self,
        site: str,
        weights: HeadRows,
        memory: Memory,
        outputs: Sequence[list[Column]],
        shared: Shared,
        *,
        remember: bool,
        forget: bool,
    ) -> Memory:
        """Returns what a head reads is added to the outputs of each part."""
        keys = Joined(memory.registers, self.parts, shared)
        head = Head(self.operators, weights, site, memory, keys, self.length)
        number, index = (int(name) for name in site.split(".attn."))
        for begin, part, read in zip(self.begins, self.parts, outputs, strict=True):
            attention = head.attend(part, begin)
            self.observe_head(number, index, attention)
            read += [column.packed() for column in attention.outputs]
            certified = int(np.count_nonzero(attention.certified))
            self.columns.certified += certified
            if dense := len(part[0]) - certified:
                self.columns.dense += dense
                self.columns.dense_by_head[site] = self.columns.dense_by_head.get(site, 0) + dense
        return head.remembered(forget=forget) if remember else Memory()

    def _mix(
        self,
        number: int,
        block: Layer,
        part: list[Column],
        read: Sequence[Column],
        recurrence: Mapping[int, Fraction],
    ) -> Mapping[int, Fraction]:
        """Adds what the heads have read, or the recurrence's states; what the recurrence holds then."""
        length = len(part[0])
        for register, row in block.out:
            change = self.operators.row(row, read, ZERO, length, f"{number}.out[{register}]")
            _add(self.operators, part, register, change, f"{number}.residual[{register}]")
        if block.recurrence is None:
            return {}
        state_of, _ = states(self.operators, block.recurrence, part, length, recurrence)
        for register, state in state_of.items():
            _add(self.operators, part, register, state, f"{number}.residual[{register}]")
        return {register: state.at(length - 1) for register, state in state_of.items()}

    # Output head

    def _decode(self, operators: Operators, part: Stream, length: int) -> Array:
        """Returns the argmax of the logits at each position; the vocabulary's rows are the keys."""
        used, rows = self.loaded.vocabulary
        wishes = [part[i] for i in used]
        certified, result = self._find_argmax(rows, wishes, length)
        failed = np.flatnonzero(~certified)
        self.columns.dense_logits += operators.positions(failed)
        if len(failed):
            e, unit = self.arithmetic.format.quantum_exponent, self.arithmetic.format.quantum
            size = len(self.model.unembed)
            table = np.array([integers(row.scaled_to(e)) for row in rows], object).reshape(len(rows), size).T
            for k in failed.tolist():
                wish = [int(column.at(k) / unit) for column in wishes]
                logits = [self.operators.dot(wish, row) for row in table]
                result[k] = logits.index(max(logits))
        return result

    def _find_argmax(self, rows: Sequence[Column], wishes: Sequence[Column], length: int) -> tuple[Array, Array]:
        """Returns where the argmax is certified, and the argmax there. Rounding moves a logit by a quantum for each rounded
        operation.
        """
        fmt = self.arithmetic.format
        none = np.zeros(length, bool), np.zeros(length, np.int64)
        if not fmt.is_fixed_point or not rows:
            return none
        operations = 1 if self.operators.fused else len(rows)
        if not self.operators.fused:
            total = sum((r.reach * w.reach for r, w in zip(rows, wishes, strict=True)), operations * fmt.quantum)
            if total > fmt.max_value:
                return none
        # Any lead at all decides an argmax; ties are decided by definition: the first of equals.
        return self.loaded.output_head.argmax(wishes, (1 + 2 * operations) * fmt.quantum, fmt.max_value)


def _add(operators: Operators, part: Stream, register: int, change: Column, site: str) -> None:
    if not change.is_zero:
        part[register] = operators.round(operators.sum(part[register], change, len(change)), site)


def _pack(part: list[Column], before: Sequence[Column]) -> None:
    """Packs what is not as it was before."""
    part[:] = [new if new is old else new.packed() for new, old in zip(part, before, strict=True)]
