"""One cell of the experiment is trained by a seed, and how often the model is right is counted.

Source: section 6. A run that gives no verdict within the length of the longest right reply counts one half, as there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from verify.training import models
from verify.training.cells import ASKED, BATCH, IGNORED, RATES, TrainingCell
from verify.training.texts import ASK, NO, NOTHING, WRITTEN, YES, Mode, TreeTask, results


def accuracy(cell: TrainingCell, seed: int) -> float:
    """Trains a cell by one seed; returns how often it is right on ASKED prompts that were drawn by another one."""
    task = TreeTask(cell.n, cell.mode)
    return judged(trained(cell, task, seed), task, random.Random(f"validation {seed}"))


def trained(cell: TrainingCell, task: TreeTask, seed: int) -> models.LanguageModel:
    """Returns a model after training: Adam with a cosine learning rate, on fresh texts at each step."""
    torch.manual_seed(seed)
    generator = random.Random(seed)
    model = models.LanguageModel(cell.architecture, len(task.vocabulary))
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


def _text(task: TreeTask, generator: random.Random) -> Text:
    graph = task.draw(generator)
    return task.prompt(graph), task.reply(graph)


def batch(task: TreeTask, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
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
def judged(model: models.LanguageModel, task: TreeTask, generator: random.Random) -> float:
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


def decoded(model: models.LanguageModel, task: TreeTask, prompt: Sequence[str], reply: Sequence[str] = ()) -> str:
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
