"""What a model costs, counted in its weights: parameters, state, the circuit of one step; and which class it belongs to.

Source: definitions 3.3 (RNN and its measures), 3.4, 3.5 (Linear RNN) and 5.5 (hybrid RNN).
Notation: Λ is `state_numbers`, p the bits of a number.
A recurrence holds two constant matrices (layers.py), so its transition depends on no input by construction.

Derivation of `circuit_gates`: a row with r non-zero weights is r products of two p-bit numbers and their exact sum, of w =
2p + bits(r) + 1 bits, rounded once. A product is p² ANDs and at most p² full adders of 5 gates, 6p² in all; a signed addition is a
conditional negation and a ripple of full adders, 8w; a rounding is the OR of the lost bits, an increment, a comparison with the
range and a selection, 8w. A ReLU unit adds p ANDs and one product with its rounding, a residual addition 16w.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from constructions.layers import Block, Matrix, Recurrence, Transformer

LINEAR_RNN, HYBRID_RNN, TRANSFORMER = "Linear RNN", "hybrid RNN", "Transformer"


@dataclass(frozen=True)
class Measures:
    """parameters: entries of all matrices but the embeddings. state_numbers: registers that recurrences carry over.

    parameter_bits, state_bits: the same times p. circuit_gates: a bound on the Boolean circuit of one step of the recurrent blocks.
    """

    classes: tuple[str, ...]
    parameters: int
    parameter_bits: int
    state_numbers: int
    state_bits: int
    circuit_gates: int


def measure(model: Transformer, precision_bits: int) -> Measures:
    """Returns the measures of a model at p bits."""
    state = sum(len(state_registers(block.recurrence)) for block in model.blocks if block.recurrence is not None)
    gates = sum(_block_gates(block, precision_bits) for block in model.blocks if not block.heads)
    parameters = model.parameters
    return Measures(classes(model), parameters, parameters * precision_bits, state, state * precision_bits, gates)


def classes(model: Transformer) -> tuple[str, ...]:
    """Returns the classes of the paper that a model belongs to; none for other mixtures of recurrences and attention.

    Transformer: no recurrence. Linear RNN: no attention. Hybrid RNN: attention in the last block, and in no other. A block with
    neither belongs everywhere, as A = B = 0.
    """
    recurrent = any(block.recurrence is not None for block in model.blocks)
    attention = [bool(block.heads) for block in model.blocks]
    belongs = {
        TRANSFORMER: not recurrent,
        LINEAR_RNN: not any(attention),
        HYBRID_RNN: sum(attention) == 1 and attention[-1],
    }
    return tuple(name for name, holds in belongs.items() if holds)


def recurrent_part(model: Transformer) -> Transformer:
    """Returns the RNN of a hybrid RNN (definition 5.5), all blocks before the attention; of another model, the model.

    Its outputs are the registers that the rest reads, one row of `unembed` for each.
    """
    before = next((i for i, block in enumerate(model.blocks) if block.heads), None)
    if before is None:
        return model
    readers = [model.unembed]
    for block in model.blocks[before:]:
        readers += [matrix for head in block.heads for matrix in (head.query, head.key, head.value)]
        readers += [block.feed_forward.gate, block.feed_forward.up]
    read = np.vstack(readers).any(axis=0)
    return replace(model, blocks=model.blocks[:before], unembed=np.eye(model.width)[read])


def state_registers(recurrence: Recurrence) -> list[int]:
    """Returns the registers with a state: those that a row of A or B fills."""
    filled = recurrence.carry.any(axis=1) | recurrence.feed.any(axis=1)
    return [int(register) for register in np.flatnonzero(filled)]


def _block_gates(block: Block, p: int) -> int:
    ffn = block.feed_forward
    rows = [*_weights(ffn.gate, ffn.gate_bias), *_weights(ffn.up, ffn.up_bias), *_weights(ffn.down, ffn.down_bias)]
    sums = 0
    if block.recurrence is not None:
        both = np.hstack([block.recurrence.carry, block.recurrence.feed])
        rows += _weights(both)
        sums += sum(1 for r in _weights(both) if r)
    units = len(ffn.gate)
    sums += sum(1 for r in _weights(ffn.down, ffn.down_bias) if r)
    products = units * (p + 6 * p * p + 8 * (2 * p + 1))
    return sum(_row_gates(r, p) for r in rows if r) + products + sums * 16 * (p + 1)


def _row_gates(weights: int, p: int) -> int:
    wide = 2 * p + weights.bit_length() + 1
    return weights * (6 * p * p + 8 * wide) + 8 * wide


def _weights(matrix: Matrix, bias: Matrix | None = None) -> list[int]:
    """Counts the non-zero weights of each row, its bias included."""
    counts: Iterable[int] = (int(c) for c in np.count_nonzero(matrix, axis=1))
    if bias is None:
        return list(counts)
    return [count + bool(b) for count, b in zip(counts, bias, strict=True)]
