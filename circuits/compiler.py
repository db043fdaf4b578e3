"""From a Linear RNN's matrices to the circuit of one step, operator by operator as the reference engine runs them.

Source: definitions 3.4 and 3.5; the operators are those of `constructions.engines.reference`.
A register that nothing has filled yet is the constant 0, a register that holds a constant stays one: neither costs a
gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from circuits.builder import Builder
from circuits.numbers import Number, NumberBuilder
from circuits.step import Step, input_number, state_number, step
from constructions.layers import Block, FeedForward, Matrix, Transformer
from constructions.measures import state_registers
from precision.format import Arithmetic, Rounding
from precision.rounding import round_fraction


def compile_step(model: Transformer, registers: Sequence[str], arithmetic: Arithmetic) -> Step:
    """The step of a Linear RNN. registers: names of its coordinates.

    Inputs are called `x[register]`, outputs `o[register]`, the state of block k `hk[register]`.
    Raises ValueError for a model with attention, and for a format or a rounding that circuits are not built for.
    """
    if attention := [i for i, block in enumerate(model.blocks, start=1) if block.heads]:
        raise ValueError(
            f"block {attention[0]} has attention: a step of this model is no circuit of its state and input"
        )
    if arithmetic.rounding is not Rounding.NEAREST_EVEN:
        raise ValueError(f"circuits round to nearest even, not {arithmetic.rounding.value}")
    compiler = _Compiler(NumberBuilder(Builder(), arithmetic.format), arithmetic)
    states = [
        {r: f"h{k}[{registers[r]}]" for r in state_registers(block.recurrence)} if block.recurrence is not None else {}
        for k, block in enumerate(model.blocks, start=1)
    ]
    inputs = {r: f"x[{registers[r]}]" for r in filled_registers(model.words, model.position)}
    state = [{r: state_number(compiler.numbers, name) for r, name in names.items()} for names in states]
    stream = [compiler.numbers.constant(0)] * model.width
    for r, name in inputs.items():
        stream[r] = input_number(compiler.numbers, name)
    following: list[Number] = []
    for block, held in zip(model.blocks, state, strict=True):
        following += compiler.recur(block, held, stream)
        compiler.feed_forward(block.feed_forward, stream)
    return step(
        compiler.numbers,
        [name for names in states for name in names.values()],
        list(inputs.values()),
        {f"o[{registers[r]}]": stream[r] for r in filled_registers(model.unembed)},
        following,
    )


def filled_registers(*matrices: Matrix) -> list[int]:
    """The registers that a row of these matrices over all registers fills or reads."""
    return [int(r) for r in np.flatnonzero(np.vstack(matrices).any(axis=0))]


@dataclass(frozen=True)
class _Compiler:
    """The sublayers of a block, as changes of the registers in `stream`."""

    numbers: NumberBuilder
    arithmetic: Arithmetic

    def recur(self, block: Block, state: dict[int, Number], stream: list[Number]) -> list[Number]:
        """The recurrence; returns the next state."""
        if block.recurrence is None:
            return []
        following = {}
        for r in state:
            terms = [(w, state[j]) for j, w in self._row(block.recurrence.carry[r])]
            terms += [(w, stream[j]) for j, w in self._row(block.recurrence.feed[r])]
            following[r] = self.numbers.dot(terms, 0, self.arithmetic.discipline)
        for r, value in following.items():
            stream[r] = self.numbers.add(stream[r], value)
        return list(following.values())

    def feed_forward(self, ffn: FeedForward, stream: list[Number]) -> None:
        """The ReGLU units."""
        to = self.numbers
        gates = self._rows(ffn.gate, ffn.gate_bias, stream)
        ups = self._rows(ffn.up, ffn.up_bias, stream)
        hidden = [to.multiply(to.relu(gate), up) for gate, up in zip(gates, ups, strict=True)]
        for r, change in enumerate(self._rows(ffn.down, ffn.down_bias, hidden)):
            stream[r] = to.add(stream[r], change)

    def _rows(self, matrix: Matrix, bias: Matrix, vector: Sequence[Number]) -> list[Number]:
        rows = zip(matrix, bias, strict=True)
        return [
            self.numbers.dot([(w, vector[j]) for j, w in self._row(row)], self._quanta(b), self.arithmetic.discipline)
            for row, b in rows
        ]

    def _row(self, row: Matrix) -> list[tuple[int, int]]:
        return [(int(j), self._quanta(row[j])) for j in np.flatnonzero(row)]

    def _quanta(self, weight: float) -> int:
        return round_fraction(Fraction(float(weight)), self.arithmetic.format).quanta
