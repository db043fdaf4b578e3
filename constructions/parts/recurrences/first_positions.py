"""Keep registers of the positions 1 … k for good.

Source: Lemma C.22.
Derivation: a feed-forward moves x into the slot of its position, 1[position = i]·x, and leaves all slots 0 elsewhere
(Lemma C.3 times x); running sums over the slots (Lemma C.21) then never change again.
State: one number for each register and each of the k positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.recurrences.running_sum import running_sum
from constructions.wiring.affine import reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, LinearUnit


def slots(registers: Sequence[str], positions: int, *, printed: bool = False) -> tuple[Gadget, ...]:
    """Wires `x at i now` := x where the position is i, else 0; to stand in the block before `first_positions`."""
    return tuple(
        indicator(reg("position"), i, {f"{x} at {i} now": 1}, times=reg(x), printed=printed)
        for x in registers
        for i in range(1, positions + 1)
    )


def first_positions(registers: Sequence[str], positions: int) -> tuple[LinearUnit, ...]:
    """Wires `x at i` := register x of position i, from that position on; 0 before."""
    return tuple(
        running_sum(f"{x} at {i}", reg(f"{x} at {i} now"), f"{x} at {i}")
        for x in registers
        for i in range(1, positions + 1)
    )


def part(positions: int) -> Part:
    """Returns the lemma for one register and the positions 1 … `positions`."""
    kept = range(1, positions + 1)

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        return [
            BlockPlan((), slots(["x"], positions, printed=printed)),
            BlockPlan((), (), first_positions(["x"], positions)),
        ]

    def contract(setting: Setting) -> Contract:
        number = Integer(-setting.n, setting.n)
        return Contract({"x": number}, {f"x at {i}": number for i in kept}, {})

    def oracle(setting: Setting, columns: Columns) -> Expected:
        x = columns["x"]
        return {f"x at {i}": [x[i - 1] if t >= i - 1 else Fraction(0) for t in range(len(x))] for i in kept}

    return Part(
        id="C.22",
        name="first positions",
        source="Lemma C.22",
        statement="A feed-forward and a linear recurrence of Ck numbers keep C registers of the positions 1 to k.",
        plan=plan,
        contract=contract,
        oracle=oracle,
        # The widest product of the indicator: (position + 1)·n, doubled.
        least_precision=lambda n, length: 2 * (2 * (length + positions + 1) * n).bit_length() + 1,
        findings=(INDICATOR,),
    )


PART = part(2)
