"""Models of which one weight is not what it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from constructions.layers import Block, Matrix, Transformer, block_arrays

HEAD = ("query", "key", "value", "out")
FFN = ("gate", "gate_bias", "up", "up_bias", "down", "down_bias")
CHANGES = ("sign", "zero", "a step up", "a step down", "half", "twice", "moved")


def places(model: Transformer) -> list[tuple[int, int, tuple[int, ...]]]:
    """Block, array and entry of every weight that is not zero."""
    return [
        (b, a, tuple(map(int, entry)))
        for b, block in enumerate(model.blocks)
        for a, array in enumerate(block_arrays(block))
        for entry in zip(*np.nonzero(array), strict=True)
    ]


def mutant(model: Transformer, place: tuple[int, int, tuple[int, ...]], change: str, step: float) -> Transformer:
    """With one weight changed; `moved`: it stands in the next entry of its row instead."""
    b, a, entry = place
    array = block_arrays(model.blocks[b])[a].copy()
    weight = float(array[entry])
    if change == "moved":
        array[entry] = 0
        array[(*entry[:-1], (entry[-1] + 1) % array.shape[-1])] += weight
    else:
        array[entry] = {
            "sign": -weight,
            "zero": 0.0,
            "a step up": weight + step,
            "a step down": weight - step,
            "half": weight / 2,
            "twice": 2 * weight,
        }[change]
    blocks = [*model.blocks]
    blocks[b] = with_array(blocks[b], a, array)
    return dataclasses.replace(model, blocks=tuple(blocks))


def with_array(block: Block, place: int, array: Matrix) -> Block:
    """The block with another array at a place of `block_arrays`."""
    arrays = [*block_arrays(block)]
    arrays[place] = array
    heads = tuple(
        dataclasses.replace(head, **_named(arrays[4 * h : 4 * h + 4], HEAD)) for h, head in enumerate(block.heads)
    )
    rest = arrays[4 * len(heads) :]
    return dataclasses.replace(
        block, heads=heads, feed_forward=dataclasses.replace(block.feed_forward, **_named(rest, FFN))
    )


def _named(arrays: list[Matrix], names: tuple[str, ...]) -> Mapping[str, Matrix]:
    return dict(zip(names, arrays, strict=True))
