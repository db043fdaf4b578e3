"""Rational functions of one integer variable, and a proof that a polynomial is nowhere negative on an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from verify.algebra.symbolic import grows

Coefficients = tuple[Fraction, ...]  # the constant first
FEW = 64


def _add(a: Coefficients, b: Coefficients, factor: Fraction = Fraction(1)) -> Coefficients:
    return tuple(x + factor * y for x, y in zip_longest(a, b, fillvalue=Fraction(0)))


def _multiply(a: Coefficients, b: Coefficients) -> Coefficients:
    result = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return tuple(result)


@dataclass(frozen=True)
class Ratio:
    """numerator(m) / denominator(m); the denominator is positive wherever it is used."""

    numerator: Coefficients
    denominator: Coefficients = (Fraction(1),)

    def __add__(self, other: Ratio) -> Ratio:
        left, right = _multiply(self.numerator, other.denominator), _multiply(other.numerator, self.denominator)
        return Ratio(_add(left, right), _multiply(self.denominator, other.denominator))

    def __neg__(self) -> Ratio:
        return Ratio(tuple(-c for c in self.numerator), self.denominator)

    def __sub__(self, other: Ratio) -> Ratio:
        return self + -other

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio(_multiply(self.numerator, other.numerator), _multiply(self.denominator, other.denominator))

    def value_at(self, m: int) -> Fraction:
        """Returns its value at m."""
        return evaluate(self.numerator, m) / evaluate(self.denominator, m)


def unit(shift: int) -> Ratio:
    """Returns 1/(m + shift) as a ratio of polynomials in m."""
    return Ratio((Fraction(1),), (Fraction(shift), Fraction(1)))


def evaluate(polynomial: Sequence[Fraction], m: int) -> Fraction:
    """Returns its value at m, by Horner's rule; an int if all coefficients are."""
    value = polynomial[-1]
    for c in polynomial[-2::-1]:
        value = value * m + c
    return value


def least(ratio: Ratio, low: int, high: int) -> Fraction | None:
    """Returns a number that the ratio is not below on the integers low … high, close to its least value; None if none was found."""
    last = high
    if grows(last):
        return _least_at_an_end(ratio, low, high)
    bound = min(ratio.value_at(low), ratio.value_at(high))
    bound -= abs(bound) / 1024
    above = _add(ratio.numerator, ratio.denominator, -bound)
    return bound if never_negative(above, low, high) else None


def _least_at_an_end(ratio: Ratio, low: int, high: int) -> Fraction | None:
    """Returns the same, of a ratio that is seen to rise or to fall from some number on, whatever the last integer is."""
    if grows(low):
        return None
    divisor = _common_divisor(ratio.numerator, ratio.denominator)
    top, under = (divided(part, divisor)[0] for part in (ratio.numerator, ratio.denominator))
    ratio = Ratio(top, under)
    slope = _add(_multiply(_derive(top), under), _multiply(top, _derive(under)), Fraction(-1))
    for start in (low, low + FEW):
        ahead = _shift(slope, start)
        is_defined = min(_shift(under, start)) >= 0 < evaluate(under, start)
        if is_defined and (max(ahead) <= 0 or min(ahead) >= 0):
            return min([*(ratio.value_at(m) for m in range(low, start + 1)), ratio.value_at(high)])
    return None


def divided(polynomial: Coefficients, by: Coefficients) -> tuple[Coefficients, Coefficients]:
    """Returns the quotient and the remainder. The remainder's last coefficient is not 0; () stands for 0."""
    rest, quotient = list(polynomial), list[Fraction]()
    while len(rest) >= len(by):
        quotient.append(Fraction(rest[-1]) / by[-1])
        for i, c in enumerate(reversed(by), start=1):
            rest[-i] -= quotient[-1] * c
        rest.pop()
    while rest and not rest[-1]:
        rest.pop()
    return tuple(reversed(quotient)) or (Fraction(0),), tuple(rest)


def _common_divisor(first: Coefficients, second: Coefficients) -> Coefficients:
    """Returns the greatest common divisor with leading coefficient 1, so that it is positive from some number on."""
    while second:
        first, second = second, divided(first, second)[1]
    return tuple(c / first[-1] for c in first)


def _derive(polynomial: Coefficients) -> Coefficients:
    return tuple(i * c for i, c in enumerate(polynomial))[1:] or (Fraction(0),)


def _shift(polynomial: Coefficients, start: int) -> Coefficients:
    """Returns the polynomial of t that has start + t in place of the variable."""
    return tuple(
        sum((c * math.comb(j, i) * start ** (j - i) for j, c in enumerate(polynomial) if j >= i), Fraction(0))
        for i in range(len(polynomial))
    )


def never_negative(polynomial: Coefficients, low: int, high: int) -> bool:
    """Returns whether it is proved to be at least 0 on the integers low … high: by Bernstein coefficients, halving the interval."""
    if low > high:
        return True
    if high - low <= FEW:
        return all(evaluate(polynomial, m) >= 0 for m in range(low, high + 1))
    if evaluate(polynomial, low) < 0 or evaluate(polynomial, high) < 0:
        return False
    if min(_bernstein(polynomial, low, high)) >= 0:
        return True
    middle = math.isqrt(max(low, 1) * high) if high > 4 * max(low, 1) else (low + high) // 2
    return never_negative(polynomial, low, middle) and never_negative(polynomial, middle + 1, high)


def _bernstein(polynomial: Coefficients, low: int, high: int) -> list[Fraction]:
    """Returns the coefficients over the Bernstein basis of [low, high], times a number that makes integers of integers.

    The polynomial, times that number, lies between the least and the largest of them.
    """
    degree, width = len(polynomial) - 1, high - low
    zero: Any = 0
    shifted = [
        sum([polynomial[j] * math.comb(j, i) * low ** (j - i) for j in range(i, degree + 1)], zero) * width**i
        for i in range(degree + 1)
    ]
    common = math.lcm(*(math.comb(degree, j) for j in range(degree + 1)))
    shares = [common // math.comb(degree, j) * shifted[j] for j in range(degree + 1)]
    return [sum([math.comb(i, j) * shares[j] for j in range(i + 1)], zero) for i in range(degree + 1)]
