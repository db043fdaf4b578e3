"""Models of which one weight is not what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from constructions.layers import Matrix, Transformer, named_arrays, with_array
from constructions.places import FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.wiring.wired import Wired

REGISTER, ROW, COLUMN, UNIT = "register", "row", "column", "unit"
AXES: Mapping[str, tuple[str, ...]] = {
    "W_Q": (ROW, REGISTER),
    "W_K": (ROW, REGISTER),
    "W_V": (ROW, REGISTER),
    "W_O": (REGISTER, COLUMN),
    "A": (REGISTER, REGISTER),
    "B": (REGISTER, REGISTER),
    "W_gate": (UNIT, REGISTER),
    "b_gate": (UNIT,),
    "W_up": (UNIT, REGISTER),
    "b_up": (UNIT,),
    "W_down": (REGISTER, UNIT),
    "b_down": (REGISTER,),
}
CHANGES = ("sign", "zero", "a step up", "a step down", "half", "twice", "moved")

Place = tuple[int, str, tuple[int, ...]]  # block, name of an array, entry


def places(model: Transformer) -> list[Place]:
    """Returns every weight that is not zero."""
    return [
        (b, name, tuple(map(int, entry)))
        for b, block in enumerate(model.blocks)
        for name, array in named_arrays(block).items()
        for entry in zip(*np.nonzero(array), strict=True)
    ]


def sublayer_of(place: Place) -> int:
    """Returns two to a block, the heads or the recurrence first."""
    number, name, _ = place
    return 2 * number + name.startswith("ffn.")


def weight_at(model: Transformer, place: Place) -> float:
    """Returns the weight itself."""
    b, name, entry = place
    return float(named_arrays(model.blocks[b])[name][entry])


def mutant(model: Transformer, place: Place, change: str, step: float) -> Transformer:
    """Returns the model with one weight changed. `moved` puts it into the next entry of its row instead."""
    b, name, entry = place
    weight = weight_at(model, place)
    if change == "moved":
        array = named_arrays(model.blocks[b])[name].copy()
        array[entry] = 0
        array[(*entry[:-1], (entry[-1] + 1) % array.shape[-1])] += weight
        return with_matrix(model, b, name, array)
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
    """Returns the model with another number at a place."""
    b, name, entry = place
    array = named_arrays(model.blocks[b])[name].copy()
    array[entry] = value
    return with_matrix(model, b, name, array)


def with_matrix(model: Transformer, number: int, name: str, array: Matrix) -> Transformer:
    """Returns the model with another array of this name in a block."""
    block = with_array(model.blocks[number], name, array)
    return replace(model, blocks=(*model.blocks[:number], block, *model.blocks[number + 1 :]))


def describe_weight(wired: Wired, weight: Place) -> str:
    """Describes the place of a weight: block, head or unit, matrix, row and column, registers by name."""
    b, name, entry = weight
    sublayer, *head, matrix = name.split(".")
    part = RECURRENCE if sublayer == "recurrence" else FEED_FORWARD
    if head:
        number = int(head[0])
        part = name_part("head", number + 1, wired.blocks[b].heads[number].name)
    at = [_tell(wired, axis, i) for axis, i in zip(AXES[matrix], entry, strict=True)]
    return f"{name_place(b + 1, part)}, {matrix}, {', '.join(at)}"


def _tell(wired: Wired, axis: str, i: int) -> str:
    """Describes a row or column. They count from 0, as in files; units count from 1, as blocks and heads do."""
    if axis == REGISTER:
        return f"{axis} {wired.registers[i]}"
    return f"{axis} {i + 1 if axis == UNIT else i}"
