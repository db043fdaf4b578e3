"""What models cost: which matrices grow, and least precisions against bounds in log2 n, for every n of a bit length at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from constructions.layers import block_arrays
from constructions.wiring.wired import Wired
from verify.algebra.interval import values
from verify.framework.claim import Counterexample

PRECISION = "p = least_precision(n)"
LADDER = (10, 100, 1000)  # the n of models that are measured
MOST_BITS = 64
BIT_LENGTHS = range(1, MOST_BITS + 1)
FEW_BITS = 4  # of n that are gone through one by one
EVERY_N = f"every n below 2^{MOST_BITS}, by bit length"


def sizes_text(sizes: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in sizes)


def numbers_of(bits: int) -> int:
    """Returns how many n ≥ 1 have this bit length."""
    return 1 << (bits - 1)


def span_of(bits: int) -> tuple[int, int]:
    """Returns the first and the last n of this bit length."""
    return 1 << (bits - 1), (1 << bits) - 1


ALL_NUMBERS = (1 << MOST_BITS) - 1  # n ≥ 1 below 2^MOST_BITS


def first_above(
    least_precision: Callable[[int], int], bound: Callable[[float], float], bits: int
) -> Counterexample | None:
    """Returns the first n of this bit length whose least precision is above the bound, which grows with log2 n."""
    first, last = span_of(bits)
    one_by_one = ((n, least_precision(n)) for n in range(first, last + 1))
    for n, least in one_by_one if bits <= FEW_BITS else values(least_precision, first, last):
        if least > (most := bound(math.log2(n))) + 1e-9:
            return Counterexample(n=n, least=least, bound=most)
    return None


def grown(large: Wired, small: Wired) -> Counterexample | None:
    """Returns None if no matrix but the vocabulary is larger in the one model than in the other."""
    got, expected = (
        [[array.shape for array in block_arrays(block)] for block in wired.model.blocks] for wired in (large, small)
    )
    return None if got == expected else Counterexample(expected=expected, got=got)
