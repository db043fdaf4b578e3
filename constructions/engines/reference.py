"""The reference engine: exact, slow, obviously right. It defines what running a model under a format means.

Every number is a Python integer: how many quanta (smallest elements) of the format it is. Each operator is computed exactly
on integers and rounded once; softmax is correctly rounded. The engine sees matrices only, no names and no oracles.

Operators under `fused` (appendix A.2 leaves them open): an embedding (word + position), a row of an affine map with its bias, a
score, a softmax column, an attention-weighted sum, a row of the output map over all heads at once, a row of a
recurrence, a gate·up product, a residual addition, a logit. Under `sequential`, every scalar product and sum of these
is rounded, in index order, bias last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import compress
from operator import mul
from typing import NamedTuple

from constructions.layers import Matrix, Transformer
from precision.format import Arithmetic, Discipline
from precision.rounding import round_fraction, round_shifted
from precision.softmax import softmax


class Sparse(NamedTuple):
    """One matrix row, zeros left out: the coordinates, and their weights in quanta."""

    places: tuple[int, ...]
    weights: tuple[int, ...]


class FlagSite(NamedTuple):
    """Where something worth reporting happened.

    kind: "saturation" (an exact result beyond the largest element), "rounding tie", "logit tie" or "weight rounded".
    block: 1-based, 0 for the embedding, blocks + 1 for the output head. site: for example "ffn.gate[3]", "residual[7]".
    """

    kind: str
    block: int
    site: str


@dataclass
class Flags:
    """How often each flag was raised, and at which position first."""

    counts: dict[FlagSite, int] = field(default_factory=dict)
    first_position: dict[FlagSite, int] = field(default_factory=dict)

    def raise_(self, kind: str, block: int, site: str, position: int) -> None:
        """Counts one occurrence of a flag."""
        key = FlagSite(kind, block, site)
        self.counts[key] = self.counts.get(key, 0) + 1
        self.first_position.setdefault(key, position)


@dataclass(frozen=True)
class TokenStep:
    """What one token left behind. All numbers in quanta.

    registers: residual vectors, the embedding first, then after each attention and each feed-forward sublayer.
    attention: per block and head, the (position, weight) pairs of non-zero weight, positions 1-based.
    logits: one per vocabulary entry. next_token: the argmax, the first of equals.
    """

    registers: tuple[tuple[int, ...], ...]
    attention: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
    logits: tuple[int, ...]
    next_token: int


@dataclass
class _Head:
    query: list[Sparse]
    key: list[Sparse]
    value: list[Sparse]
    keys: list[list[int]] = field(default_factory=list)  # of the positions so far, each of score width
    values: list[list[int]] = field(default_factory=list)

    def copy(self) -> _Head:
        """Returns the head with lists of its own; what stands in them never changes."""
        return replace(self, keys=self.keys[:], values=self.values[:])


@dataclass
class _Block:
    heads: list[_Head]
    out: list[tuple[int, Sparse]]  # register, weights over the heads' outputs laid end to end
    gate: list[Sparse]
    gate_bias: list[int]
    up: list[Sparse]
    up_bias: list[int]
    down: list[tuple[int, Sparse, int]]  # register, weights over the units, bias
    recurrence: list[tuple[int, Sparse, Sparse]]  # register, weights over the state, weights over the registers
    state: dict[int, int]  # of the registers that the recurrence keeps

    def copy(self) -> _Block:
        """Returns the block with a memory of its own."""
        return replace(self, heads=[head.copy() for head in self.heads], state=self.state.copy())


class ReferenceEngine:
    """One run of a model: tokens go in one at a time, as in decoding; earlier keys and values are kept.

    beyond: read more tokens than the model is certified for, instead of raising BeyondBound.
    """

    def __init__(self, model: Transformer, arithmetic: Arithmetic, *, beyond: bool = False) -> None:
        self._admit = partial(model.admit, beyond=beyond)
        self.arithmetic = arithmetic
        self.flags = Flags()
        self.length = 0
        self._format = arithmetic.format
        self._every = min(2**arithmetic.format.significand_bits, arithmetic.format.max_quanta)  # all quanta up to here
        self._shift = -arithmetic.format.quantum_exponent
        self._fuse = arithmetic.discipline is Discipline.FUSED
        self._quanta: dict[float, tuple[int, bool]] = {}  # of each weight, and whether it is an element
        self._width = model.width
        self._words = [self._sparse(row, 0, "words") for row in model.words]
        self._position = self._dense(model.position, 0, "position")
        self._blocks = [self._load_block(model, number) for number in range(1, len(model.blocks) + 1)]
        self._unembed = [self._sparse(row, len(model.blocks) + 1, "unembed") for row in model.unembed]

    def append(self, token: int) -> TokenStep:
        """Feeds the next token and returns its step. Raises IndexError for a token outside the vocabulary; BeyondBound."""
        self._admit(self.length + 1)
        if not 0 <= token < len(self._words):
            raise IndexError(f"token {token} is not in the vocabulary of {len(self._words)}")
        self.length += 1
        stream = self._embed(token)
        registers = [tuple(stream)]
        attention = []
        for number, block in enumerate(self._blocks, start=1):
            attention.append(self._attend(number, block, stream))
            if block.state:
                self._recur(number, block, stream)
            registers.append(tuple(stream))
            self._feed_forward(number, block, stream)
            registers.append(tuple(stream))
        logits = self._rows(self._unembed, stream, len(self._blocks) + 1, "logit")
        best = max(logits)
        if logits.count(best) > 1:
            self.flags.raise_("logit tie", len(self._blocks) + 1, "logit", self.length)
        return TokenStep(tuple(registers), tuple(attention), tuple(logits), logits.index(best))

    def fork(self) -> ReferenceEngine:
        """Returns another run that goes on from here, flags included. Neither run sees what the other one reads next."""
        other = copy(self)
        other.flags = Flags(self.flags.counts.copy(), self.flags.first_position.copy())
        other._blocks = [block.copy() for block in self._blocks]
        return other

    # Sublayers

    def _embed(self, token: int) -> list[int]:
        stream = [0] * self._width
        word = dict(zip(*self._words[token], strict=True))
        for i, slope in enumerate(self._position):
            offset = self.length * slope
            if not self._fuse:
                offset = self._round(offset, 0, 0, f"embedding[{i}]")
            stream[i] = self._round(word.get(i, 0) + offset, 0, 0, f"embedding[{i}]")
        return stream

    def _attend(self, number: int, block: _Block, stream: list[int]) -> tuple[tuple[tuple[int, int], ...], ...]:
        outputs: list[int] = []
        patterns = []
        for index, head in enumerate(block.heads):
            site = f"attn.{index}"
            query = self._rows(head.query, stream, number, f"{site}.query")
            head.keys.append(self._rows(head.key, stream, number, f"{site}.key"))
            head.values.append(self._rows(head.value, stream, number, f"{site}.value"))
            factors, score = _sparse(query), f"{site}.score"
            scores = [self._row(factors, key, 0, number, score) for key in head.keys]
            pattern = _sparse(softmax(scores, self.arithmetic).weights)
            patterns.append(tuple((i + 1, w) for i, w in zip(*pattern, strict=True)))
            for j in range(len(head.value)):
                read = [head.values[i][j] for i in pattern.places]
                outputs.append(self._dot(pattern.weights, read, 0, number, f"{site}.sum[{j}]"))
        for register, row in block.out:
            change = self._row(row, outputs, 0, number, f"attn.out[{register}]")
            stream[register] = self._round(stream[register] + change, 0, number, f"attn.residual[{register}]")
        return tuple(patterns)

    def _recur(self, number: int, block: _Block, stream: list[int]) -> None:
        state = {}
        for register, carry, feed in block.recurrence:
            terms = [block.state.get(j, 0) for j in carry.places] + [stream[j] for j in feed.places]
            state[register] = self._dot(carry.weights + feed.weights, terms, 0, number, f"state[{register}]")
        block.state.update(state)
        for register, value in state.items():
            stream[register] = self._round(stream[register] + value, 0, number, f"recurrence.residual[{register}]")

    def _feed_forward(self, number: int, block: _Block, stream: list[int]) -> None:
        gates = self._rows(block.gate, stream, number, "ffn.gate", block.gate_bias)
        ups = self._rows(block.up, stream, number, "ffn.up", block.up_bias)
        hidden = [
            self._round(gate * up, self._shift, number, f"ffn.product[{i}]") if gate > 0 and up else 0
            for i, (gate, up) in enumerate(zip(gates, ups, strict=True))
        ]
        for register, row, bias in block.down:
            change = self._row(row, hidden, bias, number, f"ffn.down[{register}]")
            stream[register] = self._round(stream[register] + change, 0, number, f"ffn.residual[{register}]")

    # Operators

    def _rows(
        self, rows: Sequence[Sparse], vector: Sequence[int], block: int, site: str, bias: Sequence[int] | None = None
    ) -> list[int]:
        return [self._row(row, vector, bias[i] if bias else 0, block, f"{site}[{i}]") for i, row in enumerate(rows)]

    def _row(self, row: Sparse, vector: Sequence[int], bias: int, block: int, site: str) -> int:
        return self._dot(row.weights, map(vector.__getitem__, row.places), bias, block, site)

    def _dot(self, weights: Sequence[int], values: Iterable[int], bias: int, block: int, site: str) -> int:
        """Returns Σ a·b + bias. Zero terms change nothing under either discipline, so callers may leave them out."""
        shift, every = self._shift, self._every
        if self._fuse:
            return self._round(sum(map(mul, weights, values)) + (bias << shift), shift, block, site)
        result = 0
        for a, b in zip(weights, values, strict=True):
            product = a * b
            whole = product >> shift
            if whole << shift != product or not -every <= whole <= every:  # else it is an element, see `_round`
                whole = self._round(product, shift, block, site)
            result += whole
            if not -every <= result <= every:
                result = self._round(result, 0, block, site)
        return self._round(result + bias, 0, block, site) if bias else result

    def _round(self, value: int, shift: int, block: int, site: str) -> int:
        """Rounds value / 2^shift quanta to the format, and raises its flags."""
        whole = value >> shift
        if whole << shift == value and -self._every <= whole <= self._every:  # an element, as most results are
            return whole
        result = round_shifted(value, shift, self._format, self.arithmetic.rounding)
        if result.saturated:
            self.flags.raise_("saturation", block, site, self.length)
        if result.tie:
            self.flags.raise_("rounding tie", block, site, self.length)
        return result.quanta

    # Loading

    def _load_block(self, model: Transformer, number: int) -> _Block:
        block = model.blocks[number - 1]
        heads = [
            _Head(
                [self._sparse(row, number, f"attn.{i}.query") for row in head.query],
                [self._sparse(row, number, f"attn.{i}.key") for row in head.key],
                [self._sparse(row, number, f"attn.{i}.value") for row in head.value],
            )
            for i, head in enumerate(block.heads)
        ]
        out = []
        for register in range(self._width):
            row = [w for head in block.heads for w in head.out[register].tolist()]
            if any(row):
                out.append((register, self._sparse(row, number, "attn.out")))
        ffn = block.feed_forward
        down_bias = self._dense(ffn.down_bias, number, "ffn.down_bias")
        down = []
        for register in range(self._width):
            weights = self._sparse(ffn.down[register], number, "ffn.down")
            if weights.places or down_bias[register]:
                down.append((register, weights, down_bias[register]))
        recurrence = []
        if block.recurrence is not None:
            for register in range(self._width):
                carry = self._sparse(block.recurrence.carry[register], number, "recurrence.carry")
                feed = self._sparse(block.recurrence.feed[register], number, "recurrence.feed")
                if carry.places or feed.places:
                    recurrence.append((register, carry, feed))
        return _Block(
            heads=heads,
            out=out,
            gate=[self._sparse(row, number, "ffn.gate") for row in ffn.gate],
            gate_bias=self._dense(ffn.gate_bias, number, "ffn.gate_bias"),
            up=[self._sparse(row, number, "ffn.up") for row in ffn.up],
            up_bias=self._dense(ffn.up_bias, number, "ffn.up_bias"),
            down=down,
            recurrence=recurrence,
            state={register: 0 for register, _, _ in recurrence},
        )

    def _sparse(self, row: Matrix | Sequence[float], block: int, site: str) -> Sparse:
        return _sparse(self._dense(row, block, site))

    def _dense(self, row: Matrix | Sequence[float], block: int, site: str) -> list[int]:
        weights = row if isinstance(row, Sequence) else row.tolist()  # Python reads its own numbers faster than numpy's
        return [self._weight(float(w), block, site) if w else 0 for w in weights]

    def _weight(self, weight: float, block: int, site: str) -> int:
        if weight not in self._quanta:  # few weights are different
            rounded = round_fraction(Fraction(weight), self._format, self.arithmetic.rounding)
            self._quanta[weight] = rounded.quanta, rounded.quanta * self._format.quantum == Fraction(weight)
        quanta, exact = self._quanta[weight]
        if not exact:
            self.flags.raise_("weight rounded", block, site, 0)
        return quanta


def _sparse(row: Sequence[int]) -> Sparse:
    return Sparse(tuple(compress(range(len(row)), row)), tuple(filter(None, row)))
