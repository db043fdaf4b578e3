"""Lemmas C.18 and C.19, and the last step of every head: theorems about unit fractions and powers, with proofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from constructions.parts.gadgets.next_fraction import next_fraction
from constructions.wiring.affine import as_affine, reg
from verify.oracles.proofs import Shown, by_cases, by_expansion, by_growth, by_products, by_shift, text_of, theorem


def image(m: str) -> str:
    """Returns x − x² at x = 1/m, as one quotient: the kernel cancels nothing."""
    return f"({m} - 1)/({m})**2"


def cubic(z: str) -> str:
    """Returns the printed nxt."""
    return f"({z} - ({z})**2 + ({z})**3)"


@cache
def nearest_to_the_next() -> Sequence[Shown]:
    """Shows that 1/(m + 1) is the unit fraction nearest to nxt(1/m), and what the gadget computes."""
    gadget = text_of(next_fraction(reg("x"), "out"), "out")
    below, above = "(1/(m + 1) + 1/(m + 2))/2", "(1/(m + 1) + 1/m)/2"
    shown = [
        by_cases(theorem(f"{gadget} == x - x**2", "x <= 1/4", x="real")),
        by_shift(theorem(f"{image('m')} > {below}", "m >= 4", m="integer")),
        by_shift(theorem(f"{image('m')} < {above}", "m >= 4", m="integer")),
    ]
    for m in (1, 2, 3):
        value = text_of(next_fraction(as_affine(Fraction(1, m)), "out"), "out")
        ends = (f"(1/{m + 1} + 1/{m + 2})/2 < {value}", f"{value} < (1/{m + 1} + 1/{m})/2")
        shown += [by_cases(theorem(end)) for end in ends]
    return shown


@cache
def cubic_error() -> Sequence[Shown]:
    """Returns how far the printed nxt is from the next unit fraction at 1/m, and how little it moves with its argument."""
    rounding = "0 <= y <= z <= 11/40"
    moves = f"{cubic('z')} - {cubic('y')}"
    factor = "9/20 + 2*f2 + f1"  # 1 − y − z, with f0 = y, f1 = z − y, f2 = 11/40 − z
    return [
        by_expansion(theorem(f"{image('m')} + 1/m**3 - 1/(m + 1) == 1/(m**3*(m + 1))", "m >= 4", m="integer")),
        by_shift(theorem("1/(m + 1)**3 > 1/(m**3*(m + 1)) + 1/m**5", "m >= 4", m="integer")),
        by_products(
            theorem(f"{moves} >= 0", rounding, y="real", z="real"),
            f"f1*({factor} + (f0 + f1)**2 + (f0 + f1)*f0 + f0**2)",
        ),
        by_products(
            theorem(f"{moves} <= z - y", rounding, y="real", z="real"),
            f"f1*((f0 + f1)*({factor}) + f0*(29/40 + f2 + f1))",
        ),
    ]


@cache
def third_differences() -> Sequence[Shown]:
    """Shows that they vanish for a product of two affine functions, and not for the cubic."""

    def difference(function: Callable[[str], str]) -> str:
        first, second, third, fourth = map(function, ("x + 3*h", "x + 2*h", "x + h", "x"))
        return f"{first} - 3*{second} + 3*{third} - {fourth}"

    unit = difference(lambda z: f"(a*({z}) + b)*(c*({z}) + d)")
    return [
        by_expansion(theorem(f"{unit} == 0", **dict.fromkeys("xhabcd", "real"))),
        by_expansion(theorem(f"{difference(cubic)} == 6*h**3", x="real", h="real")),
    ]


@cache
def leads_fall() -> Sequence[Shown]:
    """Shows that from m = 5 on, the lead of 1/(m + 1) over 1/(m + 2) is the least one, and falls with m."""

    def distance(i: str, m: str = "m") -> str:
        return f"(1/({i}) - {image(m)})**2"

    lead = f"({distance('m + 2')} - {distance('m + 1')})"
    next_lead = f"({distance('m + 3', 'm + 1')} - {distance('m + 2', 'm + 1')})"
    stated = [
        f"{lead} > {next_lead}",  # it falls
        f"{lead} > 0",
        f"{distance('m')} - {distance('m + 1')} > {lead}",  # over the upper neighbour it is larger
        f"{distance('m - 1')} - {distance('m')} > {lead}",  # so it is for 1/m where that is the last
        # Farther ones are farther away: 1/i falls with i, and the target lies between 1/(m + 2) and 1/(m + 1).
        f"1/(m + 1) > {image('m')}",
        f"{image('m')} > 1/(m + 2)",
    ]
    return [by_shift(theorem(text, "m >= 5", m="integer")) for text in stated]


@cache
def lead_is_n() -> Sequence[Shown]:
    """Shows that at the cubic nxt(1/m) the winner leads both neighbours by 1/i⁴ in squared distance, i ≤ n; the last, too."""

    def distance(i: str) -> str:
        return f"(1/({i}) - (m**2 - m + 1)/m**3)**2"

    stated = [
        f"{distance('m')} - {distance('m + 1')} >= 1/(m + 1)**4",
        f"{distance('m + 2')} - {distance('m + 1')} >= 1/(m + 2)**4",
        f"{distance('m - 1')} - {distance('m')} >= 1/m**4",
        "(m**2 - m + 1)/m**3 < 1/m",
        "(m**2 - m + 1)/m**3 > 1/(m + 1)",
    ]
    return [by_shift(theorem(text, "m >= 4", m="integer")) for text in stated]


@cache
def leakage_vanishes(start: int, factor: int, power: int) -> Sequence[Shown]:
    """Shows that factor·n^power < e^n from the start on."""
    return [by_growth(theorem(f"exp(n) > {factor}*n**{power}", f"n >= {start}", n="integer"), "27/10")]
