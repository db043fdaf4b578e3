"""The registers of a run after one block, by name, as the numbers that they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from constructions.engines.known import read_text
from constructions.wiring.wired import Wired


def registers_after(wired: Wired, tokens: Sequence[int], block: int) -> dict[str, list[Fraction]]:
    """Returns every register after a block, from 1, at each token."""
    (stream,) = read_text(wired.model, wired.arithmetic, tokens, [2 * block]).streams
    quantum = wired.arithmetic.format.quantum
    return {name: [x * quantum for x in column] for name, column in zip(wired.registers, stream, strict=True)}
