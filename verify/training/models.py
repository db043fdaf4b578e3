"""Three small architectures, with the word embedding frozen and tied to the prediction head.

Source: section 6, appendix B. There: LLaMA, Mamba, and Mamba with one LLaMA block on top. Here: Transformer blocks with rotary
positions, GRU layers, and GRU layers with one Transformer block on top.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from verify.training.cells import HEADS, LAYERS, WIDTH

BASE = 10_000  # of rotary positions


def rotated(x: Tensor) -> Tensor:
    """Returns queries or keys, turned by an angle for each position. Shapes: (batch, heads, length, even)."""
    length, width = x.shape[-2:]
    angles = torch.arange(length)[:, None] * BASE ** (-torch.arange(0, width, 2) / width)
    cosines, sines = angles.cos(), angles.sin()
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.cat([even * cosines - odd * sines, even * sines + odd * cosines], -1)


class TransformerBlock(nn.Module):
    """Causal attention and a feed-forward, each after a layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_feed = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Returns the residual stream after the block. Shapes: (batch, length, WIDTH)."""
        batch, length, _ = x.shape
        parts = self.query_key_value(self.before_attention(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (batch, heads, length, WIDTH / heads)
        read = functional.scaled_dot_product_attention(rotated(query), rotated(key), value, is_causal=True)
        x = x + self.out(read.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.feed(self.before_feed(x))  # type: ignore[no-any-return]


class RecurrentLayer(nn.Module):
    """A GRU after a layer norm, added to the residual stream: the state is WIDTH numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.cell = nn.LayerNorm(WIDTH), nn.GRU(WIDTH, WIDTH, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the residual stream after the layer. Shapes: (batch, length, WIDTH)."""
        return x + self.cell(self.before(x))[0]  # type: ignore[no-any-return]


KINDS: dict[str, type[nn.Module]] = {kind.__name__: kind for kind in (TransformerBlock, RecurrentLayer)}


class LanguageModel(nn.Module):
    """A language model of one of the architectures."""

    words: Tensor

    def __init__(self, architecture: str, vocabulary: int) -> None:
        super().__init__()
        self.register_buffer("words", nn.init.orthogonal_(torch.empty(vocabulary, WIDTH)) * WIDTH**0.5 / 2)
        self.layers = nn.Sequential(*(KINDS[name]() for name in LAYERS[architecture]))
        self.last = nn.LayerNorm(WIDTH)

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns logits. Shapes: tokens (batch, length) → (batch, length, vocabulary)."""
        return self.last(self.layers(self.words[tokens])) @ self.words.T  # type: ignore[no-any-return]
