"""Interval: is a register between two numbers?

Source: Lemma C.6, from Lemma C.5.
Derivation: 1[u ≤ x ≤ v] = 1[x ≥ u] − 1[x ≥ v + ε] for x that keeps the margin ε at both ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.parts.gadgets.threshold import FINDING, threshold
from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, OneOf, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget

TEST_INTERVAL = (1, 3)


def interval(
    x: Affine,
    low: Number,
    high: Number,
    into: Mapping[str, Number],
    *,
    margin: Number = 1,
    times: Affine | Number = 1,
    printed: bool = False,
    name: str = "",
) -> Gadget:
    """Wires into += 1[low ≤ x ≤ high]·times; x stays out of (low − margin, low) and (high, high + margin). Width 4."""
    negated = {register: -c for register, c in into.items()}
    above_low = threshold(x, low, into, margin=margin, times=times, printed=printed)
    above_high = threshold(x, high + Fraction(margin), negated, margin=margin, times=times, printed=printed)
    return Gadget(name or f"1[{low} ≤ {x} ≤ {high}]", above_low.units + above_high.units, {}, "Lemma C.6")


def _oracle(setting: Setting, columns: Columns) -> Expected:
    low, high = TEST_INTERVAL
    return {"out": [Fraction(int(low <= x <= high)) for x in columns["x"]]}


PART = Part(
    id="C.6",
    name="interval",
    source="Lemma C.6",
    statement="A ReGLU feed-forward of width 4 computes 1[u ≤ x ≤ v] with a margin at both ends.",
    plan=lambda setting, printed: [BlockPlan((), (interval(reg("x"), *TEST_INTERVAL, {"out": 1}, printed=printed),))],
    contract=lambda setting: Contract(
        {"x": Integer(-setting.n, setting.n)}, {"out": OneOf((Fraction(0), Fraction(1)))}, {}
    ),
    oracle=_oracle,
    least_precision=lambda n, length: max(5, 2 * (n + 5).bit_length() + 1),
    findings=(FINDING,),
)
