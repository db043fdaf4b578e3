"""What can be seen of a run from outside: the registers after each sublayer, and how columns were decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Observer = Callable[[int, str, Sequence[int]], None]
"""Called after each sublayer with the block (0: embedding), "embedding", "attention" or "feed-forward", and all
registers in quanta."""


@dataclass
class Columns:
    """How softmax columns were decided: by certificate, or densely.

    screened: of the certified ones, those by floats alone.
    dense_by_head: those of each head that has any; uncertified: of these, those behind the first keys, too few to have a structure.
    dense_logits: tokens whose argmax took all logits, for want of a certificate. searches: how often a structure was looked for.
    """

    certified: int = 0
    screened: int = 0
    dense: int = 0
    dense_by_head: dict[str, int] = field(default_factory=dict)
    uncertified: dict[str, int] = field(default_factory=dict)
    dense_logits: int = 0
    searches: int = 0


def report(observe: Observer | None, sublayer: int, registers: Sequence[int]) -> None:
    """sublayer: counted from the embedding, which is 0."""
    if observe is not None:
        kind = "embedding" if sublayer == 0 else ("attention" if sublayer % 2 else "feed-forward")
        observe((sublayer + 1) // 2, kind, registers)
