"""A model as a flat program for compiled code: instructions over slots, each slot a number of quanta in fixed-width limbs.

Notation: W limbs hold an element of the format, A = 2W + 1 limbs a sum of products of two. Every element, the position included, is
below 2^(64W − 2), so a product is below 2^(128W − 4), and A limbs hold any sum of fewer than 2^60 of them with its sign.
Slots: the residual stream, then 1 and the position (biases and the embedding's slope are weights of these), then what the
sublayers need. Instructions, as integers: a kind, then
  EMBED (copies the token's word), ATTEND head, LOGITS, MARK sublayer, END
  ROW into, how, a sum      into := Σ weight·slot, rounded; how: STORE; ADD to a residual register; RELU, which stores 0 for
    what is negative; KEY, which is rounded or is not, and this is all that is kept of it
  TIMES into, how, from, integer      a ROW of a single weight, an integer
  COPY into, from; COPY_ADD into, from      a ROW, with STORE or with ADD, of a single weight 1
  UNIT into, size, gate, up      into := ReLU(gate)·up, both given by a sum; size: how long the instruction is. Where one of them is
    the constant 1, a ROW will do
and a sum is the number of its parts, then of each a shift, how many terms it has, and (slot, mantissa) of each term, for a weight
of mantissa·2^shift quanta. The mantissas of a part are below 2^MANTISSA_BITS together, so W + 1 limbs hold it before it is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from constructions.engines.weights import Weights
from constructions.rows import Layer, Row, Sublayer, Written, coordinates
from precision.format import Arithmetic

END, EMBED, ATTEND, LOGITS, MARK, ROW, UNIT, COPY, COPY_ADD, TIMES = range(10)
STORE, ADD, KEY, RELU = range(4)
MANTISSA_BITS, PIECE_BITS = 62, 60  # fit an int64 with their sign
COMPILED_LIMBS = (1, 2, 3, 5)
LONGEST_BITS = 36  # sequences are shorter than 2^LONGEST_BITS

Weighted = Sequence[tuple[int, int]]  # (slot, weight in quanta)


@dataclass(frozen=True)
class HeadPlan:
    """Where a head finds its numbers.

    used: the registers that its keys read. query, value, output: the first of its slots, one for each row. coefficients: where
    the code holds, one after the other for each used register, the sum that is its coefficient in a score. rows: where it
    holds the key's rows over the used registers, for a key that is kept as these.
    """

    name: str
    used: tuple[int, ...]
    score_width: int
    value_width: int
    query: int
    value: int
    output: int
    coefficients: int = 0
    rows: int = 0


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
        """One ROW instruction, or a shorter one that does the same."""
        weighted = [pair for pair in weighted if pair[1]]
        if how != STORE and not weighted:
            return
        if len(weighted) == 1:
            ((slot, weight),) = weighted
            times, fraction = divmod(weight, self.unit)
            if how == KEY and abs(weight) == self.unit:  # never rounded
                return
            if weight == self.unit and how != RELU:
                self.code += [COPY_ADD if how == ADD else COPY, into, slot]
                return
            if fraction == 0 and abs(times) >> PIECE_BITS == 0:
                self.code += [TIMES, into, how, slot, times]
                return
        self.code += [ROW, into, how, *sum_code(weighted, self.unit)]


def limbs_needed(arithmetic: Arithmetic) -> int:
    """W: five where three do not do, as each is compiled by itself."""
    fmt = arithmetic.format
    least = (max(fmt.max_quanta.bit_length(), LONGEST_BITS - fmt.quantum_exponent) + 2 + 63) // 64
    return next((limbs for limbs in COMPILED_LIMBS if limbs >= least), least)


def sum_code(weighted: Weighted, unit: int) -> list[int]:
    """A sum. One part is enough for most: weights come from float64, and those of one row are seldom far apart.

    unit: the weight 1 in quanta. Integers are its multiples, if short enough, as their sums need no rounding.
    A weight that saturated may be longer than a mantissa; it is cut into several, and where does not matter.
    """
    places = unit.bit_length() - 1
    pieces: list[tuple[int, int, int]] = []  # (shift, mantissa, slot)
    for slot, weight in weighted:
        rest, sign, shift = abs(weight), 1 if weight > 0 else -1, 0
        while rest:
            zeros = (rest & -rest).bit_length() - 1
            rest, shift = rest >> zeros, shift + zeros
            mantissa, over = rest & ((1 << PIECE_BITS) - 1), max(0, shift - places)
            over = over if (mantissa << over).bit_length() <= PIECE_BITS else 0
            pieces.append((shift - over, sign * (mantissa << over), slot))
            rest, shift = rest >> PIECE_BITS, shift + PIECE_BITS
    parts: list[list[int]] = []
    room = 0
    for shift, mantissa, slot in sorted(pieces):
        size = abs(mantissa) << (shift - parts[-1][0]) if parts else 0
        if not parts or size >= room:
            parts.append([shift, 0])
            size, room = abs(mantissa), 1 << MANTISSA_BITS
        part = parts[-1]
        part[1] += 1
        part += [slot, mantissa << (shift - part[0])]
        room -= size
    return [len(parts), *(n for part in parts for n in part)]


def compile_model(weights: Weights) -> Program:
    """The program of one token."""
    width = weights.model.width
    program = Program(width, weights.arithmetic)
    one, position = program.reserve(width + 2) + width, width + 1
    program.code.append(EMBED)
    for i, slope in weights.position.items():
        program.row(i, STORE, [(i, program.unit), (position, slope)])
    program.code += [MARK, 0]
    coefficients: list[list[int]] = []  # of each head, and its key's rows
    rows: list[list[int]] = []
    for number, block in enumerate(weights.blocks, start=1):
        _attention(program, number, block, coefficients, rows)
        _recurrence(program, block.recurrence.end_to_end(width) if block.recurrence else ())
        program.code += [MARK, 2 * number - 1]
        _feed_forward(program, block.feed_forward, one)
        program.code += [MARK, 2 * number]
    program.code += [LOGITS, END]
    for index, (sums, keys) in enumerate(zip(coefficients, rows, strict=True)):
        at = len(program.code)
        program.heads[index] = replace(program.heads[index], coefficients=at, rows=at + len(sums))
        program.code += sums + keys
    return program


def _attention(
    program: Program, number: int, block: Layer, coefficients: list[list[int]], rows: list[list[int]]
) -> None:
    outputs = list[int]()
    for index, head in enumerate(block.heads):
        query, value, output = (program.reserve(len(m)) for m in (head.query, head.value, head.value))
        for first, matrix in ((query, head.query), (value, head.value)):
            for c, row in enumerate(matrix):
                program.row(first + c, STORE, _weighted(row))
        for row in head.key:
            program.row(0, KEY, _weighted(row))
        used = tuple(coordinates(head.key))
        columns: dict[int, list[tuple[int, int]]] = {i: [] for i in used}
        for c, row in enumerate(head.key):
            for i, weight in row:
                columns[i].append((query + c, weight.quanta))
        coefficients.append([n for column in columns.values() for n in sum_code(column, program.unit)])
        local = [[(used.index(i), weight.quanta) for i, weight in row] for row in head.key]
        rows.append([n for row in local for n in sum_code(row, program.unit)])
        program.code += [ATTEND, len(program.heads)]
        name = f"{number}.attn.{index}"
        program.heads.append(HeadPlan(name, used, len(head.key), len(head.value), query, value, output))
        outputs += range(output, output + len(head.value))
    for register, row in block.out:
        program.row(register, ADD, [(outputs[j], weight.quanta) for j, weight in row])


def _recurrence(program: Program, rows: Written) -> None:
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


def _feed_forward(program: Program, sublayer: Sublayer, one: int) -> None:
    hidden = program.reserve(len(sublayer.units))
    for i, unit in enumerate(sublayer.units):
        sides = (unit.gate, unit.gate_bias), (unit.up, unit.up_bias)
        opens, raises = ([*_weighted(row), (one, bias.quanta)] for row, bias in sides)
        if opens == [(one, program.unit)]:
            program.row(hidden + i, STORE, raises)
        elif raises == [(one, program.unit)]:
            program.row(hidden + i, RELU, opens)
        else:
            sums = [number for row in (opens, raises) for number in sum_code(row, program.unit)]
            program.code += [UNIT, hidden + i, 3 + len(sums), *sums]
    for register, row, bias in sublayer.down:
        program.row(register, ADD, [*_weighted(row, hidden), (one, bias.quanta)])


def _weighted(row: Row, first: int = 0) -> list[tuple[int, int]]:
    """A row over the slots from `first` on."""
    return [(first + j, weight.quanta) for j, weight in row]
