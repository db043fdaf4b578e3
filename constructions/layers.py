"""The layers as matrices: all that an engine sees of a model.

Source: section 3, definitions 3.1 to 3.5 (Transformer block, ReGLU feed-forward, Transformer, Linear RNN).
Notation: X is the residual stream; a block maps X to X + A(X) + g(X + A(X)). Matrices act on columns, as in the paper:
row i of W_Q dotted with the residual vector of a token is coordinate i of its query.

All numbers are float64 arrays that hold dyadic rationals exactly. An engine rounds them to its format when it loads them.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Matrix: TypeAlias = "NDArray[np.float64]"
LARGEST_PRECISION = 1023  # bits; the scales of wider formats leave float64's range
Names: TypeAlias = "Mapping[str, str]"
"""What a part's arrays are called in files, and as its fields here."""
OF_HEAD: Names = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "out"}
OF_RECURRENCE: Names = {"A": "carry", "B": "feed"}
OF_FEED_FORWARD: Names = {
    "W_gate": "gate",
    "b_gate": "gate_bias",
    "W_up": "up",
    "b_up": "up_bias",
    "W_down": "down",
    "b_down": "down_bias",
}


class BeyondBound(ValueError):
    """A sequence is longer than the weights are certified for; the message is one line that names the bound."""


@dataclass(frozen=True, eq=False)
class AttentionHead:
    """One causal softmax head: token k reads Σ_{k' ≤ k} softmax_{k'}((W_K x_{k'})·(W_Q x_k)) W_V x_{k'}.

    Any scale such as 1/√d is folded into the weights. The position itself is among the keys.
    Shapes: query, key (score width, d); value (value width, d); out (d, value width).
    """

    query: Matrix
    key: Matrix
    value: Matrix
    out: Matrix

    def __post_init__(self) -> None:
        if self.query.shape != self.key.shape:
            raise ValueError(f"query and key weights differ in shape: {self.query.shape} and {self.key.shape}")
        if self.out.shape != self.value.shape[::-1]:
            raise ValueError(f"output weights {self.out.shape} do not fit value weights {self.value.shape}")


@dataclass(frozen=True, eq=False)
class FeedForward:
    """W_down(ReLU(W_gate x + b_gate) ⊙ (W_up x + b_up)) + b_down.

    Notation: the paper's W1, b1, W2, b2, W3, b3 in this order.
    Shapes: gate, up (units, d); down (d, units); biases (units,), (units,), (d,).
    """

    gate: Matrix
    gate_bias: Matrix
    up: Matrix
    up_bias: Matrix
    down: Matrix
    down_bias: Matrix

    def __post_init__(self) -> None:
        units, width = self.gate.shape
        shapes = (self.gate_bias.shape, self.up.shape, self.up_bias.shape, self.down.shape, self.down_bias.shape)
        if shapes != ((units,), (units, width), (units,), (width, units), (width,)):
            raise ValueError(f"feed-forward shapes do not fit {units} units of width {width}: {shapes}")


@dataclass(frozen=True, eq=False)
class Recurrence:
    """A linear recurrence: h_0 = 0, h_t = carry·h_{t−1} + feed·X_t; h_t is added to the residual stream.

    Source: definition 3.4. Notation: A is `carry`, B is `feed`. Shapes: both (d, d). Neither depends on the input.
    """

    carry: Matrix
    feed: Matrix

    def __post_init__(self) -> None:
        if self.carry.shape != self.feed.shape or self.carry.shape[0] != self.carry.shape[1]:
            raise ValueError(f"a recurrence needs two square matrices, got {self.carry.shape} and {self.feed.shape}")


@dataclass(frozen=True, eq=False)
class Block:
    """X + M(X) + g(X + M(X)): M is the sum of the heads (a Transformer block) or the recurrence (a Linear RNN block).

    No heads and no recurrence means M = 0. Raises ValueError for a block with both.
    """

    heads: tuple[AttentionHead, ...]
    feed_forward: FeedForward
    recurrence: Recurrence | None = None

    def __post_init__(self) -> None:
        if self.heads and self.recurrence is not None:
            raise ValueError("a block has heads or a recurrence, not both")


@dataclass(frozen=True, eq=False)
class HeadLookups:
    """What the heads of a model look up. registers: names in the order of coordinates. heads: as the plan has them."""

    registers: tuple[str, ...]
    heads: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, eq=False)
class Transformer:
    """Embedding, blocks and output head; a Linear RNN or a hybrid if its blocks are.

    words: (vocabulary, d). A token at 1-based position l embeds as words[token] + l·position.
    position: (d,).  unembed: (vocabulary, d); the logits are unembed · (last residual vector).
    longest: the most tokens of a sequence that the weights are certified for; None if nobody has said so.
    said: what the heads look up, as data; None if nobody has said so. Who uses it holds it against the matrices.
    """

    words: Matrix
    position: Matrix
    blocks: tuple[Block, ...]
    unembed: Matrix
    longest: int | None = None
    said: HeadLookups | None = None

    def admit(self, length: int, *, beyond: bool = False) -> None:
        """Raises BeyondBound for a sequence beyond the certified length, unless `beyond` is set. Every engine asks first."""
        if self.longest is not None and length > self.longest and not beyond:
            raise BeyondBound(
                f"a sequence of {length:,} tokens is beyond what this model is certified for, {self.longest:,} tokens; "
                "beyond=True runs it all the same"
            )

    @property
    def width(self) -> int:
        """d, the number of coordinates of the residual stream."""
        return int(self.position.shape[0])

    @property
    def parameters(self) -> int:
        """The number of entries of all blocks' matrices; the embeddings are fixed, not parameters (section 3)."""
        return sum(array.size for block in self.blocks for array in block_arrays(block))


def block_arrays(block: Block) -> Sequence[Matrix]:
    """Returns every array of a block, in a fixed order."""
    return [*named_arrays(block).values()]


def named_arrays(block: Block) -> dict[str, Matrix]:
    """Returns the same by their names in files, that of the block left out: `attn.0.W_Q`, `recurrence.A`, `ffn.b_up`."""
    parts: list[tuple[str, object, Names]] = [(f"attn.{h}", head, OF_HEAD) for h, head in enumerate(block.heads)]
    if block.recurrence is not None:
        parts.append(("recurrence", block.recurrence, OF_RECURRENCE))
    parts.append(("ffn", block.feed_forward, OF_FEED_FORWARD))
    return {f"{at}.{name}": getattr(part, own) for at, part, names in parts for name, own in names.items()}


def take_block(arrays: MutableMapping[str, Matrix], at: str = "") -> Block:
    """Takes out and returns the block whose arrays `named_arrays` names after `at`. Raises KeyError if one is missing."""

    def take(part: str, names: Names) -> dict[str, Matrix]:
        return {own: arrays.pop(f"{at}{part}.{name}") for name, own in names.items()}

    heads, recurrence = list[AttentionHead](), None
    while f"{at}attn.{len(heads)}.W_Q" in arrays:
        heads.append(AttentionHead(**take(f"attn.{len(heads)}", OF_HEAD)))
    if f"{at}recurrence.A" in arrays:
        recurrence = Recurrence(**take("recurrence", OF_RECURRENCE))
    return Block(tuple(heads), FeedForward(**take("ffn", OF_FEED_FORWARD)), recurrence)


def with_array(block: Block, name: str, array: Matrix) -> Block:
    """Returns the block with another array of this name."""
    return take_block({**named_arrays(block), name: array})
