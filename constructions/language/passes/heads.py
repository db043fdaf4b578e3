"""Heads: what is read and what is summed becomes heads and recurrences over registers.

back, at                         a head by position (C.13); back in a recurrence is a shift register (C.20)
first, last, nearest             a head by keys (C.15, C.16, C.17); of two as near to w the first is nearer to w − 1/4
count                            a head of which the positions that match and position 1 tie (C.14): it has 1/(1 + count)
running sum                      a linear recurrence (C.21)
alternating, or of every m-th    a linear recurrence whose matrix is a cyclic permutation, with one −1 for alternating sums
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from constructions.language.passes.operations import (
    Attend,
    Cycle,
    PlacedComputation,
    Schedule,
    Select,
    Shift,
    show_form,
)
from constructions.language.passes.registers import RegisterForms, linear
from constructions.language.program import Pin
from constructions.language.terms import Atom, Back, Best, Closest, Count, Nearest, Pick, Term, as_term
from constructions.language.weights import FIRST, ONE_REGISTER
from constructions.parts.heads.copy import before
from constructions.parts.heads.match import RegisterPair, equality_needs, sides
from constructions.parts.heads.match_nearest import match_nearest
from constructions.parts.heads.tight import equality, match_end, nearest, single
from constructions.parts.recurrences.recent import recent
from constructions.parts.recurrences.running_sum import running_sum
from constructions.wiring.affine import Affine, reg, total
from constructions.wiring.lookup import Lookup
from constructions.wiring.part import Setting, split_scale
from constructions.wiring.plan import Component, Head, LinearUnit
from constructions.wiring.register import register_before

MakesHead: TypeAlias = "Callable[[Setting, Mapping[str, Affine]], Head]"
"""From a setting, and what is read into each register, to the head."""


@dataclass(frozen=True)
class HeadDraft:
    """A head before its constants are known. reads: register → form. scale: a lead that is pinned, 0 for none."""

    select: Select
    make: MakesHead
    reads: Mapping[str, Affine]
    scale: int = 0

    @property
    def doubled(self) -> bool:
        """True if the factor of its preference is twice the lead, as two of its preferences may be half of that apart."""
        return isinstance(self.select.where, Closest)

    def head(self, setting: Setting) -> Head:
        return self.make(self.setting(setting), self.reads)

    def setting(self, setting: Setting) -> Setting:
        """Returns the setting with the scale that the head is pinned to, or that it needs."""
        scale = self.scale or (2 * setting.gap if self.doubled else 0)
        return replace(setting, scale=scale) if scale else setting


def heads_of(
    schedule: Schedule, registers: RegisterForms, pins: Mapping[Atom, Pin], block: int
) -> Mapping[Atom, HeadDraft]:
    """Returns the heads of a block, each with its name in the program."""
    drafts: dict[Atom, HeadDraft] = {}
    for step, attend in ((step, step.operation) for step in schedule.blocks[block]):
        if isinstance(attend, Attend):
            ((name, _),) = registers.forms[step.value].terms.items()
            read = reg(FIRST) if attend.value is None else registers.linear(attend.value)
            where = attend.select.where
            if where in drafts:
                drafts[where] = replace(drafts[where], reads={**drafts[where].reads, name: read})
            else:
                scale = (pins[where].scale or 0) if where in pins else 0
                drafts[where] = HeadDraft(attend.select, make_head(attend.select, name, registers), {name: read}, scale)
    return drafts


def make_head(select: Select, register: str, registers: RegisterForms) -> MakesHead:
    """Returns what makes the head of a select. register: the first one that it writes."""
    where, pairs = select.where, key_pairs(select, registers)
    match where:
        case Best():
            components = (Component(reg(ONE_REGISTER), Affine()),)
            return lambda s, reads: Head("mean of all", components, reads, "uniform attention", lookup=Lookup())
        case Count():
            name = f"share of {register}"
            return lambda s, reads: _share(name, pairs, reads, s.gap)
        case Back(steps):
            wanted, wanted_squared = before(steps)
            return lambda s, reads: nearest(f"@{steps}", wanted, wanted_squared, reads, s.gap)
        case Nearest() if select.target is None:
            is_start = registers.linear(select.operands[0])
            return lambda s, reads: single("at the start", is_start, reads, s.gap)
        case Nearest(target):
            w, ww = registers.linear(target), registers.linear(target * target)
            name = f"at {show_form(registers.form(target))}"
            far = distance_outside(select, registers)
            return lambda s, reads: nearest(name, w, ww, reads, s.gap, far)
        case Pick(_, last):
            name = f"{'last' if last else 'first'} where {_show_pairs(pairs)}"
            return lambda s, reads: match_end(name, pairs, reads, s, last=last)
        case Closest(_, target):
            # Of two as near the first is meant: it is the nearer one to a quarter less.
            wanted, wanted_squared = registers.form(target), registers.form(target * target)
            w = linear(wanted - Fraction(1, 4))
            ww = linear(wanted_squared - wanted * Fraction(1, 2) + Fraction(1, 16))
            name = f"nearest to {show_form(wanted)} where {_show_pairs(pairs)}"
            return lambda s, reads: match_nearest(name, pairs, w, ww, reads, s)
    raise TypeError(f"no head is planned for {where}")


def distance_outside(select: Select, registers: RegisterForms) -> Affine | None:
    """Returns the square of the distance from the target position to the text; None if the distance is at most 1."""
    return total(registers.form(as_term(outside)) for outside in select.outside) if select.outside else None


def key_pairs(select: Select, registers: RegisterForms) -> tuple[RegisterPair, ...]:
    """Returns keys and queries with their squares."""

    def form(term: Term) -> Affine:
        return registers.linear(term)

    return tuple(RegisterPair(form(x), form(y), form(x * x), form(y * y)) for x, y in select.pairs)


def _share(name: str, pairs: Sequence[RegisterPair], reads: Mapping[str, Affine], gap: int) -> Head:
    """Wires register := 1/(1 + m), m positions with equal keys: they and position 1 tie."""
    components = equality(pairs, split_scale(2 * gap))
    return Head(name, components, reads, "Lemma C.14", equality_needs(pairs), Lookup(sides(pairs), gap))


def _show_pairs(pairs: Sequence[RegisterPair]) -> str:
    return ", ".join(f"{show_form(p.key)} = {show_form(p.query)}" for p in pairs)


def recurrences_of(schedule: Schedule, registers: RegisterForms, block: int) -> tuple[LinearUnit, ...]:
    """Returns the linear units of a block: its sums, then its shift registers."""
    sums: list[LinearUnit] = []
    shifts: dict[str, tuple[Term, int]] = {}
    for step in schedule.blocks[block]:
        match step.operation:
            case Cycle() as cycle:
                sums.append(_cycle(step, cycle, registers))
            case Shift(of=of, steps=steps):
                base = registers.bases[step.value]
                first, depth = shifts.get(base, (of, 0))
                shifts[base] = first, max(depth, steps)
    return (*sums, *(_shift(base, registers.linear(of), depth) for base, (of, depth) in shifts.items()))


def _cycle(step: PlacedComputation, cycle: Cycle, registers: RegisterForms) -> LinearUnit:
    """Returns a cycle of registers: the sum, and its values one, two, … `steps` − 1 positions before."""
    names = [name for atom in (*step.value, *cycle.before) for name in registers.forms[atom,].terms]
    name, feed = names[0], registers.linear(cycle.of)
    if (cycle.steps, cycle.sign) == (1, 1):
        return running_sum(f"sum of {show_form(registers.form(cycle.of))}", feed, name)
    rows = {name: (reg(names[-1]) * cycle.sign, feed)}
    rows |= {late: (reg(early), Affine()) for early, late in itertools.pairwise(names)}
    return LinearUnit(f"{name}: a cycle of {cycle.steps}, sign {cycle.sign}", rows)


def _shift(name: str, feed: Affine, depth: int) -> LinearUnit:
    """Returns a shift register of a form."""
    unit = recent(f"the last {depth + 1} of {name}", [name], depth + 1)
    return LinearUnit(unit.name, {**unit.rows, register_before(name, 0): (Affine(), feed)}, unit.source)
