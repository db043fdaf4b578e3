"""From named gadgets and heads to matrices.

A plan (plan.py) is a list of gadgets (feed-forward units) and heads over named registers. `wire` lays the registers out as
coordinates, makes the exact layers (exact.py), and fills the matrices from these alone. The plan stays beside the matrices for the
dump and the trace; engines get only the matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from constructions.layers import AttentionHead, Block, FeedForward, HeadLookups, Matrix, Recurrence, Transformer
from constructions.places import name_part, name_place
from constructions.rows import Layer, Row, Sublayer
from constructions.wiring.affine import Number
from constructions.wiring.exact import at, exact_layers
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.plan import (
    BlockPlan,
    Component,
    Embedding,
    Gadget,
    Head,
    LinearUnit,
    Unit,
    constant,
    linear,
    refuse_clashes,
    registers_of,
)
from precision.format import Format
from precision.rounding import round_fraction

__all__ = [
    "BlockPlan",
    "Component",
    "Embedding",
    "Gadget",
    "Head",
    "LinearUnit",
    "Unit",
    "as_held",
    "constant",
    "filled_words",
    "linear",
    "refuse_clashes",
    "registers_of",
    "wire",
]


def held(value: Number, fmt: Format) -> Number:
    """Returns the number that stands for `value` in matrices of a model as printed: rounded to the format, then to float64.

    A printed constant that saturates to 2^q − 2^−q is the nearest number that float64 holds below it.
    """
    element = round_fraction(Fraction(value), fmt).quanta * fmt.quantum
    result = float(element)
    while abs(Fraction(result)) > abs(element):
        result = float(np.nextafter(result, 0.0))
    return Fraction(result)


class _Filler:
    """Fills matrices from exact rows: each entry is its weight, which must lie in the format and in float64."""

    def __init__(self, registers: Sequence[str], fmt: Format) -> None:
        self.registers = registers
        self.index = {str(name): i for i, name in enumerate(registers)}  # plain strings are found faster
        self.format = fmt
        # Integers up to here are elements that float64 holds: most weights are such.
        integers = fmt.is_fixed_point and fmt.quantum_exponent <= 0
        self.plain = min(int(fmt.max_value), 1 << 53) if integers else -1

    def number(self, value: Number) -> float:
        if value.denominator == 1 and abs(value.numerator) <= self.plain:
            return float(value.numerator)
        if round_fraction(Fraction(value), self.format).quanta * self.format.quantum != value:
            raise ValueError(f"weight {value} is not an element of {self.format.name}")
        try:
            result = float(value)
        except OverflowError:
            result = 0.0
        if Fraction(result) != value:
            raise ValueError(f"weight {value} needs more than float64's 53 significant digits")
        return result

    def matrix(self, rows: Sequence[Row]) -> Matrix:
        table = np.zeros((len(rows), len(self.registers)))
        for i, row in enumerate(rows):
            self.fill(table[i], row)
        return table

    def fill(self, vector: Matrix, row: Row) -> None:
        for i, weight in row:
            vector[i] = self.entry(i, weight)

    def entry(self, register: int, weight: Number) -> float:
        try:
            return self.number(weight)
        except ValueError as error:
            raise ValueError(f"register {self.registers[register]!r}: {error}") from error

    def powers(self, rows: Powers) -> Mapping[str, Matrix] | None:
        """Maps each register to its column of the rows; None if some number may not be held exactly by the format or by float64."""
        columns: dict[str, Matrix] = {}
        for name, (factor, exponent) in rows.powers.items():
            quanta, most = factor / self.format.quantum, max(abs(rows.low), abs(rows.high)) ** exponent
            within = quanta.denominator == 1 and abs(quanta) * most <= self.format.max_quanta
            if not (self.format.is_fixed_point and within and abs(factor.numerator) * most < 1 << 53):
                return None
            columns[name] = (np.arange(rows.low, rows.high + 1) ** exponent).astype(np.float64) * float(factor)
        return columns

    def words(self, vocabulary: Sequence[str], rows: Sequence[Mapping[str, Number]], what: str, exact: bool) -> Matrix:
        table = np.zeros((len(self.registers), len(rows))).T  # a register that no word fills takes no memory so
        start = 0
        for part in (*rows.families, rows.others) if isinstance(rows, Numbered) else (rows,):
            if isinstance(part, Powers) and (columns := self.powers(part)) is not None:
                for name, column in columns.items():
                    table[start : start + len(part), self.index[name]] = column
            else:
                for i, row in enumerate(part, start):
                    entries = ((name, value if exact else held(value, self.format)) for name, value in row.items())
                    with at(f"{what} of the word {vocabulary[i]!r}"):
                        self.fill(table[i], tuple((self.index[name], value) for name, value in entries))
            start += len(part)
        return table

    def heads(self, plan: BlockPlan, layer: Layer) -> tuple[AttentionHead, ...]:
        heads, first = [], 0
        for number, (head, rows) in enumerate(zip(plan.heads, layer.heads, strict=True), start=1):
            filled: dict[str, Matrix] = {}
            for side in ("query", "key", "value"):
                with at(name_part("head", number, head.name)), at(side):
                    filled[side] = self.matrix(getattr(rows, side))
            out = np.zeros((len(self.registers), len(rows.value)))
            for i, row in layer.out:
                for j, weight in row:
                    if first <= j < first + len(rows.value):
                        out[i, j - first] = self.entry(i, weight)
            first += len(rows.value)
            heads.append(AttentionHead(**filled, out=out))
        return tuple(heads)

    def recurrence(self, plan: BlockPlan, layer: Layer) -> Recurrence | None:
        if layer.recurrence is None:
            return None
        units = enumerate(plan.linear_units, start=1)
        keeps = {name: name_part("linear unit", number, unit.name) for number, unit in units for name in unit.rows}
        width = len(self.registers)
        carry, feed = np.zeros((width, width)), np.zeros((width, width))
        for matrix, written in ((carry, layer.recurrence.carry), (feed, layer.recurrence.feed)):
            for i, row in written:
                name = self.registers[i]
                with at(f"{keeps[name]}, the state {name!r}"):
                    self.fill(matrix[i], row)
        return Recurrence(carry, feed)

    def feed_forward(self, plan: BlockPlan, sublayer: Sublayer) -> FeedForward:
        width, units = len(self.registers), sublayer.units
        named = [(gadget, name_part("gadget", i, gadget.name)) for i, gadget in enumerate(plan.gadgets, start=1)]
        of_unit = [name for gadget, name in named for _ in gadget.units]
        setter = {register: name for gadget, name in named for register in gadget.constants}
        gate, up, down = (np.zeros(shape) for shape in ((len(units), width), (len(units), width), (width, len(units))))
        gate_bias, up_bias, down_bias = np.zeros(len(units)), np.zeros(len(units)), np.zeros(width)
        for u, unit in enumerate(units):
            with at(of_unit[u]):
                for side, matrix, row, vector, bias in (
                    ("gate", gate, unit.gate, gate_bias, unit.gate_bias),
                    ("up", up, unit.up, up_bias, unit.up_bias),
                ):
                    with at(side):
                        self.fill(matrix[u], row)
                        with at("its constant"):
                            vector[u] = self.number(bias)
        for i, row, bias in sublayer.down:
            for u, weight in row:
                with at(of_unit[u]), at("weight"):
                    down[i, u] = self.entry(i, weight)
            if bias:
                with at(f"{setter[self.registers[i]]}, constant"):
                    down_bias[i] = self.entry(i, bias)
        return FeedForward(gate, gate_bias, up, up_bias, down, down_bias)

    def block(self, number: int, plan: BlockPlan, layer: Layer) -> Block:
        with at(name_place(number)):
            feed_forward = self.feed_forward(plan, layer.feed_forward)
            return Block(self.heads(plan, layer), feed_forward, self.recurrence(plan, layer))


def filled_words(registers: Sequence[str], fmt: Format, families: Sequence[Powers], *, exact: bool = True) -> Matrix:
    """Returns the rows of these numbers as `wire` fills them. Raises ValueError for a number outside the format or float64."""
    rows = Numbered(tuple(families), ())
    return _Filler(registers, fmt).words(["of a number"] * len(rows), rows, "the embedding", exact)


def as_held(layers: Sequence[Layer], fmt: Format) -> tuple[Layer, ...]:
    """Returns the layers as a model as printed holds them, see `held`."""
    return tuple(layer.changed(lambda weight: held(weight, fmt)) for layer in layers)


def wire(
    embedding: Embedding,
    blocks: Sequence[BlockPlan],
    unembed: Sequence[Mapping[str, Number]],
    fmt: Format,
    *,
    exact: bool = True,
    longest: int | None = None,
) -> tuple[Transformer, tuple[str, ...]]:
    """Returns the matrices of a model, and the registers in the order of their coordinates.

    exact: whether every weight must be an element of `fmt`; otherwise weights are rounded to it (constructions as printed).
    longest: the most tokens that the constants were derived for, `Setting.length`; engines refuse longer sequences.
    Raises ValueError for an unknown register, a bias in a head, a weight outside the format, and what `refuse_clashes` finds.
    """
    registers = registers_of(embedding, blocks)
    refuse_clashes(embedding, blocks)
    layers = exact_layers(registers, blocks)
    layers = layers if exact else as_held(layers, fmt)
    filler, tokens = _Filler(registers, fmt), embedding.vocabulary
    words = filler.words(tokens, embedding.words, "the embedding", exact)
    numbered = enumerate(zip(blocks, layers, strict=True), start=1)
    return (
        Transformer(
            words=words,
            position=filler.matrix([((registers.index(embedding.position), 1),)])[0],
            blocks=tuple(filler.block(number, plan, layer) for number, (plan, layer) in numbered),
            unembed=words if unembed is embedding.words else filler.words(tokens, unembed, "the output row", exact),
            longest=longest,
            said=HeadLookups(registers, tuple(block.heads for block in blocks)),
        ),
        registers,
    )
