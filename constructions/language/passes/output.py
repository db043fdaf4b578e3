"""Output: the units of the last feed-forward, which say a word or a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from constructions.language.passes.facts import TermFacts
from constructions.language.passes.gates import ramp_gates
from constructions.language.passes.operations import OutputRule, Saying, Schedule, Signed
from constructions.language.passes.registers import RegisterForms
from constructions.language.terms import Term
from constructions.language.weights import NUMBER
from constructions.wiring.affine import Affine, Number, as_affine, reg, total
from constructions.wiring.plan import Gadget, Unit, constant
from constructions.wiring.register import squared

IDLE = Fraction(1, 2)  # of a word that is said where no answer is due: no logit ties with it


def output_gadgets(
    facts: TermFacts, schedule: Schedule, registers: RegisterForms, embedded: Sequence[str], signed: Signed | None
) -> tuple[Gadget, ...]:
    """Returns what clears the embedding, and says a word or a number. embedded: its registers, but for the position's."""
    clear = Gadget("clear the embedding", tuple(Unit(as_affine(1), -reg(name), {name: 1}) for name in embedded))
    if signed:
        return clear, say(signed.saying, [(registers.form(signed.factor), 1)], registers, signed.constants)
    constants: dict[str, Number] = {facts.words[0]: IDLE}
    if facts.has_numbers:
        constants[squared(NUMBER)] = -1
    idling = constant("−1 for squares, and a word where nothing is due", constants)
    said = (say_where(rule, late, registers) for rule, late in schedule.rules)
    return clear, idling, *(gadget for gadget in said if gadget.units)


def say_where(rule: OutputRule, late: Term | None, registers: RegisterForms) -> Gadget:
    """Returns the units that output it where all conditions hold. late: a condition in no register, whose own units do so."""
    forms = [registers.form(bit) for bit in rule.conditions if bit != late]
    hold = total(forms) - (len(forms) - 1)
    gates: list[tuple[Affine, int]] = [(hold, 1)]
    if late is not None:
        ramps = rule.late[late]
        gates = [(gate + (hold - 1) * registers.reach(gate), weight) for gate, weight in ramp_gates(ramps, registers)]
        gates += [(hold, ramps.constant)] if ramps.constant else []
    if any(not form.terms and form.constant <= 0 for form in forms):
        gates = []  # never
    return say(rule.saying, gates, registers)


def say(
    saying: Saying,
    gates: Sequence[tuple[Affine, int]],
    registers: RegisterForms,
    constants: Mapping[str, Number] = {},
) -> Gadget:
    """Returns the units of an output, each times the sum of these gates."""
    units = tuple(
        Unit(gate, registers.form(up), {register: weight * times for register, weight in into.items()})
        for gate, times in gates
        for up, into in saying.parts
    )
    return Gadget(registers.label(saying.label, saying.terms), units, constants)
