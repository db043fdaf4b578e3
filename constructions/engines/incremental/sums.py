"""What sums of the program come to, exactly or rounded; compiled code."""

from __future__ import annotations

from typing import cast

import numpy as np

from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    Number,
    Shape,
    Words,
    compiled,
    inlined,
    load,
    number,
    product,
    resized,
    rounded,
    shifted_left,
)

ORIGIN = cast(int, np.int64(0))  # where slot 0 of the program's is


@inlined
def add_up(code: Words, at: int, vec: Words, shape: Shape, base: int) -> tuple[Number, int]:
    """One part of a sum before it is shifted, given how many terms it has; where the code goes on. base: where slot 0 is."""
    limbs, total = len(shape.element), number(0, shape.long)
    end = at + 1 + 2 * code[at]
    for i in range(at + 1, end, 2):
        x, weight = load(vec, base + code[i] * limbs, shape.element), code[i + 1]
        if limbs > 1 and weight == 1:  # most weights are ±1; a product is slower, but for a single limb
            total += resized(x, shape.long)
        elif limbs > 1 and weight == -1:
            total -= resized(x, shape.long)
        else:
            total += product(x, weight, shape.long)
    return total, end


@compiled
def evaluate(code: Words, at: int, vec: Words, shape: Shape, base: int) -> tuple[Number, int]:
    """The exact sum, in quanta of weights times those of slots; where the code goes on."""
    total, end = number(0, shape.exact), at + 1
    for _ in range(code[at]):
        shift = code[end]
        part, end = add_up(code, end + 1, vec, shape, base)
        total += shifted_left(resized(part, shape.exact), shift)
    return total, end


@inlined
def weigh(code: Words, at: int, vec: Words, largest: Number, shape: Shape, base: int) -> tuple[Number, bool, int]:
    """The sum, rounded; whether it was an element, and where the code goes on."""
    places = shape.numbers[FRACTION_BITS]
    if code[at] == 1 and code[at + 1] <= places:
        part, end = add_up(code, at + 2, vec, shape, base)
        element, exact = rounded(part, places - code[at + 1], largest, shape)
        return element, exact, end
    total, end = evaluate(code, at, vec, shape, base)
    element, exact = rounded(total, places, largest, shape)
    return element, exact, end
