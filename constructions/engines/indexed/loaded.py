"""A model as the indexed engine reads it: its weights under one arithmetic, and its vocabulary as columns."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from constructions.engines.indexed.column import Column, from_floats
from constructions.engines.indexed.operators import Operators
from constructions.engines.indexed.output_head import OutputHead
from constructions.engines.weights import Weights
from constructions.layers import Transformer
from precision.format import Arithmetic


class Loaded:
    """A model under one arithmetic; each part of it is made when it is first asked for."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic) -> None:
        self.model, self.arithmetic = model, arithmetic

    @cached_property
    def weights(self) -> Weights:
        """Returns the weights of the blocks, and of the position."""
        return Weights(self.model, self.arithmetic)

    @cached_property
    def words(self) -> list[Column]:
        """The rounded embedding of words: for each register, its value at each of them."""
        return [Operators(self.arithmetic).round(from_floats(column), "words") for column in self.model.words.T]

    @cached_property
    def vocabulary(self) -> tuple[list[int], list[Column]]:
        """The registers that the output head reads, and its rounded weights over the tokens."""
        unembed = self.model.unembed
        if unembed is self.model.words:  # tied: these are rounded already
            used = [i for i, column in enumerate(self.words) if not column.is_zero]
            return used, [self.words[i] for i in used]
        used = np.flatnonzero(unembed.any(axis=0)).tolist()
        return used, [Operators(self.arithmetic).round(from_floats(unembed[:, i]), "unembed") for i in used]

    @cached_property
    def output_head(self) -> OutputHead:
        """The same, to search for an argmax."""
        return OutputHead(self.vocabulary[1])

    @cached_property
    def written_last(self) -> list[int]:
        """The registers that the last feed-forward writes."""
        return [register for block in self.weights.blocks[-1:] for register, _, _ in block.feed_forward.down]

    @cached_property
    def read_last(self) -> list[int]:
        """The registers on which these depend, and those that the output head reads: themselves included."""
        read = (registers for block in self.weights.blocks[-1:] for registers in block.feed_forward.readers)
        return sorted({*self.written_last, *self.vocabulary[0]}.union(*read))
