"""Flags of the weights themselves: those that are no elements of the format.

Source: constructions/engines/reference.py, which raises them when it loads a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial

import numpy as np

from constructions.engines.reference import Flags, FlagSite
from constructions.layers import Matrix, Transformer
from precision.format import Arithmetic
from precision.rounding import round_fraction


def weight_flags(model: Transformer, arithmetic: Arithmetic) -> Flags:
    """The flags of the weights that are no elements of the format: at position 0, before any token."""
    flags = Flags()
    is_element = cache(partial(_is_element, arithmetic=arithmetic))  # models hold few different numbers
    for block, site, matrix in _weights(model):
        values, counts = np.unique(matrix, return_counts=True)
        count = sum(
            count
            for value, count in zip(values.tolist(), counts.tolist(), strict=True)
            if value and not is_element(value)
        )
        if count:
            key = FlagSite("weight rounded", block, site)
            flags.counts[key] = flags.counts.get(key, 0) + count
            flags.first_position[key] = 0
    return flags


def _weights(model: Transformer) -> Iterator[tuple[int, str, Matrix]]:
    """Block, site and matrix of all weights, as the reference engine loads them."""
    yield 0, "words", model.words
    yield 0, "position", model.position
    for number, block in enumerate(model.blocks, start=1):
        for i, head in enumerate(block.heads):
            yield number, f"attn.{i}.query", head.query
            yield number, f"attn.{i}.key", head.key
            yield number, f"attn.{i}.value", head.value
        for head in block.heads:
            yield number, "attn.out", head.out
        ffn = block.feed_forward
        yield number, "ffn.down_bias", ffn.down_bias
        yield number, "ffn.down", ffn.down
        if block.recurrence is not None:
            yield number, "recurrence.carry", block.recurrence.carry
            yield number, "recurrence.feed", block.recurrence.feed
        yield number, "ffn.gate", ffn.gate
        yield number, "ffn.gate_bias", ffn.gate_bias
        yield number, "ffn.up", ffn.up
        yield number, "ffn.up_bias", ffn.up_bias
    yield len(model.blocks) + 1, "unembed", model.unembed


def _is_element(weight: float, arithmetic: Arithmetic) -> bool:
    """Whether the format holds the weight, so that rounding leaves it as it is."""
    fmt = arithmetic.format
    return round_fraction(Fraction(weight), fmt, arithmetic.rounding).quanta * fmt.quantum == Fraction(weight)
