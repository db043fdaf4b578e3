"""Bounds quotients of polynomials in one whole number from below, between two ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from verify.trusted.numbers import Number
from verify.trusted.rejection import reject

MOST_PIECES = 4096  # of an interval on which a polynomial's sign is looked for


class Ratio(NamedTuple):
    """numerator(m)/denominator(m): coefficients, the constant first. The denominator is above 0 wherever it is used."""

    top: list[Number]
    under: list[Number]

    def plus(self, other: Ratio, factor: int = 1) -> Ratio:
        left, right = convolve(self.top, other.under), convolve(other.top, self.under)
        top = [a + factor * b for a, b in itertools.zip_longest(left, right, fillvalue=0)]
        return Ratio(top, convolve(self.under, other.under))

    def minus(self, other: Ratio) -> Ratio:
        return self.plus(other, -1)

    def times(self, other: Ratio) -> Ratio:
        return Ratio(convolve(self.top, other.top), convolve(self.under, other.under))

    def least(self, low: int, high: int) -> Number:
        """Returns what it is not below at low … high: a little less than the smaller of both ends, if that is readable."""
        bound = min(Fraction(horner(self.top, m)) / horner(self.under, m) for m in (low, high))
        bound -= abs(bound) / 1024
        above = [a - bound * b for a, b in itertools.zip_longest(self.top, self.under, fillvalue=0)]
        if not never_negative(above, low, high):
            reject("the least value of a ratio is not known")
        return bound


def convolve(a: Sequence[Number], b: Sequence[Number]) -> list[Number]:
    result: list[Number] = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return result


def horner(polynomial: Sequence[Number], m: int) -> Number:
    value: Number = 0
    for c in reversed(polynomial):
        value = value * m + c
    return value


def never_negative(polynomial: Sequence[Number], low: int, high: int) -> bool:
    """Returns whether it is readable to be at least 0 at low … high: by Bernstein coefficients, or so on both halves."""
    todo, degree, pieces = [(low, high)], len(polynomial) - 1, 0
    while todo:
        low, high = todo.pop()
        pieces += 1
        if pieces > MOST_PIECES or horner(polynomial, low) < 0 or horner(polynomial, high) < 0:
            return False
        if high - low <= 64:
            if any(horner(polynomial, m) < 0 for m in range(low, high + 1)):
                return False
            continue
        width = high - low
        shifted = [
            sum(polynomial[j] * math.comb(j, i) * low ** (j - i) for j in range(i, degree + 1)) * width**i
            for i in range(degree + 1)
        ]
        shares = [Fraction(shifted[j]) / math.comb(degree, j) for j in range(degree + 1)]
        if any(sum(math.comb(i, j) * shares[j] for j in range(i + 1)) < 0 for i in range(degree + 1)):
            middle = math.isqrt(max(low, 1) * high) if high > 4 * max(low, 1) else (low + high) // 2
            todo += [(low, middle), (middle + 1, high)]
    return True
