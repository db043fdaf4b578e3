"""What each symbol of the lemmas on gates is along small runs: the circuit's own values, and the words that an RNN says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from circuits.circuit import Circuit, Gate, GateKind
from verify.induction.place import Place

INPUTS, WORDS, STEPS = 2, 4, 3
TABLE = range(-2, 66)
CIRCUITS = (
    Circuit(
        gates=(
            Gate(GateKind.STATE, 0),
            Gate(GateKind.INPUT, 0),
            Gate(GateKind.INPUT, 1),
            Gate(GateKind.ONE),
            Gate(GateKind.AND, 1, 3),
            Gate(GateKind.XOR, 0, 4),
        ),
        inputs=("x.1", "x.2"),
        outputs=(4,),
        output_names=("o",),
        states=("h",),
        initial=(1,),
        next_state=(5,),
    ),
    Circuit((Gate(GateKind.ONE), Gate(GateKind.XOR, 0, 0)), (), (1,), ("o",)),
)


def places() -> Iterator[Place]:
    """Yields the end of a run of each circuit, with a prompt of one word and of two."""
    for number, circuit in enumerate(CIRCUITS):
        for prompt in ((3,), (2, 1)):
            yield Place(f"circuit {number + 1} after {prompt}", _symbols(circuit, prompt), TABLE, TABLE)


def _symbols(circuit: Circuit, prompt: tuple[int, ...]) -> dict[str, Any]:
    turn, state, words, tokens = len(circuit.gates) + 1, list(circuit.initial), [*prompt], list[int]()
    for step in range(STEPS):
        inputs = [_bit(words[step] + WORDS * step, i) for i, _ in enumerate(circuit.inputs)]
        values = circuit.values(inputs, state)
        state = [values[place] for place in circuit.next_state]
        tokens += [*values, _word(_code(values))]
        if step + 1 >= len(prompt):
            words.append(tokens[-1])
    codes = [_code(tokens[j - j % turn : j + 1]) for j, _ in enumerate(tokens)]
    gates = circuit.gates

    def of_gate(value: Callable[[Gate], int]) -> Callable[[int], int]:
        return lambda g: value(gates[g]) if 0 <= g < len(gates) else 0

    def of_text(values: list[int]) -> Callable[[int], int]:
        return lambda j: values[j] if 0 <= j < len(values) else 0

    both = {"due": of_text(tokens), "token": of_text(tokens), "code-due": of_text(codes), "code": of_text(codes)}
    return both | {
        "C": len(gates),
        "n": len(prompt),
        "L": len(tokens),
        "kind": of_gate(lambda gate: int(gate.kind)),
        "left": of_gate(lambda gate: circuit.next_state[gate.left] if gate.kind is GateKind.STATE else gate.left),
        "right": of_gate(lambda gate: gate.right),
        "initial": of_gate(lambda gate: circuit.initial[gate.left] if gate.kind is GateKind.STATE else 0),
        "first": lambda g: next((i for i, gate in enumerate(gates) if gate.kind is GateKind.INPUT), 0),
        "gate": of_text([j % turn for j, _ in enumerate(tokens)]),
        "step": of_text([j // turn for j, _ in enumerate(tokens)]),
        "prompt": lambda a: prompt[a] if 0 <= a < len(prompt) else 0,
        "entry": lambda word, step: word + WORDS * step,
        "bit-of": lambda e, g: _bit(e, g - 1) if 0 < e < WORDS * STEPS and 1 <= g <= INPUTS else 0,
        "word-of": lambda code: _word(code) if 0 <= code < 1 << len(gates) else 0,
        "so-far": lambda j: True,
        "right-to": lambda j: True,
    }


def _bit(entry: int, i: int) -> int:
    """Returns a bit of what is read: of the word and of the place's parity."""
    return (entry ^ entry >> 2) >> i & 1


def _code(values: list[int]) -> int:
    """Returns the values so far as one number, the first the highest."""
    return [*accumulate(values, lambda code, value: 2 * code + value)][-1]


def _word(code: int) -> int:
    return (code * 5 >> 1) % WORDS
