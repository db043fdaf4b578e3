"""From a program to weights: which head, unit or recurrence computes which term, in which block, over which registers.

The compiler is the sequence of the passes in `passes/`. Nothing here is trusted: what the weights compute is read off them again,
and compared with the program.
"""

from __future__ import annotations

from constructions.language.bounds import Bound
from constructions.language.digits import are_below, round_up
from constructions.language.passes.answer import rules_of, signed_of
from constructions.language.passes.facts import known_facts
from constructions.language.passes.gates import gadgets_of
from constructions.language.passes.heads import heads_of, recurrences_of
from constructions.language.passes.output import output_gadgets
from constructions.language.passes.registers import assign_registers, embedded_forms
from constructions.language.passes.requirements import BlockWork, Requirements
from constructions.language.passes.schedule import pinned_atom, schedule_values
from constructions.language.program import NotCompiled, Program
from constructions.language.weights import ProgramWeights
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan
from precision.format import Discipline, fixed_point


class Compiler(ProgramWeights):
    """One program for one n, which may be a symbol. Raises NotCompiled for what the architecture cannot do, with the reason.

    leading: whether numbers are bounded as for n rounded up to its first digits, as p is derived.

    blocks: number → what the block computes. meanings: register → the term that it holds.
    """

    def __init__(self, program: Program, n: Bound, *, leading: bool = False) -> None:
        super().__init__(program, n)
        self.leading, pins = leading, dict(map(pinned_atom, program.pins))
        self.facts = facts = known_facts(self, leading=leading)
        signed = signed_of(facts, self.answer, pins)
        rules = () if signed else rules_of(facts, self.answer, pins)
        schedule = schedule_values(facts, embedded_forms(facts), pins, rules, signed)
        self.registers = registers = assign_registers(facts, program.names, schedule)
        self.blocks = {
            number: BlockWork(
                heads_of(schedule, registers, pins, number),
                gadgets_of(schedule, registers, number),
                recurrences_of(schedule, registers, number),
            )
            for number in schedule.blocks
        }
        output = output_gadgets(facts, schedule, registers, self.embedding(1).registers[:-1], signed)
        last = self.blocks[schedule.depth]
        self.blocks[schedule.depth] = BlockWork(last.heads, (*last.gadgets, *output), last.units)
        self.needs = {registers.label(need.label, need.terms): need.value for need in schedule.needs}
        self.depth, self.meanings = schedule.depth, registers.meanings

    def plan(self, setting: Setting) -> tuple[BlockPlan, ...]:
        return tuple(block.plan(setting) for block in self.blocks.values())

    def least_precision(self, discipline: Discipline = Discipline.FUSED) -> int:
        """Returns the least p at which all that the weights must hold fits R_p, by the rules of each part; or the pinned one.

        Raises NotCompiled for a pinned p that is too small.
        """
        if not self.leading and round_up(self.n) is not self.n:
            return Compiler(self.program, self.n, leading=True).least_precision(discipline)
        least: int = 2 * self._requirements(discipline).fraction_bits(self.n, self._setting) + 1
        if self.program.precision is None:
            return least
        pinned: int = self.program.precision(self.n)
        if pinned < least:
            raise NotCompiled(f"p = {pinned} is pinned, and these weights need p = {least} ({discipline.value})")
        return pinned

    def binding(self, discipline: Discipline = Discipline.FUSED) -> tuple[str, ...]:
        """Returns what p is due to, of one n: all that does not fit R_(p − 2)."""
        q = max(2, (self.least_precision(discipline) - 1) // 2 - 1)
        required = self._requirements(discipline).all(self._setting(q))
        return tuple(dict.fromkeys(what for what, value in required if not are_below(self.n, [value], q)))

    def _requirements(self, discipline: Discipline) -> Requirements:
        return Requirements(self.facts, self.registers, self.blocks, self.needs, discipline)

    def _setting(self, fraction_bits: Bound) -> Setting:
        return self.setting(fixed_point(2 * fraction_bits + 1))
