"""Polynomials of n, B, E, V and v, and quotients of two. Equal polynomials are one object, so what is made of them is made once.

A check makes the same sums, products and comparisons over and over, in one case after the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from verify.trusted import growth
from verify.trusted.growing import EXPONENTS as EXPONENTS
from verify.trusted.growing import ONE as ONE
from verify.trusted.growing import Interned as Interned
from verify.trusted.growing import Quotient as Quotient
from verify.trusted.growing import added as added
from verify.trusted.growing import cached, interned, quotient
from verify.trusted.growing import constant as constant
from verify.trusted.growing import difference as difference
from verify.trusted.growing import multiplied as multiplied
from verify.trusted.growing import negated as negated
from verify.trusted.growth import Monomial, Polynomial, number, times


class Unanswered(TypeError):
    """What is asked has no one answer that is found."""


@cached
def simplest(polynomial: Interned) -> Interned:
    """Returns the polynomial with coprime whole coefficients, without powers of positive numbers that divide all terms."""
    terms = [dict(m) for m in polynomial]
    least = {name: min(powers.get(name, 0) for powers in terms) for name in "BEVn"}
    common = math.gcd(*(c.numerator for c in polynomial.values()))
    scale = Fraction(math.lcm(*(c.denominator for c in polynomial.values())), common)
    factor = tuple((name, -power) for name, power in least.items() if power)
    if scale == 1 and not factor:
        return polynomial
    return interned(times(polynomial, {factor: scale.numerator if scale.denominator == 1 else scale}))


def inverse(polynomial: Polynomial) -> Polynomial:
    """Returns 1 over a product of a number and powers of E and V. Raises Unanswered for any other polynomial."""
    ((monomial, c), *others) = polynomial.items()
    if others or any(name not in EXPONENTS for name, _ in monomial):
        raise Unanswered(f"1/({text(polynomial)}) is no polynomial")
    return times({tuple((name, -power) for name, power in monomial): 1}, number(Fraction(1) / c))


@cached
def power_of_two(exponent: Interned) -> Quotient:
    """Returns 2^exponent for a sum of whole multiples of B, v and 1. Raises Unanswered for any other exponent."""
    powers: Monomial = ()
    twos = 0
    for monomial, c in exponent.items():
        name = next((name for name, of in EXPONENTS.items() if monomial == ((of, 1),)), None)
        if c.denominator != 1 or (monomial and name is None):
            raise Unanswered(f"2^({text(exponent)})")
        if name is None:
            twos = int(c)
        else:
            powers = growth.multiplied(powers, ((name, int(c)),))
    return quotient(interned({powers: 1 << twos if twos >= 0 else Fraction(1, 1 << -twos)}), ONE)


def value_at(polynomial: Polynomial, values: Mapping[str, int | Fraction]) -> Fraction:
    """Returns its value where the symbols have these values."""
    total: int | Fraction = 0
    for monomial, c in polynomial.items():
        under: int | Fraction = 1
        for name, power in monomial:  # whole numbers stay ints: those calculate ten times as fast
            if power > 0:
                c *= values[name] ** power
            else:
                under *= values[name] ** -power
        total += c if under == 1 else Fraction(c) / under
    return Fraction(total)


def text(polynomial: Polynomial) -> str:
    """Writes a polynomial for people, and for verify/trusted/growth.py."""
    return " + ".join("*".join([str(c), *map(_power, m)]) for m, c in sorted(polynomial.items())) or "0"


def _power(factor: tuple[str, int]) -> str:
    name, power = factor
    return name if power == 1 else f"{name}^{power}"
