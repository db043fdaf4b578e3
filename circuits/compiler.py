"""From a Linear RNN's matrices to the circuit of one step, operator by operator as the reference engine runs them.

Source: definitions 3.4 and 3.5; the operators are those of `constructions.engines.reference`.
A register is a form (forms.py): gates are made where something is not linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from circuits.builder import Builder
from circuits.forms import Form, FormBuilder
from circuits.numbers import NumberBuilder
from circuits.ranges import Range, Reads, invariant
from circuits.step import Step, step
from constructions.layers import Block, FeedForward, Matrix, Transformer
from constructions.measures import state_registers
from precision.format import Arithmetic, Format, Rounding
from precision.rounding import round_fraction


def compile_step(model: Transformer, registers: Sequence[str], arithmetic: Arithmetic) -> Step:
    """The step of a Linear RNN, on any state and input. registers: names of its coordinates.

    Inputs are called `x[register]`, outputs `o[register]`, the state of block k `hk[register]`.
    Raises ValueError for a model with attention, and for a format or a rounding that circuits are not built for.
    """
    _check(model, arithmetic)
    return _compile(model, registers, arithmetic, Reads())[0]()


def compile_reachable(model: Transformer, registers: Sequence[str], arithmetic: Arithmetic) -> tuple[Step, Reads]:
    """The step on what it can be given, and what that is: states that it reaches, inputs that embed words; as `compile_step`."""
    _check(model, arithmetic)
    names = [name for names in _states(model, registers) for name in names.values()]
    inputs = {
        f"x[{registers[r]}]": _embedded(model.words[:, r], model.position[r], arithmetic.format)
        for r in filled_registers(model.words, model.position)
    }
    most = arithmetic.format.max_quanta
    return invariant(names, inputs, most, lambda reads: _compile(model, registers, arithmetic, reads))


def filled_registers(*matrices: Matrix) -> list[int]:
    """The registers that a row of these matrices over all registers fills or reads."""
    return [int(r) for r in np.flatnonzero(np.vstack(matrices).any(axis=0))]


def _check(model: Transformer, arithmetic: Arithmetic) -> None:
    if attention := [i for i, block in enumerate(model.blocks, start=1) if block.heads]:
        raise ValueError(
            f"block {attention[0]} has attention: a step of this model is no circuit of its state and input"
        )
    if arithmetic.rounding is not Rounding.NEAREST_EVEN:
        raise ValueError(f"circuits round to nearest even, not {arithmetic.rounding.value}")


def _states(model: Transformer, registers: Sequence[str]) -> list[dict[int, str]]:
    """The registers with a state, by block, and the names of their numbers."""
    return [
        {r: f"h{k}[{registers[r]}]" for r in state_registers(block.recurrence)} if block.recurrence is not None else {}
        for k, block in enumerate(model.blocks, start=1)
    ]


def _embedded(words: Matrix, slope: float, fmt: Format) -> Sequence[int] | Range:
    """What an input number is for each word, in quanta; where it is a position too, its range."""
    quanta = [round_fraction(Fraction(float(word)), fmt).quanta for word in words]
    if not slope:
        return quanta
    return Range(min(0, *quanta), fmt.max_quanta) if slope > 0 else Range(-fmt.max_quanta, max(0, *quanta))


def _compile(
    model: Transformer, registers: Sequence[str], arithmetic: Arithmetic, reads: Reads
) -> tuple[Callable[[], Step], list[Range]]:
    """What makes the step, and the ranges of its next state."""
    forms = FormBuilder(NumberBuilder(Builder(), arithmetic.format), arithmetic.discipline, reads)
    compiler = _Compiler(forms, arithmetic.format)
    states = _states(model, registers)
    state = [{r: forms.state(name) for r, name in names.items()} for names in states]
    stream = [forms.constant(0)] * model.width
    inputs = {r: f"x[{registers[r]}]" for r in filled_registers(model.words, model.position)}
    for r, name in inputs.items():
        stream[r] = forms.input(name)
    following: list[Form] = []
    for block, held in zip(model.blocks, state, strict=True):
        following += compiler.recur(block, held, stream)
        compiler.feed_forward(block.feed_forward, stream)

    def make() -> Step:
        outputs = {f"o[{registers[r]}]": forms.number(stream[r]) for r in filled_registers(model.unembed)}
        names = [name for names in states for name in names.values()]
        return step(forms.numbers, names, list(inputs.values()), outputs, [forms.number(form) for form in following])

    return make, [forms.range(form) for form in following]


@dataclass(frozen=True)
class _Compiler:
    """The sublayers of a block, as changes of the registers in `stream`."""

    forms: FormBuilder
    format: Format

    def recur(self, block: Block, state: dict[int, Form], stream: list[Form]) -> list[Form]:
        """The recurrence; returns the next state."""
        if block.recurrence is None:
            return []
        following = {}
        for r in state:
            terms = [(w, state[j]) for j, w in self._row(block.recurrence.carry[r])]
            terms += [(w, stream[j]) for j, w in self._row(block.recurrence.feed[r])]
            following[r] = self.forms.dot(terms, 0)
        for r, value in following.items():
            stream[r] = self.forms.add(stream[r], value)
        return list(following.values())

    def feed_forward(self, ffn: FeedForward, stream: list[Form]) -> None:
        """The ReGLU units."""
        to = self.forms
        gates = self._rows(ffn.gate, ffn.gate_bias, stream)
        ups = self._rows(ffn.up, ffn.up_bias, stream)
        hidden = [to.multiply(to.relu(gate), up) for gate, up in zip(gates, ups, strict=True)]
        for r, change in enumerate(self._rows(ffn.down, ffn.down_bias, hidden)):
            stream[r] = to.add(stream[r], change)

    def _rows(self, matrix: Matrix, bias: Matrix, vector: Sequence[Form]) -> list[Form]:
        rows = zip(matrix, bias, strict=True)
        return [self.forms.dot([(w, vector[j]) for j, w in self._row(row)], self._quanta(b)) for row, b in rows]

    def _row(self, row: Matrix) -> list[tuple[int, int]]:
        return [(int(j), self._quanta(row[j])) for j in np.flatnonzero(row)]

    def _quanta(self, weight: float) -> int:
        return round_fraction(Fraction(float(weight)), self.format).quanta
