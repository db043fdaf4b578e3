"""The size n as a symbol: a builder that is given it wires one model for every n of an interval.

A Size is a polynomial of n, or a quotient of two. Sums, products and quotients stay such. What asks for more (a comparison, a bit
length, a quotient rounded down) is answered as at the interval's least n, and the interval is cut to where the answer is proved to
be the same. So what a builder has made in the end is what it makes for each n of the interval. Nothing else can be asked: whatever
wants an int or a float of it raises TypeError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verify.algebra.domains import SIZE
from verify.algebra.polynomial import ONE, Number, Polynomial, atom, combination, constant
from verify.algebra.rational import Coefficients, evaluate, never_negative


@dataclass
class Sizes:
    """The n from low to high; high falls as answers are asked for. signs, bits: of polynomials that were asked for, at all n."""

    low: int
    high: int
    signs: dict[Coefficients, int] = field(default_factory=dict)
    bits: dict[Coefficients, int] = field(default_factory=dict)

    def keep(self, polynomial: Polynomial) -> None:
        """Cuts to where a polynomial, which is not negative at low, is proved to be so."""
        coefficients = _coefficients(polynomial)
        if self._holds(coefficients, self.high):
            return
        low, high = self.low, self.high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._holds(coefficients, middle) else (low, middle)
        self.high = low

    def _holds(self, coefficients: Coefficients, high: int) -> bool:
        rest = coefficients[1:]
        if all(c >= 0 for c in rest):  # it grows, and is not negative at low
            return True
        if all(c <= 0 for c in rest):
            return evaluate(coefficients, high) >= 0
        return never_negative(coefficients, self.low, high)


def _coefficients(polynomial: Polynomial) -> Coefficients:
    terms = polynomial.terms
    degree = max(map(len, terms), default=0)
    zero: Any = 0  # ints where numbers are whole, as polynomials have them: those calculate ten times as fast
    return tuple([terms.get((SIZE,) * i, zero) for i in range(degree + 1)])


class Size(Fraction):
    """A number that depends on n, top/under. It is called a Fraction so that forms of registers take it as a coefficient."""

    __slots__ = ("sizes", "top", "under")
    top: Polynomial
    under: Polynomial  # positive on the interval
    sizes: Sizes

    def __new__(cls, top: Polynomial, sizes: Sizes, under: Polynomial = ONE) -> Size:
        self = object.__new__(cls)
        self.top, self.under, self.sizes = top, under, sizes
        return self

    @property
    def polynomial(self) -> Polynomial:
        """Raises TypeError for a quotient that is none."""
        if self.under is ONE:
            return self.top
        if not self.under.is_constant:
            raise TypeError(f"{self} is no polynomial")
        return self.top * (1 / Fraction(self.under.constant))

    def at_low(self) -> Fraction:
        """Its value at the least n."""
        low = self.sizes.low
        return Fraction(evaluate(_coefficients(self.top), low)) / evaluate(_coefficients(self.under), low)

    def _other(self, other: Any) -> Size | None:
        kind = type(other)
        if kind is Size:
            return other  # type: ignore[no-any-return]
        # isinstance takes long of classes like these
        is_number = kind is int or kind is Fraction or isinstance(other, (int, Fraction))
        return Size(constant(other), self.sizes) if is_number else None

    # What is a polynomial again

    def __add__(self, other: Any) -> Any:
        kind = type(other)
        if self.under is ONE and (kind is int or kind is Fraction):
            return Size(self.top + other, self.sizes)
        its = self._other(other)
        if its is None:
            return NotImplemented
        if self.under is ONE and its.under is ONE:
            return Size(self.top + its.top, self.sizes)
        return Size(self.top * its.under + its.top * self.under, self.sizes, self.under * its.under)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return Size(self.top * other, self.sizes, self.under)
        its = self._other(other)
        if its is None:
            return NotImplemented
        under = self.under if its.under is ONE else its.under if self.under is ONE else self.under * its.under
        return Size(self.top * its.top, self.sizes, under)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return Size(-self.top, self.sizes, self.under)

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, power: Any, modulo: Any = None) -> Any:
        if type(power) is not int or power < 0 or modulo is not None:
            return NotImplemented
        result = Size(ONE, self.sizes)
        for _ in range(power):
            result = result * self
        return result

    def __truediv__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self * its._inverse()

    def __rtruediv__(self, other: Any) -> Any:
        return self._inverse() * other

    def _inverse(self) -> Size:
        sign = self._sign()
        if not sign:
            raise ZeroDivisionError(f"{self} is 0 at n = {self.sizes.low}")
        return Size(self.under * sign, self.sizes, self.top * sign)

    # What is the same number on an interval

    def _sign(self) -> int:
        coefficients, signs = _coefficients(self.top), self.sizes.signs
        if coefficients not in signs:
            value = evaluate(coefficients, self.sizes.low)
            if value > 0:
                self.sizes.keep(_scaled(self.top) - 1)
            elif value < 0:
                self.sizes.keep(-_scaled(self.top) - 1)
            else:
                self.sizes.keep(self.top)
                self.sizes.keep(-self.top)
            signs[coefficients] = (value > 0) - (value < 0)
        return signs[coefficients]

    def __bool__(self) -> bool:
        return self._sign() != 0

    def __eq__(self, other: object) -> bool:
        difference = self - other
        return NotImplemented if difference is NotImplemented else difference._sign() == 0

    def __lt__(self, other: Any) -> bool:
        return bool((self - other)._sign() < 0)

    def __le__(self, other: Any) -> bool:
        return bool((self - other)._sign() <= 0)

    def __gt__(self, other: Any) -> bool:
        return bool((self - other)._sign() > 0)

    def __ge__(self, other: Any) -> bool:
        return bool((self - other)._sign() >= 0)

    def __abs__(self) -> Any:
        return self if self._sign() >= 0 else -self

    def __floordiv__(self, other: Any) -> Any:
        """The quotient rounded down: a polynomial if it is whole at every n, else one number."""
        quotient = self / other
        if _is_whole(quotient.polynomial):
            return quotient
        floor = quotient.at_low() // 1
        self.sizes.keep(quotient.polynomial - floor)
        self.sizes.keep(_scaled(constant(floor + 1) - quotient.polynomial) - 1)
        return floor

    def __mod__(self, other: Any) -> Any:
        """The remainder by a number, where it is the same at every n."""
        if other == 1 and self.is_whole:
            return 0
        rest = self.at_low() % other
        if type(other) is not int or not _is_whole((self.polynomial - rest) * Fraction(1, other)):
            raise TypeError(f"{self} leaves another remainder at each n")
        return int(rest)

    def __round__(self, digits: Any = None) -> Any:
        """One number, and the interval is cut to where it is that."""
        value = self.at_low()
        nearest = round(value)
        if digits is not None or abs(value - nearest) == Fraction(1, 2):
            raise TypeError(f"{self} has no one number beside it")
        self.sizes.keep(_scaled(self.polynomial - nearest + Fraction(1, 2)) - 1)
        self.sizes.keep(_scaled(constant(nearest + Fraction(1, 2)) - self.polynomial) - 1)
        return nearest

    def bit_length(self) -> int:
        """Of a whole number that is not negative."""
        polynomial, known = self.polynomial, self.sizes.bits
        coefficients = _coefficients(polynomial)
        if coefficients not in known:
            if not _is_whole(polynomial):
                raise TypeError(f"{polynomial} is no whole number")
            bits = int(self.at_low()).bit_length()
            if bits:
                self.sizes.keep(polynomial - (1 << (bits - 1)))
            self.sizes.keep(constant((1 << bits) - 1) - polynomial)
            known[coefficients] = bits
        return known[coefficients]

    @property
    def is_whole(self) -> bool:
        """Whether it is seen to be a whole number at every n."""
        return self.under.is_constant and _is_whole(self.polynomial)

    @property
    def is_never_whole(self) -> bool:
        """Whether it is seen to be one at no n: it is a whole number and a proper fraction."""
        if not self.under.is_constant:
            return False
        rest = self.polynomial.constant % 1
        return rest != 0 and _is_whole(self.polynomial - rest)

    @property
    def settled(self) -> Fraction:
        """The same: a Fraction if it does not depend on n, a polynomial if the quotient is one."""
        if self.under is ONE:
            return Fraction(self.top.constant) if self.top.is_constant else self
        coefficients = _quotient(_coefficients(self.top), _coefficients(self.under))
        if coefficients is None:
            return self
        if not any(coefficients[1:]):
            return Fraction(coefficients[0])
        return Size(
            combination((Polynomial({(SIZE,) * i: Fraction(1)}), c) for i, c in enumerate(coefficients)), self.sizes
        )

    @property
    def numerator(self) -> Any:
        """Over `denominator`, which is that of the coefficients: powers of two may be left that a Fraction would cancel."""
        return self * self.denominator

    @property
    def denominator(self) -> int:
        """A power of two."""
        denominator = _denominator(self.polynomial)
        if denominator & (denominator - 1):
            raise TypeError(f"{self.polynomial} is no dyadic number")
        return denominator

    # What nobody may ask. The rest of a Fraction reads its slots, which are empty here.

    def _refuse(self, *_: Any) -> Any:
        raise TypeError(f"{self} is a number only once n is one")

    __float__ = __int__ = __trunc__ = __floor__ = __ceil__ = __hash__ = __complex__ = _refuse
    __rmod__ = __divmod__ = __rdivmod__ = __rfloordiv__ = __rpow__ = _refuse  # type: ignore[assignment]

    def __str__(self) -> str:
        return str(self.top) if self.under == ONE else f"({self.top})/({self.under})"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def _quotient(top: Coefficients, under: Coefficients) -> Coefficients | None:
    """top/under, if it is a polynomial."""
    rest, quotient = list(top), list[Fraction]()
    while len(rest) >= len(under):
        c = Fraction(rest[-1]) / under[-1]
        quotient.append(c)
        for i, d in enumerate(reversed(under), start=1):
            rest[-i] -= c * d
        rest.pop()
    return None if any(rest) else tuple(reversed(quotient)) or (Fraction(0),)


def _denominator(polynomial: Polynomial) -> int:
    return math.lcm(*(Fraction(c).denominator for c in polynomial.terms.values()))


def _scaled(polynomial: Polynomial) -> Polynomial:
    """With whole coefficients, so that it is positive at a whole n where it is at least 1."""
    return polynomial * _denominator(polynomial)


def _is_whole(polynomial: Polynomial) -> bool:
    """Whether it is a whole number at every whole n: as one of degree d is, that is whole at d + 1 of them in a row."""
    coefficients = _coefficients(polynomial)
    if all(c.denominator == 1 for c in coefficients):
        return True
    return all(evaluate(coefficients, n).denominator == 1 for n in range(len(coefficients)))


def symbol(low: int, high: int) -> Any:
    """n itself, from low to high; where an int is asked for it is taken."""
    return Size(atom(SIZE), Sizes(low, high))


def values(formula: Callable[[int], int], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Where a formula's value may change between low and high, and what it is from there on to the next such place.

    Raises TypeError for a formula that is not one number within such an interval.
    """
    while low <= high:
        n = symbol(low, high)
        value = formula(n)
        if not isinstance(value, int):
            raise TypeError(f"from n = {low} on the formula is {value}")
        yield low, value
        low = n.sizes.high + 1


def as_weight(value: Number) -> Number | Polynomial:
    """A coefficient of the plan as a weight."""
    if not isinstance(value, Size):
        return value
    return value.polynomial.constant if value.polynomial.is_constant else value.polynomial
