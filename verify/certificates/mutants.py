"""Models of which one weight is not what it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from constructions.layers import Block, Matrix, Recurrence, Transformer, block_arrays
from constructions.places import FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.wiring.wired import Wired

MATRICES = ("A", "B")  # of a recurrence
HEAD = {"query": "W_Q", "key": "W_K", "value": "W_V", "out": "W_O"}
FFN = {
    "gate": "W_gate",
    "gate_bias": "b_gate",
    "up": "W_up",
    "up_bias": "b_up",
    "down": "W_down",
    "down_bias": "b_down",
}
CHANGES = ("sign", "zero", "a step up", "a step down", "half", "twice", "moved")

Place = tuple[int, int, tuple[int, ...]]  # block, array of `block_arrays`, entry


def places(model: Transformer) -> list[Place]:
    """Every weight that is not zero."""
    return [
        (b, a, tuple(map(int, entry)))
        for b, block in enumerate(model.blocks)
        for a, array in enumerate(block_arrays(block))
        for entry in zip(*np.nonzero(array), strict=True)
    ]


def sublayer_of(model: Transformer, place: Place) -> int:
    """Two to a block, the heads or the recurrence first."""
    number, array, _ = place
    return 2 * number + (array >= _mixing_arrays(model.blocks[number]))


def _mixing_arrays(block: Block) -> int:
    """How many arrays of `block_arrays` are no feed-forward's."""
    return len(HEAD) * len(block.heads) if block.recurrence is None else len(MATRICES)


def weight_at(model: Transformer, place: Place) -> float:
    """The weight itself."""
    b, a, entry = place
    return float(block_arrays(model.blocks[b])[a][entry])


def mutant(model: Transformer, place: Place, change: str, step: float) -> Transformer:
    """With one weight changed; `moved`: it stands in the next entry of its row instead."""
    b, a, entry = place
    weight = weight_at(model, place)
    if change == "moved":
        array = block_arrays(model.blocks[b])[a].copy()
        array[entry] = 0
        array[(*entry[:-1], (entry[-1] + 1) % array.shape[-1])] += weight
        return _with_block(model, b, with_array(model.blocks[b], a, array))
    values = {
        "sign": -weight,
        "zero": 0.0,
        "a step up": weight + step,
        "a step down": weight - step,
        "half": weight / 2,
        "twice": 2 * weight,
    }
    return with_weight(model, place, values[change])


def with_weight(model: Transformer, place: Place, value: float) -> Transformer:
    """With another number at a place."""
    b, a, entry = place
    array = block_arrays(model.blocks[b])[a].copy()
    array[entry] = value
    return _with_block(model, b, with_array(model.blocks[b], a, array))


def _with_block(model: Transformer, number: int, block: Block) -> Transformer:
    return dataclasses.replace(model, blocks=(*model.blocks[:number], block, *model.blocks[number + 1 :]))


def with_array(block: Block, place: int, array: Matrix) -> Block:
    """The block with another array at a place of `block_arrays`."""
    arrays = [*block_arrays(block)]
    arrays[place] = array
    if block.recurrence is not None:
        carry, feed, *rest = arrays
        weights = dataclasses.replace(block.feed_forward, **_named(rest, tuple(FFN)))
        return dataclasses.replace(block, recurrence=Recurrence(carry, feed), feed_forward=weights)
    heads = tuple(
        dataclasses.replace(head, **_named(arrays[4 * h : 4 * h + 4], tuple(HEAD)))
        for h, head in enumerate(block.heads)
    )
    rest = arrays[4 * len(heads) :]
    return dataclasses.replace(
        block, heads=heads, feed_forward=dataclasses.replace(block.feed_forward, **_named(rest, tuple(FFN)))
    )


def _named(arrays: list[Matrix], names: tuple[str, ...]) -> Mapping[str, Matrix]:
    return dict(zip(names, arrays, strict=True))


def named(wired: Wired, weight: Place) -> str:
    """Where a weight is: block, head or unit, matrix, its row and column, registers by name."""
    b, a, entry = weight
    block = wired.model.blocks[b]
    heads = _mixing_arrays(block)
    if a < heads and block.recurrence is not None:
        where, matrix = name_place(b + 1, RECURRENCE), MATRICES[a]
        return f"{where}, {matrix}, register {wired.registers[entry[0]]}, register {wired.registers[entry[1]]}"
    if a < heads:
        names = [head.name for head in wired.blocks[b].heads]
        where, matrix = name_place(b + 1, name_part("head", a // 4 + 1, names[a // 4])), tuple(HEAD.values())[a % 4]
        inner, outer, begin = "row", "column", 0
    else:
        where, matrix = name_place(b + 1, FEED_FORWARD), tuple(FFN.values())[a - heads]
        inner, outer, begin = "unit", "unit", 1
    first, last = entry[0], entry[-1]
    if matrix in ("W_O", "W_down"):
        at = f"register {wired.registers[first]}, {outer} {last + begin}"
    elif matrix == "b_down":
        at = f"register {wired.registers[first]}"
    elif len(entry) == 1:
        at = f"{inner} {first + begin}"
    else:
        at = f"{inner} {first + begin}, register {wired.registers[last]}"
    return f"{where}, {matrix}, {at}"
