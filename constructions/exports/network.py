"""A wired model as a torch module, in floating point: the layers of the paper with nothing rounded on purpose.

This file imports torch and nothing of the project, so that it can travel with the weights (see huggingface.py).

forward: token numbers (batch, length), int64 or int32 → logits (batch, length, vocabulary)
  x_l = words[token_l] + l·position, l = 1, 2, …
  for each block: x_l ← x_l + Σ_h W_O Σ_{m ≤ l} softmax_m(W_K x_m · W_Q x_l) W_V x_m, the softmax in float64,
    or x_l ← x_l + h_l with h_l = A h_{l−1} + B x_l;
    then x_l ← x_l + W_down(ReLU(W_gate x_l + b_gate) ⊙ (W_up x_l + b_up)) + b_down
  logits = unembed · x_l
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, linear, pad

Kept = tuple[Tensor, Tensor]
"""What a mixer keeps of its tokens. Attention: keys, values, (batch, heads, length, width) each. A recurrence: its states,
(batch, 1, length, d), and nothing, (batch, 1, length, 0)."""


class Mixed(NamedTuple):
    """What a mixer adds to the stream, and what it keeps. weights: of attention, (batch, heads, length, keys)."""

    sum: Tensor
    kept: Kept
    weights: Tensor | None


class NetworkOutput(NamedTuple):
    """logits. stream: after the embedding, then after each block, (batch, length, d). weights: of each block, see `Mixed`.

    kept: of each block that has a mixer.
    """

    logits: Tensor
    stream: list[Tensor]
    weights: list[Tensor | None]
    kept: list[Kept]


class TorchAttention(nn.Module):
    """Causal softmax heads, added up; scores are not scaled. Shapes: W_Q, W_K, W_V (heads, width, d); W_O (heads, d, width)."""

    def __init__(self, heads: int, width: int, d: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (_weight((heads, width, d), dtype) for _ in range(3))
        self.W_O = _weight((heads, d, width), dtype)

    def forward(self, x: Tensor, before: Kept | None = None) -> Mixed:
        queries, keys, values = (x[:, None] @ w.transpose(-1, -2) for w in (self.W_Q, self.W_K, self.W_V))
        kept = keys, values
        if before is not None:
            keys, values = (torch.cat(pair, 2) for pair in zip(before, kept, strict=True))
        # In float64: a score is a sum of large products that cancel, and libraries add them up in an order of their own.
        scores = queries.double() @ keys.double().transpose(-1, -2)  # (batch, head, query, key)
        place = torch.arange(keys.shape[2], device=x.device)
        now = place if before is None else place[before[0].shape[2] :]
        weights = torch.softmax(scores.masked_fill(place > now[:, None], float("-inf")), -1).to(x.dtype)
        return Mixed((weights @ values @ self.W_O.transpose(-1, -2)).sum(1), kept, weights)


class TorchRecurrence(nn.Module):
    """h_l = A h_{l−1} + B x_l, h_0 = 0, for all l at once: h_l = Σ_k A^k B x_{l−k}, of twice as many terms each round."""

    def __init__(self, d: int, longest: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.rounds = (longest - 1).bit_length()
        self.A, self.B = _weight((d, d), dtype), _weight((d, d), dtype)

    def forward(self, x: Tensor, before: Kept | None = None) -> Mixed:
        h: Tensor = linear(x, self.B)
        if before is not None:
            carried = linear(before[0][:, 0, -1:], self.A)
            h = torch.cat([h[:, :1] + carried, h[:, 1:]], 1)
        power: Tensor = self.A
        # A program has the same rounds for all lengths; after other tokens there are few, and a round more would add zeros.
        for j in range(self.rounds if before is None else (x.shape[1] - 1).bit_length()):
            earlier = pad(h, (0, 0, 1 << j, 0))[:, : h.shape[1]]  # zeros in front
            h, power = h + linear(earlier, power), power @ power
        return Mixed(h, (h[:, None], h[:, None, :, :0]), None)


class TorchFeedForward(nn.Module):
    """W_down(ReLU(W_gate x + b_gate) ⊙ (W_up x + b_up)) + b_down."""

    def __init__(self, units: int, d: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.W_gate, self.b_gate = _weight((units, d), dtype), _weight((units,), dtype)
        self.W_up, self.b_up = _weight((units, d), dtype), _weight((units,), dtype)
        self.W_down, self.b_down = _weight((d, units), dtype), _weight((d,), dtype)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(linear(x, self.W_gate, self.b_gate)) * linear(x, self.W_up, self.b_up)
        return linear(hidden, self.W_down, self.b_down)


class TorchBlock(nn.Module):
    """A mixer, if there is one, then a feed-forward; each adds to the residual stream."""

    def __init__(self, mixer: nn.Module | None, feed_forward: TorchFeedForward) -> None:
        super().__init__()
        self.mixer, self.ffn = mixer, feed_forward

    def forward(self, x: Tensor, before: Kept | None = None) -> tuple[Tensor, Mixed | None]:
        mixed = None
        if self.mixer is not None:
            mixed = self.mixer(x, before)
            x = x + mixed.sum
        return torch.add(x, self.ffn(x)), mixed


class Network(nn.Module):
    """Embedding, blocks, output head.

    shape: vocabulary, d, head_width, longest, and blocks, a list of {"heads": how many, "recurrence": whether, "units": how many}.
    """

    def __init__(self, shape: Mapping[str, Any], dtype: torch.dtype) -> None:
        super().__init__()
        d, vocabulary = shape["d"], shape["vocabulary"]
        self.words, self.position = _weight((vocabulary, d), dtype), _weight((d,), dtype)
        self.blocks = nn.ModuleList(_block(block, shape, dtype) for block in shape["blocks"])
        self.unembed = _weight((vocabulary, d), dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.read(tokens).logits

    def read(self, tokens: Tensor, before: Iterable[Kept] | None = None) -> NetworkOutput:
        """Returns all that comes of these tokens. before: what was kept of those in front of them, in the order of `kept`.

        tokens: numbers (batch, length), or rows of words (batch, length, d) in their place. An index that is no token is an error
        of torch.
        """
        earlier, start = None if before is None else list(before), 1
        if earlier:
            start += earlier[0][0].shape[2]
        place = torch.arange(start, start + tokens.shape[1], device=tokens.device).to(self.position.dtype)
        words = tokens if tokens.is_floating_point() else embedding(tokens, self.words)
        x = words + place[:, None] * self.position
        stream, weights, kept = [x], list[Tensor | None](), list[Kept]()
        for block in self.blocks:
            x, mixed = block(x, None if earlier is None or block.mixer is None else earlier[len(kept)])
            stream.append(x)
            weights.append(None if mixed is None else mixed.weights)
            if mixed is not None:
                kept.append(mixed.kept)
        return NetworkOutput(linear(x, self.unembed), stream, weights, kept)


def _block(block: Mapping[str, Any], shape: Mapping[str, Any], dtype: torch.dtype) -> TorchBlock:
    d = shape["d"]
    mixer: nn.Module | None = None
    if block["heads"]:
        mixer = TorchAttention(block["heads"], shape["head_width"], d, dtype)
    elif block["recurrence"]:
        mixer = TorchRecurrence(d, shape["longest"], dtype)
    return TorchBlock(mixer, TorchFeedForward(block["units"], d, dtype))


def _weight(size: Sequence[int], dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(torch.zeros(tuple(size), dtype=dtype), requires_grad=False)
