"""From a Linear RNN's matrices to the circuit of one step, operator by operator as the reference engine runs them.

Source: definitions 3.4 and 3.5; the operators are those of `constructions.engines.reference`.
A register is a form (forms.py): gates are made where something is not linear.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from circuits.builder import Builder
from circuits.forms import Form, FormBuilder
from circuits.numbers import NumberBuilder
from circuits.ranges import Range, Reads, invariant
from circuits.step import Step, step
from constructions.layers import Matrix, Transformer
from constructions.measures import state_registers
from constructions.places import name_place
from constructions.rows import HeadRows, Recurrent, Row, block_rows
from constructions.walk import Domain, Values, walk
from precision.format import Arithmetic, Format, Rounding
from precision.rounding import round_fraction


def compile_step(model: Transformer, registers: Sequence[str], arithmetic: Arithmetic) -> Step:
    """Returns the step of a Linear RNN, on any state and input. registers: names of its coordinates.

    Inputs are called `x[register]`, outputs `o[register]`, the state of block k `hk[register]`.
    Raises ValueError for a model with attention, and for a format or a rounding that circuits are not built for.
    """
    _check(model, arithmetic)
    return _Compiler(model, registers, arithmetic, Reads()).step()


def compile_reachable(model: Transformer, registers: Sequence[str], arithmetic: Arithmetic) -> tuple[Step, Reads]:
    """Returns the step for all states that it reaches and inputs that embed words, and these states and inputs."""
    _check(model, arithmetic)
    most = arithmetic.format.max_quanta
    inputs = {
        f"x[{registers[r]}]": _input_values(model.words[:, r], model.position[r], arithmetic.format)
        for r in filled_registers(model.words, model.position)
    }
    reads = Reads({}, inputs)
    for i, names in enumerate(_states(model, registers)):
        if names:  # on which no state of an earlier block depends

            def following(reads: Reads, block: int = i) -> list[Range]:
                return _Compiler(model, registers, arithmetic, reads).ranges_of_block(block)

            reads = invariant(list(names.values()), reads, most, following)
    return _Compiler(model, registers, arithmetic, reads).step(), reads


def filled_registers(*matrices: Matrix) -> list[int]:
    """Returns the registers that a row of these matrices over all registers fills or reads."""
    return [int(r) for r in np.flatnonzero(np.vstack(matrices).any(axis=0))]


def _check(model: Transformer, arithmetic: Arithmetic) -> None:
    if attention := [i for i, block in enumerate(model.blocks, start=1) if block.heads]:
        raise ValueError(
            f"{name_place(attention[0])} has attention: a step of this model is no circuit of its state and input"
        )
    if arithmetic.rounding is not Rounding.NEAREST_EVEN:
        raise ValueError(f"circuits round to nearest even, not {arithmetic.rounding.value}")


def _states(model: Transformer, registers: Sequence[str]) -> list[dict[int, str]]:
    """Returns the registers with a state, by block, and the names of their numbers."""
    return [
        {r: f"h{k}[{registers[r]}]" for r in state_registers(block.recurrence)} if block.recurrence is not None else {}
        for k, block in enumerate(model.blocks, start=1)
    ]


def _input_values(words: Matrix, slope: float, fmt: Format) -> Sequence[int] | Range:
    """Returns what an input number is for each word, in quanta; where it is a position too, its range."""
    quanta = [round_fraction(Fraction(float(word)), fmt).quanta for word in words]
    if not slope:
        return quanta
    return Range(min(0, *quanta), fmt.max_quanta) if slope > 0 else Range(-fmt.max_quanta, max(0, *quanta))


class _Compiler(Domain[Form]):
    """The operators of one step, one after the other. stream: the registers, as forms. following: the next state of each block."""

    stream: list[Form]

    def __init__(self, model: Transformer, registers: Sequence[str], arithmetic: Arithmetic, reads: Reads) -> None:
        self.model, self.registers, self.format = model, registers, arithmetic.format
        self.forms = FormBuilder(NumberBuilder(Builder(), arithmetic.format), arithmetic.discipline, reads)
        self.names = _states(model, registers)
        self.states_before = [{r: self.forms.state(name) for r, name in names.items()} for names in self.names]
        self.following: dict[int, list[Form]] = {}
        self.stream = [self.forms.constant(0)] * model.width
        self.inputs = {r: f"x[{registers[r]}]" for r in filled_registers(model.words, model.position)}
        for r, name in self.inputs.items():
            self.stream[r] = self.forms.input(name)

    def step(self) -> Step:
        following = [form for forms in self.run() for form in forms]
        read = filled_registers(self.model.unembed)
        outputs = {f"o[{self.registers[r]}]": self.forms.number(self.stream[r]) for r in read}
        names = [name for names in self.names for name in names.values()]
        next_state = [self.forms.number(form) for form in following]
        return step(self.forms.numbers, names, list(self.inputs.values()), outputs, next_state)

    def ranges_of_block(self, block: int) -> list[Range]:
        """Returns what the next state of a block can be; nothing after its recurrence is looked at."""
        return [self.forms.range(form) for form in next(itertools.islice(self.run(), block, None))]

    def run(self) -> Iterator[list[Form]]:
        """Yields block by block its next state; a block's feed-forward runs when the next one is asked for."""
        layers = (block_rows(block, self._quanta) for block in self.model.blocks)
        for sublayer, _ in enumerate(walk(self, layers)):
            if not sublayer % 2:
                yield self.following.pop(self.block, [])

    def row(self, row: Row, bias: int, values: Values[Form]) -> Form:
        return self.forms.dot([(w, values[j]) for j, w in row], bias)

    def unit(self, gate: Form, up: Form) -> Form:
        return self.forms.multiply(self.forms.relu(gate), up)

    def read(self, head: HeadRows, number: int) -> Sequence[Form]:
        raise ValueError(f"{name_place(self.block)} has attention")

    def states(self, recurrence: Recurrent) -> Iterable[tuple[int, Form]]:
        state = self.states_before[self.block - 1]
        following = {}
        for r, carry, feed in recurrence.states():
            terms = [*((w, state[j]) for j, w in carry), *((w, self.stream[j]) for j, w in feed)]
            following[r] = self.forms.dot(terms, 0)
        self.following[self.block] = list(following.values())
        return following.items()

    def write(self, changes: Iterable[tuple[int, Form]]) -> None:
        for r, change in changes:
            self.stream[r] = self.forms.add(self.stream[r], change)

    def _quanta(self, weight: float) -> int:
        return round_fraction(Fraction(weight), self.format).quanta
