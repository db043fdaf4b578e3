"""What Theorem 4.8's Transformers of circuits of one shape share, and that block 2 of each says which gate is next.

A shape is how many gates a step has, its state bits, its inputs and its outputs, which bits of the output are constant, and the
words. A circuit of the shape may start with any state. The gates after its state and input bits may be AND, XOR or 1, and read any
gates before. All this stands in a table with a row for each gate.

What is shown: the weights are planned once, with a symbol for each entry of the table that differs between circuits. So the table
stands in one gadget of block 2, whatever it says. The units of this gadget write row b at gate b, a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from circuits.circuit import Gate, GateKind
from circuits.plan import Plan
from circuits.simulation import plan_of
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.plan import BlockPlan, Gadget
from precision.format import Format
from verify.algebra.domains import Refuted, Undecided
from verify.automata.token_automaton import Free

TABLE = 1  # the block that has the table, from 0
NOTHING = frozenset[str]()
MOST_EXACT = 1 << 53  # of whole numbers in float64


def free_of(plan: Plan) -> tuple[Free, ...]:
    """Returns what block 2 may write about the next gate, of any circuit of the plan's shape."""
    of_circuit, of_gates = plan.rows(), plan.bounds()
    names = dict.fromkeys(name for row in of_gates for name in row)
    bounds = dict[str, list[tuple[int, int]]]()
    for position in range(1, plan.length):
        b = (position - plan.prompt) % plan.turn if position >= plan.prompt else -1
        for name in names:
            own = int(of_circuit[b].get(name, 0)) if b >= 0 else 0
            bounds.setdefault(name, []).append(of_gates[b].get(name, (own, own)) if b >= 0 else (0, 0))
    return tuple(Free(2, name, tuple(ends)) for name, ends in bounds.items())


@dataclass(frozen=True, eq=False)
class AnyCircuit(Plan):
    """The plan of any circuit of a shape: its table has a symbol for each entry that is free. of: the plan of one of them.

    Its own circuit is another one of the shape, in which all gates that may differ are 1: so a plan that is made of the gates
    themselves is another one.
    """

    of: Plan | None = None

    @cached_property
    def fixed(self) -> dict[str, Fraction]:
        """The output's numbers that are the same whatever is read: its constant bits are those of the shape."""
        return self._one.fixed

    @property
    def _one(self) -> Plan:
        if self.of is None:
            raise TypeError("a shape is that of a plan")
        return self.of

    def rows(self) -> list[dict[str, Any]]:
        """Returns the table. The symbol of register r at gate b is called `r b`."""
        return [
            {**row, **{name: reg(f"{name} {b}") for name in free}}
            for b, (row, free) in enumerate(zip(self._one.rows(), self.bounds(), strict=True))
        ]


def generalize(plan: Plan) -> AnyCircuit:
    """Returns the plan of any circuit of a plan's shape."""
    step = plan.rnn.step
    gates = [
        gate if gate.kind in (GateKind.STATE, GateKind.INPUT) else Gate(GateKind.ONE) for gate in step.circuit.gates
    ]
    circuit = replace(step.circuit, gates=tuple(gates))
    rnn = replace(plan.rnn, step=replace(step, circuit=circuit))
    return AnyCircuit(rnn, plan.prompt, plan.words, plan.results, plan)


def check_table(plan: Plan, fmt: Format) -> None:
    """Raises Refuted or Undecided unless block 2 writes the row of gate b at gate b, whatever circuit of the shape it is."""
    every = generalize(plan)
    table, (embedding, blocks) = every.rows(), plan_of(every, fmt, NOTHING)
    own = {f"{name} {b}": row.get(name, 0) for b, row in enumerate(plan.rows()) for name in table[b]}
    if (embedding, tuple(_of_circuit(block, own) for block in blocks)) != plan_of(plan, fmt, NOTHING):
        raise Refuted(
            "the plan", "that of any circuit of the shape, at this circuit, is another one than this circuit's"
        )
    units = [unit for gadget in blocks[TABLE].gadgets if _has_symbols(gadget) for unit in gadget.units]
    if not units or any(
        _has_symbols(gadget) for i, block in enumerate(blocks) if i != TABLE for gadget in block.gadgets
    ):
        raise Undecided("the plan", "the table stands elsewhere than in block 2")
    written = {name for unit in units for name in unit.into}
    value, slope = dict.fromkeys(written, Affine()), dict.fromkeys(written, Affine())
    starts = {int(-unit.gate.constant): unit for unit in units}
    if len(starts) < len(units) or min(starts) < -1:
        raise Undecided("block 2", "two units of its table begin at one gate, or before the first")
    for b in range(-1, plan.turn):
        for name in written:
            value[name] += slope[name]
        if b >= 0 and (wrong := [name for name in written if value[name] != as_affine(table[b].get(name, 0))]):
            raise Refuted("block 2", f"register {wrong[0]} at gate {b + 1} is {value[wrong[0]]}")
        if (unit := starts.get(b)) is not None:
            if unit.gate != reg("gate") - b or unit.up != as_affine(1):
                raise Undecided("block 2", "a unit of its table is no function of the gate's number")
            for name, weight in unit.into.items():
                slope[name] += as_affine(weight)
    if 4 * plan.turn > min(int(fmt.max_value), MOST_EXACT):
        raise Undecided("block 2", "a weight of some circuit's table may be none of the format's numbers")


def _has_symbols(gadget: Gadget) -> bool:
    return any(isinstance(weight, Affine) for unit in gadget.units for weight in unit.into.values())


def _of_circuit(block: BlockPlan, own: Mapping[str, Number]) -> BlockPlan:
    """Returns a block with numbers in place of symbols. In the table, what is 0 is left out, and units that write nothing."""

    def number(weight: Affine | Number) -> Number:
        form = as_affine(weight)
        return form.constant + sum(c * own[name] for name, c in form.terms.items())

    def filled(gadget: Gadget) -> Gadget:
        if not _has_symbols(gadget):
            return gadget
        units = [{name: value for name, w in unit.into.items() if (value := number(w))} for unit in gadget.units]
        kept = zip(gadget.units, units, strict=True)
        return replace(gadget, units=tuple(replace(unit, into=into) for unit, into in kept if into))

    return replace(block, gadgets=tuple(map(filled, block.gadgets)))
