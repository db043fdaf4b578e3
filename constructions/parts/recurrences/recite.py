"""Recite fixed numbers at fixed positions.

Source: Lemma C.23.
Derivation: a table over the position (Lemma C.4): Σ_i v_i·1[position = p_i], three units for each entry. No state at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.indicator import indicator
from constructions.wiring.affine import Number, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget


def recite(text: Mapping[int, Number], into: str, *, printed: bool = False) -> tuple[Gadget, ...]:
    """Wires into += text[position] at the positions of the text."""
    return tuple(indicator(reg("position"), p, {into: v}, printed=printed) for p, v in text.items())


def part(*numbers: int) -> Part:
    """Returns the lemma for these numbers at the positions 1, 2, …; where a number is 0, nothing is said."""
    text = {i: number for i, number in enumerate(numbers, 1) if number}
    low, high = min((0, *numbers)), max((0, *numbers))
    largest = max(-low, high)

    def oracle(setting: Setting, columns: Columns) -> Expected:
        length = len(columns["x"])
        return {"out": [Fraction(numbers[t] if t < len(numbers) else 0) for t in range(length)]}

    return Part(
        id="C.23",
        name="recite",
        source="Lemma C.23",
        statement="A feed-forward of width O(kC) recites fixed numbers at k fixed positions.",
        plan=lambda setting, printed: [BlockPlan((), recite(text, "out", printed=printed))],
        contract=lambda setting: Contract({"x": Integer(0, 1)}, {"out": Integer(low, high)}, {}),
        oracle=oracle,
        # Gates up to position + 1, times the weights 2v.
        least_precision=lambda n, length: max(5, 2 * (2 * max(largest, 1) * (length + 2)).bit_length() + 1),
        findings=(INDICATOR,),
    )


PART = part(0, 3, 1, 0, 2)
