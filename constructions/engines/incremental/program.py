"""A model as a flat program for compiled code: instructions over slots, each slot a number of quanta in fixed-width limbs.

Notation: W limbs hold an element of the format, A = 2W + 1 limbs a sum of products of two. Every element, the position included, is
below 2^(64W − 2), so a product is below 2^(128W − 4), and A limbs hold any sum of fewer than 2^60 of them with its sign.
Slots: the residual stream, then 1 and the position (biases and the embedding's slope are weights of these), then what the
sublayers need. Instructions, as integers: a kind, then
  EMBED (copies the token's word), ATTEND head, LOGITS, MARK sublayer, END
  ROW into, how, terms      into := Σ weight·slot, rounded; how: STORE; ADD to a residual register; KEY, which notes any rounding
  COPY into, from; COPY_ADD into, from      a ROW, with STORE or KEY, or with ADD, of a single weight 1
  UNIT into, gate, up       into := ReLU(gate)·up, both given by terms
and terms are their number, then (slot, mantissa, shift) each, for a weight of mantissa·2^shift quanta. In a ROW or a UNIT, one
more number stands in front of them: 1 if all weights are integers. Then the mantissa is the weight itself, the shift is 0, and all
weights together are below 2^MANTISSA_BITS: W + 1 limbs hold the sum in quanta, and nothing needs rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from constructions.engines.weights import BlockWeights, Row, StateRow, Weights, coordinates
from precision.format import Arithmetic

END, EMBED, ATTEND, LOGITS, MARK, ROW, UNIT, COPY, COPY_ADD = range(9)
STORE, ADD, KEY = range(3)
MANTISSA_BITS = 62  # fits an int64 with its sign
COMPILED_LIMBS = (2, 3, 5)
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

    def row(self, into: int, how: int, weighted: Weighted) -> None:
        """One ROW instruction, or the same as a copy."""
        weighted = [pair for pair in weighted if pair[1]]
        if len(weighted) == 1 and weighted[0][1] == self.unit:
            self.code += [COPY_ADD if how == ADD else COPY, into, weighted[0][0]]
            return
        if how == ADD and not weighted:
            return
        self.code += [ROW, into, how, *self.marked_terms(weighted)]

    def marked_terms(self, weighted: Weighted) -> list[int]:
        """The terms of a ROW or a UNIT."""
        total = sum(abs(weight) for _, weight in weighted)
        if any(weight % self.unit for _, weight in weighted) or total >= self.unit << MANTISSA_BITS:
            return [0, *terms(weighted)]
        whole = [(slot, weight // self.unit) for slot, weight in weighted if weight]
        return [1, len(whole), *(number for slot, weight in whole for number in (slot, weight, 0))]


def limbs_needed(arithmetic: Arithmetic) -> int:
    """W: two at least, three where two do not do, else five, as each takes half a minute to be compiled."""
    fmt = arithmetic.format
    least = (max(fmt.max_quanta.bit_length(), LONGEST_BITS - fmt.quantum_exponent) + 2 + 63) // 64
    return next((limbs for limbs in COMPILED_LIMBS if limbs >= least), least)


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


def compile_model(weights: Weights) -> Program:
    """The program of one token."""
    width = weights.model.width
    program = Program(width, weights.arithmetic)
    one, position = program.reserve(width + 2) + width, width + 1
    program.code.append(EMBED)
    for i, slope in weights.position.items():
        program.row(i, STORE, [(i, program.unit), (position, slope)])
    program.code += [MARK, 0]
    coefficients: list[list[int]] = []  # of each head
    for number, block in enumerate(weights.blocks, start=1):
        _attention(program, number, block, coefficients)
        _recurrence(program, block.recurrence)
        program.code += [MARK, 2 * number - 1]
        _feed_forward(program, block, one)
        program.code += [MARK, 2 * number]
    program.code += [LOGITS, END]
    for index, flat in enumerate(coefficients):
        program.heads[index] = replace(program.heads[index], coefficients=len(program.code))
        program.code += flat
    return program


def _attention(program: Program, number: int, block: BlockWeights, coefficients: list[list[int]]) -> None:
    outputs = list[int]()
    for index, head in enumerate(block.heads):
        query, key, value, output = (program.reserve(len(m)) for m in (head.query, head.key, head.value, head.value))
        for first, rows, how in ((query, head.query, STORE), (key, head.key, KEY), (value, head.value, STORE)):
            for c, row in enumerate(rows):
                program.row(first + c, how, _weighted(row))
        used = tuple(coordinates(head.key))
        columns: dict[int, list[tuple[int, int]]] = {i: [] for i in used}
        for c, row in enumerate(head.key):
            for i, weight in row:
                columns[i].append((query + c, weight.quanta))
        coefficients.append([n for column in columns.values() for n in terms(column)])
        program.code += [ATTEND, len(program.heads)]
        name = f"{number}.attn.{index}"
        program.heads.append(HeadPlan(name, used, len(head.key), len(head.value), query, key, value, output))
        outputs += range(output, output + len(head.value))
    for register, row in block.out:
        program.row(register, ADD, [(outputs[j], weight.quanta) for j, weight in row])


def _recurrence(program: Program, rows: Sequence[StateRow]) -> None:
    if not rows:
        return
    width = program.width
    state, following = program.reserve(width), program.reserve(width)
    for register, row in rows:
        weighted = [(j - width if j >= width else state + j, weight.quanta) for j, weight in row]
        program.row(following + register, STORE, weighted)
    for register, _ in rows:
        program.row(state + register, STORE, [(following + register, program.unit)])
        program.row(register, ADD, [(state + register, program.unit)])


def _feed_forward(program: Program, block: BlockWeights, one: int) -> None:
    hidden = program.reserve(len(block.gate))
    for i, (gate, up) in enumerate(zip(block.gate, block.up, strict=True)):
        both = ([*_weighted(row), (one, bias.quanta)] for row, bias in (gate, up))
        program.code += [UNIT, hidden + i, *(number for row in both for number in program.marked_terms(row))]
    for register, row, bias in block.down:
        program.row(register, ADD, [*_weighted(row, hidden), (one, bias.quanta)])


def _weighted(row: Row, first: int = 0) -> list[tuple[int, int]]:
    """A row over the slots from `first` on."""
    return [(first + j, weight.quanta) for j, weight in row]
