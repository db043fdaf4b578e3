"""Gates: products and comparisons become gadgets of a feed-forward over registers (Lemmas C.1, C.3, C.5)."""

from __future__ import annotations

from constructions.language.passes.operations import Compare, Multiply, PlacedComputation, Ramps, Schedule
from constructions.language.passes.registers import RegisterForms
from constructions.wiring.affine import Affine, as_affine
from constructions.wiring.plan import Gadget, Unit


def gadgets_of(schedule: Schedule, registers: RegisterForms, block: int) -> tuple[Gadget, ...]:
    """Returns the gadgets of a block, without those that say something."""
    gadgets = (_gadget(step, registers) for step in schedule.blocks[block])
    return tuple(gadget for gadget in gadgets if gadget is not None)


def _gadget(step: PlacedComputation, registers: RegisterForms) -> Gadget | None:
    ((name, _),) = [*registers.forms[step.value].terms.items()][:1]
    match step.operation:
        case Multiply(units=units, label=label, terms=terms, source=source):
            made = (Unit(registers.form(gate), registers.form(up), {name: 1}) for gate, up in units)
            return Gadget(registers.label(label, terms), tuple(made), {}, source)
        case Compare(ramps=ramps):
            made = (Unit(gate, as_affine(1), {name: weight}) for gate, weight in ramp_gates(ramps, registers))
            constants = {name: ramps.constant} if ramps.constant else {}
            return Gadget(registers.label(ramps.label, ramps.terms), tuple(made), constants, ramps.source)
    return None


def ramp_gates(ramps: Ramps, registers: RegisterForms) -> list[tuple[Affine, int]]:
    """Returns the gate of each unit of a comparison, with its weight."""
    x = registers.form(ramps.x)
    return [((ramps.slope * x + corner) * ramps.part, weight) for corner, weight in ramps.corners]
