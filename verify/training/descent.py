"""Gradient descent that starts at weights wired by hand: does it stay?

Source: ours; the weights are those of Theorem 4.7 (lean) and of Theorem 4.6 (associative recall).
Notation: p bits, of which the quantum of R_p is the least positive number. The weights are trained in float64, without rounding.
Derivation: wired logits differ by little, so their cross-entropy is far from 0 although every argmax is right. `scaled` multiplies
the logits so that the least margin is MARGIN: the loss is then close to 0 at the wired weights.

After the descent, a prompt is right if each word that the model writes is right. This is counted twice: in float64, and by the
engine of p bits, which rounds each weight to R_p. If no weight has moved by half a quantum, the engine runs the wired weights.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from constructions.api import LoadedModel
from constructions.engines.dense.engine import run
from constructions.exports.weights import tensors
from constructions.layers import Block, Transformer, take_block
from verify.training.cells import IGNORED
from verify.training.learning import padded
from verify.training.wired import ASKED, BATCH, MARGIN, STEPS, SUBJECTS, Descent, WiredSubject

Weights = dict[str, Tensor]


def measure(name: str, p: int, descent: Descent, seed: int) -> dict[str, Any]:
    """Runs a descent. Returns the shares of prompts that are right before it and after it, and the largest move in quanta.

    right_rounded: after it, by the engine of p bits. moved: None if a weight is no number any more.
    """
    subject = SUBJECTS[name]
    model, generator = subject.load(p), random.Random(f"{name} {seed}")
    wired = {key: torch.from_numpy(array) for key, array in tensors(model.wired.model).items()}
    asked = NextWordTexts.draw(model, subject, ASKED, random.Random(f"validation {name} {seed}"))
    scale = MARGIN / asked.least_margin(wired) if descent.scaled else 1.0
    noise = torch.Generator().manual_seed(seed)
    moved = {
        key: (w + descent.noise * torch.randn(w.shape, generator=noise, dtype=w.dtype)).requires_grad_()
        for key, w in wired.items()
    }
    before = asked.right(moved)
    optimizer = getattr(torch.optim, descent.optimizer)(list(moved.values()), descent.rate)
    for _ in range(STEPS):
        drawn = NextWordTexts.draw(model, subject, BATCH, generator)
        written = drawn.targets != IGNORED
        loss = functional.cross_entropy(scale * logits(moved, drawn.tokens)[written], drawn.targets[written])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if not all(w.isfinite().all() for w in moved.values()):
            return {"right_before": before, "right_after": 0.0, "right_rounded": 0.0, "moved": None}
    quantum = float(model.wired.arithmetic.format.quantum)
    most = max(float((moved[key].detach() - w).abs().max()) for key, w in wired.items() if w.numel())
    rounded = asked.right_rounded(model, moved)
    return {
        "right_before": before,
        "right_after": asked.right(moved),
        "right_rounded": rounded,
        "moved": float(f"{most / quantum:.3g}"),
    }


@dataclass(frozen=True)
class NextWordTexts:
    """Texts without their last words, and the next word at each place where the model writes, else IGNORED.

    Shapes: both (texts, longest − 1).
    """

    tokens: Tensor
    targets: Tensor

    @classmethod
    def draw(cls, model: LoadedModel, subject: WiredSubject, count: int, generator: random.Random) -> NextWordTexts:
        """Draws `count` texts of the subject, and the next words that the model should write."""
        rows, targets = [], []
        for prompt, reply in (subject.draw(generator) for _ in range(count)):
            rows.append(model.wired.tokens([*prompt, *reply])[:-1])
            targets.append([IGNORED] * (len(prompt) - 1) + model.wired.tokens(reply))
        return cls(padded(rows), padded(targets, IGNORED))

    @torch.no_grad()
    def least_margin(self, weights: Weights) -> float:
        """Returns by how much the largest logit exceeds the next one, at least."""
        top = logits(weights, self.tokens)[self.targets != IGNORED].topk(2, -1).values
        return float((top[:, 0] - top[:, 1]).min())

    @torch.no_grad()
    def right(self, weights: Weights) -> float:
        """Returns the share of texts in which each written word is right, in float64."""
        return self._share(logits(weights, self.tokens).argmax(-1))

    def right_rounded(self, model: LoadedModel, weights: Weights) -> float:
        """Returns the same by the engine of p bits, which rounds weights when it loads them."""
        arrays = {key: w.detach().numpy() for key, w in weights.items()}
        blocks: list[Block] = []
        while f"blocks.{len(blocks)}.ffn.W_gate" in arrays:
            blocks.append(take_block(arrays, f"blocks.{len(blocks)}."))
        moved = Transformer(arrays["embed.words"], arrays["embed.position"], tuple(blocks), arrays["unembed"])
        said = run(moved, model.wired.arithmetic, self.tokens.tolist()).next_tokens
        return self._share(torch.from_numpy(np.stack(said)))

    def _share(self, said: Tensor) -> float:
        return float(((said == self.targets) | (self.targets == IGNORED)).all(1).double().mean())


def logits(weights: Weights, tokens: Tensor) -> Tensor:
    """Runs exported weights in float64. Shapes: tokens (batch, length) → (batch, length, vocabulary)."""
    length = tokens.shape[1]
    places = torch.arange(1, length + 1, dtype=torch.float64)[:, None]
    x = weights["embed.words"][tokens] + places * weights["embed.position"]
    future = torch.full((length, length), -torch.inf, dtype=torch.float64).triu(1)
    for i in itertools.count():
        at = f"blocks.{i}"
        if f"{at}.ffn.W_gate" not in weights:
            return x @ weights["unembed"].T
        read = torch.zeros_like(x)
        for h in itertools.count():
            if f"{at}.attn.{h}.W_Q" not in weights:
                break
            query, key, value = (x @ weights[f"{at}.attn.{h}.W_{part}"].T for part in "QKV")
            shares = torch.softmax(query @ key.transpose(1, 2) + future, -1)
            read = read + shares @ value @ weights[f"{at}.attn.{h}.W_O"].T
        x = x + read
        gate = torch.relu(x @ weights[f"{at}.ffn.W_gate"].T + weights[f"{at}.ffn.b_gate"])
        up = x @ weights[f"{at}.ffn.W_up"].T + weights[f"{at}.ffn.b_up"]
        x = x + (gate * up) @ weights[f"{at}.ffn.W_down"].T + weights[f"{at}.ffn.b_down"]
    raise AssertionError
