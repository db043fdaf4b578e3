"""Whole quotient by a fixed divisor: ⌊x/d⌋ for an integer x, by the one rounding of a product.

Source: used for Theorem 4.8, whose first feed-forward finds the step a and the gate b from the position.
Notation: R_p has steps of 2^−q. The unit's gate is 2^−s·X with X = x − (d − 1)/2, its other factor the constant
ρ = ROUND(2^(s−q)/d).
Derivation: without rounding, the product is X/d steps of 2^−q. For x = m·d + r, 0 ≤ r < d, that is m − 1/2 + (2r + 1)/(2d), which
is 1/(2d) or more away from m ± 1/2. So the product is rounded to m steps if ρ shifts it by less. ρ is off by half a step at most,
hence the product by X·2^−(s+1) steps, and X·d < 2^s is enough. For x < (d − 1)/2 the ReLU gives 0, which is right, as it is for
x < 0.
A weight 2^q would be above the largest number, so two units share it.
Range: every x up to `largest`; s is the number of bits of ⌊X·d⌋ at the largest x, and the steps of the gate (2^−(s+1), or 2^−s for
an odd d) must be numbers of R_p, as must its value at x = −largest. So q = log2(largest·d) + 2 is enough.
Without rounding, the units give X/d: less than 1/2 away from ⌊x/d⌋.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit
from precision.format import Format

TEST_DIVISOR = 7


def quotient_unit(x: Affine, divisor: int, largest: int, fmt: Format, into: Mapping[str, Number]) -> Unit:
    """Wires into += weight·2^−q·⌊x/divisor⌋ for an integer x ≤ largest, 0 for x < 0. Raises ValueError for a divisor below 1."""
    if divisor < 1:
        raise ValueError(f"a divisor is at least 1, not {divisor}")
    shift, quantum = quotient_shift(divisor, largest), fmt.quantum
    centered = Fraction(1, 2 << shift) * (2 * x - (divisor - 1))
    return Unit(centered, as_affine(round(Fraction(1 << shift, divisor)) * quantum), into)


def quotient(
    x: Affine, divisor: int, into: Mapping[str, Number], largest: int, fmt: Format, *, name: str = ""
) -> Gadget:
    """Wires into += weight·⌊x/divisor⌋ for an integer x ≤ largest, 0 for x < 0; weights between −1 and 1. Width 2."""
    half = 1 / fmt.quantum / 2
    unit = quotient_unit(x, divisor, largest, fmt, {register: half * weight for register, weight in into.items()})
    return Gadget(name or f"⌊({x})/{divisor}⌋", (unit, unit), {}, "Theorem 4.8")


def quotient_shift(divisor: int, largest: int) -> int:
    """Returns s: the least with X·divisor < 2^s for X = largest − (divisor − 1)/2."""
    return max(0, (2 * largest - divisor + 1) * divisor // 2).bit_length()


def quotient_room(divisor: int, largest: int) -> int:
    """Returns the q that it needs for −largest ≤ x ≤ largest: steps and values of the gate are numbers of R_p."""
    shift = quotient_shift(divisor, largest)
    return max(shift + (divisor % 2 == 0), (2 * largest + divisor).bit_length() - shift - 1)


def _oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [Fraction(max(0, int(x)) // TEST_DIVISOR) for x in columns["x"]]}


PART = Part(
    id="4.8/quotient",
    name="quotient",
    source="Theorem 4.8",
    statement="A ReGLU feed-forward of width 2 computes ⌊x/d⌋ for an integer x up to a bound, and 0 for x < 0.",
    plan=lambda setting, printed: [
        BlockPlan((), (quotient(reg("x"), TEST_DIVISOR, {"out": 1}, setting.n, setting.format),))
    ],
    contract=lambda setting: Contract(
        {"x": Integer(-setting.n, setting.n)}, {"out": Integer(0, setting.n // TEST_DIVISOR)}, {}
    ),
    oracle=_oracle,
    least_precision=lambda n, length: 2 * max(2, n.bit_length(), quotient_room(TEST_DIVISOR, n)) + 1,
)
