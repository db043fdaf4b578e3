"""A model as a flat program for compiled code: instructions over slots, each slot a number of quanta in fixed-width limbs.

Notation: W limbs hold an element of the format, A = 2W + 1 limbs a sum of products of two. Every element, the position included, is
below 2^(64W − 2), so a product is below 2^(128W − 4), and A limbs hold any sum of fewer than 2^60 of them with its sign.
Slots: the residual stream, then 1 and the position (biases and the embedding's slope are weights of these), then what the
sublayers need. Instructions, as integers: a kind, then
  EMBED (copies the token's word), ATTEND head, LOGITS, MARK sublayer, END
  ROW into, how, terms      into := Σ weight·slot, rounded; how: STORE; ADD to a residual register; KEY, which notes any rounding
  COPY into, from; COPY_ADD into, from      a ROW, with STORE or KEY, or with ADD, of a single weight 1
  UNIT into, gate, up       into := ReLU(gate)·up, both given by terms
and terms are their number, then (slot, mantissa, shift) each, for a weight of mantissa·2^shift quanta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Transformer
from precision.format import Arithmetic
from precision.rounding import round_fraction

END, EMBED, ATTEND, LOGITS, MARK, ROW, UNIT, COPY, COPY_ADD = range(9)
STORE, ADD, KEY = range(3)
MANTISSA_BITS = 62  # fits an int64 with its sign
LONGEST_BITS = 40  # sequences are shorter than 2^LONGEST_BITS

Weighted = Sequence[tuple[int, int]]  # (slot, weight in quanta)


@dataclass(frozen=True)
class HeadPlan:
    """Where a head finds its numbers.

    used: the registers that its keys read. query, key, value, output: the first of its slots, one for each row. coefficients: where
    the code holds, one after the other for each used register, the terms of its coefficient in a score.
    """

    name: str
    used: tuple[int, ...]
    score_width: int
    value_width: int
    query: int
    key: int
    value: int
    output: int
    coefficients: int = 0


@dataclass
class Program:
    """code, and heads in the order of ATTEND."""

    width: int
    arithmetic: Arithmetic
    code: list[int] = field(default_factory=list)
    heads: list[HeadPlan] = field(default_factory=list)
    slots: int = 0

    @property
    def limbs(self) -> int:
        """W."""
        return limbs_needed(self.arithmetic)

    @property
    def unit(self) -> int:
        """The weight 1 in quanta."""
        return 1 << -self.arithmetic.format.quantum_exponent

    def reserve(self, count: int) -> int:
        """The first of so many new slots."""
        self.slots += count
        return self.slots - count

    def weights(self, row: Matrix, slots: Sequence[int]) -> list[tuple[int, int]]:
        """A matrix row as the format holds it, for slots in the order of its columns."""
        return [(slots[j], self.quanta(row[j])) for j in np.flatnonzero(row).tolist()]

    def quanta(self, weight: float) -> int:
        """A weight as the format holds it."""
        return round_fraction(Fraction(float(weight)), self.arithmetic.format, self.arithmetic.rounding).quanta

    def row(self, into: int, how: int, weighted: Weighted) -> None:
        """One ROW instruction, or the same as a copy."""
        weighted = [pair for pair in weighted if pair[1]]
        if len(weighted) == 1 and weighted[0][1] == self.unit:
            self.code += [COPY_ADD if how == ADD else COPY, into, weighted[0][0]]
            return
        if how == ADD and not weighted:
            return
        self.code += [ROW, into, how, *terms(weighted)]


def limbs_needed(arithmetic: Arithmetic) -> int:
    """W."""
    fmt = arithmetic.format
    return (max(fmt.max_quanta.bit_length(), LONGEST_BITS - fmt.quantum_exponent) + 2 + 63) // 64


def terms(weighted: Weighted) -> list[int]:
    """Slots with their weights, each cut into mantissas of at most MANTISSA_BITS; where it is cut does not matter.

    A weight comes from a float64 of 53 digits, so one mantissa is enough, unless it saturated: the largest element may be longer.
    """
    flat: list[int] = [0]
    for slot, weight in weighted:
        rest, sign = abs(weight), 1 if weight > 0 else -1
        shift = 0
        while rest:
            zeros = (rest & -rest).bit_length() - 1
            rest, shift = rest >> zeros, shift + zeros
            flat += [slot, sign * (rest & ((1 << MANTISSA_BITS) - 1)), shift]
            flat[0] += 1
            rest, shift = rest >> MANTISSA_BITS, shift + MANTISSA_BITS
    return flat


def compile_model(model: Transformer, arithmetic: Arithmetic) -> Program:
    """The program of one token."""
    program = Program(model.width, arithmetic)
    stream = range(model.width)
    one, position = program.reserve(model.width + 2) + model.width, model.width + 1
    program.code.append(EMBED)
    for i, slope in program.weights(model.position, stream):
        program.row(i, STORE, [(i, program.unit), (position, slope)])
    program.code += [MARK, 0]
    coefficients: list[list[int]] = []  # of each head
    for number, block in enumerate(model.blocks, start=1):
        if block.recurrence is None:
            _attention(program, number, block.heads, coefficients)
        else:
            _recurrence(program, block)
        program.code += [MARK, 2 * number - 1]
        _feed_forward(program, block.feed_forward, one)
        program.code += [MARK, 2 * number]
    program.code += [LOGITS, END]
    for index, flat in enumerate(coefficients):
        program.heads[index] = replace(program.heads[index], coefficients=len(program.code))
        program.code += flat
    return program


def _attention(program: Program, number: int, heads: Sequence[AttentionHead], coefficients: list[list[int]]) -> None:
    stream, outputs = range(program.width), list[int]()
    for index, head in enumerate(heads):
        query, key, value, output = (program.reserve(len(m)) for m in (head.query, head.key, head.value, head.value))
        for first, matrix, how in ((query, head.query, STORE), (key, head.key, KEY), (value, head.value, STORE)):
            for c, row in enumerate(matrix):
                program.row(first + c, how, program.weights(row, stream))
        used = tuple(np.flatnonzero(np.any(head.key != 0, axis=0)).tolist()) if len(head.key) else ()
        slots = range(query, query + len(head.query))
        coefficients.append([n for i in used for n in terms(program.weights(head.key[:, i], slots))])
        program.code += [ATTEND, len(program.heads)]
        name = f"{number}.attn.{index}"
        program.heads.append(HeadPlan(name, used, len(head.key), len(head.value), query, key, value, output))
        outputs += range(output, output + len(head.value))
    for register in stream:
        weights = program.weights(np.concatenate([np.zeros(0), *(head.out[register] for head in heads)]), outputs)
        if weights:
            program.row(register, ADD, weights)


def _recurrence(program: Program, block: Block) -> None:
    recurrence, stream = block.recurrence, range(program.width)
    if recurrence is None:
        return
    kept = np.flatnonzero(np.any(recurrence.carry != 0, axis=1) | np.any(recurrence.feed != 0, axis=1)).tolist()
    state, following = program.reserve(program.width), program.reserve(program.width)
    for register in kept:
        carried = program.weights(recurrence.carry[register], range(state, state + program.width))
        program.row(following + register, STORE, [*carried, *program.weights(recurrence.feed[register], stream)])
    for register in kept:
        program.row(state + register, STORE, [(following + register, program.unit)])
        program.row(register, ADD, [(state + register, program.unit)])


def _feed_forward(program: Program, ffn: FeedForward, one: int) -> None:
    stream, hidden = range(program.width), program.reserve(len(ffn.gate))

    def with_bias(row: Matrix, bias: float, slots: Sequence[int]) -> list[tuple[int, int]]:
        return [*program.weights(row, slots), (one, program.quanta(bias))]

    for i in range(len(ffn.gate)):
        gate = terms(with_bias(ffn.gate[i], ffn.gate_bias[i], stream))
        program.code += [UNIT, hidden + i, *gate, *terms(with_bias(ffn.up[i], ffn.up_bias[i], stream))]
    for register in stream:
        weights = with_bias(ffn.down[register], ffn.down_bias[register], range(hidden, hidden + len(ffn.gate)))
        if any(weight for _, weight in weights):
            program.row(register, ADD, weights)
