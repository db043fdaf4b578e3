"""One cell of the experiment: an architecture, a mode, n and a seed are trained, and how often the model is right is counted.

Source: section 6. A run that gives no verdict within the length of the longest right reply counts one half, as there.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from verify.training import models
from verify.training.texts import ASK, NO, NOTHING, WRITTEN, YES, Mode, Task, results

SIZES = (4, 6, 8)
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
    "width": models.WIDTH,
    "heads": models.HEADS,
    "layers": {name: [layer.__name__ for layer in layers] for name, layers in models.LAYERS.items()},
}
IGNORED = -100  # a target that has no loss


@dataclass(frozen=True)
class Cell:
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
        """What it is, as the document has it."""
        return {"architecture": self.architecture, "mode": str(self.mode), "n": self.n}

    @property
    def steps(self) -> int:
        """How many steps it is trained."""
        return STEPS[self.mode][self.n]


def digest(settings: object) -> str:
    """Returns the SHA-256 of settings, as JSON."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def cells() -> Iterator[Cell]:
    """Yields each cell."""
    for architecture, modes in MODES.items():
        for mode in modes:
            for n in SIZES:
                yield Cell(architecture, mode, n)


def cell_of(row: Mapping[str, Any]) -> Cell:
    """Returns the cell of a row."""
    return Cell(row["architecture"], Mode(row["mode"]), row["n"])


def accuracy(cell: Cell, seed: int) -> float:
    """Trains a cell by one seed; returns how often it is right on ASKED prompts that were drawn by another one."""
    task = Task(cell.n, cell.mode)
    return judged(trained(cell, task, seed), task, random.Random(f"validation {seed}"))


def trained(cell: Cell, task: Task, seed: int) -> models.Model:
    """Returns a model after training: Adam with a cosine learning rate, on fresh texts at each step."""
    torch.manual_seed(seed)
    generator = random.Random(seed)
    model = models.Model(cell.architecture, len(task.vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), RATES[cell.architecture])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cell.steps)
    for _ in range(cell.steps):
        tokens, targets = batch(task, [_text(task, generator) for _ in range(BATCH)])
        loss = functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return model.eval()


Text = tuple[list[str], list[str]]


def _text(task: Task, generator: random.Random) -> Text:
    graph = task.draw(generator)
    return task.prompt(graph), task.reply(graph)


def batch(task: Task, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
    """Returns the words of texts but the last, and at each the word that the model should write, or IGNORED.

    Shapes: both (texts, longest − 1).
    """
    rows, targets = [], []
    for prompt, reply in texts:
        rows.append([task.number[word] for word in (*prompt, *reply)])
        mask = [False] * len(prompt) + task.is_written(reply)
        targets.append([number if written else IGNORED for number, written in zip(rows[-1], mask, strict=True)][1:])
    return padded(rows)[:, :-1], padded(targets, IGNORED)


def padded(rows: Sequence[Sequence[int]], filler: int = 0) -> Tensor:
    """Returns rows as one tensor, filled up at the right."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])


@torch.no_grad()
def judged(model: models.Model, task: Task, generator: random.Random) -> float:
    """Returns the share of prompts that the model answers right, by greedy decoding.

    The whole right text is read first. Up to its first mistake, the model would have written just that: decoding starts there.
    """
    texts = [_text(task, generator) for _ in range(ASKED)]
    tokens, targets = batch(task, texts)
    wrong = (model(tokens).argmax(-1) != targets) & (targets != IGNORED)
    score = 0.0
    for (prompt, reply), at_mistake in zip(texts, wrong, strict=True):
        if not at_mistake.any():
            score += 1
            continue
        place = int(at_mistake.int().argmax()) + 1  # of the word that it writes wrong
        said = decoded(model, task, prompt, reply[: place - len(prompt)])
        score += 0.5 if said not in (YES, NO) else float(said == reply[-1])
    return score / ASKED


def decoded(model: models.Model, task: Task, prompt: Sequence[str], reply: Sequence[str] = ()) -> str:
    """Returns the verdict, or the last word if there is none within the length of the longest right reply.

    reply: what the model has written so far.
    """
    edges = [(int(prompt[i]), int(prompt[i + 2])) for i in range(1, 3 * task.n - 3, 3)]
    words, since = list(reply), len(reply) % (WRITTEN + 2)
    while len(words) < task.longest:
        numbers = [task.number[word] for word in (*prompt, *words)]
        words.append(task.vocabulary[int(model(torch.tensor([numbers]))[0, -1].argmax())])
        if words[-1] in (YES, NO):
            break
        since += 1
        if task.mode is Mode.SEARCH and since == WRITTEN:
            words += results(edges, words) if words[-3] == ASK else [NOTHING, NOTHING]
            since = 0
    return words[-1]
