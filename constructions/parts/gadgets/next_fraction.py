"""The unit fraction after this one, closely enough to find it: ROUND(1/m) ↦ about 1/(m + 1).

Source: the function nxt of Lemma C.18, and Lemma C.19.
Derivation: for m ≥ 4, x − x² lies within 1/(m²(m + 1)) of 1/(m + 1), and every other unit fraction is farther away. Written as
a·b − ReLU(a − x)·(b − x) with a + b = 1, a = 5/16, it is exact below 5/16 and constant above, where three thresholds raise it to
1/4 at x = 1/3, to 85/256 (nearest to 1/3) at 1/2, and to 1/2 at 1. All constants are dyadic and the same for every p; 0 ↦ 0.
Error: half a quantum, from the one product that has digits after the point.

ERRATUM C.18 (nxt), open
paper says: x − x² + x³ on x ≤ 11/40, by "the feedforward block"; its main text speaks of one "of constant depth".
we use: x − x², in one.
why: a ReGLU unit is a product of two affine pieces, so one feed-forward is piecewise quadratic and has no cubic term. Two compute
the cubic; the quadratic needs one, and does.
"""

from __future__ import annotations

from fractions import Fraction

from constructions.parts.gadgets.threshold import threshold
from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import Columns, Contract, Expected, Part, Real, Setting, UnitFraction
from constructions.wiring.wire import BlockPlan, Gadget, Unit

KNEE = Fraction(5, 16)
# (from which x on, margin below it, value there): the images of 1/3, 1/2 and 1.
STEPS = (
    (Fraction(5, 16), Fraction(1, 16), Fraction(1, 4)),
    (Fraction(1, 2), Fraction(1, 8), Fraction(85, 256)),
    (Fraction(1), Fraction(1, 2), Fraction(1, 2)),
)


def next_fraction(x: Affine, into: str) -> Gadget:
    """Wires into += nxt(x) for x = ROUND(1/m) or 0. Width 7."""
    level = KNEE * (1 - KNEE)
    units = [Unit(KNEE - x, (1 - KNEE) - x, {into: -1})]
    constants = {into: level}
    for at, margin, value in STEPS:
        units += threshold(x, at, {into: value - level}, margin=margin).units
        level = value
    return Gadget(f"nxt({x})", tuple(units), constants, "Lemmas C.18 and C.19")


def next_fraction_value(x: Fraction) -> Fraction:
    """Returns nxt(x) in exact arithmetic, for a unit fraction or 0."""
    for at, _, value in reversed(STEPS):
        if x >= at:
            return value
    return x - x * x


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [next_fraction_value(x) for x in columns["x"]]}


PART = Part(
    id="C.19",
    name="next fraction",
    source="Lemma C.19, with nxt of Lemma C.18",
    statement="One ReGLU feed-forward takes ROUND(1/m) to a number to which 1/(m + 1) is the nearest unit fraction.",
    plan=lambda setting, printed: [BlockPlan((), (next_fraction(reg("x"), "out"),))],
    contract=lambda setting: Contract(
        {"x": UnitFraction(1, setting.n)}, {"out": Real(Fraction(0), Fraction(1, 2))}, {}
    ),
    oracle=_oracle,
    # 1/(n + 1) and 1/(n + 2) must stay apart, and the constants need 8 digits after the point.
    least_precision=lambda n, length: 2 * max(8, 2 * (n + 2).bit_length() + 2) + 1,
    tolerance=lambda setting: 1,
)
