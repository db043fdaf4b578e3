"""Rational functions of one integer variable, and a proof that a polynomial is nowhere negative on an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

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

    def at(self, m: int) -> Fraction:
        """Its value."""
        return evaluate(self.numerator, m) / evaluate(self.denominator, m)


def unit(shift: int) -> Ratio:
    """1/(m + shift)."""
    return Ratio((Fraction(1),), (Fraction(shift), Fraction(1)))


def evaluate(polynomial: Sequence[Fraction], m: int) -> Fraction:
    """Its value at m, by Horner's rule; an int if all coefficients are."""
    value = polynomial[-1]
    for c in polynomial[-2::-1]:
        value = value * m + c
    return value


def least(ratio: Ratio, low: int, high: int) -> Fraction | None:
    """A number that the ratio is not below on the integers low … high, close to its least value; None if none was found."""
    bound = min(ratio.at(low), ratio.at(high))
    bound -= abs(bound) / 1024
    above = _add(ratio.numerator, ratio.denominator, -bound)
    return bound if never_negative(above, low, high) else None


def never_negative(polynomial: Coefficients, low: int, high: int) -> bool:
    """Whether it is proved to be at least 0 on the integers low … high: by Bernstein coefficients, halving the interval."""
    if low > high:
        return True
    if high - low <= FEW:
        return all(evaluate(polynomial, m) >= 0 for m in range(low, high + 1))
    if evaluate(polynomial, low) < 0 or evaluate(polynomial, high) < 0:
        return False
    if all(c >= 0 for c in _bernstein(polynomial, low, high)):
        return True
    middle = math.isqrt(max(low, 1) * high) if high > 4 * max(low, 1) else (low + high) // 2
    return never_negative(polynomial, low, middle) and never_negative(polynomial, middle + 1, high)


def _bernstein(polynomial: Coefficients, low: int, high: int) -> list[Fraction]:
    """Coefficients over the Bernstein basis of [low, high]; the polynomial lies between the least and the largest of them."""
    degree = len(polynomial) - 1
    shifted = [
        sum((polynomial[j] * math.comb(j, i) * low ** (j - i) for j in range(i, degree + 1)), Fraction(0))
        * (high - low) ** i
        for i in range(degree + 1)
    ]
    return [
        sum((Fraction(math.comb(i, j), math.comb(degree, j)) * shifted[j] for j in range(i + 1)), Fraction(0))
        for i in range(degree + 1)
    ]
