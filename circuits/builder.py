"""Building circuits: bits with operators, folded and shared as they are made.

Equal gates are made once (structural hashing), constants never reach a gate (folding), and what no output reads is left
out of the finished circuit. A negation is the gate XOR(x, 1); a constant 0 that is read outside is XOR(1, 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from circuits.circuit import Circuit, Gate, GateKind

_ZERO, _ONE = 0, 1  # ids within a builder


@dataclass(frozen=True, slots=True)
class Bit:
    """A bit of the circuit that `builder` makes."""

    builder: Builder
    id: int

    def __and__(self, other: Bit) -> Bit:
        return self.builder.gate_and(self, other)

    def __xor__(self, other: Bit) -> Bit:
        return self.builder.gate_xor(self, other)

    def __or__(self, other: Bit) -> Bit:
        return ~(~self & ~other)

    def __invert__(self) -> Bit:
        return self.builder.gate_xor(self, self.builder.one)


class Builder:
    """A circuit in the making. gates: all that were made so far, read or not; a bit's id is its place among them."""

    def __init__(self) -> None:
        # 0 and 1 come first: a gate is folded away before it could read them, but for the 1 of a negation.
        self.gates = [Gate(GateKind.XOR, _ONE, _ONE), Gate(GateKind.ONE)]
        self._known: dict[Gate, int] = {}
        self._negated: dict[int, int] = {_ZERO: _ONE, _ONE: _ZERO}
        self._inputs: dict[str, int] = {}
        self._states: dict[str, int] = {}
        self._initial: list[int] = []
        self.zero, self.one = Bit(self, _ZERO), Bit(self, _ONE)

    def positive(self, bit: Bit) -> tuple[Bit, bool]:
        """Returns a bit that is no negation, and whether this one is its negation."""
        return (Bit(self, self._negated[bit.id]), True) if self._is_negation(bit.id) else (bit, False)

    def constant(self, value: int) -> Bit:
        """Returns 0 or 1."""
        return self.one if value else self.zero

    def input(self, name: str) -> Bit:
        """Returns a new input bit. Raises ValueError for a name that is taken."""
        return self._add_named(name, GateKind.INPUT, self._inputs)

    def state(self, name: str, initial: int = 0) -> Bit:
        """Returns a new state bit. Raises ValueError for a name that is taken."""
        bit = self._add_named(name, GateKind.STATE, self._states)
        self._initial.append(initial)
        return bit

    def gate_and(self, a: Bit, b: Bit) -> Bit:
        """Returns a ∧ b."""
        x, y = sorted((self._own(a), self._own(b)))
        if x == _ZERO or self._negated.get(x) == y:
            return self.zero
        if x in (_ONE, y):
            return Bit(self, y)
        if self.gates[y].kind is GateKind.AND and x in self.gates[y][1:]:
            return Bit(self, y)  # absorption: x ∧ (x ∧ z)
        return self._gate(Gate(GateKind.AND, x, y))

    def gate_xor(self, a: Bit, b: Bit) -> Bit:
        """Returns a ⊕ b."""
        x, y = sorted((self._own(a), self._own(b)))
        if x == y:
            return self.zero
        if x == _ZERO:
            return Bit(self, y)
        if x == _ONE:
            return self._negation(y)
        if self._negated.get(x) == y:
            return self.one
        if self._is_negation(x) and self._is_negation(y):
            x, y = sorted((self._negated[x], self._negated[y]))
        return self._gate(Gate(GateKind.XOR, x, y))

    def add(self, circuit: Circuit, inputs: Sequence[Bit], states: Sequence[Bit] = ()) -> tuple[list[Bit], list[Bit]]:
        """Returns a circuit's gates over these bits: its outputs and its next state."""
        bits = circuit.evaluate(self.one, inputs, states)
        return [bits[place] for place in circuit.outputs], [bits[place] for place in circuit.next_state]

    def circuit(self, outputs: Mapping[str, Bit], next_state: Sequence[Bit] = (), *, in_order: bool = False) -> Circuit:
        """Returns the circuit of these outputs and next states: state bits first, inputs, then what they read.

        in_order: outputs and next states are the last gates, in this order, as Theorem 4.8 numbers them; a gate that is
        read elsewhere too is copied as x ∧ x.
        """
        roots = [self._own(bit) for bit in (*outputs.values(), *next_state)]
        used, uses = self._reach(roots)
        # A computing gate that nobody else reads takes its own place at the end.
        free = {x for x in roots if in_order and not uses[x] and self.gates[x].computes and roots.count(x) == 1}
        gates: list[Gate] = []
        place: dict[int, int] = {}

        def emit(x: int) -> None:
            gate = self.gates[x]
            place[x] = len(gates)
            gates.append(Gate(gate.kind, place[gate.left], place[gate.right]) if gate.computes else gate)

        for x in (*self._states.values(), *self._inputs.values()):
            emit(x)
        if _ONE in used:
            emit(_ONE)
        for x in used:
            if x not in place and x not in free:
                emit(x)
        ends = [place.get(x, -1) for x in roots]
        if in_order:
            for i, x in enumerate(roots):
                ends[i] = len(gates)
                if x in free:
                    emit(x)
                else:
                    gates.append(Gate(GateKind.AND, place[x], place[x]))
        return Circuit(
            gates=tuple(gates),
            inputs=tuple(self._inputs),
            outputs=tuple(ends[: len(outputs)]),
            output_names=tuple(outputs),
            states=tuple(self._states),
            initial=tuple(self._initial),
            next_state=tuple(ends[len(outputs) :]),
        )

    def _reach(self, roots: Sequence[int]) -> tuple[list[int], dict[int, int]]:
        """Returns the gates that these outputs read, directly or not, in order, and by how many gates each is read."""
        uses = dict.fromkeys(roots, 0)
        for x in range(max(roots, default=-1), -1, -1):
            gate = self.gates[x]
            if x in uses and gate.computes:
                for operand in {gate.left, gate.right}:
                    uses[operand] = uses.get(operand, 0) + 1
        return sorted(uses), uses

    def _add_named(self, name: str, kind: GateKind, names: dict[str, int]) -> Bit:
        if name in self._inputs or name in self._states:
            raise ValueError(f"two bits are called {name!r}")
        names[name] = len(self.gates)
        self.gates.append(Gate(kind, len(names) - 1))
        return Bit(self, names[name])

    def _own(self, bit: Bit) -> int:
        if bit.builder is not self:
            raise ValueError("a gate reads a bit of another circuit")
        return bit.id

    def _is_negation(self, x: int) -> bool:
        gate = self.gates[x]
        return gate.kind is GateKind.XOR and gate.left == _ONE and x != _ZERO

    def _negation(self, x: int) -> Bit:
        if x not in self._negated:
            self._negated[x] = self._gate(Gate(GateKind.XOR, _ONE, x)).id
            self._negated[self._negated[x]] = x
        return Bit(self, self._negated[x])

    def _gate(self, gate: Gate) -> Bit:
        if gate not in self._known:
            self._known[gate] = len(self.gates)
            self.gates.append(gate)
        return Bit(self, self._known[gate])


def constants(circuit: Circuit) -> list[int | None]:
    """Returns the value of each gate that is folded to a constant, None for the others."""
    builder = Builder()
    inputs, states = [builder.input(name) for name in circuit.inputs], [builder.state(name) for name in circuit.states]
    value_of = {builder.zero: 0, builder.one: 1}
    return [value_of.get(bit) for bit in circuit.evaluate(builder.one, inputs, states)]
