"""Lookup table over a few small integers.

Source: Lemma C.4.
Derivation: the key Σ_j B^(j−1)·x_j numbers the B^k inputs; each entry of the table is one indicator of that key (Lemma
C.3) times its value. The corners of neighbouring indicators coincide, so the table is one unit per key from −1 to B^k:
its second differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.indicator import indicator
from constructions.wiring.affine import Affine, Number, as_affine, reg, total
from constructions.wiring.finding import Finding
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit

TEST_BASE = 3


def lookup(inputs: Sequence[Affine], base: int, table: Sequence[Number], into: str, *, printed: bool = False) -> Gadget:
    """Wires into += table[Σ_j base^(j−1)·x_j] for inputs x_j in {0, …, base − 1}; table has base^len(inputs) entries."""
    if len(table) != base ** len(inputs):
        raise ValueError(
            f"a table over {len(inputs)} inputs below {base} has {base ** len(inputs)} entries, not {len(table)}"
        )
    key = total(base**j * x for j, x in enumerate(inputs))
    name = f"table of {len(table)} entries at {key}"
    if printed:
        units = [u for i, v in enumerate(table) for u in indicator(key, i, {into: v}, printed=True).units]
        return Gadget(name, tuple(units), {}, "Lemma C.4 as printed")
    values = {key_value: Fraction(v) for key_value, v in enumerate(table)}
    zero = Fraction(0)
    bends = {
        corner: values.get(corner + 1, zero) - 2 * values.get(corner, zero) + values.get(corner - 1, zero)
        for corner in range(-1, len(table) + 1)
    }
    units = [Unit(key - corner, as_affine(1), {into: bend}) for corner, bend in bends.items() if bend]
    return Gadget(name, tuple(units), {}, "Lemma C.4")


def _table(setting: Setting) -> list[int]:
    """Returns an arbitrary, fixed, non-monotone table."""
    return [(7 * i * i + 3 * i + 1) % (setting.n + 1) for i in range(TEST_BASE**2)]


def _oracle(setting: Setting, columns: Columns) -> Expected:
    table = _table(setting)
    pairs = zip(columns["x"], columns["y"], strict=True)
    return {"out": [Fraction(table[int(x + TEST_BASE * y)]) for x, y in pairs]}


def _contract(setting: Setting) -> Contract:
    digit = Integer(0, TEST_BASE - 1)
    return Contract({"x": digit, "y": digit}, {"out": Integer(0, setting.n)}, {})


PART = Part(
    id="C.4",
    name="lookup",
    source="Lemma C.4",
    statement="A ReGLU feed-forward of width O(B^k) computes any table of k integers below B.",
    plan=lambda setting, printed: [
        BlockPlan((), (lookup([reg("x"), reg("y")], TEST_BASE, _table(setting), "out", printed=printed),))
    ],
    contract=_contract,
    oracle=_oracle,
    # Second differences are at most 4n, gates at most B^k; their exact sum is in the table.
    least_precision=lambda n, length: max(2 * (4 * n).bit_length() + 1, 11),
    findings=(Finding("C.4", "Lemma C.4", INDICATOR.printed, INDICATOR.used, INDICATOR.why),),
)
