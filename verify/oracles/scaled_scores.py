"""Definition 3.1 word for word: each score is divided by √d before it is rounded.

√d need not be an element of R_p. But d is free: coordinates that are always 0 change nothing, so d may be a power of 4, and W_K
may be multiplied by √d, a power of two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from constructions.engines.reference import ReferenceEngine
from constructions.layers import AttentionHead, Block, Transformer
from precision.format import Arithmetic


def halvings(width: int) -> int:
    """Returns k with 4^k the least power of 4 that is not below the width; √d is 2^k."""
    return (width - 1).bit_length() + 1 >> 1


def enlarge_keys(model: Transformer) -> Transformer:
    """Returns the model with W_K multiplied by √d, d the least power of 4 from its width on. Drops coordinates that stay 0."""
    factor = float(2 ** halvings(model.width))

    def larger(head: AttentionHead) -> AttentionHead:
        return replace(head, key=np.asarray(head.key) * factor)

    def scaled(block: Block) -> Block:
        return replace(block, heads=tuple(map(larger, block.heads)))

    return replace(model, blocks=tuple(map(scaled, model.blocks)))


class DividingEngine(ReferenceEngine):
    """The reference engine, with each score divided by √d = 2^k, exactly, before it is rounded; under `fused`."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        self._halvings = halvings(model.width)
        super().__init__(model, arithmetic)

    def _round(self, value: int, shift: int, block: int, site: str) -> int:
        return super()._round(value, shift + (self._halvings if site.endswith(".score") else 0), block, site)
