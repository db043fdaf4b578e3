"""Lemmas C.1 to C.6: what single ReGLU feed-forwards compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.parts.gadgets import indicator, interval, linear_map, lookup, next_fraction, product, threshold
from constructions.wiring.part import Contract, Integer, Part, Setting
from precision.format import fixed_point
from verify.claims.readings_of_heads import indicator as indicator_readings
from verify.claims.readings_of_heads import threshold as threshold_readings
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claim, claims
from verify.oracles.gadget_identities import IDENTITIES, MARGINS, SPANS, identities, indicator_written_out
from verify.oracles.operator_bounds import never_rounds
from verify.oracles.printed_gadgets import (
    DYADIC,
    INTERVAL,
    THRESHOLD,
    indicator_dyadic,
    interval_identities,
    threshold_identities,
)
from verify.oracles.proofs import by_cases, theorem
from verify.runs.parts import (
    ByOracle,
    Slip,
    claimed_sizes,
    refuses_shifts,
    run_columns_of_one,
    run_one_position,
    shipped_claim,
)
from verify.runs.probe import round_value

INTEGER_PARTS: Sequence[Part] = (
    product.PART,
    linear_map.PART,
    indicator.PART,
    lookup.PART,
    threshold.PART,
    interval.PART,
)
GADGETS: Sequence[Part] = (*INTEGER_PARTS, next_fraction.PART)
EXHAUSTIVE_TOP = {"C.1": 8, "C.2": 8}  # two free registers; one alone goes up to:
EXHAUSTIVE_TOP_SINGLE = 64
BOUNDED_TOP = 256


def top_of(part: Part) -> int:
    """Returns the largest n at which every column of one position is run."""
    return EXHAUSTIVE_TOP.get(part.id, EXHAUSTIVE_TOP_SINGLE)


@claims("part", INTEGER_PARTS, shipped_claim)
def test_gadget(check: Check, engine: str, part: Part) -> None:
    identity = IDENTITIES[part.id]
    check.proved(
        identities(part.id), by="the signs of the gates, case by case", range=identity.range, limit=identity.limit
    )
    if identity.argued:
        check.argued(identity.argued)

    def rounds_nothing(n: int) -> Counterexample | None:
        return never_rounds(part, n)

    refuses_shifts(check, part, engine)
    text = "no operator rounds or saturates, by its bounds over all inputs"
    sizes = claimed_sizes(check, part, range(1, min(check.n_max, BOUNDED_TOP) + 1))
    check.exhaustive(
        sizes, rounds_nothing, count=len(sizes), range=f"{text}: every n", precision="least p, hence also above"
    )
    check.chosen(
        claimed_sizes(check, part, check.sizes()),
        rounds_nothing,
        range=f"{text}: n = 1, 2, 4 …",
        precision="least p, hence also above",
    )
    run_one_position(check, part, engine, top_of(part))


# As printed


SLIPS = (
    Slip(
        product.PART,
        "C.1",
        (
            Reading("W3 h = h1 + h2, as printed: |x1|·x2", False),
            Reading("W3 h = h1 − h2", True, "C.1/repaired", "the obvious form"),
            Reading("as printed, for x1 ≥ 0, as in every square", True, "C.1/printed-nonnegative"),
        ),
    ),
    Slip(indicator.PART, "C.3", indicator_readings("C.3/repaired")),
    Slip(lookup.PART, "C.3", indicator_readings("C.4/repaired")),
)


@claims("slip", SLIPS, lambda slip: slip.claim)
def test_printed_gadget(check: Check, engine: str, slip: Slip) -> None:
    part = slip.part

    run_columns_of_one(check, part, ByOracle(part, engine, printed=True), top_of(part))


@claim(
    "C.1/printed-nonnegative",
    statement="As printed, with W3 h = h1 + h2, the feed-forward multiplies two registers where the first is not negative.",
    variant="printed",
)
def test_printed_product_of_what_is_not_negative(check: Check, engine: str) -> None:
    def contract(setting: Setting) -> Contract:
        every = product.PART.contract(setting)
        return replace(every, requires={**every.requires, "x": Integer(0, setting.n)})

    part = replace(product.PART, contract=contract)

    right = ByOracle(part, engine, printed=True)
    check.proved(
        [by_cases(theorem("relu(x)*y + relu(-x)*y == x*y", "x >= 0", x="real", y="real"))],
        by="the sign of x",
        range="all real x ≥ 0 and y, before rounding",
    )
    run_columns_of_one(check, part, right, top_of(part))


BY_MATRICES = {
    THRESHOLD: "By the matrices that it prints, with the first two entries of W3.",
    INTERVAL: "By two thresholds with the matrices of Lemma C.5.",
}


@claims(
    "part",
    BY_MATRICES,
    lambda part: Claim(f"{part.id}/printed", part.source, f"{part.statement} {BY_MATRICES[part]}", "printed"),
)
def test_printed_matrices(check: Check, engine: str, part: Part) -> None:
    threshold = part is THRESHOLD
    check.proved(
        threshold_identities() if threshold else interval_identities(),
        by="the signs of the gates, case by case",
        range="all real x and u, times any real f" if threshold else "all integers x and u ≤ v, times any real f",
        limit=f"ε = 1, 1/2 … 2^−{MARGINS - 1}" if threshold else f"v < u + {SPANS}, ε = 1",
    )
    run_one_position(check, part, engine, top_of(part))


# The forms that C.3 and C.5 write out


@dataclass(frozen=True)
class GadgetPoint:
    """x at R_p."""

    x: int
    precision_bits: int


def written_out_indicator(x: Fraction, factor: Fraction, high: Fraction, low: Fraction) -> Fraction:
    """Returns f(ReLU(x−0.5) − ReLU(x+0.5)) + f(ReLU(−x−high) − ReLU(−x+low)) + f, for B = 0; printed: f = 10, 0.6, 0.4."""

    def relu(value: Fraction) -> Fraction:
        return max(value, Fraction(0))

    half = Fraction(1, 2)
    return factor * (relu(x - half) - relu(x + half)) + factor * (relu(-x - high) - relu(-x + low)) + factor


PRINTED_CONSTANTS = (Fraction(10), Fraction(3, 5), Fraction(2, 5))
PRECISIONS = range(13, 106, 2)


@claim(
    "C.3/written-out",
    source="Lemma C.3, the written-out form",
    statement="10(ReLU(x−B−0.5) − ReLU(x−B+0.5)) + 10(ReLU(B−x−0.6) − ReLU(B−x+0.4)) + 10 is 1[x = B], in exact arithmetic.",
    variant="printed",
)
def test_written_out_indicator(check: Check) -> None:
    check.proved(
        [indicator_written_out()], by="the signs of the ReLUs for x < B, x = B and x > B", range="all integers x and B"
    )


def search_written_out(check: Check, constants: tuple[Fraction, Fraction, Fraction]) -> None:
    """Searches the written-out form with these constants, each rounded to R_p."""

    def right(point: GadgetPoint) -> Counterexample | None:
        fmt = fixed_point(point.precision_bits)
        factor, high, low = (round_value(constant, fmt) for constant in constants)
        got = written_out_indicator(Fraction(point.x), factor, high, low)
        wanted = Fraction(int(point.x == 0))
        return None if got == wanted else Counterexample(expected=wanted, got=got)

    points = (GadgetPoint(x, bits) for bits in PRECISIONS for x in (0, 1, -1, 2, -2))
    text = "x − B in −2 … 2, p from 13 to 105"
    check.exhaustive(points, right, count=47 * 5, range=text, precision="p = 13 … 105")


@claim(
    "C.3/written-out-rounded",
    source="Lemma C.3, the written-out form, and appendix A.2",
    statement="The written-out form is exactly 1[x = B] with its constants rounded to R_p.",
    variant="printed",
    kind=Kind.OPEN,
    readings=(
        Reading(
            "0.6 and 0.4 are rounded to R_p before anything is computed: at x = B up to 4 steps away from 1", False
        ),
        Reading(
            "0.6 and 0.4 are real numbers, and the value alone is rounded, once, at the end", True, "C.3/written-out"
        ),
        Reading(
            "numbers are p-bit floating point: 0.4 is rounded by a fifth of its step, which ten times is a step at 1 (24 digits)",
            False,
        ),
        Reading("8, 5/8 and 3/8 instead of 10, 0.6 and 0.4, from p = 13 on", True, "C.3/written-out-dyadic"),
    ),
)
def test_written_out_indicator_rounded(check: Check) -> None:
    search_written_out(check, PRINTED_CONSTANTS)


@claim(
    "C.3/written-out-dyadic",
    source="Lemma C.3, the written-out form",
    statement="With 8, 5/8 and 3/8 for 10, 0.6 and 0.4 the written-out form is exactly 1[x = B]; so it is in R_p, p = 13 … 105, "
    "for x − B in −2 … 2.",
    variant="printed",
)
def test_written_out_indicator_dyadic(check: Check) -> None:
    check.proved(
        [indicator_dyadic()], by="the signs of the ReLUs for x < B, x = B and x > B", range="all integers x and B"
    )
    search_written_out(check, DYADIC)


@claim(
    "C.5/written-out",
    source="Lemma C.5, the written-out form",
    statement="(2/ε)(ReLU(x−u−ε) − ReLU(x−u+0.5)) is 1[x ≥ u] on x ≤ u − ε or x ≥ u, for ε = 1, in exact arithmetic.",
    variant="printed",
    kind=Kind.SLIP,
    readings=threshold_readings(),
    slip="C.5",
)
def test_written_out_threshold(check: Check) -> None:
    def right(x: int) -> Counterexample | None:
        got = 2 * (max(Fraction(x - 1), Fraction(0)) - max(x + Fraction(1, 2), Fraction(0)))
        wanted = Fraction(int(x >= 0))
        return None if got == wanted else Counterexample(expected=wanted, got=got)

    check.exhaustive((0, -1, 1, -2, 2), right, count=5, range="x − u in −2 … 2")
