"""Lemmas C.1 to C.6 and C.19: what single ReGLU feed-forwards compute."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from constructions.affine import reg
from constructions.gadgets import indicator, interval, linear_map, lookup, next_fraction, product, threshold
from constructions.heads.match_next import least_lead
from constructions.part import Part
from precision.format import fixed_point
from verify.check import Check
from verify.claim import Claim, Counterexample, Verdict, claim, claims
from verify.probe import Trial, compare, rounded, run_part
from verify.proofs import Case, free, never_rounds, nonnegative, positive_from, reproduces
from verify.strategies import every_trial, trials

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


def asked(check: Check) -> Callable[[int, int], int | None]:
    """The precision of --p-bits, or None for the least one of each setting."""
    return lambda n, length: check.p_bits


def claimed_sizes(check: Check, part: Part, sizes: Sequence[int], length: int = 1) -> Sequence[int]:
    """The sizes for which the part claims to hold at the precision of --p-bits."""
    if check.p_bits is None:
        return sizes
    kept = [n for n in sizes if part.least_precision(n, length) <= check.p_bits]
    if not kept:
        least = part.least_precision(sizes[0], length)
        check.unknown(f"p = {check.p_bits} is below the least p that is claimed, {least} at n = {sizes[0]}")
    return kept


def columns_of_one(part: Part, sizes: Sequence[int], check: Check) -> Iterator[Trial]:
    """Every single column of every size, the small ones first."""
    return itertools.chain.from_iterable(every_trial(part, n, 1, precision=asked(check)) for n in sizes)


# The identities, in exact arithmetic


def product_is_right() -> bool:
    t, y = nonnegative("t"), free("y")
    gadget = product.product(reg("x"), reg("y"), {"out": 1})
    return reproduces(gadget, "out", [Case({"x": t, "y": y}, t * y), Case({"x": -t, "y": y}, -t * y)])


def linear_map_is_right() -> bool:
    x, y = free("x"), free("y")
    gadget = linear_map.linear_map({"out": 2 * reg("x") - 3 * reg("y")})
    return reproduces(gadget, "out", [Case({"x": x, "y": y}, 2 * x - 3 * y)])


def indicator_is_right() -> bool:
    t, b, f, zero = nonnegative("t"), free("B"), free("f"), sympy.Integer(0)
    gadget = indicator.indicator(reg("x") - reg("B"), 0, {"out": 1}, times=reg("f"))
    cases = [(b - 1 - t, zero), (b, f), (b + 1 + t, zero)]
    return reproduces(gadget, "out", [Case({"x": x, "B": b, "f": f}, result) for x, result in cases])


def lookup_is_right() -> bool:
    """The output is linear in the table, so tables with a single 1 suffice; the key is any of the finitely many."""
    size = lookup.TEST_BASE**2
    for marked in range(size):
        table = [int(i == marked) for i in range(size)]
        gadget = lookup.lookup([reg("x"), reg("y")], lookup.TEST_BASE, table, "out")
        cases = [
            Case({"x": sympy.Integer(i % 3), "y": sympy.Integer(i // 3)}, sympy.Integer(table[i])) for i in range(size)
        ]
        if not reproduces(gadget, "out", cases):
            return False
    return True


def threshold_is_right() -> bool:
    t, u, f = nonnegative("t"), free("u"), free("f")
    for margin in (Fraction(1, 2**e) for e in range(64)):
        gadget = threshold.threshold(reg("x") - reg("u"), 0, {"out": 1}, margin=margin, times=reg("f"))
        below = u - sympy.Rational(1, margin.denominator) - t
        cases = [Case({"x": below, "u": u, "f": f}, sympy.Integer(0)), Case({"x": u + t, "u": u, "f": f}, f)]
        if not reproduces(gadget, "out", cases):
            return False
    return True


def interval_is_right() -> bool:
    t, low, f = nonnegative("t"), free("u"), free("f")
    for span, offset in ((s, o) for s in range(16) for o in range(s + 1)):
        gadget = interval.interval(reg("x") - reg("u"), 0, span, {"out": 1}, times=reg("f"))
        places = [(low - 1 - t, sympy.Integer(0)), (low + offset, f), (low + span + 1 + t, sympy.Integer(0))]
        if not reproduces(gadget, "out", [Case({"x": x, "u": low, "f": f}, result) for x, result in places]):
            return False
    return True


IDENTITIES: dict[str, tuple[Callable[[], bool], str, str]] = {
    "C.1": (product_is_right, "all real x and y, before rounding", "the signs of x"),
    "C.2": (linear_map_is_right, "all real x and y, before rounding", "the gate is the constant 1"),
    "C.3": (indicator_is_right, "all integers x and B, before rounding", "x < B, x = B, x > B"),
    "C.4": (
        lookup_is_right,
        "all tables over two digits below 3, before rounding",
        "linearity in the table, every key",
    ),
    "C.5": (threshold_is_right, "all real x and u, margins 1 … 2^−63, before rounding", "x ≤ u − ε, x ≥ u"),
    "C.6": (interval_is_right, "all integers x and u ≤ v < u + 16, before rounding", "below, each point inside, above"),
}


@claims(
    "part",
    [
        (Claim(part.id if not part.findings else f"{part.id}/repaired", part.source, part.statement), part)
        for part in INTEGER_PARTS
    ],
)
def test_gadget(check: Check, engine: str, part: Part) -> None:
    identity, range_, cases = IDENTITIES[part.id]
    check.proved(identity, by=f"every gate has a fixed sign in each case: {cases}", range=range_)
    sizes = claimed_sizes(check, part, check.sizes())

    def rounds_nothing(n: int) -> Counterexample | None:
        return never_rounds(part, n)

    def right(trial: Trial) -> Counterexample | None:
        return compare(part, trial, engine)

    check.certified(
        sizes,
        rounds_nothing,
        range="no operator rounds or saturates, whatever the input",
        size=lambda n: n,
        precision="least p, hence also above",
    )
    small = claimed_sizes(
        check, part, range(1, min(check.n_max, EXHAUSTIVE_TOP.get(part.id, EXHAUSTIVE_TOP_SINGLE)) + 1)
    )
    check.exhaustive(
        columns_of_one(part, small, check),
        right,
        range="every column of the contract, run",
        size=lambda trial: trial.n,
        precision=precision_text(check),
    )
    check.sampled(
        trials(part, sizes, 1, precision=asked(check)),
        right,
        range="columns of the contract, run",
        size=lambda trial: trial.n,
        precision=precision_text(check, "least p to least p + 20"),
    )


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
    check.exhaustive(
        columns_of_one(part, range(1, top + 1), check),
        right,
        range="every column of the contract, run",
        size=lambda trial: trial.n,
        precision=precision_text(check),
    )


def precision_text(check: Check, usual: str = "least p") -> str:
    """For the ledger."""
    return usual if check.p_bits is None else f"p = {check.p_bits}"


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
    def proof() -> bool:
        t = nonnegative("t")
        half, high, low = sympy.Rational(1, 2), sympy.Rational(3, 5), sympy.Rational(2, 5)
        right = 10 * ((1 + t - half) - (1 + t + half)) + 10
        left = 10 * ((1 + t - high) - (1 + t + low)) + 10
        return (
            sympy.expand(right) == 0
            and sympy.expand(left) == 0
            and written_out_indicator(Fraction(0), Fraction(3, 5), Fraction(2, 5)) == 1
        )

    check.proved(proof, by="every ReLU has a fixed sign for x < B, x = B and x > B", range="all integers x and B")


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
    check.exhaustive(points, right, range="x − B in −2 … 2, p from 13 to 105", precision="p = 13 … 105")


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

    check.exhaustive((0, -1, 1, -2, 2), right, range="x − u in −2 … 2")


# Lemma C.19 and nxt


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
        precision=precision_text(check, "least p, hence also above"),
    )
    check.exhaustive(
        columns_of_one(part, claimed_sizes(check, part, range(1, min(EXHAUSTIVE_TOP_SINGLE, check.n_max) + 1)), check),
        right,
        range="every 1/m, m ≤ n, run",
        size=lambda trial: trial.n,
        precision=precision_text(check),
    )
    check.sampled(
        trials(part, sizes, 1, precision=asked(check)),
        right,
        range="unit fractions, run",
        size=lambda trial: trial.n,
        precision=precision_text(check, "least p to least p + 20"),
    )


def is_nearest(value: Fraction, m: int) -> bool:
    """Whether 1/m is the only unit fraction nearest to `value`."""
    distance = abs(value - Fraction(1, m))
    return all(abs(value - Fraction(1, other)) > distance for other in (m - 1, m + 1) if other >= 1)


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

    check.exhaustive([Width(1)], some_block_might, range="widths, the argument in numbers", size=lambda w: w.units)


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
        range="the formula against all m ≤ M",
        size=lambda largest: largest,
    )
