"""What models cost: which matrices grow, and least precisions against bounds in log2 n, for every n of a bit length at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constructions.layers import block_arrays
from constructions.measures import measure
from constructions.wiring.wired import Wired
from verify.algebra.interval import values
from verify.framework.check import Check
from verify.framework.claim import Counterexample

LeastPrecision: TypeAlias = Callable[[int], int]
Bound: TypeAlias = Callable[[float], float]  # of a least precision, by log2 n
PRECISION = "p = least_precision(n)"
LADDER = (10, 100, 1000)  # the n of models that are measured
MOST_BITS = 64
BIT_LENGTHS = range(1, MOST_BITS + 1)
FEW_BITS = 4  # of n that are gone through one by one
EVERY_N = f"every n below 2^{MOST_BITS}, by bit length"


@dataclass(frozen=True)
class RnnSize:
    """An RNN and a size: its n, or how many words it reads."""

    rnn: str
    n: int


def sizes_text(sizes: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in sizes)


def numbers_of(bits: int) -> int:
    """Returns how many n ≥ 1 have this bit length."""
    return 1 << (bits - 1)


def span_of(bits: int) -> tuple[int, int]:
    """Returns the first and the last n of this bit length."""
    return 1 << (bits - 1), (1 << bits) - 1


ALL_NUMBERS = (1 << MOST_BITS) - 1  # n ≥ 1 below 2^MOST_BITS


def first_above(least_precision: LeastPrecision, bound: Bound, bits: int) -> Counterexample | None:
    """Returns the first n of this bit length whose least precision is above the bound, which grows with log2 n."""
    first, last = span_of(bits)
    one_by_one = ((n, least_precision(n)) for n in range(first, last + 1))
    for n, least in one_by_one if bits <= FEW_BITS else values(least_precision, first, last):
        if least > (most := bound(math.log2(n))) + 1e-9:
            return Counterexample(n=n, least=least, bound=most)
    return None


def require_logarithmic(check: Check, rows: Sequence[tuple[LeastPrecision, Bound]]) -> None:
    """Checks that each least precision keeps to its bound, at every n below 2^MOST_BITS."""

    def within(bits: int) -> Counterexample | None:
        return next(filter(None, (first_above(least, bound, bits) for least, bound in rows)), None)

    check.exhaustive(BIT_LENGTHS, within, count=ALL_NUMBERS, inputs=numbers_of, range=EVERY_N, span=span_of)


@dataclass(frozen=True)
class Cost:
    """What a theorem grants its model, whatever n is. fits: judges how many heads each block has; blocks without have 0."""

    of_class: str
    fits: Callable[[Sequence[int]], bool]
    state_numbers: range
    parameters: float = math.inf

    def excess(self, large: Wired, small: Wired) -> Counterexample | None:
        """Returns None if the large model keeps to it, and no matrix but the vocabulary is larger there than in the small one."""
        measures = measure(large.model, large.arithmetic.format.significand_bits + 1)
        heads = [len(block.heads) for block in large.model.blocks]
        if self.of_class not in measures.classes or not self.fits(heads):
            return Counterexample(classes=measures.classes, heads=heads)
        if measures.state_numbers not in self.state_numbers or measures.parameters > self.parameters:
            return Counterexample(state_numbers=measures.state_numbers, parameters=measures.parameters)
        got, expected = (
            [[array.shape for array in block_arrays(block)] for block in wired.model.blocks] for wired in (large, small)
        )
        return None if got == expected else Counterexample(expected=expected, got=got)


def exactly(number: int) -> range:
    """Returns the range of this number alone."""
    return range(number, number + 1)
