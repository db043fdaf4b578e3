"""The dense engine: many sequences at once in torch, all pairs of positions, bit for bit the reference engine.

Source: section 3; appendix A.2; constructions/engines/reference.py is the definition.

Numbers are columns of exact integers (column.py); scores are filtered in float64 and decided exactly
(attention.py); a linear recurrence is a guess that is checked, or run position by position (recurrence.py).
Results do not depend on the device, the number of threads, the tile or what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from constructions.engines.dense.attention import Attention
from constructions.engines.dense.batch import Batch, batch
from constructions.engines.dense.column import Column, Objects
from constructions.engines.dense.liveness import heads_asked_alone
from constructions.engines.dense.logits import first_argmax
from constructions.engines.dense.operators import Operators
from constructions.engines.dense.recurrence import states
from constructions.engines.dense.workers import Workers, workers
from constructions.engines.weights import ZERO, Weights
from constructions.layers import Transformer
from constructions.rows import HeadRows, Recurrent, Row, Weight, coordinates
from constructions.walk import Domain, Values, walk
from precision.format import Arithmetic

# On a CPU what is computed at once stays in the cache; on a GPU it fills the device.
_TILES = {"cpu": 768, "cuda": 8192}  # 4.5 and 512 MiB of scores
_TOKENS = {"cpu": 1 << 15, "cuda": 1 << 20}  # run together


class EngineError(RuntimeError):
    """The machine cannot do what was asked: no such device, or not enough memory. The message is one line."""


@dataclass(frozen=True)
class DenseRun:
    """What a run left behind, per sequence in the order given.

    next_tokens: (position,) argmax of the logits at each position, the first of equals; −1 where nobody asked for it.
    registers: None unless kept; registers[sequence][sublayer] is a (position, d) array of Python integers, in quanta: the embedding
        first, then after each attention and each feed-forward sublayer, as `TokenStep.registers` of the reference engine. Of a
        sublayer that is not kept it has no positions.
    logits: None unless all registers are kept; (position, vocabulary) Python integers per sequence, in quanta.
    """

    next_tokens: tuple[npt.NDArray[np.int64], ...]
    registers: tuple[tuple[Objects, ...], ...] | None
    logits: tuple[Objects, ...] | None


def run(
    model: Transformer,
    arithmetic: Arithmetic,
    sequences: Sequence[Sequence[int]],
    *,
    device: str = "cpu",
    tile: int | None = None,
    keep_registers: bool | Collection[int] = False,
    first: Sequence[int] | None = None,
    beyond: bool = False,
) -> DenseRun:
    """Runs every sequence from its first token.

    tile: at most about tile² pairs of positions are held at a time by each worker, a single row of a longer sequence excepted;
        None: 768 on a CPU and 8,192 on a GPU, where IsTree took 1 to 2 GiB.
    keep_registers: whether to keep registers and logits, which takes far more time and memory than the run itself; or after which
        sublayers to keep registers alone, counted from 0.
    first: the position of each sequence, from 0, from which on next tokens are asked for; by default all are. Heads that matter
        there alone (liveness.py) read there alone. Where registers are kept, all is computed.
    beyond: read more tokens than the model is certified for, instead of raising BeyondBound.
    Raises IndexError for a token outside the vocabulary; ValueError for stochastic rounding or a tile below 1;
    EngineError if the device is missing or runs out of memory.
    """
    if tile is not None and tile < 1:
        raise ValueError(f"a tile needs at least one position, got {tile}")
    model.admit(max(map(len, sequences), default=0), beyond=beyond)
    for sequence in sequences:
        for token in (min(sequence), max(sequence)) if len(sequence) else ():
            if not 0 <= token < len(model.words):
                raise IndexError(f"token {token} is not in the vocabulary of {len(model.words)}")
    place = find_device(device)
    tile = tile or _TILES[place.type]
    try:
        with workers(place) as crew:
            operators, weights = Operators(arithmetic, place), Weights(model, arithmetic)
            traces: dict[int, _Trace] = {}
            for members in _portions(sequences, _TOKENS[place.type]):
                here, asked = [sequences[i] for i in members], None if first is None else [first[i] for i in members]
                portion = _BatchRun(operators, weights, here, asked, crew, tile, keep_registers)
                traces.update(zip(members, portion.traces(), strict=True))
            in_turn = [traces[i] if i in traces else _nothing(weights) for i in range(len(sequences))]
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise EngineError(_too_large(sequences, device, tile)) from error
    except RuntimeError as error:
        if "memory" in str(error):  # torch's CPU allocator has no exception of its own
            raise EngineError(_too_large(sequences, device, tile)) from error
        raise
    return DenseRun(
        next_tokens=tuple(trace.next_tokens for trace in in_turn),
        registers=None if keep_registers is False else tuple(tuple(trace.registers) for trace in in_turn),
        logits=tuple(trace.logits for trace in in_turn if trace.logits is not None) if keep_registers is True else None,
    )


def matches(
    model: Transformer,
    arithmetic: Arithmetic,
    prompts: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]],
    *,
    device: str = "cpu",
    tile: int | None = None,
    beyond: bool = False,
) -> list[int | None]:
    """Returns whether greedy decoding of each prompt gives exactly its answer: None, or the first index into the answer where it
    does not.

    Derivation: the whole text is fed at once. If at every position from the prompt's last token on the argmax is the
    next token, then by induction decoding, which sees the same prefix, produces the same token. Before the first
    mismatch decoding agrees, so the index is that of decoding's own first deviation.
    Raises ValueError for an empty prompt; otherwise as `run`.
    """
    if any(len(prompt) == 0 for prompt in prompts):
        raise ValueError("a prompt needs at least one token")
    texts = [[*prompt, *answer[:-1]] for prompt, answer in zip(prompts, answers, strict=True)]
    first = [len(prompt) - 1 for prompt in prompts]
    outcome = run(model, arithmetic, texts, device=device, tile=tile, first=first, beyond=beyond)
    mismatches: list[int | None] = []
    for prompt, answer, following in zip(prompts, answers, outcome.next_tokens, strict=True):
        produced = following[len(prompt) - 1 :][: len(answer)]
        wrong = np.flatnonzero(produced != np.asarray(answer, dtype=np.int64))
        mismatches.append(int(wrong[0]) if len(wrong) else None)
    return mismatches


@dataclass
class _Trace:
    """What one sequence left behind, see `DenseRun`."""

    next_tokens: npt.NDArray[np.int64]
    registers: list[Objects]
    logits: Objects | None


def _nothing(weights: Weights) -> _Trace:
    """Returns the trace of a sequence without tokens."""
    registers = [np.zeros((0, weights.model.width), dtype=object)] * (2 * len(weights.blocks) + 1)
    logits = np.zeros((0, len(weights.model.words)), dtype=object)
    return _Trace(np.zeros(0, dtype=np.int64), registers, logits)


def _portions(sequences: Sequence[Sequence[int]], limit: int) -> Iterator[list[int]]:
    """Yields the numbers of sequences to run together: about equally long, at most `limit` tokens or one sequence, none empty."""
    members: list[int] = []
    tokens = 0
    present = (i for i in range(len(sequences)) if len(sequences[i]))
    for i in sorted(present, key=lambda i: len(sequences[i])):
        if members and tokens + len(sequences[i]) > limit:
            yield members
            members, tokens = [], 0
        members.append(i)
        tokens += len(sequences[i])
    if members:
        yield members


class _BatchRun(Domain[Column]):
    """One pass over a batch."""

    stream: list[Column]

    def __init__(
        self,
        operators: Operators,
        weights: Weights,
        sequences: Sequence[Sequence[int]],
        first: Sequence[int] | None,
        crew: Workers,
        tile: int,
        keep_registers: bool | Collection[int],
    ) -> None:
        self.operators = operators
        self.numbers = operators.numbers
        self.weights = weights
        self.batch: Batch = batch(sequences, tile * tile, crew.device)
        self.attention = Attention(operators, self.batch, tile * tile, crew)
        self.tile = tile
        self.keep_registers = keep_registers
        self.spans = [self.batch.span(i) for i in range(len(sequences))]
        self.asked: Tensor | None = None  # (token,) whether its next token is; None if all are
        self.alone = frozenset[tuple[int, int]]()  # the heads that matter there alone
        if first is not None:
            asked = np.zeros(self.batch.size, np.bool_)
            for span, at in zip(self.spans, first, strict=True):
                asked[span.start + at : span.stop] = True
            self.asked = torch.from_numpy(asked).to(crew.device)
            self.alone = heads_asked_alone(weights.blocks) if keep_registers is False else frozenset()

    def traces(self) -> list[_Trace]:
        """Returns what each sequence left behind."""
        tables: list[Objects] = []  # tables of (token, d)
        logits: Objects | None = None
        kept = self.keep_registers
        nothing = np.zeros((0, self.weights.model.width), dtype=object)
        for number, stream in enumerate(self._sublayers()):
            if kept is not False:
                tables.append(_table(stream) if kept is True or number in kept else nothing)
        stream, unembed = self.stream, self.weights.unembed
        following = self._next_tokens()
        if kept is True:
            logits = _table(self.operators.rows([(row, ZERO) for row in unembed], stream, self.batch.size))
        return [
            _Trace(
                next_tokens=following[span],
                registers=[table[span] for table in tables],
                logits=None if logits is None else logits[span],
            )
            for span in self.spans
        ]

    def _next_tokens(self) -> npt.NDArray[np.int64]:
        """Returns the argmax of the logits of each token, −1 where nobody asked for it."""
        unembed, stream, area = self.weights.unembed, self.stream, self.tile * self.tile
        if self.asked is None:
            return first_argmax(self.operators, unembed, stream, area).cpu().numpy()
        places, used = self.asked.nonzero().squeeze(1), set(coordinates(unembed))
        nothing = self.numbers.zero(len(places))
        there = [self.numbers.gather(column, places) if j in used else nothing for j, column in enumerate(stream)]
        following = torch.full((self.batch.size,), -1, dtype=torch.int64, device=places.device)
        following[places] = first_argmax(self.operators, unembed, there, area)
        return following.cpu().numpy()

    def _sublayers(self) -> Iterator[list[Column]]:
        """Yields the residual stream after the embedding and after each sublayer."""
        self.stream = self._embed()
        yield self.stream
        for _ in walk(self, self.weights.blocks):
            yield self.stream

    def _embed(self) -> list[Column]:
        numbers, size = self.numbers, self.batch.size
        stream = [numbers.zero(size) for _ in range(self.weights.model.width)]
        for register, words in self.weights.words.items():
            table = numbers.from_objects(np.array(words, dtype=object))
            stream[register] = numbers.gather(table, self.batch.tokens)
        position = numbers.from_tensor(self.batch.position, max(1, self.batch.longest))
        for register, slope in self.weights.position.items():
            offset = numbers.multiply(position, numbers.constant(slope, size))  # position counts, so this is in quanta
            if not self.operators.fused:
                offset = self.operators.round(offset)
            stream[register] = self.operators.sum(stream[register], offset)
        return stream

    # Operators

    def row(self, row: Row, bias: Weight, values: Values[Column]) -> Column:
        return self.operators.row(row, bias or ZERO, values, self.batch.size)

    def rows(self, rows: Sequence[tuple[Row, Weight]], values: Values[Column]) -> Sequence[Column]:
        """Returns each row; equal ones are computed once."""
        return self.operators.rows(rows, values, self.batch.size)

    def unit(self, gate: Column, up: Column) -> Column:
        return self.operators.product(self.numbers.positive_part(gate), up)

    def read(self, head: HeadRows, number: int) -> Sequence[Column]:
        query, key, value = (
            self.rows([(row, ZERO) for row in rows], self.stream) for rows in (head.query, head.key, head.value)
        )
        return self.attention.read(query, key, value, self.asked if (self.block, number) in self.alone else None)

    def states(self, recurrence: Recurrent) -> Iterable[tuple[int, Column]]:
        return states(self.operators, self.batch, recurrence, self.stream).items()

    def write(self, changes: Iterable[tuple[int, Column]]) -> None:
        for register, change in changes:
            self.stream[register] = self.operators.sum(self.stream[register], change)


def _table(columns: Sequence[Column]) -> Objects:
    """Returns columns as an array (token, column) of Python integers, in quanta."""
    return np.stack([column.quanta() for column in columns], axis=1)


def find_device(name: str) -> torch.device:
    """Returns the device of this name, cpu or cuda, or one of several such as cuda:1. Raises EngineError with why it is not
    there.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise EngineError(f"unknown device {name!r}: expected cpu or cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise EngineError(f"unknown device {name!r}: expected cpu or cuda")
    if device.type == "cuda" and (not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count()):
        why = f"torch finds {torch.cuda.device_count()}" if torch.version.cuda else "this torch is built without CUDA"
        raise EngineError(f"device {name!r}: no such CUDA device on this machine; {why}")
    return device


def _too_large(sequences: Sequence[Sequence[int]], device: str, tile: int) -> str:
    tokens = sum(len(sequence) for sequence in sequences)
    return f"out of memory on {device}: {len(sequences)} sequences, {tokens} tokens, tile {tile}; take fewer or a smaller tile"
