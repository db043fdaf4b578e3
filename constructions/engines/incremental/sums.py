"""What terms of the program come to, exactly or rounded; compiled code."""

from __future__ import annotations

from typing import cast

import numpy as np

from constructions.engines.incremental.limbs import (
    FRACTION_BITS,
    MODE,
    SUM,
    Shape,
    Words,
    add_multiple,
    add_weighted,
    clear,
    compiled,
    round_into,
    widths,
)

NONE = cast(int, np.int64(0))  # of numpy, as the regions are


@compiled
def evaluate(code: Words, at: int, vec: Words, t: Words, into: int, shape: Shape) -> int:
    """The exact sum of terms of the program; where the code goes on."""
    limbs, size = widths(shape)
    clear(t, into, size)
    count = code[at]
    for i in range(at + 1, at + 1 + 3 * count, 3):
        add_weighted(t, into, size, vec, code[i] * limbs, limbs, code[i + 1], code[i + 2])
    return at + 1 + 3 * count  # type: ignore[no-any-return]


@compiled
def weigh(code: Words, at: int, vec: Words, t: Words, into: int, shape: Shape) -> tuple[int, bool]:
    """A sum of marked terms, rounded, of W limbs; where the code goes on, and whether the sum was an element."""
    limbs, size = widths(shape)
    if code[at] == 0:
        at = evaluate(code, at + 1, vec, t, SUM, shape)
        exact = round_into(t, SUM, size, shape.numbers[FRACTION_BITS], shape.numbers[MODE], t, into, limbs)
        return at, exact
    clear(t, SUM, limbs + 1)
    end = at + 2 + 3 * code[at + 1]
    for i in range(at + 2, end, 3):
        add_multiple(t, SUM, limbs + 1, vec, code[i] * limbs, limbs, code[i + 1])
    return end, round_into(t, SUM, limbs + 1, NONE, shape.numbers[MODE], t, into, limbs)
