"""Theorem 4.8, the gate in every step: a rounded product is a whole quotient. Theorems with proofs, for all numbers at once.

Notation: x = m·d + r with 0 ≤ r < d. X = x − (d − 1)/2, written as half of `TWICE`. S = 2^s. The constant is (S/d + f/2) steps of
R_p, where f, between −1 and 1, is what its rounding does. So the product without rounding is X·(1/d + f/(2S)) steps.
"""

from __future__ import annotations

from functools import cache

from verify.oracles.proofs import Shown, by_expansion, by_products, theorem

TWICE = "(2*m*d + 2*r + 1 - d)"
GIVEN = ("1 <= d", "0 <= r <= d - 1", f"{TWICE} >= 0", f"2*S > d*{TWICE}", "-1 <= f <= 1")
# As facts of the kernel: f0 = d − 1, f1 = r, f2 = d − 1 − r, f3 = 2X, f4 = 2S − 2Xd − 1, f5 = f + 1, f6 = 1 − f.
TWICE_S = "(f4 + 1 + (f0 + 1)*f3)"
KINDS = {"m": "integer", "d": "integer", "r": "integer", "S": "integer", "f": "real"}


@cache
def rounds_to_the_quotient() -> list[Shown]:
    """Shows that the product lies less than 1/2 from m; where X < 0, m is not above 0."""
    product, denominator = f"{TWICE}/2*(1/d + f/(2*S))", f"(f0 + 1)*{TWICE_S}"
    return [
        by_products(
            theorem(f"{product} > m - 1/2", *GIVEN, **KINDS),
            f"(2*f1*{TWICE_S} + f4 + 1 + (f0 + 1)*f3*f5)/2",
            denominator,
        ),
        by_products(
            theorem(f"{product} < m + 1/2", *GIVEN, **KINDS),
            f"(2*f2*{TWICE_S} + f4 + 1 + (f0 + 1)*f3*f6)/2",
            denominator,
        ),
        by_products(
            theorem(f"{TWICE} > 0", "m >= 1", "d >= 1", "r >= 0", m="integer", d="integer", r="integer"),
            "2*f0*(f1 + 1) + f1 + 1 + 2*f2",  # above 0 by 1 at least, which the kernel takes off
        ),
    ]


@cache
def units_of_a_period() -> list[Shown]:
    """Returns what unit j divides, at x = a·d + b: its quotient is a + 1 with rest b − j, or a with rest d + b − j."""
    kinds = dict.fromkeys("abdj", "integer")
    return [
        by_expansion(theorem("a*d + b - j + d == (a + 1)*d + (b - j)", **kinds)),
        by_expansion(theorem("a*d + b - j + d == a*d + (d + b - j)", **kinds)),
    ]
