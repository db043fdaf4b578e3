"""The step of an RNN as a scene of the page: its circuit, which lights up gate by gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from circuits.circuit import Circuit, Gate, GateKind
from circuits.models import Rnn
from constructions.show.trace import TokenTrace


class CircuitScene:
    """The circuit of one step, and the gate that each position leads to."""

    def __init__(self, rnn: Rnn, prompt_length: int, tokens: Sequence[int]) -> None:
        """Takes the tokens after the prompt, as numbers of the RNN's words."""
        self.circuit, self.prompt_length, self.tokens = rnn.step.circuit, prompt_length, tokens
        self.bits = rnn.vocabulary[:2]

    def document(self) -> Mapping[str, object]:
        """Returns the circuit as scenes.js reads it: kind, operands and name of each gate; the words that stand for 0 and 1.

        ends: what a gate's value becomes, an output bit or the next value of a state bit, by name.
        """
        gates = [(g.kind.name, g.left, g.right, _name(self.circuit, g)) for g in self.circuit.gates]
        ends: list[list[str]] = [[] for _ in gates]
        for name, gate in zip(self.circuit.output_names, self.circuit.outputs, strict=True):
            ends[gate].append(name)
        for name, gate in zip(self.circuit.states, self.circuit.next_state, strict=True):
            ends[gate].append(f"next {name}")
        return {"kind": "circuit", "gates": gates, "bits": self.bits, "ends": ends}

    def says(self, token: TokenTrace) -> str:
        """Returns the gate that comes next, with its operands."""
        turn = len(self.circuit.gates) + 1
        step, number = divmod(token.position - self.prompt_length, turn)
        begin = step * turn
        if number == turn - 1:
            if token.response:
                return f"RNN step {step + 1} is complete: a search found {token.response}, which the RNN reads next."
            return f"RNN step {step + 1} is complete: the RNN's own word is {token.produced}."
        gate = self.circuit.gates[number]

        def value(of: int, at: int = begin) -> str:
            return f"gate {of + 1} ({self._gate_value(at + of)})"

        if gate.computes:
            what = f"{gate.kind.name} of {value(gate.left)} and {value(gate.right)}"
        elif gate.kind is GateKind.STATE:
            source = value(self.circuit.next_state[gate.left], begin - turn) if step else "what it is at the start"
            what = f"state bit {self.circuit.states[gate.left]}, {source}"
        else:
            what = _name(self.circuit, gate)
        return f"RNN step {step + 1}, gate {number + 1}: {what}. It is {self._gate_value(begin + number)}."

    def _gate_value(self, place: int) -> int | str:
        """Returns the value that a gate's token stands for."""
        token = self.tokens[place]
        return token if token in (0, 1) else "?"


def _name(circuit: Circuit, gate: Gate) -> str:
    if gate.kind is GateKind.INPUT:
        return f"input bit {circuit.inputs[gate.left]}"
    if gate.kind is GateKind.STATE:
        return f"state bit {circuit.states[gate.left]}"
    return "1" if gate.kind is GateKind.ONE else gate.kind.name
