"""A linear map computed by a feed-forward sublayer.

Source: Lemma C.2.
Derivation: gate W1 = 0, b1 = 1 is open for every input, so each unit passes its up form through.
"""

from __future__ import annotations

from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, linear


def linear_map(rows: dict[str, Affine]) -> Gadget:
    """Wires register += form for each row. Width: the number of rows."""
    units = tuple(linear(name, form, name).units[0] for name, form in rows.items())
    return Gadget("linear map", units, {}, "Lemma C.2")


def _oracle(setting: Setting, columns: Columns) -> Expected:
    pairs = list(zip(columns["x"], columns["y"], strict=True))
    return {"sum": [x + y for x, y in pairs], "difference": [2 * x - y for x, y in pairs]}


PART = Part(
    id="C.2",
    name="linear map",
    source="Lemma C.2",
    statement="A ReGLU feed-forward of width d computes any linear map W.",
    plan=lambda setting, printed: [
        BlockPlan((), (linear_map({"sum": reg("x") + reg("y"), "difference": 2 * reg("x") - reg("y")}),))
    ],
    contract=lambda setting: Contract(
        {"x": Integer(-setting.n, setting.n), "y": Integer(-setting.n, setting.n)},
        {"sum": Integer(-2 * setting.n, 2 * setting.n), "difference": Integer(-3 * setting.n, 3 * setting.n)},
        {},
    ),
    oracle=_oracle,
    least_precision=lambda n, length: max(5, 2 * (3 * n).bit_length() + 1),
)
