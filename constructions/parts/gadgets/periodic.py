"""Periodic table: any function of x mod d, and the number of the period, in one feed-forward of d + 1 units.

Source: Theorem 4.8, whose first feed-forward of width O(C) encodes step, gate and operands, from the position alone.
Derivation: unit j = 0 … d is ⌊(x − j)/d⌋ + 1 = ⌊(x − j + d)/d⌋ in steps of 2^−q, by quotient.py. For x = a·d + b it is a + 1 for
j ≤ b and a for j > b. So unit j less unit j + 1 is 1 for j = b and 0 for the others: Σ_j t_j·(unit j − unit (j + 1)) is t_b. The
last unit is ⌊x/d⌋ itself.
The sum has steps of 2^−q, and no weight is above 2^q: a table with entries of up to e bits, sign aside, comes out in steps of
2^−(e+2), and so does the number of the period.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from constructions.parts.gadgets.quotient import quotient_room, quotient_unit
from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Real, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit
from precision.format import Format

TEST_TABLE = (3, 0, 5, 5, 1)


def periodic(
    x: Affine, tables: Mapping[str, Sequence[int]], count: str, largest: int, fmt: Format, *, name: str = ""
) -> Gadget:
    """Wires register += step·table[x mod d], and count += step·⌊x/d⌋, for 0 ≤ x ≤ largest, with step = 1/table_scale(tables).

    d: the length of all tables. Width d + 1. Raises ValueError for tables of different lengths, or none.
    """
    lengths = {len(table) for table in tables.values()}
    if len(lengths) != 1:
        raise ValueError(f"the tables of a period have one length, not {sorted(lengths)}")
    (period,), weight = lengths, 1 / fmt.quantum / table_scale(tables)
    units: list[Unit] = []
    for j in range(period + 1):
        into = {}
        for register, table in tables.items():
            before, at = [0, *table, 0][j : j + 2]
            if at != before:
                into[register] = weight * (at - before)
        if j == period:
            into[count] = weight
        if into:
            units.append(quotient_unit(x - j + period, period, largest + period, fmt, into))
    return Gadget(name or f"tables over ({x}) mod {period}", tuple(units), {}, "Theorem 4.8")


def table_scale(tables: Mapping[str, Sequence[int]]) -> int:
    """Returns the power of two that divides the entries, above every difference of neighbours and above 1."""
    steps = (abs(b - a) for table in tables.values() for a, b in pairwise([0, *table, 0]))
    return 1 << max(1, *steps).bit_length()


def periodic_room(tables: Mapping[str, Sequence[int]], largest: int) -> int:
    """Returns the q that it needs."""
    (period,) = {len(table) for table in tables.values()}
    return max(quotient_room(period, largest + period), table_scale(tables).bit_length() - 1)


TEST_TABLES = {"out": TEST_TABLE}


def _oracle(setting: Setting, columns: Columns) -> Expected:
    step = Fraction(1, 8)
    whole = [int(x) for x in columns["x"]]
    return {"out": [step * TEST_TABLE[x % 5] for x in whole], "period": [step * (x // 5) for x in whole]}


PART = Part(
    id="4.8/gate-number",
    name="periodic table",
    source="Theorem 4.8",
    statement="One ReGLU feed-forward of d + 1 units computes any table over x mod d, and ⌊x/d⌋.",
    plan=lambda setting, printed: [
        BlockPlan((), (periodic(reg("x"), TEST_TABLES, "period", setting.n, setting.format),))
    ],
    contract=lambda setting: Contract(
        {"x": Integer(0, setting.n)},
        {"out": Real(Fraction(0), Fraction(5, 8)), "period": Real(Fraction(0), Fraction(setting.n // 5, 8))},
        {},
    ),
    oracle=_oracle,
    least_precision=lambda n, length: 2 * max(2, n.bit_length(), periodic_room(TEST_TABLES, n)) + 1,
)
