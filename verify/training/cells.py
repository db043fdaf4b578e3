"""The cells of the experiment: an architecture, a mode and n, and how each is trained.

Source: section 6.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.training.texts import Mode

SIZES = (4, 6, 8)
WIDTH, HEADS = 32, 2
LAYERS = {
    "Transformer": ("TransformerBlock",) * 3,
    "RNN": ("RecurrentLayer",) * 2,
    "RNN+attention": ("RecurrentLayer", "RecurrentLayer", "TransformerBlock"),
}  # classes of models.py
SEEDS = (0, 1, 2)
MODES: dict[str, tuple[Mode, ...]] = {
    "Transformer": (Mode.PLAIN, Mode.CHAIN),
    "RNN": (Mode.PLAIN, Mode.CHAIN, Mode.SEARCH),
    "RNN+attention": (Mode.PLAIN, Mode.CHAIN),
}
STEPS = {
    Mode.PLAIN: {4: 300, 6: 450, 8: 600},
    Mode.CHAIN: {4: 150, 6: 400, 8: 1200},
    Mode.SEARCH: {4: 150, 6: 300, 8: 500},
}
RATES = {"Transformer": 3e-3, "RNN": 1e-2, "RNN+attention": 3e-3}
BATCH = 32
ASKED = 200  # prompts of a validation set
SETTINGS: dict[str, Any] = {
    "sizes": SIZES,
    "seeds": SEEDS,
    "modes": MODES,
    "steps": STEPS,
    "rates": RATES,
    "batch": BATCH,
    "asked": ASKED,
    "width": WIDTH,
    "heads": HEADS,
    "layers": LAYERS,
}
IGNORED = -100  # a target that has no loss


@dataclass(frozen=True)
class TrainingCell:
    """What is trained once for each seed."""

    architecture: str
    mode: Mode
    n: int

    @property
    def name(self) -> str:
        """The name that the command takes: "RNN/chain/8"."""
        return f"{self.architecture}/{self.mode}/{self.n}"

    @property
    def about(self) -> dict[str, Any]:
        """Returns what it is, as the document has it."""
        return {"architecture": self.architecture, "mode": str(self.mode), "n": self.n}

    @property
    def steps(self) -> int:
        """Returns how many steps it is trained."""
        return STEPS[self.mode][self.n]


def digest(settings: object) -> str:
    """Returns the SHA-256 of settings, as JSON."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def cells() -> Iterator[TrainingCell]:
    """Yields each cell."""
    for architecture, modes in MODES.items():
        for mode in modes:
            for n in SIZES:
                yield TrainingCell(architecture, mode, n)


def cell_of(row: Mapping[str, Any]) -> TrainingCell:
    """Returns the cell of a row."""
    return TrainingCell(row["architecture"], Mode(row["mode"]), row["n"])
