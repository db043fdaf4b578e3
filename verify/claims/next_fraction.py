"""Lemma C.19 and the function nxt of Lemma C.18: the unit fraction after a unit fraction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.parts.gadgets import next_fraction
from constructions.parts.heads.match_next import least_lead, match_next_precision, next_scale
from constructions.wiring.part import Setting
from precision.format import fixed_point
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Kind, Reading, claim
from verify.inputs.trial import Trial
from verify.oracles.fraction_theorems import cubic_error, leads_fall, nearest_to_the_next, third_differences
from verify.oracles.printed_gadgets import CUBIC, SMALLEST_CUBIC, cubic_identity
from verify.runs.costs import sizes_text
from verify.runs.parts import ByOracle, claimed_sizes, columns_of_one, refuses_shifts, run_every, run_random
from verify.runs.probe import compare, run_part

EXHAUSTIVE_TOP = 64


@dataclass(frozen=True)
class FractionCase:
    """m, at the precision for n."""

    n: int
    m: int


@dataclass(frozen=True)
class Image:
    """A number, and m: is 1/m nearest to it?"""

    m: int
    value: Fraction


@claim("C.19/repaired", source=next_fraction.PART.source, statement=next_fraction.PART.statement)
def test_next_fraction(check: Check, engine: str) -> None:
    part = next_fraction.PART
    check.proved(
        nearest_to_the_next(),
        by="m = k + 4 leaves positive coefficients only; m = 1, 2, 3 by value",
        range="1/(m + 1) is the unit fraction nearest to nxt(1/m), all m, before rounding",
    )
    sizes = claimed_sizes(check, part, check.sizes())

    def stays_nearest(place: FractionCase) -> Counterexample | None:
        fmt = fixed_point(check.p_bits or part.least_precision(place.n, 1))
        error = fmt.quantum  # half a quantum from rounding 1/m, as nxt is 1-Lipschitz, and half from the product
        image = next_fraction.next_fraction_value(Fraction(1, place.m))
        for value in (image - error, image + error):
            if not is_nearest(value, place.m + 1):
                return Counterexample(value=value)
        return None

    def right(trial: Trial) -> Counterexample | None:
        (x,), (image,) = trial.columns["x"], run_part(part, trial, engine).values["out"]
        if not is_nearest(image, x.denominator + 1):
            return Counterexample(m=x.denominator, got=image)
        return compare(part, trial, engine)

    def nearest(image: Image) -> Counterexample | None:
        return None if is_nearest(image.value, image.m) else Counterexample(value=image.value)

    unit = [Fraction(1, m) for m in range(1, 12)]
    midpoints = [(one + other) / 2 for one, other in itertools.pairwise(unit)]
    check.refuses(
        (
            Image(m, value)
            for m in range(1, 10)
            for value in (Fraction(0), *unit, *midpoints)
            if not rounds_to(value, m)
        ),
        nearest,
        range="numbers to which 1/m is not the only nearest unit fraction, m < 10",
    )
    refuses_shifts(check, part, engine)
    check.exhaustive(
        (FractionCase(n, m) for n in sizes for m in range(1, n + 1)),
        stays_nearest,
        count=sum(sizes),  # n of them for each n
        range=f"1/(m + 1) is the nearest to all within a quantum of nxt(1/m): every m ≤ n, n = {sizes_text(sizes)}",
        precision=check.precision_text("least p, hence also above"),
    )
    small = claimed_sizes(check, part, range(1, min(EXHAUSTIVE_TOP, check.n_max) + 1))
    count = sum(small)  # n of them for each n
    run_every(check, columns_of_one(part, small, check), right, "every 1/m, m ≤ n, run", count)
    run_random(check, part, right, "unit fractions, run", longest=1)


def rounds_to(value: Fraction, m: int) -> bool:
    """Returns the same as `is_nearest`, by looking at the unit fractions around 1/m."""
    apart = [abs(value - Fraction(1, i)) for i in range(max(1, m - 10), m + 20)]
    return apart.count(min(apart)) == 1 and min(apart) == abs(value - Fraction(1, m))


def is_nearest(value: Fraction, m: int) -> bool:
    """Returns whether 1/m alone is the nearest unit fraction: `value` lies between the midpoints to its two neighbours."""
    top, bottom = value.numerator, value.denominator
    above = 2 * m * (m + 1) * top > (2 * m + 1) * bottom
    return above and (m == 1 or 2 * m * (m - 1) * top < (2 * m - 1) * bottom)


@claim(
    "C.19/printed",
    statement="|nxt(x) − next(x)| ≤ next(x)³ + O(n^−10A) for the cubic nxt, x = ROUND(1/m, p), m ≤ n^A, p > 10A·log2 n.",
    variant="printed",
)
def test_cubic_bound(check: Check) -> None:
    check.proved(
        cubic_error(),
        by="the error is 1/(m³(m + 1)); m = k + 4 leaves positive coefficients only",
        range="at every 1/m, m ≥ 4, before rounding, and that the cubic moves no more than its argument below 11/40",
    )
    check.argued(
        "Rounding x adds at most 2^−(q + 1), which is below m^−5 as q > 5A·log2 n − 1/2; both errors together stay below next(x)³."
        " m = 1, 2, 3 are exact by the constants of nxt."
    )


@dataclass(frozen=True)
class Width:
    """How many ReGLU units one feed-forward has."""

    units: int


@claim(
    "C.18/printed-nxt",
    source="Lemma C.18, the function nxt",
    statement="One feed-forward block of some width computes x − x² + x³ at each real x in (0, 11/40], in exact arithmetic.",
    variant="printed",
    kind=Kind.OPEN,
    readings=(
        Reading("one ReGLU feed-forward of section 3.1, of any width", False),
        Reading('two of them, as the main text has one "of constant depth"', True, "C.18/printed-nxt-two"),
        Reading("one of them for x − x², to which 1/(m + 1) is the nearest unit fraction too", True, "C.19/repaired"),
        Reading(
            "one of them, at the counts 1/m, m ≤ n, alone: its width grows with n",
            True,
            "C.18/printed-nxt-counts",
            changes='the main text\'s "constant width"',
        ),
    ),
)
def test_one_block_is_no_cubic(check: Check) -> None:
    check.proved(
        third_differences(),
        by="third differences: 0 for a product of affine functions, 6h³ for the cubic",
        range="what a unit computes between the zeros of its gate, and the cubic",
    )
    check.argued(
        "A gate has one zero, so on one of units + 1 equal stretches of (0, 11/40] every unit is such a product."
    )

    def some_block_might(width: Width) -> Counterexample | None:
        # A gate has one zero, so one of the units + 1 equal stretches of (0, 11/40] has none inside.
        step = Fraction(11, 40) / (4 * (width.units + 1))
        values = [cubic(k * step) for k in range(1, 4 * (width.units + 1) + 1)]
        stretches = [values[4 * i : 4 * i + 4] for i in range(width.units + 1)]
        differences = {v[3] - 3 * v[2] + 3 * v[1] - v[0] for v in stretches}
        if 0 in differences:
            return None
        (difference,) = differences
        return Counterexample(
            stretches=width.units + 1,
            points_each=4,
            distance=step,
            third_difference_of_the_cubic_on_each=difference,
            third_difference_of_the_block_on_one=0,
        )

    check.chosen([Width(1)], some_block_might, range="widths, the argument in numbers", size=lambda w: w.units)


@claim(
    "C.18/printed-nxt-counts",
    source="Lemma C.18, the function nxt",
    statement="One feed-forward block of n units computes x − x² + x³ at each count x = 1/m, 4 ≤ m ≤ n, in exact arithmetic.",
    variant="printed",
)
def test_one_block_is_the_cubic_at_counts(check: Check) -> None:
    """Draws a line from each point to the next: a unit for each bend."""

    def same(place: FractionCase) -> Counterexample | None:
        x, units = Fraction(1, place.m), bends([Fraction(1, m) for m in range(place.n, SMALLEST_CUBIC - 1, -1)])
        value = sum((weight * max(x - corner, Fraction(0)) for corner, weight in units), cubic(Fraction(1, place.n)))
        if len(units) <= place.n and value == cubic(x):
            return None
        return Counterexample(expected=cubic(x), got=value, units=len(units))

    sizes = range(SMALLEST_CUBIC, min(EXHAUSTIVE_TOP, check.n_max) + 1)
    check.exhaustive(
        (FractionCase(n, m) for n in sizes for m in range(SMALLEST_CUBIC, n + 1)),
        same,
        count=sum(n - SMALLEST_CUBIC + 1 for n in sizes),
        range="every 1/m, 4 ≤ m ≤ n",
    )
    check.argued("All n: lines through n points have at most n bends, and a unit is 0 before its corner.")


def cubic(x: Fraction) -> Fraction:
    return x - x**2 + x**3


def bends(points: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Returns corner and weight of each unit ReLU(x − corner) of the lines through the cubic's points, in rising order."""
    slopes = [(cubic(b) - cubic(a)) / (b - a) for a, b in itertools.pairwise(points)]
    turns = [after - before for before, after in itertools.pairwise([Fraction(0), *slopes])]
    return list(zip(points, turns, strict=False))


@claim("C.18/printed-nxt-two", source=CUBIC.source, statement=CUBIC.statement, variant="printed")
def test_two_feed_forwards_are_the_cubic(check: Check, engine: str) -> None:
    check.proved([cubic_identity()], by="expansion", range="all real x, before rounding")

    right = ByOracle(CUBIC, engine)
    if check.n_max >= SMALLEST_CUBIC:
        sizes = claimed_sizes(check, CUBIC, range(SMALLEST_CUBIC, min(EXHAUSTIVE_TOP, check.n_max) + 1))
        count = sum(n - SMALLEST_CUBIC + 1 for n in sizes)
        run_every(check, columns_of_one(CUBIC, sizes, check), right, "every 1/m, 4 ≤ m ≤ n, run", count)


@claim(
    "C.18/least-lead",
    source="Lemma C.18, the lead of the winner in squared distance",
    statement="The winner's least lead over all counts up to M is that of m = 1 … 5 or m = M, and falls with m from m = 5 on;"
    " the factor T of the preference makes it at least the gap.",
)
def test_least_lead(check: Check) -> None:
    check.proved(leads_fall(), by="m = k + 5 leaves positive coefficients only", range="all m ≥ 5")

    def leads(m: int, others: range) -> list[Fraction]:
        image = next_fraction.next_fraction_value(Fraction(1, m))
        squares = {i: (Fraction(1, i) - image) ** 2 for i in others}
        last = [squares[i] - squares[m] for i in others if i < m] if m >= 2 else []
        return [squares[i] - squares[m + 1] for i in others if i != m + 1] + last

    def is_the_least(largest: int) -> Counterexample | None:
        found = min(lead for m in range(1, largest + 1) for lead in leads(m, range(2, m + 8)))
        stated = least_lead(largest)
        return None if found == stated else Counterexample(expected=found, got=stated)

    def scale_is_enough(n: int) -> Counterexample | None:
        setting = Setting(n, n, fixed_point(match_next_precision(n, n)))
        target = Fraction(1, n + 1) - Fraction(1, n + 1) ** 2
        first, second = ((Fraction(1, i) - target) ** 2 for i in (n + 2, n + 3))
        lead = min(second - first, *(lead for m in range(1, 6) for lead in leads(m, range(2, m + 8))))
        scale = next_scale(setting.gap, n)
        return None if scale * lead >= setting.gap else Counterexample(scale=scale, lead=lead, gap=setting.gap)

    check.exhaustive(
        range(1, min(check.n_max, 48) + 1),
        is_the_least,
        count=min(check.n_max, 48),
        range="the formula against all m ≤ M",
        size=lambda largest: largest,
    )
    if check.n_max >= 4:
        sizes = check.sizes(4)
        check.chosen(
            sizes,
            scale_is_enough,
            range=f"the factor T, m = n + 1 as the last count: n = {sizes_text(sizes)}",
            precision="least p",
        )
