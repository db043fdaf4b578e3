"""Whole steps by SAT: ranges hold by induction, what they leave out is not missed, and a step is its operators, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from circuits.builder import Bit, Builder, constants
from circuits.circuit import GateKind
from circuits.compiler import compile_step, filled_registers
from circuits.equivalence import find_difference
from circuits.lanes import number_bits
from circuits.models import Rnn, find_models
from circuits.operations import OPERATIONS
from circuits.ranges import Range
from circuits.reliance import STAYS, self_reliant
from circuits.step import Step
from constructions.layers import Matrix
from constructions.measures import state_registers
from precision import Discipline, round_fraction
from tests.circuits.test_operations import mutants

NAMES = ("shift", "sum", "index", "recall", "ngram", "counting")
Bits = Sequence[Bit]


def load(name: str, discipline: Discipline = Discipline.FUSED) -> Rnn:
    return find_models()[name].load(None, 1, discipline)


def operator_by_operator(rnn: Rnn) -> Step:
    """The step under `sequential`, from the circuits of add, multiply and relu alone: no form, no range, no sum of several."""
    assert rnn.wired is not None
    model, p, b = rnn.wired.model, rnn.step.precision_bits, Builder()
    circuits = {name: OPERATIONS[name].circuit(p) for name in ("add", "multiply", "relu")}

    def do(name: str, *numbers: Bits) -> Bits:
        return b.add(circuits[name], [bit for number in numbers for bit in number])[0]

    def constant(weight: float) -> Bits:
        return [
            b.constant(bit) for bit in number_bits(round_fraction(Fraction(weight), rnn.arithmetic.format).quanta, p)
        ]

    def row(weights: Matrix, numbers: Sequence[Bits], bias: float = 0.0) -> Bits:
        result = constant(0.0)
        for weight, number in zip(weights.tolist(), numbers, strict=True):
            if weight:
                result = do("add", result, do("multiply", constant(weight), number))
        return do("add", result, constant(bias))

    old = rnn.step.circuit
    state = [b.state(name, start) for name, start in zip(old.states, old.initial, strict=True)]
    numbers = iter([state[i : i + p] for i in range(0, len(state), p)])
    read = [b.input(name) for name in old.inputs]
    stream = [constant(0.0)] * model.width
    for i, register in enumerate(filled_registers(model.words, model.position)):
        stream[register] = read[i * p : (i + 1) * p]
    following: list[Bits] = []
    for block in model.blocks:
        if block.recurrence is not None:
            registers = state_registers(block.recurrence)
            held = [constant(0.0)] * model.width
            for register in registers:
                held[register] = next(numbers)
            carry, feed = block.recurrence.carry, block.recurrence.feed
            after = [row(_beside(carry[r], feed[r]), [*held, *stream]) for r in registers]
            for register, number in zip(registers, after, strict=True):
                stream[register] = do("add", stream[register], number)
            following += after
        ffn = block.feed_forward
        gates = [do("relu", row(w, stream, bias)) for w, bias in zip(ffn.gate, ffn.gate_bias.tolist(), strict=True)]
        ups = [row(w, stream, bias) for w, bias in zip(ffn.up, ffn.up_bias.tolist(), strict=True)]
        hidden = [do("multiply", x, y) for x, y in zip(gates, ups, strict=True)]
        changes = [row(w, hidden, bias) for w, bias in zip(ffn.down, ffn.down_bias.tolist(), strict=True)]
        stream = [do("add", x, change) for x, change in zip(stream, changes, strict=True)]
    ends = [bit for register in filled_registers(model.unembed) for bit in stream[register]]
    outputs = dict(zip(old.output_names, ends, strict=True))
    circuit = b.circuit(outputs, [bit for number in following for bit in number], in_order=True)
    return replace(rnn.step, circuit=circuit)


def _beside(left: Matrix, right: Matrix) -> Matrix:
    return np.concatenate([left, right])


@pytest.mark.parametrize("name", NAMES)
def test_what_ranges_leave_out_is_not_missed(name: str) -> None:
    """Equal to the step on any bits, wherever the state is within its ranges; and a step out of them ends within them."""
    rnn = load(name)
    assert rnn.wired is not None
    whole = self_reliant(compile_step(rnn.wired.model, rnn.wired.registers, rnn.arithmetic), rnn.reads)
    assert find_difference(self_reliant(rnn.step, rnn.reads, assured=True), whole) is None
    assert all(0 in within for within in rnn.reads.states.values())


@pytest.mark.parametrize("name", ["shift", "sum", "index", "recall"])
def test_a_step_is_its_operators_one_by_one(name: str) -> None:
    rnn = load(name, Discipline.SEQUENTIAL)
    assert (
        find_difference(self_reliant(rnn.step, rnn.reads), self_reliant(operator_by_operator(rnn), rnn.reads)) is None
    )


def test_ranges_that_do_not_hold_are_found_out() -> None:
    rnn = load("sum")
    for wrong in (
        Range(0, 16),
        Range(0, rnn.arithmetic.format.max_quanta - 1),
        Range(0, rnn.arithmetic.format.max_quanta, 3),
    ):
        reads = replace(rnn.reads, states=dict.fromkeys(rnn.reads.states, wrong))
        actual = find_difference(self_reliant(rnn.step, reads), self_reliant(rnn.step, reads, assured=True))
        assert actual is not None
        assert (actual.output, actual.values) == (STAYS, (0, 1)), wrong


def test_every_flipped_gate_of_a_step_is_caught() -> None:
    """But for copies of 0, as 0 ∧ 0 = 0 ⊕ 0."""
    rnn = load("sum")
    right, known = self_reliant(rnn.step, rnn.reads), constants(rnn.step.circuit)
    alive = {
        i
        for i, mutant in mutants(rnn.step.circuit)
        if find_difference(self_reliant(replace(rnn.step, circuit=mutant), rnn.reads), right) is None
    }
    gates = rnn.step.circuit.gates
    assert alive == {i for i, gate in enumerate(gates) if gate.kind is GateKind.AND and known[gate.left] == 0}
    assert len(alive) < 30 < rnn.step.circuit.operations
