"""The step of an RNN as a scene of the page: its circuit, which lights up gate by gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from circuits.circuit import Circuit, Gate, Kind
from circuits.models import Rnn
from constructions.show.trace import TokenTrace


class CircuitScene:
    """The circuit of one step, and the gate that each position leads to."""

    def __init__(self, rnn: Rnn, prompt_length: int, produced: Sequence[str]) -> None:
        self.circuit, self.prompt_length, self.produced = rnn.step.circuit, prompt_length, produced
        words = set(rnn.vocabulary)
        self.starts, self.steps = [0], list[int]()  # where each step's gates begin; the step of each place
        for place, token in enumerate(produced):
            self.steps.append(len(self.starts) - 1)
            if token in words and place == self.starts[-1]:  # the result of a search
                self.starts[-1] += 1
            elif token in words:
                self.starts.append(place + 1)

    def document(self) -> Mapping[str, object]:
        """The circuit as scenes.js reads it: kind, operands and name of each gate."""
        gates = [(g.kind.name, g.left, g.right, _name(self.circuit, g)) for g in self.circuit.gates]
        return {"kind": "circuit", "gates": gates}

    def says(self, token: TokenTrace) -> str:
        """The gate that comes next, with its operands."""
        place, turn = token.position - self.prompt_length, len(self.circuit.gates) + 1
        step = self.steps[place]
        begin = self.starts[step]
        number = place - begin
        if number < 0:
            return f"A search found {token.produced}, which the RNN reads next."
        if number == turn - 1:
            return f"Step {step + 1} is complete: the RNN's own word is {token.produced}."
        gate = self.circuit.gates[number]

        def value(of: int, at: int = begin) -> str:
            return f"gate {of + 1} ({self.produced[at + of].partition('=')[2] or '?'})"

        if gate.computes:
            what = f"{gate.kind.name} of {value(gate.left)} and {value(gate.right)}"
        elif gate.kind is Kind.STATE:
            source = (
                value(self.circuit.next_state[gate.left], self.starts[step - 1]) if step else "what it is at the start"
            )
            what = f"state bit {self.circuit.states[gate.left]}, {source}"
        else:
            what = _name(self.circuit, gate)
        return (
            f"Step {step + 1}, gate {number + 1}: {what}. It is {token.produced.partition('=')[2] or token.produced}."
        )


def _name(circuit: Circuit, gate: Gate) -> str:
    if gate.kind is Kind.INPUT:
        return f"input bit {circuit.inputs[gate.left]}"
    if gate.kind is Kind.STATE:
        return f"state bit {circuit.states[gate.left]}"
    return "1" if gate.kind is Kind.ONE else gate.kind.name
