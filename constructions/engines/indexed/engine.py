"""The indexed engine: the same bits as `reference`, in O(l log l) for models whose heads are match-like.

It runs a whole sequence at once (teacher forcing), or a chunk of positions at a time. Each register is one exact column (see
column.py), so affine rows and ReGLU products are a few numpy operations each. A softmax column is replaced by its winner, found by
sorting and certified (see head.py, nearest.py); a column that fails its certificate is computed densely, by definition.
The counts of both are in the result. The output head is searched the same way: the logits are scores of the vocabulary's rows.

Between chunks a model is a `State`: what recurrences hold, and the keys of each head. A head may forget keys that no later query
can read (see forgetting.py), so that a run of any length fits into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from constructions.engines.indexed.column import Column, combine, from_floats
from constructions.engines.indexed.feed_forward import changes
from constructions.engines.indexed.head import Attended, Head, KeysForgotten, Memory
from constructions.engines.indexed.mantissas import Array, integers
from constructions.engines.indexed.operators import Operators, reach
from constructions.engines.indexed.output_head import OutputHead
from constructions.engines.indexed.pieces import Joined, Shared
from constructions.engines.indexed.scan import states
from constructions.engines.weights import ZERO, BlockWeights, HeadWeights, Weights
from constructions.layers import Transformer
from precision.format import Arithmetic, Rounding

Observer = Callable[[int, str, Sequence[Column]], None]
"""Called after each sublayer with the block (0: embedding), "embedding", "attention" or "feed-forward", and all registers."""
HeadObserver = Callable[[int, int, Attended], None]
"""Called after each head with its block and its number there, from 0, and what it did."""
CHUNK = 1 << 17  # positions of a run that forgets: many beside the keys that are sorted anew, little memory
PART = (
    1 << 16
)  # positions at a time: enough that numpy's calls cost little beside its loops, few enough to stay in the caches


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
class Followed:
    """How a model followed an answer. written: the first token of its own, None if there is none. columns: how it came about."""

    written: int | None
    columns: Columns


@dataclass(frozen=True)
class State:
    """What a prefix leaves behind. length: its tokens. By block: what its heads remember, and what its recurrence holds."""

    length: int
    heads: tuple[tuple[Memory, ...], ...]
    recurrences: tuple[Mapping[int, Fraction], ...]


def run(
    model: Transformer,
    arithmetic: Arithmetic,
    tokens: Sequence[int],
    *,
    observe: Observer | None = None,
    observe_head: HeadObserver | None = None,
    beyond: bool = False,
) -> IndexedRun:
    """Runs the model on a whole sequence.

    beyond: read more tokens than the model is certified for, instead of raising BeyondBound.
    Raises IndexError for an empty sequence or a token outside the vocabulary; ValueError for stochastic rounding, and for a format
    that does not hold 1.
    """
    engine = Indexed(model, arithmetic, beyond=beyond)
    return engine.advance(engine.start, tokens, observe=observe, observe_head=observe_head, remember=False)[1]


def first_mismatch(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    answer: Sequence[int] | Array,
    *,
    chunk: int | None = None,
    tick: Callable[[int], None] = lambda length: None,
    beyond: bool = False,
) -> tuple[int | None, Followed]:
    """Whether greedy decoding of `prompt` gives `answer`: the index of the first other token, or None if all agree.

    The answer is fed in as if it had been decoded. If the argmax at every position is the next token of the answer, induction over
    positions shows that decoding gives just this sequence, since the model is causal.

    chunk: how many positions at a time; by default a few if every head can forget keys, else all. tick: told how many are done.
    Keys that nothing can read any more are forgotten on the way; a run that turns out to need them starts again and keeps all.
    Raises IndexError for an empty prompt, and as `run` does.
    """
    if not len(prompt):
        raise IndexError("a prompt needs at least one token")
    engine = Indexed(model, arithmetic, beyond=beyond)
    model.admit(len(prompt) + len(answer) - 1, beyond=beyond)
    fed = np.concatenate([_in_32_bits(prompt), _in_32_bits(answer)])
    try:
        return engine.follow(fed, len(prompt), chunk, tick, forget=True)
    except KeysForgotten:
        return engine.follow(fed, len(prompt), chunk, tick, forget=False)


def _in_32_bits(tokens: Sequence[int] | Array) -> Array:
    """These tokens in half the memory. Raises IndexError for what would become another number by that."""
    array, most = np.asarray(tokens), np.iinfo(np.int32)
    if len(array) and (array.dtype.kind not in "iu" or array.min() < most.min or array.max() > most.max):
        raise IndexError("tokens are integers of 32 bits")
    return array.astype(np.int32, copy=False)


class Indexed:
    """A model under one arithmetic, that reads a sequence in chunks. beyond: as in `run`. Raises ValueError as `run` does."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic, *, beyond: bool = False) -> None:
        fmt = arithmetic.format
        if arithmetic.rounding is Rounding.STOCHASTIC:
            raise ValueError(
                "the indexed engine cannot round stochastically: it skips most of what would need a random number"
            )
        if fmt.quantum_exponent > 0 or fmt.max_value < 1:
            raise ValueError(f"softmax needs 1 to be an element of the format; {fmt.name} does not hold it")
        self.model, self.arithmetic, self.beyond = model, arithmetic, beyond

    @property
    def start(self) -> State:
        """Nothing was read."""
        blocks = self.model.blocks
        return State(0, tuple((Memory(),) * len(block.heads) for block in blocks), ({},) * len(blocks))

    def advance(
        self,
        state: State,
        tokens: Sequence[int] | Array,
        *,
        observe: Observer | None = None,
        observe_head: HeadObserver | None = None,
        remember: bool = True,
        forget: bool = False,
    ) -> tuple[State, IndexedRun]:
        """Reads further tokens: the state behind them, and what happened at them.

        remember: False if nothing follows; the state behind is then of no use. forget: heads drop keys that no later query can
        win, as far as one can tell; a later `advance` raises KeysForgotten if that was wrong. Raises IndexError as `run` does.
        """
        self.model.admit(state.length + len(tokens), beyond=self.beyond)
        array = np.asarray(tokens)
        size = len(self.model.words)
        if len(array) == 0 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= size:
            raise IndexError(f"a sequence needs at least one token, all of them integers from 0 to {size - 1}")
        observers = (
            observe or (lambda block, sublayer, registers: None),
            observe_head or (lambda block, head, found: None),
        )
        size = PART if observe is None and observe_head is None else len(array)  # what is observed is in one part
        return _Chunk(self, state, array, size, *observers).advance(remember=remember, forget=forget)

    def follow(
        self, fed: Array, known: int, chunk: int | None, tick: Callable[[int], None], *, forget: bool
    ) -> tuple[int | None, Followed]:
        """Where the first token of `fed` is, counted from behind the `known` ones, that is not the argmax before it.

        chunk: how many positions to read at a time. If None, a few, until these show that some head keeps most of its keys, then
        all that are left, as each chunk sorts the keys that are kept. Few are enough that sorting the vocabulary costs no more.
        """
        state, columns, last, begin = self.start, Columns(), len(fed) - 1, 0
        size = chunk or max(CHUNK, len(self.model.words))
        if chunk is None and last <= 2 * size:
            size = last
        while begin < last:
            end = min(begin + size, last)
            state, found = self.advance(state, fed[begin:end], remember=end < last, forget=forget)
            columns.add(found.columns)
            first = max(known - 1, begin)
            wrong = np.flatnonzero(found.next_tokens[first - begin :] != fed[first + 1 : end + 1])
            if len(wrong):
                place = first + int(wrong[0])
                return place + 1 - known, Followed(int(found.next_tokens[place - begin]), columns)
            tick(end)
            if chunk is None and any(2 * memory.kept > size for memories in state.heads for memory in memories):
                size = last
            begin = end
        return None, Followed(None, columns)

    @cached_property
    def weights(self) -> Weights:
        """Those of the blocks, and of the position."""
        return Weights(self.model, self.arithmetic)

    @cached_property
    def words(self) -> list[Column]:
        """The rounded embedding of words: for each register, its value at each of them."""
        return [Operators(self.arithmetic).round(from_floats(column), "words") for column in self.model.words.T]

    @cached_property
    def vocabulary(self) -> tuple[list[int], list[Column]]:
        """The registers that the output head reads, and its rounded weights over the tokens."""
        unembed = self.model.unembed
        used: list[int] = np.flatnonzero(np.any(unembed != 0, axis=0)).tolist()
        return used, [Operators(self.arithmetic).round(from_floats(unembed[:, i]), "unembed") for i in used]

    @cached_property
    def output_head(self) -> OutputHead:
        """The same, to search for an argmax."""
        return OutputHead(self.vocabulary[1])


class _Chunk:
    """One pass over the model, block by block, and through a block part by part: what a part computes stays in the caches.

    size: positions of a part. Only keys and values are gathered over the whole chunk, for as long as a head reads them.
    """

    def __init__(
        self, engine: Indexed, state: State, tokens: Array, size: int, observe: Observer, observe_head: HeadObserver
    ) -> None:
        self.engine, self.model, self.arithmetic = engine, engine.model, engine.arithmetic
        self.before, self.tokens, self.length = state, tokens, len(tokens)
        self.operators = Operators(engine.arithmetic)
        self.columns = Columns(saturations=self.operators.saturations)
        self.observe, self.observe_head = observe, observe_head
        self.begins = range(0, len(tokens), size)
        self.parts = [self._embed(begin, tokens[begin : begin + size]) for begin in self.begins]

    def advance(self, *, remember: bool, forget: bool) -> tuple[State, IndexedRun]:
        self.observe(0, "embedding", tuple(self.parts[0]))
        shared: Shared = {}
        heads, recurrences = [], []
        for number, (block, memories, held) in enumerate(
            zip(self.engine.weights.blocks, self.before.heads, self.before.recurrences, strict=True), start=1
        ):
            outputs: list[list[Column]] = [[] for _ in self.parts]
            after = [
                self._attend(f"{number}.attn.{index}", head, memory, outputs, shared, remember=remember, forget=forget)
                for index, (head, memory) in enumerate(zip(block.heads, memories, strict=True))
            ]
            if not remember:
                shared.clear()
            for part, read in zip(self.parts, outputs, strict=True):
                packed = list(part)
                held = self._mix(number, block, part, read, held)
                self.observe(number, "attention", tuple(part))
                for register, change in list(changes(self.operators, block, part, len(part[0]), number)):
                    self._add(part, register, change, f"{number}.residual[{register}]")
                self.observe(number, "feed-forward", tuple(part))
                part[:] = [new if new is old else new.packed() for new, old in zip(part, packed, strict=True)]
            heads.append(tuple(after))
            recurrences.append(held)
        state = State(self.before.length + self.length, tuple(heads), tuple(recurrences))
        next_tokens = np.concatenate([self._decode(part) for part in self.parts])
        return state, IndexedRun(next_tokens, tuple(Joined({}, self.parts, {}).values()), self.columns)

    def _add(self, part: list[Column], register: int, change: Column, site: str) -> None:
        if not change.is_zero:
            total = self.operators.sum(part[register], change, len(change))
            part[register] = self.operators.round(total, site)

    # Sublayers

    def _embed(self, begin: int, tokens: Array) -> list[Column]:
        operators, length, begin = self.operators, len(tokens), self.before.length + begin
        positions = Column(np.arange(begin + 1, begin + length + 1, dtype=np.int64), 0, begin + length)
        part = []
        for i, of_words in enumerate(self.engine.words):
            word = of_words.take(tokens)
            slope = Fraction(self.engine.weights.position.get(i, 0)) * self.arithmetic.format.quantum
            offset = combine([(slope, positions)], Fraction(0), length)
            if not operators.fused:
                offset = operators.round(offset, f"embedding[{i}]")
            part.append(operators.round(operators.sum(word, offset, length), f"embedding[{i}]").packed())
        return part

    def _attend(
        self,
        site: str,
        weights: HeadWeights,
        memory: Memory,
        outputs: Sequence[list[Column]],
        shared: Shared,
        *,
        remember: bool,
        forget: bool,
    ) -> Memory:
        """What a head reads is added to the outputs of each part."""
        keys = Joined(memory.registers, self.parts, shared)
        head = Head(self.operators, weights, site, memory, keys, self.length)
        number, index = (int(name) for name in site.split(".attn."))
        for begin, part, read in zip(self.begins, self.parts, outputs, strict=True):
            found = head.attend(part, begin)
            self.observe_head(number, index, found)
            read += [column.packed() for column in found.outputs]
            certified = int(np.count_nonzero(found.certified))
            self.columns.certified += certified
            if dense := len(part[0]) - certified:
                self.columns.dense += dense
                self.columns.dense_by_head[site] = self.columns.dense_by_head.get(site, 0) + dense
        return head.remembered(forget=forget) if remember else Memory()

    def _mix(
        self,
        number: int,
        block: BlockWeights,
        part: list[Column],
        read: Sequence[Column],
        held: Mapping[int, Fraction],
    ) -> Mapping[int, Fraction]:
        """Adds what the heads have read, or the recurrence's states; what the recurrence holds then."""
        length = len(part[0])
        for register, row in block.out:
            change = self.operators.row(row, read, ZERO, length, f"{number}.out[{register}]")
            self._add(part, register, change, f"{number}.residual[{register}]")
        rows, width = {}, self.model.width
        for register, row in block.recurrence:
            carry = {j: self.operators.weight(weight) for j, weight in row if j < width}
            feed = {j - width: self.operators.weight(weight) for j, weight in row if j >= width}
            rows[register] = (carry, feed)
        found, _ = states(rows, part, length, self.arithmetic, held)
        for register, state in found.items():
            self._add(part, register, state, f"{number}.residual[{register}]")
        return {register: state.at(length - 1) for register, state in found.items()}

    # Output head

    def _decode(self, part: Sequence[Column]) -> Array:
        """The argmax of the logits at each position; the vocabulary's rows are the keys."""
        used, rows = self.engine.vocabulary
        wishes = [part[i] for i in used]
        certified, result = self._find_argmax(rows, wishes, len(part[0]))
        failed = np.flatnonzero(~certified)
        self.columns.dense_logits += len(failed)
        if len(failed):
            e, unit = self.arithmetic.format.quantum_exponent, self.arithmetic.format.quantum
            size = len(self.model.unembed)
            table = np.array([integers(row.scaled_to(e)) for row in rows], object).reshape(len(rows), size).T
            for k in failed.tolist():
                wish = [int(column.at(k) / unit) for column in wishes]
                logits = [self.operators.dot(zip(wish, row, strict=True)) for row in table]
                result[k] = logits.index(max(logits))
        return result

    def _find_argmax(self, rows: Sequence[Column], wishes: Sequence[Column], length: int) -> tuple[Array, Array]:
        """Where the argmax is certified, and the argmax there. Rounding moves a logit by a quantum for each rounded operation."""
        fmt = self.arithmetic.format
        none = np.zeros(length, bool), np.zeros(length, np.int64)
        if not fmt.is_fixed_point or not rows:
            return none
        operations = 1 if self.operators.fused else len(rows)
        if not self.operators.fused:
            total = sum((reach(r) * reach(w) for r, w in zip(rows, wishes, strict=True)), operations * fmt.quantum)
            if total > fmt.max_value:
                return none
        # Any lead at all decides an argmax; ties are decided by definition: the first of equals.
        return self.engine.output_head.argmax(wishes, (1 + 2 * operations) * fmt.quantum, fmt.max_value)
