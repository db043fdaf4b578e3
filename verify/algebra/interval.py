"""The oracle of an interval of n: a builder that is given its n wires one model for every n of the interval.

What is asked is answered as at the interval's least n, and the interval is cut to where the answer is proved to be the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verify.algebra.domains import SIZE
from verify.algebra.polynomial import Number, Polynomial
from verify.algebra.quotients import Interned, Unanswered, value_at
from verify.algebra.rational import Coefficients, divided, evaluate, never_negative
from verify.algebra.symbolic import Comparison, Symbolic, is_sized
from verify.trusted import growth


@dataclass
class Interval:
    """The n from low to high; high falls as answers are asked for. signs, bits: of polynomials that were asked for, at all n."""

    low: int
    high: int
    signs: dict[Interned, int] = field(default_factory=dict)
    bits: dict[Interned, int] = field(default_factory=dict)
    compared: dict[Comparison, bool] = field(default_factory=dict)
    endless = False

    def holds(self, polynomial: Interned, relation: str) -> bool:
        """Returns whether it is > 0, or >= 0, at each n of what is left of the interval."""
        sign = self._sign(polynomial)
        return sign > 0 if relation == ">" else sign >= 0

    known_answer = holds  # an interval is cut, and nothing is split

    def _sign(self, polynomial: Interned) -> int:
        if polynomial not in self.signs:
            coefficients = _whole(_coefficients(polynomial))
            value = evaluate(coefficients, self.low)
            if value > 0:
                self.keep(_less(coefficients, 1))
            elif value < 0:
                self.keep(_less(_times(coefficients, -1), 1))
            else:
                self.keep(coefficients)
                self.keep(_times(coefficients, -1))
            self.signs[polynomial] = (value > 0) - (value < 0)
        return self.signs[polynomial]

    def keep(self, polynomial: Coefficients) -> None:
        """Cuts to where a polynomial, which is not negative at low, is proved to be so."""
        polynomial = _whole(polynomial)  # ints calculate ten times as fast
        if self._is_kept(polynomial, self.high):
            return
        low, high = self.low, self.high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._is_kept(polynomial, middle) else (low, middle)
        self.high = low

    def _is_kept(self, polynomial: Coefficients, high: int) -> bool:
        rest = polynomial[1:]
        if all(c >= 0 for c in rest):  # it grows, and is not negative at low
            return True
        if all(c <= 0 for c in rest):
            return evaluate(polynomial, high) >= 0
        return never_negative(polynomial, self.low, high)

    def is_whole(self, polynomial: Interned) -> bool:
        """Returns whether it is a whole number at every whole n: as one of degree d is, that is whole at d + 1 of them in a row."""
        return _is_whole(_coefficients(polynomial))

    def rounded_down(self, value: Symbolic) -> Any:
        """Returns a polynomial if it is whole at every n, else one number, and the interval is cut to where it is that."""
        polynomial = _coefficients(value.polynomial)
        if _is_whole(polynomial):
            return value
        floor = math.floor(evaluate(polynomial, self.low))
        self.keep(_less(polynomial, floor))
        self.keep(_less(_whole(_less(polynomial, floor + 1), -1), 1))
        return floor

    def nearest(self, value: Symbolic) -> int:
        """Returns one number, and cuts the interval to where it is that number."""
        polynomial = _coefficients(value.polynomial)
        here = Fraction(evaluate(polynomial, self.low))
        nearest = round(here)
        if abs(here - nearest) == Fraction(1, 2):
            raise Unanswered(f"{value!r} has no one number beside it")
        self.keep(_less(_whole(_less(polynomial, nearest - Fraction(1, 2))), 1))
        self.keep(_less(_whole(_less(polynomial, nearest + Fraction(1, 2)), -1), 1))
        return nearest

    def remainder(self, value: Symbolic, divisor: Any) -> int:
        """Returns the remainder by a number, if it is the same at every n."""
        if divisor == 1 and value.is_whole:
            return 0
        rest = value.value_at({SIZE: self.low}) % divisor
        if type(divisor) is not int or not ((value - rest) / divisor).is_whole:
            raise Unanswered(f"{value!r} leaves another remainder at each n")
        return int(rest)

    def bit_length(self, value: Symbolic) -> int:
        """Returns one number, and cuts the interval to where it is that number."""
        polynomial = value.polynomial
        if polynomial not in self.bits:
            coefficients = _coefficients(polynomial)
            if not _is_whole(coefficients):
                raise Unanswered(f"{value!r} is no whole number")
            bits = int(evaluate(coefficients, self.low)).bit_length()
            if bits:
                self.keep(_less(coefficients, 1 << (bits - 1)))
            self.keep(_less(_times(coefficients, -1), 1 - (1 << bits)))
            self.bits[polynomial] = bits
        return self.bits[polynomial]

    def least_bits(self, value: Symbolic, leading: int) -> int:
        """Returns the bits of the integer part at the least n, where n is rounded up to `leading` bits. Cuts nothing."""
        at_low = evaluate(_coefficients(value.polynomial), _rounded_up(self.low, leading))
        return math.ceil(at_low).bit_length()

    def are_at_most(self, n: Symbolic, values: Sequence[Symbolic], most: Any, leading: int) -> bool:
        """Returns whether all `values`, nondecreasing in n, are ≤ `most`, with n rounded up to `leading` bits.

        If they are at the least n, the interval is cut to where they are; else they are nowhere.
        """
        polynomials = [_coefficients(value.polynomial) for value in values]
        if any(c < 0 for coefficients in polynomials for c in coefficients[1:]):
            raise Unanswered("a number that falls as n grows")

        def is_so(n: int) -> bool:
            size = _rounded_up(n, leading)
            return all(evaluate(coefficients, size) <= most for coefficients in polynomials)

        if not is_so(self.low):
            return False
        low, high = self.low, self.high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if is_so(middle) else (low, middle)
        self.high = low
        return True

    def denominator(self, value: Symbolic) -> int:
        """Returns a power of two."""
        denominator = _denominator(_coefficients(value.polynomial))
        if denominator & (denominator - 1):
            raise Unanswered(f"{value!r} is no dyadic number")
        return denominator

    def simplified(self, value: Symbolic) -> Fraction:
        """Returns a polynomial if the quotient is one, or a number."""
        quotient, rest = divided(_coefficients(value.top), _coefficients(value.under))
        if rest:
            return value
        if not any(quotient[1:]):
            return Fraction(quotient[0])
        return Symbolic(
            growth.times({((SIZE, i),) if i else (): c for i, c in enumerate(quotient) if c}, growth.number(1)), self
        )

    def value(self, value: Symbolic, values: Mapping[str, int | Fraction]) -> Fraction:
        """Returns its value at one n."""
        return value_at(value.top, values) / value_at(value.under, values)

    def exact_text(self, value: Symbolic) -> str:
        """Writes a number as polynomials of forms are written."""
        top, under = (str(_form(part)) for part in (value.top, value.under))
        return top if under == "1" else f"({top})/({under})"

    plain = exact_text


def _coefficients(polynomial: growth.Polynomial) -> Coefficients:
    """Returns the coefficients of 1, n, n², …"""
    powers = {dict(monomial).get(SIZE, 0): c for monomial, c in polynomial.items()}
    return tuple([powers.get(i, 0) for i in range(max(powers, default=0) + 1)])  # type: ignore[misc]


def _form(polynomial: growth.Polynomial) -> Polynomial:
    """Orders a polynomial by falling powers: a digest of weights has them in this order."""
    return Polynomial({(SIZE,) * i: c for i, c in reversed([*enumerate(_coefficients(polynomial))]) if c})


def _rounded_up(n: int, leading: int) -> int:
    """Returns the least number ≥ n that has so many binary digits, then zeros."""
    zeros = max(0, n.bit_length() - leading)
    return -(-n >> zeros) << zeros


def _times(polynomial: Coefficients, factor: int) -> Coefficients:
    return tuple([c * factor for c in polynomial])


def _less(polynomial: Coefficients, number: int | Fraction) -> Coefficients:
    return (polynomial[0] - number, *polynomial[1:])


def _denominator(polynomial: Coefficients) -> int:
    return math.lcm(*(c.denominator for c in polynomial))


def _whole(polynomial: Coefficients, sign: int = 1) -> Coefficients:
    """Scales a polynomial to whole coefficients, so that it is positive at a whole n where it is at least 1."""
    denominator = _denominator(polynomial)
    return tuple([c.numerator * (sign * denominator // c.denominator) for c in polynomial])  # type: ignore[misc]


def _is_whole(polynomial: Coefficients) -> bool:
    if (denominator := _denominator(polynomial)) == 1:
        return True
    whole = _whole(polynomial)
    return all(evaluate(whole, n) % denominator == 0 for n in range(len(whole)))


def symbol(low: int, high: int) -> Any:
    """Returns a symbol for n in low … high, which builders take in place of an int."""
    return Symbolic(growth.symbol(SIZE), Interval(low, high))


def ends(n: Any) -> tuple[int, int]:
    """Returns the first and the last n that a symbol stands for; n itself twice for any other number."""
    return (n.oracle.low, n.oracle.high) if is_sized(n) else (n, n)


def values(formula: Callable[[int], int], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yields each n in low … high from which on a formula may have another value, with that value.

    Raises TypeError for a formula that is not one number within such an interval.
    """
    while low <= high:
        n = symbol(low, high)
        value = formula(n)
        if not isinstance(value, int):
            raise TypeError(f"from n = {low} on the formula is {value}")
        yield low, value
        low = n.oracle.high + 1


def as_form(value: Number) -> Number | Polynomial:
    """Returns a number of an interval as a form of n, in which n is an atom; others as they are."""
    return _form(value.polynomial) if is_sized(value) else value


def of_form(form: Polynomial, interval: Interval) -> Fraction:
    """Returns a form of n as a number of an interval."""
    form_of: Fraction = Symbolic({((SIZE, len(m)),) if m else (): c for m, c in form.terms.items()}, interval) + 0
    return form_of


def powers_of(value: Number) -> Sequence[tuple[int, Number]]:
    """Returns pairs (exponent of n, coefficient), the largest exponent first. A number without n is one pair, with exponent 0."""
    if not is_sized(value) or value.under != {(): 1}:
        return [(0, value)]
    return [(i, c) for i, c in reversed([*enumerate(_coefficients(value.top))]) if c]
