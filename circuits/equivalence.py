"""Whether two circuits are equal, decided by SAT.

Both circuits stand one after the other over the same inputs in one *miter*; sweep.py then proves gates of the one equal to gates of
the other, from the inputs to the outputs. `verify/trusted/sat.py` checks a proof that the miter's pairs of outputs are equal. That
they are the outputs of both circuits is for `_miter` to get right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from circuits.circuit import Circuit, Gate, GateKind
from circuits.sweep import Equality, sweep

T = TypeVar("T")
PlainGate = tuple[str, int, int]


@dataclass(frozen=True)
class Difference:
    """Bits on which two circuits differ. output: the first that does, `next …` for a state bit. values: of both."""

    inputs: Mapping[str, int]
    states: Mapping[str, int]
    output: str
    values: tuple[int, int]

    def __str__(self) -> str:
        bits = " ".join(f"{name}={bit}" for name, bit in {**self.inputs, **self.states}.items())
        return f"{self.output} is {self.values[0]} in the first and {self.values[1]} in the second at {bits}"


@dataclass(frozen=True)
class EqualCircuits:
    """Two circuits are equal: in one circuit with the gates of both, the gates of each pair are. proof: of that, see `Equality`.

    gates: as `plain_gates` writes them.
    """

    gates: tuple[PlainGate, ...]
    pairs: tuple[tuple[int, int], ...]
    proof: tuple[str, ...]


def plain_gates(gates: Sequence[Gate]) -> tuple[PlainGate, ...]:
    """Returns the gates as `verify.trusted.sat` reads them: "and", "xor", "one", or "free" for an input or a state bit."""
    free = (GateKind.INPUT, GateKind.STATE)
    return tuple(("free", 0, 0) if gate.kind in free else (gate.kind.name.lower(), *gate[1:]) for gate in gates)


def find_difference(first: Circuit, second: Circuit) -> Difference | None:
    """Returns bits on which the circuits differ, or None: then they are equal on all.

    Raises ValueError if they do not have the same inputs, state bits and outputs, in whatever order, or start
    differently.
    """
    result = compare(first, second, proof=False)
    return None if isinstance(result, EqualCircuits) else result


def compare(first: Circuit, second: Circuit, *, proof: bool = True) -> Difference | EqualCircuits:
    """Compares as `find_difference` does, but returns a proof if the circuits are equal."""
    _check_interface(first, second)
    miter, names = _miter(first, second)
    pairs = tuple(zip(miter.outputs[::2], miter.outputs[1::2], strict=True))
    result = sweep(miter, pairs, proof=proof)
    if isinstance(result, Equality):
        return EqualCircuits(plain_gates(miter.gates), pairs, result.proof)
    pair, case = result
    inputs = dict(zip(miter.inputs, case.inputs, strict=True))
    states = dict(zip(miter.states, case.states, strict=True))
    values = [named_values(circuit, inputs, states)[names[pair]] for circuit in (first, second)]
    return Difference(inputs, states, names[pair], (values[0], values[1]))


def match_by_position(first: Circuit, second: Circuit) -> tuple[Circuit, list[str]]:
    """Returns the second circuit with the first one's names where its file names none, and which kinds of bits got them.

    AIGER's table of names is optional. A kind of bits without names gets those of the first circuit, in their order, if there
    are as many; another number of bits is left as it is, so that `find_difference` refuses it.
    """
    matched: list[str] = []
    for what, attribute, letter in (
        ("inputs", "inputs", "i"),
        ("state bits", "states", "l"),
        ("outputs", "output_names", "o"),
    ):
        ours, theirs = getattr(first, attribute), getattr(second, attribute)
        unnamed = theirs in [tuple(f"{x}{i}" for i in range(len(theirs))) for x in (letter, "b")]
        if unnamed and len(ours) == len(theirs) and set(ours) != set(theirs):
            second = replace(second, **{attribute: ours})
            matched.append(what)
    return second, matched


def named_values(circuit: Circuit, inputs: Mapping[str, int], states: Mapping[str, int]) -> dict[str, int]:
    """Returns each output's value, and that of each `next` state bit."""
    outputs, following = circuit.run([inputs[x] for x in circuit.inputs], [states[x] for x in circuit.states])
    return _name_outputs(circuit, outputs, following)


def _name_outputs(circuit: Circuit, outputs: Sequence[T], following: Sequence[T]) -> dict[str, T]:
    result = dict(zip(circuit.output_names, outputs, strict=True))
    return result | {f"next {name}": x for name, x in zip(circuit.states, following, strict=True)}


def _check_interface(first: Circuit, second: Circuit) -> None:
    pairs = (("input", first.inputs, second.inputs), ("output", first.output_names, second.output_names))
    for what, ours, theirs in (*pairs, ("state bit", first.states, second.states)):
        for here, there, which in ((ours, theirs, "second"), (theirs, ours, "first")):
            if missing := [name for name in here if name not in there]:
                raise ValueError(f"the {which} circuit has no {what} {missing[0]!r}")
    starts = [dict(zip(circuit.states, circuit.initial, strict=True)) for circuit in (first, second)]
    for name in first.states:
        if starts[0][name] != starts[1][name]:
            raise ValueError(f"state bit {name!r} starts as {starts[0][name]} in the first circuit, not in the second")


def _miter(first: Circuit, second: Circuit) -> tuple[Circuit, list[str]]:
    """Returns both circuits over the same bits, with pairs of outputs that should be equal; and the names of the pairs."""
    gates = [Gate(kind, i) for kind in (GateKind.STATE, GateKind.INPUT) for i in range(len(_names(first, kind)))]
    place = {gate: number for number, gate in enumerate(gates)}
    sides = []
    for circuit in (first, second):
        at: list[int] = []
        for kind, left, right in circuit.gates:
            if kind in (GateKind.STATE, GateKind.INPUT):
                at.append(place[Gate(kind, _names(first, kind).index(_names(circuit, kind)[left]))])
            else:
                at.append(len(gates))
                gates.append(Gate(kind, at[left], at[right]) if kind is not GateKind.ONE else Gate(kind))
        sides.append(_name_outputs(circuit, [at[i] for i in circuit.outputs], [at[i] for i in circuit.next_state]))
    outputs = {f"{side}: {name}": sides[side][name] for name in sides[0] for side in (0, 1)}
    states = tuple(range(len(first.states)))
    miter = Circuit(
        gates=tuple(gates),
        inputs=first.inputs,
        outputs=tuple(outputs.values()),
        output_names=tuple(outputs),
        states=first.states,
        initial=first.initial,
        next_state=states,
    )
    return miter, list(sides[0])


def _names(circuit: Circuit, kind: GateKind) -> tuple[str, ...]:
    """Returns the names of a circuit's inputs or state bits."""
    return circuit.inputs if kind is GateKind.INPUT else circuit.states
