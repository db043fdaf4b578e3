"""The sum of one register over all inputs so far.

Source: Lemma C.21.
Derivation: h_t = h_{t−1} + X_t[x]. Exact while the sum fits the format.
State: one number.
"""

from __future__ import annotations

from itertools import accumulate

from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, LinearUnit


def running_sum(name: str, x: Affine, into: str) -> LinearUnit:
    """Wires into := Σ of the form x over all inputs up to this one."""
    return LinearUnit(name, {into: (reg(into), x)}, "Lemma C.21")


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": list(accumulate(columns["x"]))}


PART = Part(
    id="C.21",
    name="running sum",
    source="Lemma C.21",
    statement="A linear recurrence of one number sums a register over all inputs so far.",
    plan=lambda setting, printed: [BlockPlan((), (), (running_sum("sum", reg("x"), "out"),))],
    contract=lambda setting: Contract(
        {"x": Integer(-setting.n, setting.n)},
        {"out": Integer(-setting.n * setting.length, setting.n * setting.length)},
        {},
    ),
    oracle=_oracle,
    least_precision=lambda n, length: max(5, 2 * (n * length).bit_length() + 1),
)
