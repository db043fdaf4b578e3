"""Lemma C.19 and the function nxt of Lemma C.18: the unit fraction behind a unit fraction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy

from constructions.parts.gadgets import next_fraction
from constructions.parts.heads.match_next import least_lead
from constructions.wiring.affine import reg
from precision.format import fixed_point
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Verdict, claim
from verify.oracles.proofs import Case, nonnegative, positive_from, reproduces
from verify.runs.parts import claimed_sizes, columns_of_one, run_every, run_random
from verify.runs.probe import Trial, compare, run_part

EXHAUSTIVE_TOP = 64


@claim("C.19/repaired", source=next_fraction.PART.source, statement=next_fraction.PART.statement)
def test_next_fraction(check: Check, engine: str) -> None:
    part = next_fraction.PART
    check.proved(
        image_is_nearest_to_the_next,
        by="m = k + 4 leaves positive coefficients only; m = 1, 2, 3 by value",
        range="1/(m + 1) is the unit fraction nearest to nxt(1/m), all m, before rounding",
    )
    sizes = claimed_sizes(check, part, check.sizes())

    def stays_nearest(n: int) -> Counterexample | None:
        fmt = fixed_point(check.p_bits or part.least_precision(n, 1))
        error = fmt.quantum  # half a quantum from rounding 1/m, as nxt is 1-Lipschitz, and half from the product
        for m in range(1, n + 1):
            image = next_fraction.next_fraction_value(Fraction(1, m))
            for value in (image - error, image + error):
                if not is_nearest(value, m + 1):
                    return Counterexample(m=m, value=value)
        return None

    def right(trial: Trial) -> Counterexample | None:
        (x,), (image,) = trial.columns["x"], run_part(part, trial, engine).values["out"]
        if not is_nearest(image, x.denominator + 1):
            return Counterexample(m=x.denominator, got=image)
        return compare(part, trial, engine)

    check.certified(
        sizes,
        stays_nearest,
        range="1/(m + 1), m ≤ n, is the nearest to all within a quantum of nxt(1/m)",
        size=lambda n: n,
        precision=check.precision_text("least p, hence also above"),
    )
    small = claimed_sizes(check, part, range(1, min(EXHAUSTIVE_TOP, check.n_max) + 1))
    count = sum(small)  # n of them for each n
    run_every(check, columns_of_one(part, small, check), right, "every 1/m, m ≤ n, run", count)
    run_random(check, part, right, "unit fractions, run", longest=1)


def is_nearest(value: Fraction, m: int) -> bool:
    """Whether 1/m is the only unit fraction nearest to `value`: which lies between the midpoints to 1/(m + 1) and to 1/(m − 1)."""
    top, bottom = value.numerator, value.denominator
    above = 2 * m * (m + 1) * top > (2 * m + 1) * bottom
    return above and (m == 1 or 2 * m * (m - 1) * top < (2 * m - 1) * bottom)


def image_is_nearest_to_the_next() -> bool:
    """1/(m + 2) < x − x² < 1/(m + 1) at x = 1/m, the upper end nearer, m ≥ 4; and the gadget is x − x² up to 1/4."""
    m, below = sympy.Symbol("m"), nonnegative("d")
    image = 1 / m - 1 / m**2
    up, down = 1 / (m + 1) - image, image - 1 / (m + 2)
    x = sympy.Rational(1, 4) - below
    cases = [Case({"x": x}, x - x**2)]
    for k in (1, 2, 3):
        value = next_fraction.next_fraction_value(Fraction(1, k))
        if not is_nearest(value, k + 1):
            return False
        cases.append(Case({"x": sympy.Rational(1, k)}, sympy.Rational(value.numerator, value.denominator)))
    same = reproduces(next_fraction.next_fraction(reg("x"), "out"), "out", cases)
    return same and all(positive_from(d, m, 4) for d in (up, down, down - up))


@claim(
    "C.19/printed",
    source="Lemma C.19",
    statement="|nxt(x) − next(x)| ≤ next(x)³ + O(n^−10A) for the cubic nxt, x = ROUND(1/m, p), m ≤ n^A, p > 10A·log2 n.",
    variant="printed",
)
def test_cubic_bound(check: Check) -> None:
    def proof() -> bool:
        # The error at 1/m is 1/(m³(m + 1)). The cubic is 1-Lipschitz on [0, 11/40], so rounding x adds at most 2^−(q + 1), which is
        # below m^−5 as q > 5A·log2 n − 1/2. Both together stay below next(x)³; m = 1, 2, 3 are exact by the constants of nxt.
        m = sympy.Symbol("m")
        x = 1 / m
        error = x - x**2 + x**3 - 1 / (m + 1)
        z = sympy.Symbol("z")
        slope = sympy.diff(z - z**2 + z**3, z)
        lipschitz = (
            sympy.minimum(slope, z, sympy.Interval(0, sympy.Rational(11, 40))) >= 0
            and sympy.maximum(slope, z, sympy.Interval(0, sympy.Rational(11, 40))) <= 1
        )
        closed = sympy.simplify(error - 1 / (m**3 * (m + 1))) == 0
        return bool(closed and lipschitz and positive_from(1 / (m + 1) ** 3 - error - 1 / m**5, m, 4))

    check.proved(
        proof, by="the error is 1/(m³(m + 1)); m = k + 4 leaves positive coefficients only", range="all m and n"
    )


@dataclass(frozen=True)
class Width:
    """How many ReGLU units one feed-forward has."""

    units: int


@claim(
    "C.18/printed-nxt",
    source="Lemma C.18, the function nxt",
    statement="One feed-forward block of some width computes x − x² + x³ on (0, 11/40].",
    variant="printed",
    expected=Verdict.REFUTED,
)
def test_one_block_is_no_cubic(check: Check) -> None:
    x, h = sympy.symbols("x h")
    a, b, c, d = sympy.symbols("a b c d")

    def third_difference(function: Callable[[sympy.Expr], sympy.Expr]) -> sympy.Expr:
        return sympy.expand(function(x + 3 * h) - 3 * function(x + 2 * h) + 3 * function(x + h) - function(x))

    def proof() -> bool:
        # Between the zeros of its gates, a unit is 0 or a product of two affine functions.
        unit = third_difference(lambda z: (a * z + b) * (c * z + d))
        cubic = third_difference(lambda z: z - z**2 + z**3)
        return bool(unit == 0 and sympy.expand(cubic - 6 * h**3) == 0)

    check.proved(
        proof,
        by="third differences: 0 for a sum of products of affine functions, 6h³ for the cubic",
        range="the argument, for every width",
    )

    def some_block_might(width: Width) -> Counterexample | None:
        # A gate has one zero, so one of the units + 1 equal stretches of (0, 11/40] has none inside.
        step = Fraction(11, 40) / (4 * (width.units + 1))
        cubic = [z - z**2 + z**3 for z in (k * step for k in range(1, 4 * (width.units + 1) + 1))]
        stretches = [cubic[4 * i : 4 * i + 4] for i in range(width.units + 1)]
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
    "C.18/least-lead",
    source="Lemma C.18, the lead of the winner in squared distance",
    statement="The winner's least lead over all counts up to M is that of m = 1 … 5 or m = M, and falls with m from m = 5 on.",
)
def test_least_lead(check: Check) -> None:
    m = sympy.Symbol("m")
    target = 1 / m - 1 / m**2

    def distance(i: sympy.Expr) -> sympy.Expr:
        return (1 / i - target) ** 2

    def proof() -> bool:
        lead = distance(m + 2) - distance(m + 1)
        return all(
            (
                positive_from(lead - lead.subs(m, m + 1), m, 5),  # it falls
                positive_from(lead, m, 5),
                positive_from(distance(m) - distance(m + 1) - lead, m, 5),  # over the upper neighbour it is larger
                positive_from(distance(m - 1) - distance(m) - lead, m, 5),  # so it is for 1/m where that is the last
                # Farther ones are farther away: 1/i falls with i, and the target lies between 1/(m + 2) and 1/(m + 1).
                positive_from(1 / (m + 1) - target, m, 5),
                positive_from(target - 1 / (m + 2), m, 5),
            )
        )

    check.proved(proof, by="m = k + 5 leaves positive coefficients only", range="all m ≥ 5")

    def is_the_least(largest: int) -> Counterexample | None:
        leads = []
        for m_ in range(1, largest + 1):
            image = next_fraction.next_fraction_value(Fraction(1, m_))
            squares = {i: (Fraction(1, i) - image) ** 2 for i in range(2, m_ + 8)}
            leads += [squares[i] - squares[m_ + 1] for i in squares if i != m_ + 1]
            if m_ >= 2:
                leads += [squares[i] - squares[m_] for i in range(2, m_)]
        found, stated = min(leads), least_lead(largest)
        return None if found == stated else Counterexample(expected=found, got=stated)

    check.exhaustive(
        range(1, min(check.n_max, 48) + 1),
        is_the_least,
        count=min(check.n_max, 48),
        range="the formula against all m ≤ M",
        size=lambda largest: largest,
    )
