"""Lemmas C.3, C.5, C.6 and the function nxt of C.18 in the forms that the print leaves to choose: as parts that can be run.

Lemma C.5 prints its weights twice, as matrices and written out; the two differ, and the matrices are right. Lemma C.3 prints them
twice as well, and there the written-out form is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from constructions.parts.gadgets import interval, next_fraction, threshold
from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.part import Columns, Contract, Expected, OneOf, Part, Setting
from constructions.wiring.wire import BlockPlan, Gadget, Unit
from verify.framework.claim import Json
from verify.oracles.gadget_identities import MARGINS, SPANS
from verify.oracles.proofs import Shown, by_cases, by_expansion, text_of, theorem


def by_matrices(
    x: Affine, at: Number, into: Mapping[str, Number], margin: Fraction = Fraction(1), times: Affine | Number = 1
) -> Gadget:
    """Wires Lemma C.5's matrices: b1 = [−u + ε, −u + ε/2], first entries of W3 = (2/ε)[1, −1, −1, 1]. Width 2."""
    corners = ((margin, 2 / margin), (margin / 2, -2 / margin))
    units = (
        Unit(x - at + corner, as_affine(times), {register: weight * c for register, c in into.items()})
        for corner, weight in corners
    )
    return Gadget(f"1[{x} ≥ {at}]", tuple(units), {}, "Lemma C.5, the matrices")


def between(x: Affine, low: Number, high: Number, into: Mapping[str, Number], times: Affine | Number = 1) -> Gadget:
    """Wires Lemma C.6: the difference of two thresholds, at u and at v + ε with ε = 1."""
    negated = {register: -c for register, c in into.items()}
    above_low, above_high = by_matrices(x, low, into, times=times), by_matrices(x, high + 1, negated, times=times)
    return Gadget(f"1[{low} ≤ {x} ≤ {high}]", above_low.units + above_high.units, {}, "Lemma C.6, the matrices")


def _replace_gadget(part: Part, gadget: Gadget) -> Part:
    """Returns the part with this gadget instead, at one bit after the point more, for ε/2."""
    return replace(
        part,
        plan=lambda setting, printed: [BlockPlan((), (gadget,))],
        least_precision=lambda n, length: part.least_precision(n, length) + 4,
    )


THRESHOLD = _replace_gadget(threshold.PART, by_matrices(reg("x"), threshold.TEST_THRESHOLD, {"out": 1}))
INTERVAL = _replace_gadget(interval.PART, between(reg("x"), *interval.TEST_INTERVAL, {"out": 1}))


def threshold_identities() -> list[Shown]:
    """Shows that C.5's matrices are the threshold for real x that keep the margin."""
    stated: list[Json] = []
    for margin in (Fraction(1, 2**e) for e in range(MARGINS)):
        gadget = by_matrices(reg("x") - reg("u"), 0, {"out": 1}, margin, reg("f"))
        kept = f"x <= u - {margin} or x >= u"
        stated.append(theorem(f"{text_of(gadget, 'out')} == step(x - u)*f", kept, x="real", u="real", f="real"))
    return [by_cases(text) for text in stated]


def interval_identities() -> list[Shown]:
    """Shows that C.6 over C.5's matrices is the interval."""
    stated: list[Json] = []
    for span in range(SPANS):
        gadget = between(reg("x") - reg("u"), 0, span, {"out": 1}, reg("f"))
        inside = f"step(x - u)*step(u + {span} - x)*f"
        stated.append(theorem(f"{text_of(gadget, 'out')} == {inside}", x="integer", u="integer", f="real"))
    return [by_cases(text) for text in stated]


# Lemma C.3, written out, with other constants


DYADIC = (Fraction(8), Fraction(5, 8), Fraction(3, 8))
"""The factor and the two constants that stand for 10, 0.6 and 0.4: factor·(1 − 1/2 − 3/8) is 1 as well, and all are dyadic."""


def indicator_dyadic() -> Shown:
    """Returns whether the written-out form with these constants is the indicator."""
    s, high, low = DYADIC
    text = f"{s}*(relu(x - B - 1/2) - relu(x - B + 1/2)) + {s}*(relu(B - x - {high}) - relu(B - x + {low})) + {s}"
    return by_cases(theorem(f"{text} == step(x - B)*step(B - x)", x="integer", B="integer"))


# Lemma C.18's cubic by two feed-forwards


def cubic_by_two(setting: Setting, printed: bool) -> list[BlockPlan]:
    """Returns the square of x, and then x·(1 − x + x²): two feed-forwards of width 1."""
    x = reg("x")
    return [
        BlockPlan((), (square(x, "square"),)),
        BlockPlan((), (Gadget("x − x² + x³", (Unit(x, 1 - x + reg("square"), {"out": 1}),)),)),
    ]


def cubic_identity() -> Shown:
    """Returns what the two feed-forwards compute in exact arithmetic."""
    return by_expansion(theorem("x*(1 - x + x**2) == x - x**2 + x**3", x="real"))


SMALLEST_CUBIC = 4  # from 1/4 on, that is on x ≤ 11/40, the print takes the cubic


def _cubic_oracle(setting: Setting, columns: Columns) -> Expected:
    return {"out": [x - x**2 + x**3 for x in columns["x"]]}


def _cubic_contract(setting: Setting) -> Contract:
    units = tuple(Fraction(1, m) for m in range(SMALLEST_CUBIC, max(SMALLEST_CUBIC, setting.n) + 1))
    return Contract({"x": OneOf(units)}, {"out": next_fraction.PART.contract(setting).ensures["out"]}, {})


CUBIC = Part(
    id="C.18",
    name="nxt",
    source="Lemma C.18, the function nxt",
    statement="Two feed-forwards compute x − x² + x³ on (0, 11/40] to within two steps of the format.",
    plan=cubic_by_two,
    contract=_cubic_contract,
    oracle=_cubic_oracle,
    least_precision=next_fraction.PART.least_precision,
    tolerance=lambda setting: 2,
)
