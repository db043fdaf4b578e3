"""Trains small cells on Index, with every number of the state rounded to p bits: `python -m circuits.architectures.train`.

Writes trained.json: the weights in quanta of R_p, and how many of all questions of each n the exact cell answers right. It takes
minutes on one CPU. A rounding passes gradients on as if it were the identity. Seeds are fixed; another version of torch may find
other weights.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from circuits.architectures.cell import HALF, TRAINED, Cell
from circuits.architectures.gates import Gru, Lstm, Mamba
from constructions.exports.files import write_text
from precision import fixed_point

MOST = 6  # tokens of a sequence
STEPS, BATCH, RATE = 2000, 256, 0.01
SUBJECTS: dict[str, tuple[type[Cell], int, int]] = {"GRU": (Gru, 6, 9), "LSTM": (Lstm, 4, 9), "Mamba": (Mamba, 4, 9)}


class RoundedTensors:
    """The operators of a step on tensors, rounded as `RoundedArrays` does up to errors of torch; gradients pass each rounding."""

    def __init__(self, precision_bits: int) -> None:
        fmt = fixed_point(precision_bits)
        self.quantum, self.most = float(fmt.quantum), float(fmt.max_value)

    def round(self, x: Any) -> Any:
        """Returns the elements of R_p nearest to x."""
        bounded = x.clamp(-self.most, self.most)
        return bounded + (torch.round(bounded / self.quantum) * self.quantum - bounded).detach()

    def exp(self, x: Any) -> Any:
        """Returns e^x, rounded."""
        return self.round(torch.exp(x))

    def sigmoid(self, x: Any) -> Any:
        """Returns σ(x), rounded."""
        return self.round(torch.sigmoid(x))

    def tanh(self, x: Any) -> Any:
        """Returns tanh(x), rounded."""
        return self.round(torch.tanh(x))

    def softplus(self, x: Any) -> Any:
        """Returns log(1 + e^x), rounded."""
        return self.round(functional.softplus(x))


def train(kind: type[Cell], d: int, precision_bits: int, seed: int = 0) -> dict[str, Any]:
    """Returns the weights of a cell in quanta, after training."""
    cell, o = kind(d, precision_bits, seed), RoundedTensors(precision_bits)
    torch.manual_seed(seed)
    weights = {name: torch.tensor(w, dtype=torch.float64, requires_grad=True) for name, w in cell.weights.items()}
    optimizer = torch.optim.Adam(weights.values(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        n = int(torch.randint(2, MOST + 1, ()))
        tokens, asked = torch.randint(1, 3, (BATCH, n)), torch.randint(1, n + 1, (BATCH,))
        w = {name: o.round(tensor) for name, tensor in weights.items()}
        state = tuple(torch.zeros(BATCH, *shape, dtype=torch.float64) for shape in cell.parts(d))
        for place, row in enumerate(tokens.T, start=1):
            state = cell.next(o, w, state, o.round(w["embedding"][row] + w["position"][place]))
        state = cell.next(o, w, state, w["embedding"][HALF + asked])
        logits = torch.cat([part.flatten(1) for part in state], 1) @ w["answer"]
        loss = functional.cross_entropy(logits, tokens[torch.arange(BATCH), asked - 1])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return {name: (o.round(tensor) / o.quantum).round().int().tolist() for name, tensor in weights.items()}


def rights(cell: Cell, n: int) -> tuple[int, int]:
    """Returns how many questions about sequences of n bits a cell answers right, and how many there are."""
    right = [
        cell.answer(state, (k,)) == tokens[k - 1]
        for tokens in itertools.product((1, 2), repeat=n)
        for state in [_state_after(cell, tokens)]
        for k in range(1, n + 1)
    ]
    return int(np.sum(right)), len(right)


def _state_after(cell: Cell, tokens: tuple[int, ...]) -> Any:
    state = cell.start()
    for position, token in enumerate(tokens, start=1):
        state = cell.step(state, token, position)
    return state


def main() -> None:
    """Trains all cells and writes their weights."""
    document: dict[str, Any] = {}
    for name, (kind, d, precision_bits) in SUBJECTS.items():
        document[name] = {"d": d, "p": precision_bits, "quanta": train(kind, d, precision_bits)}
        write_text(TRAINED, json.dumps(document, separators=(",", ":")) + "\n")
        cell = kind(d, precision_bits, trained=name)
        document[name]["right"] = {str(n): rights(cell, n) for n in range(2, MOST + 3)}
        print(name, document[name]["right"])
    write_text(TRAINED, json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
