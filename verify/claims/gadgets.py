"""Lemmas C.1 to C.6: what single ReGLU feed-forwards compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.parts.gadgets import indicator, interval, linear_map, lookup, next_fraction, product, threshold
from constructions.wiring.part import Part
from precision.format import fixed_point
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Verdict, claim, claims
from verify.oracles.counts import all_columns
from verify.oracles.gadget_identities import IDENTITIES, identities, indicator_written_out
from verify.oracles.operator_bounds import never_rounds
from verify.runs.parts import claimed_sizes, columns_of_one, refuses_shifts, run_every, run_random
from verify.runs.probe import Trial, compare, rounded

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


@claims(
    "part",
    [
        (Claim(part.id if not part.findings else f"{part.id}/repaired", part.source, part.statement), part)
        for part in INTEGER_PARTS
    ],
)
def test_gadget(check: Check, engine: str, part: Part) -> None:
    identity = IDENTITIES[part.id]
    check.proved(identities(part.id), by="the signs of the gates, case by case", range=identity.range)
    if identity.argued:
        check.argued(identity.argued)

    def rounds_nothing(n: int) -> Counterexample | None:
        return never_rounds(part, n)

    def right(trial: Trial) -> Counterexample | None:
        return compare(part, trial, engine)

    refuses_shifts(check, part, engine)
    text = "no operator rounds or saturates, by its bounds over all inputs"
    sizes = claimed_sizes(check, part, range(1, min(check.n_max, BOUNDED_TOP) + 1))
    check.exhaustive(
        sizes,
        rounds_nothing,
        count=len(sizes),
        range=f"{text}: every n",
        size=lambda n: n,
        precision="least p, hence also above",
    )
    check.chosen(
        claimed_sizes(check, part, check.sizes()),
        rounds_nothing,
        range=f"{text}: n = 1, 2, 4 …",
        size=lambda n: n,
        precision="least p, hence also above",
    )
    small = claimed_sizes(
        check, part, range(1, min(check.n_max, EXHAUSTIVE_TOP.get(part.id, EXHAUSTIVE_TOP_SINGLE)) + 1)
    )
    count = all_columns(part, [(n, 1) for n in small], check.p_bits)
    run_every(check, columns_of_one(part, small, check), right, "every column of the contract, run", count)
    run_random(check, part, right, "columns of the contract, run", longest=1)


@claims(
    "part",
    [
        (Claim(f"{part.id}/printed", part.source, part.statement, "printed", expected=Verdict.REFUTED), part)
        for part in INTEGER_PARTS
        if part.findings
    ],
)
def test_printed_gadget(check: Check, engine: str, part: Part) -> None:
    def right(trial: Trial) -> Counterexample | None:
        return compare(part, trial, engine, printed=True)

    top = min(check.n_max, EXHAUSTIVE_TOP.get(part.id, EXHAUSTIVE_TOP_SINGLE))
    small = range(1, top + 1)
    count = all_columns(part, [(n, 1) for n in small], check.p_bits)
    run_every(check, columns_of_one(part, small, check), right, "every column of the contract, run", count)


# The forms that C.3 and C.5 write out


@dataclass(frozen=True)
class Point:
    """x at R_p."""

    x: int
    precision_bits: int


def written_out_indicator(x: Fraction, high: Fraction, low: Fraction) -> Fraction:
    """10(ReLU(x−0.5) − ReLU(x+0.5)) + 10(ReLU(−x−0.6) − ReLU(−x+0.4)) + 10 for B = 0, with 0.6 and 0.4 as given."""

    def relu(value: Fraction) -> Fraction:
        return max(value, Fraction(0))

    half = Fraction(1, 2)
    return 10 * (relu(x - half) - relu(x + half)) + 10 * (relu(-x - high) - relu(-x + low)) + 10


@claim(
    "C.3/written-out",
    source="Lemma C.3, the written-out form",
    statement="10(ReLU(x−B−0.5) − ReLU(x−B+0.5)) + 10(ReLU(B−x−0.6) − ReLU(B−x+0.4)) + 10 is 1[x = B], in exact arithmetic.",
    variant="printed",
)
def test_written_out_indicator(check: Check) -> None:
    check.proved(
        [indicator_written_out()],
        by="the signs of the ReLUs for x < B, x = B and x > B",
        range="all integers x and B",
    )


@claim(
    "C.3/written-out-rounded",
    source="Lemma C.3, the written-out form",
    statement="The written-out form is exactly 1[x = B] with its constants rounded to R_p.",
    variant="printed",
    expected=Verdict.REFUTED,
)
def test_written_out_indicator_rounded(check: Check) -> None:
    def right(point: Point) -> Counterexample | None:
        fmt = fixed_point(point.precision_bits)
        high, low = rounded(Fraction(3, 5), fmt), rounded(Fraction(2, 5), fmt)
        got = written_out_indicator(Fraction(point.x), high, low)
        wanted = Fraction(int(point.x == 0))
        return None if got == wanted else Counterexample(expected=wanted, got=got)

    points = (Point(x, bits) for bits in range(13, 106, 2) for x in (0, 1, -1, 2, -2))
    check.exhaustive(points, right, count=47 * 5, range="x − B in −2 … 2, p from 13 to 105", precision="p = 13 … 105")


@claim(
    "C.5/written-out",
    source="Lemma C.5, the written-out form",
    statement="(2/ε)(ReLU(x−u−ε) − ReLU(x−u+0.5)) is 1[x ≥ u] on x ≤ u − ε or x ≥ u, for ε = 1, in exact arithmetic.",
    variant="printed",
    expected=Verdict.REFUTED,
)
def test_written_out_threshold(check: Check) -> None:
    def right(x: int) -> Counterexample | None:
        got = 2 * (max(Fraction(x - 1), Fraction(0)) - max(x + Fraction(1, 2), Fraction(0)))
        wanted = Fraction(int(x >= 0))
        return None if got == wanted else Counterexample(expected=wanted, got=got)

    check.exhaustive((0, -1, 1, -2, 2), right, count=5, range="x − u in −2 … 2")
