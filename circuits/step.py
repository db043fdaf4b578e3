"""One step of an RNN as a circuit, numbered as Theorem 4.8 wants it.

Source: definition 3.3 (state, transition and output of an RNN), Theorem 4.8.
Notation: Λ numbers are the hidden state, d numbers the input. The first pΛ gates are the hidden state, then come the pd
input bits, the last pΛ gates are the next state, the gates before them the output, p for each number. Within a number,
bits are in the order of A.2.

The theorem leaves open what an RNN reads and writes, and we decide: it reads a token's embedding, position included, of
which only the registers count that the embedding can fill; it writes the registers that the output head reads. Numbers
are written without −0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from circuits.circuit import Circuit, GateKind
from circuits.lanes import number_bits, number_quanta
from circuits.numbers import Number, NumberBuilder


@dataclass(frozen=True)
class Step:
    """The circuit of one step. Names of numbers; bit i of the number x is called `x.i`.

    Raises ValueError if the circuit is not numbered as it should be.
    """

    circuit: Circuit
    precision_bits: int
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __post_init__(self) -> None:
        c, p = self.circuit, self.precision_bits
        state, inputs, outputs = (p * len(names) for names in (self.states, self.inputs, self.outputs))
        first = tuple(gate[:2] for gate in c.gates[: state + inputs])
        if first != (*((GateKind.STATE, i) for i in range(state)), *((GateKind.INPUT, i) for i in range(inputs))):
            raise ValueError(f"the first {state + inputs} gates are not the state and input bits")
        if (*c.outputs, *c.next_state) != tuple(range(len(c.gates) - outputs - state, len(c.gates))):
            raise ValueError(f"the last {outputs + state} gates are not the output and the next state")

    def run(self, states: Sequence[int], inputs: Sequence[int]) -> tuple[list[int], list[int]]:
        """Returns output and next state, in quanta, of one case."""
        p = self.precision_bits
        bits = [[bit for number in numbers for bit in number_bits(number, p)] for numbers in (inputs, states)]
        outputs, following = self.circuit.run(bits[0], bits[1])
        return _numbers(outputs, p), _numbers(following, p)


def step(
    numbers: NumberBuilder,
    states: Sequence[str],
    inputs: Sequence[str],
    outputs: Mapping[str, Number],
    next_state: Sequence[Number],
) -> Step:
    """Returns the circuit of these outputs and next states over state and input bits that were made in this order."""
    bits = {f"{name}.{i}": bit for name, x in outputs.items() for i, bit in enumerate(numbers.bits(x), start=1)}
    following = [bit for x in next_state for bit in numbers.bits(x)]
    circuit = numbers.builder.circuit(bits, following, in_order=True)
    return Step(circuit, numbers.digits + 1, tuple(states), tuple(inputs), tuple(outputs))


def _numbers(bits: Sequence[int], p: int) -> list[int]:
    return [number_quanta(bits[i : i + p]) for i in range(0, len(bits), p)]
