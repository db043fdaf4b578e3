"""Hard inputs of a model, from its dossier, and the first one that weights answer wrongly."""

from __future__ import annotations

import random
from collections.abc import Sequence

from constructions.layers import Transformer
from constructions.wiring.wired import Wired
from verify.dossiers.dossier import HardInput, Subject

MOST_IDLE = 1000


def hard_inputs(subject: Subject, wired: Wired, count: int, seed: int) -> list[HardInput]:
    """Returns so many different inputs, or as many as were found; the shortest first."""
    by_prompt = dict[tuple[int, ...], HardInput]()
    idle = 0  # draws since the last new one: there may be fewer than are asked for
    for one in subject.dossier.hard_inputs(subject, wired, count, random.Random(seed)):
        idle = idle + 1 if one.prompt in by_prompt else 0
        by_prompt.setdefault(one.prompt, one)
        if len(by_prompt) >= count or idle > MOST_IDLE:
            break
    return sorted(by_prompt.values(), key=lambda one: len(one.prompt) + len(one.answer))


def first_wrong(wired: Wired, model: Transformer, inputs: Sequence[HardInput]) -> tuple[HardInput, int] | None:
    """Returns the first input that these weights answer wrongly, and at which token of the answer."""
    from constructions.engines import dense

    if not inputs:
        return None
    prompts, answers = [one.prompt for one in inputs], [one.answer for one in inputs]
    for one, place in zip(inputs, dense.matches(model, wired.arithmetic, prompts, answers), strict=True):
        if place is not None:
            return one, place
    return None
