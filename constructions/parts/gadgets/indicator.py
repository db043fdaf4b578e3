"""Indicator of one integer, alone or times a form.

Source: Lemma C.3.
Derivation: on integers, 1[x = B] = ReLU(x − B + 1) − 2·ReLU(x − B) + ReLU(x − B − 1), the hat function with integer corners:
every gate is an integer, so every product with an element of the format is exact. Multiplying the up form by f gives 1[x = B]·f
in the same three units.

ERRATUM C.3, a slip of one sign
paper says: W3 = 10[1, −1, −1, 1] as a matrix, and 10(ReLU(x−B−0.5) − ReLU(x−B+0.5)) + 10(ReLU(B−x−0.6) − ReLU(B−x+0.4)) + 10
written out.
we use: the hat function, width 3.
why: the written-out form is right in exact arithmetic, the matrix has two of its signs swapped. 0.6 and 0.4 are not dyadic: rounded
to R_p they leave the written-out form up to five steps away from 1. With 8, 5/8 and 3/8 it would be exact; so is the hat.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.part import Columns, Contract, Expected, Integer, OneOf, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit

FINDING = Finding(
    id="C.3",
    source="Lemma C.3",
    printed="W3 = 10[1, −1, −1, 1] over corners B+0.5, B−0.5, B−0.6, B+0.4",
    used="ReLU(x−B+1) − 2 ReLU(x−B) + ReLU(x−B−1)",
    why="two signs of the matrix are swapped; the form written out beside it is right, but 0.6 and 0.4 are not dyadic",
)
TEST_VALUE = 2


def indicator(
    x: Affine,
    value: Number,
    into: Mapping[str, Number],
    *,
    times: Affine | Number = 1,
    printed: bool = False,
    name: str = "",
) -> Gadget:
    """Wires into += 1[x = value]·times for integer x. Exact while (|x − value| + 1)·|times| fits the format."""
    up = as_affine(times)
    label = name or f"1[{x} = {value}]·({up})"
    if printed:
        corners = [(1, Fraction(-1, 2)), (1, Fraction(1, 2)), (-1, Fraction(-3, 5)), (-1, Fraction(2, 5))]
        units = tuple(
            Unit(side * (x - value) + corner, up, {r: 10 * sign * c for r, c in into.items()})
            for (side, corner), sign in zip(corners, (1, -1, -1, 1), strict=True)
        )
        ten = Unit(as_affine(1), up, {r: 10 * c for r, c in into.items()})
        return Gadget(label, (*units, ten), {}, "Lemma C.3 as printed")
    units = tuple(
        Unit(x - value + corner, up, {r: weight * c for r, c in into.items()})
        for corner, weight in ((1, 1), (0, -2), (-1, 1))
    )
    return Gadget(label, units, {}, "Lemma C.3")


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [Fraction(int(x == TEST_VALUE)) for x in columns["x"]]}


PART = Part(
    id="C.3",
    name="indicator",
    source="Lemma C.3",
    statement="A ReGLU feed-forward of constant width computes 1[x = B] for integer x.",
    plan=lambda setting, printed: [BlockPlan((), (indicator(reg("x"), TEST_VALUE, {"out": 1}, printed=printed),))],
    contract=lambda setting: Contract(
        {"x": Integer(-setting.n, setting.n)}, {"out": OneOf((Fraction(0), Fraction(1)))}, {}
    ),
    oracle=_oracle,
    # The widest gate, n + B + 1, doubled by the weight −2, must lie below 2^q.
    least_precision=lambda n, length: 2 * (2 * (n + 3)).bit_length() + 1,
    findings=(FINDING,),
)
