"""A model as a flat program for compiled code: instructions over slots, each slot a number of quanta in fixed-width limbs.

Notation: W limbs hold an element of the format, A = 2W + 1 limbs a sum of products of two. Every element, the position included, is
below 2^(64W − 2), so a product is below 2^(128W − 4), and A limbs hold any sum of fewer than 2^60 of them with its sign.
Slots: the residual stream, then 1, the position (a bias and the slope of the embedding are weights of these), then
what the sublayers need. Instructions, as int64: a kind, then
  EMBED, ATTEND head, LOGITS head, MARK sublayer
  ROW into, how, terms…    into := Σ weight·slot, rounded (how: STORE, ADD to a residual register, KEY: as STORE, noting any rounding)
  UNIT into, gate terms…, up terms…    into := ReLU(gate)·up
and terms are their number, then (slot, mantissa, shift) each, for the weight mantissa·2^shift in quanta.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from constructions.layers import AttentionHead, Block, Transformer
from precision.format import Arithmetic
from precision.rounding import round_fraction

END, EMBED, ATTEND, LOGITS, MARK, ROW, UNIT = range(7)
STORE, ADD, KEY = range(3)
MANTISSA_BITS = 62
LONGEST_BITS = 40  # sequences are shorter than 2^LONGEST_BITS


@dataclass(frozen=True)
class HeadPlan:
    """Where a head finds its numbers.

    used: the registers that its keys read, as slots. query, key, value, output: its first slots, one for each row. coefficients: where
    the program holds, for each used register, the terms of its coefficient in a score.
    """

    name: str
    used: tuple[int, ...]
    score_width: int
    value_width: int
    query: int
    key: int
    value: int
    output: int
    coefficients: int


@dataclass
class Program:
    """The model under a format. words: per token, where its entries (slot, number) are in word_slots and word_limbs."""

    model: Transformer
    arithmetic: Arithmetic
    limbs: int
    code: list[int] = field(default_factory=list)
    heads: list[HeadPlan] = field(default_factory=list)
    slots: int = 0

    @property
    def one(self) -> int:
        """The slot that holds 1."""
        return self.model.width

    @property
    def position(self) -> int:
        """The slot that holds the position."""
        return self.model.width + 1

    def quanta(self, weight: float) -> int:
        """A weight as the format holds it."""
        return round_fraction(Fraction(float(weight)), self.arithmetic.format, self.arithmetic.rounding).quanta


def limbs_needed(arithmetic: Arithmetic) -> int:
    """W."""
    fmt = arithmetic.format
    return (max(fmt.max_quanta.bit_length(), LONGEST_BITS - fmt.quantum_exponent) + 2 + 63) // 64


def compile_model(model: Transformer, arithmetic: Arithmetic) -> Program:
    """The program, its last head being the output head, whose keys are the vocabulary."""
    program = Program(model, arithmetic, limbs_needed(arithmetic))
    program.slots = model.width + 2
    code = program.code
    data: list[tuple[int, list[list[int]]]] = []  # head, its coefficients' terms; laid behind the code
    code.append(EMBED)
    for i in np.flatnonzero(model.position).tolist():
        whole = [*_terms(program, [(i, _one(program))]), *_terms(program, [(program.position, program.quanta(model.position[i]))])]
        code += [ROW, i, STORE, *_counted(whole)]
    code += [MARK, 0]
    free = program.slots
    for number, block in enumerate(model.blocks, start=1):
        program.slots = free
        if block.recurrence is not None:
            free = _recurrence(program, block)
        else:
            _attention(program, number, block.heads, data)
        code += [MARK, 2 * number - 1]
        _feed_forward(program, block)
        code += [MARK, 2 * number]
    used = tuple(np.flatnonzero(np.any(model.unembed != 0, axis=0)).tolist())
    base = _reserve(program, len(used))
    for c, slot in enumerate(used):
        code += [ROW, base + c, STORE, *_counted(_terms(program, [(slot, _one(program))]))]
    data.append((len(program.heads), [_terms(program, [(base + c, _one(program))]) for c in range(len(used))]))
    program.heads.append(HeadPlan("logits", used, len(used), 0, base, base, base, base, 0))
    code += [LOGITS, len(program.heads) - 1, END]
    for head, rows in data:
        plan = program.heads[head]
        program.heads[head] = HeadPlan(**{**plan.__dict__, "coefficients": len(code)})
        for row in rows:
            code += _counted(row)
    return program


def _one(program: Program) -> int:
    return 1 << -program.arithmetic.format.quantum_exponent


def _reserve(program: Program, count: int) -> int:
    base = program.slots
    program.slots += count
    program_top[id(program)] = max(program_top.get(id(program), 0), program.slots)
    return base
