"""What Theorem 4.8's Transformer is made for: an RNN, how long its prompts are, and what the next gate is after each gate.

Source: Theorem 4.8.
Notation: a step is C gates and then a word, so a turn of T = C + 1 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from circuits.builder import constants
from circuits.circuit import GateKind
from circuits.lanes import number_quanta
from circuits.models import Rnn
from constructions.wiring.affine import Number


@dataclass(frozen=True, eq=False)
class Plan:
    """What the weights are made for: an RNN, the length of its prompts, and how many words the RNN may write.

    results: how many words of search results are among what it reads after the prompt, at most.
    Raises ValueError for an RNN that Theorem 4.8 is not about, or that decodes otherwise than by its embedding.
    """

    rnn: Rnn
    prompt: int
    words: int
    results: int = 0

    def __post_init__(self) -> None:
        names = self.numbers
        if not self.rnn.step.states:
            raise ValueError(f"{self.rnn.name} has no state: its step is no recurrence")
        if self.prompt < 1 or self.words < 1:
            raise ValueError(f"a prompt and the RNN's words are at least 1, not {self.prompt} and {self.words}")
        if not set(self.outputs) <= set(names):
            raise ValueError(f"{self.rnn.name} writes numbers that its words do not have")
        slopes = set(self.rnn.position) - {0.0}
        if slopes - {1.0} or np.count_nonzero(self.rnn.position) > 1 or self.rnn.words[:, self.rnn.position != 0].any():
            raise ValueError(f"{self.rnn.name} adds positions to numbers of its words")
        tied = self.rnn.words[:, [names.index(name) for name in self.outputs]]
        rest = [i for i, name in enumerate(names) if name not in self.outputs]
        if not np.array_equal(tied, self.rnn.unembed) or self.rnn.words[:, rest].any():
            raise ValueError(f"{self.rnn.name} does not decode by its embedding")
        if len(self.rnn.vocabulary) < 2:
            raise ValueError(f"{self.rnn.name} has one word; the values of gates are two")

    @property
    def gates(self) -> int:
        """C."""
        return len(self.rnn.step.circuit.gates)

    @property
    def turn(self) -> int:
        """T: how many tokens a step is."""
        return self.gates + 1

    @property
    def steps(self) -> int:
        """Returns how many steps the RNN takes at most: the last word that it writes is written after the last of them."""
        return self.prompt + self.words + self.results - 1

    @property
    def length(self) -> int:
        """L: the longest sequence."""
        return self.prompt + self.turn * self.steps

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of a word's numbers, x[…], the position among them."""
        return self.rnn.step.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names that the output's numbers, o[…], have in a word."""
        return tuple(f"x{name[1:]}" for name in self.rnn.step.outputs)

    @property
    def digits(self) -> int:
        """p − 1, of the RNN."""
        return self.rnn.step.precision_bits - 1

    @property
    def fraction(self) -> int:
        """q, of the RNN."""
        return self.digits // 2

    @cached_property
    def fixed(self) -> dict[str, Fraction]:
        """The output's numbers that are the same whatever is read, by their names in a word."""
        circuit, p = self.rnn.step.circuit, self.digits + 1
        values = constants(circuit)
        numbers = {}
        for i, name in enumerate(self.outputs):
            bits = [values[gate] for gate in circuit.outputs[i * p : (i + 1) * p]]
            if None not in bits:
                numbers[name] = Fraction(number_quanta([bit or 0 for bit in bits]), 1 << self.fraction)
        return numbers

    @cached_property
    def position(self) -> str | None:
        """The number that is the position, if one is."""
        return next((name for name, slope in zip(self.numbers, self.rnn.position, strict=True) if slope), None)

    def sign_gate(self, output: int) -> int:
        """Returns the number of the gate that is the sign of this output."""
        return self.rnn.step.circuit.outputs[(output + 1) * (self.digits + 1) - 1] + 1

    def rows(self) -> list[dict[str, Number]]:
        """Returns what the table says of the gate that follows gate b, for b = 0 … C; registers that are 0 are left out.

        left, right: how many tokens before gate b's token the operands stand.
        """
        circuit, p = self.rnn.step.circuit, self.digits + 1
        after_sign = {self.sign_gate(i) for i in range(len(self.outputs))}
        rows: list[dict[str, Number]] = []
        for b, gate in enumerate(circuit.gates):
            row: dict[str, Number] = {"place": p + 1 if b in after_sign else 1}
            if gate.computes:
                row |= {"is_and" if gate.kind is GateKind.AND else "is_xor": 1}
                row |= {"left": b - gate.left - 1, "right": b - gate.right - 1}
            elif gate.kind is GateKind.STATE:
                left = b - circuit.next_state[gate.left] - 1 + self.turn
                row |= {"is_state": 1, "left": left, "initial": circuit.initial[gate.left]}
            elif gate.kind is GateKind.ONE:
                row |= {"is_one": 1}
            else:
                name, r = self.numbers[gate.left // p], gate.left % p + 1
                row |= {"is_input": 1, f"pick {name}": 1}
                if r < p:
                    row |= {"is_digit": 1, "place": r, "weight": Fraction(2) ** (self.fraction - r)}
            rows.append(row)
        rows.append({"last": 1, "place": 1})
        return rows

    def bounds(self) -> list[dict[str, tuple[int, int]]]:
        """Returns bounds of the table's entries for the gate after gate b, over all circuits of this shape, without fixed entries.

        Its output has the same constant bits. It may start with any state, and the gates after its state and input bits may be AND,
        XOR or 1, and read any before.
        """
        p, step = self.digits + 1, self.rnn.step
        read = p * (len(step.states) + len(step.inputs))
        bit = (0, 1)
        kinds = dict.fromkeys(("is_and", "is_xor", "is_one"), bit)
        rows: list[dict[str, tuple[int, int]]] = []
        for b in range(self.gates):
            if b < p * len(step.states):
                rows.append({"initial": bit})
            elif b < read:
                rows.append({})
            else:
                rows.append({**kinds, "left": (0, b - 1), "right": (0, b - 1)})
        return [*rows, {}]
