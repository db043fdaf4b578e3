"""Polynomials of n, B, E, V and v, and quotients of two. Equal polynomials are one object, so what is made of them is made once.

A check makes the same sums, products and comparisons over and over, in one case after the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias
from weakref import WeakValueDictionary

from verify.trusted import growth
from verify.trusted.growth import Monomial, Polynomial, number, plus, times

EXPONENTS = {"E": "B", "V": "v"}
MOST_KEPT = 1 << 16  # results of each operation
cached = lru_cache(MOST_KEPT)


class Unanswered(TypeError):
    """What is asked has no one answer that is found."""


class Interned(Polynomial):
    """A polynomial that nobody changes. There is one of those that are equal, so that it is looked up by its identity."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]


Quotient: TypeAlias = tuple[Interned, Interned] | Fraction
"""What is above, and what is below it, which is positive; a Fraction where it is one number."""

_interned: WeakValueDictionary[frozenset[tuple[Monomial, int | Fraction]], Interned] = WeakValueDictionary()


def interned(polynomial: Polynomial) -> Interned:
    """Returns the one object for all equal polynomials. Only this function makes them."""
    if type(polynomial) is Interned:
        return polynomial
    terms = frozenset(polynomial.items())
    instance = _interned.get(terms)
    if instance is None:
        _interned[terms] = instance = Interned(polynomial)
    return instance


@cached
def constant(value: int | Fraction) -> Interned:
    """Returns the polynomial that is this number."""
    return interned(number(value if value.denominator > 1 else value.numerator))  # ints calculate ten times as fast


ONE = constant(1)


@cached
def quotient(top: Interned, under: Interned) -> Quotient:
    """Returns top/under without powers of positive numbers that divide both. Those of E and V divide all."""
    if not top or top is under:
        return Fraction(1 if top else 0)
    if under is not ONE:
        terms = [[dict(m) for m in part] for part in (under, top)]
        least = {
            name: min(powers.get(name, 0) for powers_of in terms[: 1 + (name in "Bn")] for powers in powers_of)
            for name in "BEVn"
        }
        factor: Polynomial = {tuple((name, -power) for name, power in least.items() if power): 1}
        top, under = interned(times(top, factor)), interned(times(under, factor))
    return Fraction(top[()]) if top.keys() == {()} and under is ONE else (top, under)


@cached
def added(top: Interned, under: Interned, its_top: Interned, its_under: Interned) -> Quotient:
    """Returns the sum of two quotients."""
    if under is its_under:
        return quotient(interned(plus(top, its_top)), under)
    total = plus(times(top, its_under), times(its_top, under))
    return quotient(interned(total), interned(times(under, its_under)))


@cached
def multiplied(top: Interned, under: Interned, its_top: Interned, its_under: Interned) -> Quotient:
    """Returns the product of two quotients."""
    if under is its_top:
        return quotient(top, its_under)
    if top is its_under:
        return quotient(its_top, under)
    return quotient(interned(times(top, its_top)), interned(times(under, its_under)))


@cached
def difference(top: Interned, under: Interned, its_top: Interned, its_under: Interned) -> Interned:
    """Returns a polynomial of the sign of the first quotient less the other one."""
    if under is its_under:
        return interned(plus(top, its_top, -1))
    return interned(plus(times(top, its_under), times(its_top, under), -1))


@cached
def negated(polynomial: Interned) -> Interned:
    """Returns −polynomial."""
    return interned({monomial: -c for monomial, c in polynomial.items()})


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
