"""Product of two registers.

Source: Lemma C.1.
Derivation: x·y = ReLU(x)·y + ReLU(−x)·(−y); one ReGLU unit for each sign of x.

ERRATUM C.1, a slip of one sign
paper says: W3 h = h1 + h2 over ReLU(x)·y and ReLU(−x)·y.
we use: h1 − h2, written as the up form −y of the second unit.
why: the printed sum is |x|·y, which is the product for x ≥ 0 only. All squares are such.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.finding import Finding
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit

FINDING = Finding(
    id="C.1",
    source="Lemma C.1",
    printed="W3 h = h1 + h2",
    used="W3 h = h1 − h2",
    why="ReLU(x)·y + ReLU(−x)·y is |x|·y, the product for x ≥ 0 only",
)


def product(x: Affine, y: Affine, into: Mapping[str, Number], *, printed: bool = False, name: str = "") -> Gadget:
    """Wires into += x·y, exact while |x·y| fits the format. Width 2."""
    negative = y if printed else -y
    return Gadget(name or f"({x})·({y})", (Unit(x, y, into), Unit(-x, negative, into)), {}, "Lemma C.1")


def square(x: Affine, into: str, *, name: str = "") -> Gadget:
    """Wires into += x² for a form that is never negative. Width 1: the second unit of the product would always be 0."""
    return Gadget(name or f"({x})²", (Unit(x, x, {into: 1}),), {}, "Lemma C.1")


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [x * y for x, y in zip(columns["x"], columns["y"], strict=True)]}


def _contract(setting: Setting) -> Contract:
    n = setting.n
    return Contract({"x": Integer(-n, n), "y": Integer(-n, n)}, {"out": Integer(-n * n, n * n)}, {})


PART = Part(
    id="C.1",
    name="product",
    source="Lemma C.1",
    statement="A ReGLU feed-forward of width 2 multiplies two registers.",
    plan=lambda setting, printed: [
        BlockPlan((), (product(reg("x"), reg("y"), {"out": Fraction(1)}, printed=printed),))
    ],
    contract=_contract,
    oracle=_oracle,
    # ±n² must lie below 2^q.
    least_precision=lambda n, length: max(5, 2 * (n * n).bit_length() + 1),
    findings=(FINDING,),
)
