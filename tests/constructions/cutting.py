"""Wired models without one of their parts, which some run must notice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from constructions.engines import dense
from constructions.layers import Block, Recurrence, Transformer
from constructions.models.request import Request
from constructions.wiring.wired import Wired


def with_block(model: Transformer, number: int, block: Block) -> Transformer:
    """Another block in place of this one, counted from 0."""
    blocks = (*model.blocks[:number], block, *model.blocks[number + 1 :])
    return replace(model, blocks=blocks, longest=None)  # what is cut may go on for ever


def without_head(model: Transformer, block: int, head: int) -> Transformer:
    old = model.blocks[block]
    silent = replace(old.heads[head], out=np.zeros_like(old.heads[head].out))
    return with_block(model, block, replace(old, heads=(*old.heads[:head], silent, *old.heads[head + 1 :])))


def without_units(model: Transformer, block: int, units: Sequence[int], constants: Sequence[int] = ()) -> Transformer:
    """Without some feed-forward units, and without the constants that the bias adds to some registers."""
    ffn = model.blocks[block].feed_forward
    down, bias = ffn.down.copy(), ffn.down_bias.copy()
    down[:, list(units)] = 0
    bias[list(constants)] = 0
    return with_block(model, block, replace(model.blocks[block], feed_forward=replace(ffn, down=down, down_bias=bias)))


def without_states(model: Transformer, block: int, registers: Sequence[int]) -> Transformer:
    """Without what a recurrence keeps in these registers."""
    old = model.blocks[block]
    assert old.recurrence is not None
    carry, feed = old.recurrence.carry.copy(), old.recurrence.feed.copy()
    carry[registers], feed[registers] = 0, 0
    return with_block(model, block, replace(old, recurrence=Recurrence(carry, feed)))


def cuts(wired: Wired, *, units: bool = False) -> Iterator[tuple[str, Transformer]]:
    """The model without each of its heads, linear units and gadgets; or units: without each unit and constant of a gadget."""
    model = wired.model
    for number, block in enumerate(wired.blocks):
        at = f"block {number + 1}"
        for index, head in enumerate(block.heads):
            yield f"{at}, head {head.name}", without_head(model, number, index)
        for linear in block.linear_units:
            yield f"{at}, {linear.name}", without_states(model, number, [*map(wired.registers.index, linear.rows)])
        first = 0
        for gadget in block.gadgets:
            places = range(first, first + len(gadget.units))
            constants = [wired.registers.index(name) for name in gadget.constants]
            first = places.stop
            if not units:
                yield f"{at}, {gadget.name}", without_units(model, number, places, constants)
                continue
            for i, place in enumerate(places, start=1):
                yield f"{at}, {gadget.name}, unit {i}", without_units(model, number, [place])
            for name, register in zip(gadget.constants, constants, strict=True):
                yield f"{at}, constant {name}", without_units(model, number, [], [register])


def idle(requests: Sequence[Request], *, units: bool = False) -> list[str]:
    """The parts without which each model still writes all that is expected of it. A model of each size has the same parts."""
    by_size = {asked.wired.n: [other for other in requests if other.wired.n == asked.wired.n] for asked in requests}

    def notices(n: int, model: Transformer) -> bool:
        prompts, answers = zip(*((asked.prompt, list(asked.guess)) for asked in by_size[n]), strict=True)
        arithmetic = by_size[n][0].wired.arithmetic
        return any(first is not None for first in dense.matches(model, arithmetic, prompts, answers))

    assert not any(notices(n, some[0].wired.model) for n, some in by_size.items())
    cut = {n: list(cuts(some[0].wired, units=units)) for n, some in by_size.items()}
    names = [name for name, _ in next(iter(cut.values()))]
    return [name for place, name in enumerate(names) if not any(notices(n, cut[n][place][1]) for n in cut)]
