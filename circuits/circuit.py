"""Boolean circuits as data: gates in order, each reading only gates before it.

Source: Theorem 4.8, whose circuits have the gates 1, input bit, hidden-state bit, AND and XOR with ids in order.
A circuit with state bits is one step of a sequential machine: `next_state` says what each of them becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, Protocol, Self, TypeVar


class Boolean(Protocol):
    """What gates are evaluated over."""

    def __and__(self, other: Self, /) -> Self: ...
    def __xor__(self, other: Self, /) -> Self: ...


Value = TypeVar("Value", bound=Boolean)


class GateKind(IntEnum):
    """What a gate is."""

    ONE = 0
    INPUT = 1
    STATE = 2
    AND = 3
    XOR = 4


class Gate(NamedTuple):
    """AND and XOR: the ids of both operands. INPUT and STATE: `left` is the 0-based place among them. The rest is 0."""

    kind: GateKind
    left: int = 0
    right: int = 0

    @property
    def computes(self) -> bool:
        """Returns whether this is an AND or an XOR."""
        return self.kind >= GateKind.AND


@dataclass(frozen=True)
class Circuit:
    """Gates in order, and which of them are read outside.

    inputs, states: names, in the order of the bits' places. initial: the value that each state bit starts with.
    outputs, next_state: ids of gates; one next state for each state bit.
    Raises ValueError for a gate that reads itself or a later one, a place without a bit, an id without a gate.
    """

    gates: tuple[Gate, ...]
    inputs: tuple[str, ...]
    outputs: tuple[int, ...]
    output_names: tuple[str, ...]
    states: tuple[str, ...] = ()
    initial: tuple[int, ...] = ()
    next_state: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.output_names) != len(self.outputs):
            raise ValueError(f"{len(self.outputs)} outputs have {len(self.output_names)} names")
        if not len(self.states) == len(self.initial) == len(self.next_state):
            raise ValueError(
                f"{len(self.states)} state bits have {len(self.initial)} initial values and {len(self.next_state)} next states"
            )
        if set(self.initial) - {0, 1}:
            raise ValueError("a state bit starts as 0 or 1")
        places = {GateKind.INPUT: len(self.inputs), GateKind.STATE: len(self.states)}
        for number, gate in enumerate(self.gates):
            if gate.computes and not (0 <= gate.left < number and 0 <= gate.right < number):
                raise ValueError(f"gate {number} reads gates {gate.left} and {gate.right}, not both before it")
            if gate.kind in places and not 0 <= gate.left < places[gate.kind]:
                raise ValueError(
                    f"gate {number} reads bit {gate.left} of {places[gate.kind]} {gate.kind.name.lower()} bits"
                )
        for place in (*self.outputs, *self.next_state):
            if not 0 <= place < len(self.gates):
                raise ValueError(f"there is no gate {place} among {len(self.gates)}")

    @property
    def operations(self) -> int:
        """The number of AND and XOR gates."""
        return sum(gate.computes for gate in self.gates)

    def count(self, kind: GateKind) -> int:
        """Returns the number of gates of a kind."""
        return sum(gate.kind is kind for gate in self.gates)

    @cached_property
    def depth(self) -> int:
        """The most AND and XOR gates on one path."""
        depths: list[int] = []
        for gate in self.gates:
            depths.append(1 + max(depths[gate.left], depths[gate.right]) if gate.computes else 0)
        return max((depths[place] for place in (*self.outputs, *self.next_state)), default=0)

    def values(self, inputs: Sequence[int], states: Sequence[int] = (), lanes: int = 1) -> list[int]:
        """Returns the value of every gate, for many cases at once: bit j of each integer belongs to case j of `lanes`.

        Raises ValueError if the bits do not fit the circuit.
        """
        if len(inputs) != len(self.inputs) or len(states) != len(self.states):
            raise ValueError(
                f"{len(inputs)} input and {len(states)} state bits for a circuit with {len(self.inputs)} and {len(self.states)}"
            )
        return self.evaluate((1 << lanes) - 1, inputs, states)

    def evaluate(self, one: Value, inputs: Sequence[Value], states: Sequence[Value] = ()) -> list[Value]:
        """Returns the value of every gate over anything that has & and ^, whose 1 is `one`."""
        result: list[Value] = []
        for kind, left, right in self.gates:
            if kind is GateKind.AND:
                result.append(result[left] & result[right])
            elif kind is GateKind.XOR:
                result.append(result[left] ^ result[right])
            elif kind is GateKind.ONE:
                result.append(one)
            else:
                result.append(inputs[left] if kind is GateKind.INPUT else states[left])
        return result

    def run(self, inputs: Sequence[int], states: Sequence[int] = (), lanes: int = 1) -> tuple[list[int], list[int]]:
        """Returns outputs and next state; see `values`."""
        values = self.values(inputs, states, lanes)
        return [values[place] for place in self.outputs], [values[place] for place in self.next_state]
