"""Threshold with a margin.

Source: Lemma C.5.
Derivation: (1/ε)(ReLU(x − u + ε) − ReLU(x − u)) is 0 up to u − ε, 1 from u on. For ε = 2^−e all numbers are dyadic, so the result
is exactly 0 or 1. A form as `times` multiplies it in the same two units; the slope 1/ε is applied to the gate, so that the unit's
product is an integer times the form and thus exact.

ERRATUM C.5, a slip in one of two forms
paper says: (2/ε)(ReLU(x − u − ε) − ReLU(x − u + 0.5)) written out. Its matrices say (2/ε)(ReLU(x − u + ε) − ReLU(x − u + 0.5ε)),
with W3 cut to its first two entries, as there are two units.
we use: (1/ε)(ReLU(x − u + ε) − ReLU(x − u)), which has the corners where the promise ends.
why: the matrices are right. The written-out form is neither 0 below u − ε nor 1 from u on; `printed` builds that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.part import Columns, Contract, Expected, Integer, OneOf, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit

FINDING = Finding(
    id="C.5",
    source="Lemma C.5",
    printed="(2/ε)(ReLU(x − u − ε) − ReLU(x − u + 0.5))",
    used="(1/ε)(ReLU(x − u + ε) − ReLU(x − u))",
    why="the corners written out give neither 0 below the threshold nor 1 from it on; the matrices printed beside it do",
)
TEST_THRESHOLD = 1


def threshold(
    x: Affine,
    at: Number,
    into: Mapping[str, Number],
    *,
    margin: Number = 1,
    times: Affine | Number = 1,
    printed: bool = False,
    name: str = "",
) -> Gadget:
    """Wires into += 1[x ≥ at]·times for x in (−∞, at − margin] ∪ [at, ∞); margin a power of two.

    Exact while (|x − at|/margin + 1)·|times| fits the format.
    """
    up = as_affine(times)
    margin = Fraction(1) * margin
    label = name or f"1[{x} ≥ {at}]·({up})"
    if printed:
        corners = ((-margin, 2 / margin), (Fraction(1, 2), -2 / margin))
        return Gadget(
            label,
            tuple(Unit(x - at + corner, up, {r: weight * c for r, c in into.items()}) for corner, weight in corners),
            {},
            "Lemma C.5 as printed",
        )
    slope = 1 / margin
    units = tuple(
        Unit(slope * (x - at) + corner, up, {r: weight * c for r, c in into.items()})
        for corner, weight in ((1, 1), (0, -1))
    )
    return Gadget(label, units, {}, "Lemma C.5")


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [Fraction(int(x >= TEST_THRESHOLD)) for x in columns["x"]]}


PART = Part(
    id="C.5",
    name="threshold",
    source="Lemma C.5",
    statement="A ReGLU feed-forward of width 2 computes 1[x ≥ u] on x ≤ u − ε or x ≥ u.",
    plan=lambda setting, printed: [BlockPlan((), (threshold(reg("x"), TEST_THRESHOLD, {"out": 1}, printed=printed),))],
    contract=lambda setting: Contract(
        {"x": Integer(-setting.n, setting.n)}, {"out": OneOf((Fraction(0), Fraction(1)))}, {}
    ),
    oracle=_oracle,
    least_precision=lambda n, length: max(5, 2 * (n + 2).bit_length() + 1),
    findings=(FINDING,),
)
