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

TEST_TEXT = {2: 3, 3: 1, 5: 2}


def recite(text: Mapping[int, Number], into: str, *, printed: bool = False) -> tuple[Gadget, ...]:
    """into += text[position] at the positions of the text."""
    return tuple(indicator(reg("position"), p, {into: v}, printed=printed) for p, v in text.items())


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [Fraction(TEST_TEXT.get(t + 1, 0)) for t in range(len(columns["x"]))]}


PART = Part(
    id="C.23",
    name="recite",
    source="Lemma C.23",
    statement="A feed-forward of width O(kC) recites fixed numbers at k fixed positions.",
    plan=lambda setting, printed: [BlockPlan((), recite(TEST_TEXT, "out", printed=printed))],
    contract=lambda setting: Contract({"x": Integer(0, 1)}, {"out": Integer(0, max(TEST_TEXT.values()))}, {}),
    oracle=_oracle,
    # Gates up to position + 1, times the weights 2v.
    least_precision=lambda n, length: 2 * (6 * (length + 2)).bit_length() + 1,
    findings=(INDICATOR,),
)
