"""Numbers of one case of all large n, for a builder and a checker to calculate with.

What they ask is answered by a walk (walks.py). So the program does for each n of the case what it does here. What has no answer
that is the same for all of them, or none that a walk would know of, raises Unanswered: a place in a table, a text, a float.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Number
from typing import Any

from verify import growth
from verify.certificates.walks import EXPONENTS, Unanswered, Walk, at, inverse, text
from verify.growth import Polynomial, names_of, number, plus, symbol, times

MOST_STEPS = 4  # from the bits that a number has at one n to those that it has in the case


def n_of(walk: Walk) -> Any:
    """The number n itself; where an int is asked for it is taken."""
    return Growing(symbol("n"), walk)


class Growing(Fraction):
    """A number that depends on n. It is called a Fraction so that forms of registers take it as a coefficient."""

    __slots__ = ("polynomial", "walk")
    polynomial: Polynomial
    walk: Walk

    def __new__(cls, polynomial: Polynomial, walk: Walk) -> Growing:
        self = object.__new__(cls)
        self.polynomial, self.walk = polynomial, walk
        return self

    def _made(self, polynomial: Polynomial) -> Any:
        """A Fraction where it is one number: an int divided by an int would be a float."""
        return Growing(polynomial, self.walk) if names_of(polynomial) else polynomial.get((), Fraction(0))

    # What is a polynomial again

    def _other(self, other: Any) -> Polynomial | None:
        """Of what is calculated with; None if it is none of these numbers. Raises Unanswered for one that another walk has made."""
        if isinstance(other, Growing) and other.walk is not self.walk:
            raise Unanswered(f"{self!r} beside {other!r}, which is of another case")
        return polynomial_of(other)

    def __add__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(plus(self.polynomial, its))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(times(self.polynomial, its))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(plus(self.polynomial, its, -1))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, power: Any, modulo: Any = None) -> Any:
        if type(power) is not int or power < 0 or modulo is not None:
            return NotImplemented
        return self._made(growth.powers_of(self.polynomial, power)[-1])

    def __truediv__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(times(self.polynomial, inverse(its)))

    def __rtruediv__(self, other: Any) -> Any:
        return self._made(inverse(self.polynomial)) * other

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """2 to an exponent that is a sum of whole multiples of B, of v and of 1."""
        if isinstance(base, int) and self < 0:
            raise Unanswered(f"{base}^({self!r}), a float")
        return self._power(base)

    def _power(self, base: Any = 2) -> Any:
        powers: growth.Monomial = ()
        twos = 0
        for monomial, c in self.polynomial.items():
            name = next((name for name, of in EXPONENTS.items() if monomial == ((of, 1),)), None)
            if base != 2 or c.denominator != 1 or (monomial and name is None):
                raise Unanswered(f"{base}^({self!r})")
            if name is None:
                twos = int(c)
            else:
                powers = growth.multiplied(powers, ((name, int(c)),))
        return self._made({powers: Fraction(2) ** twos})

    def __rlshift__(self, one: Any) -> Any:
        if self < 0:
            raise Unanswered(f"{one} << {self!r}")
        return one * self._power()

    # What is asked

    def _compared(self, other: Any, relation: str, sign: int) -> bool:
        its = self._other(other)
        if its is None:
            raise Unanswered(f"{self!r} beside {other!r}")
        return self.walk.holds(times(plus(self.polynomial, its, -1), number(sign)), relation)

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, ">", 1)

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, ">=", 1)

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, ">", -1)

    def __le__(self, other: Any) -> bool:
        return self._compared(other, ">=", -1)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number) and not isinstance(other, int | Fraction):
            raise Unanswered(f"{self!r} beside {other!r}")
        if self._other(other) is None:
            return NotImplemented
        difference = self - other
        if not isinstance(difference, Growing):
            return not difference
        return difference >= 0 and difference <= 0

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """What it is where the symbols are these numbers."""
        floors = {name: self.walk.floors[int(name[1:])] for name in names_of(self.polynomial) if name[0] == "f"}
        return at(
            self.polynomial, {**values, **{name: Growing(of, self.walk).at(values) % 1 for name, of in floors.items()}}
        )

    @property
    def is_whole(self) -> bool:
        """Whether it is seen to be a whole number."""
        return self.walk.is_whole(self.polynomial)

    @property
    def is_never_whole(self) -> bool:
        """Whether it is seen to be none anywhere: a whole number and a proper fraction."""
        rest = self.polynomial.get((), Fraction(0)) % 1
        return bool(rest) and self.walk.is_whole(plus(self.polynomial, number(rest), -1))

    def __floor__(self) -> Any:
        rest = self.polynomial.get((), Fraction(0)) % 1
        walk, near = self.walk, plus(self.polynomial, number(rest), -1)
        if walk.is_whole(near):
            return self._made(near)
        whole = {m: c for m, c in self.polynomial.items() if walk.is_whole({m: c})}
        little = plus(self.polynomial, whole, -1)
        for beside in (0, -1):  # what is left lies between two whole numbers
            above = plus(little, number(-beside))
            if walk.sees(above, ">=") and walk.sees(plus(number(1), above, -1), ">"):
                return self._made(plus(whole, number(beside)))
        if self.polynomial not in walk.floors:
            walk.floors.append(self.polynomial)
        return self._made(plus(self.polynomial, symbol(f"f{walk.floors.index(self.polynomial)}"), -1))

    def __ceil__(self) -> Any:
        return -math.floor(-self)

    def __floordiv__(self, other: Any) -> Any:
        return math.floor(self / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return math.floor(other / self)

    def __mod__(self, other: Any) -> Any:
        return self - self // other * other

    def __rmod__(self, other: Any) -> Any:
        return other - other // self * self

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None or not self.is_whole:
            raise Unanswered(f"{self!r} is not seen to be whole")
        return self

    def bit_length(self) -> Any:
        """Of a whole number that is positive."""
        if not self.is_whole:
            raise Unanswered(f"{self!r} is not seen to be whole")
        exponent = self._guessed_bits()
        for _ in range(MOST_STEPS):
            if self >= Fraction(2) ** exponent:
                exponent = exponent + 1
            elif self < Fraction(2) ** (exponent - 1):
                exponent = exponent - 1
            else:
                return exponent
        raise Unanswered(f"{self!r} has no bit length of this form")

    def _guessed_bits(self) -> Any:
        """As many as it has at one n, if it grows as its term that grows fastest does."""
        walk, of = self.walk, self.walk.sample()
        rate = max(
            (
                sum(power for name, power in m if name in "nE"),
                sum(power * (1 + (name == "B")) for name, power in m if name in "BV"),
            )
            for m in self.polynomial
        )
        powers = Growing(symbol("B"), walk) * rate[0] + Growing(symbol("v"), walk) * rate[1]
        return powers + (int(at(self.polynomial, of)).bit_length() - rate[0] * of["B"] - rate[1] * of["v"])

    # What nobody may ask. The rest of a Fraction reads its slots, which are empty here.

    def _refuse(self, *_: Any) -> Any:
        raise Unanswered(f"{self!r} is a number only once n is one")

    __float__ = __int__ = __index__ = __trunc__ = __complex__ = __divmod__ = __rdivmod__ = _refuse  # type: ignore[assignment]
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = __lshift__ = __rshift__ = __rrshift__ = (
        _refuse
    )
    __hash__ = __str__ = _refuse
    numerator = denominator = _numerator = _denominator = property(_refuse)

    def __repr__(self) -> str:
        return text(self.polynomial)

    def __format__(self, spec: str) -> str:
        """As a part of a name, or of what people read."""
        return self._refuse() if spec else repr(self)


def common_divisor(values: Iterable[int | Fraction]) -> Growing:
    """A number of which each of these, not all of them numbers, is a whole multiple."""
    values = list(values)
    polynomials = [its for value in values if (its := polynomial_of(value))]
    powers = [item for p in polynomials for m in p for item in m]
    if any(name[0] == "f" or (power < 0 and name not in EXPONENTS) for name, power in powers):
        raise Unanswered("a common divisor")
    least = (
        (name, min(dict(m).get(name, 0) for p in polynomials for m in p)) for name in EXPONENTS
    )  # of whole numbers, 2^B and 2^v
    numbers = [c for p in polynomials for c in p.values()]
    factor = Fraction(math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers)))
    walk = next(value.walk for value in values if isinstance(value, Growing))
    return Growing({tuple((name, power) for name, power in least if power): factor}, walk)


def polynomial_of(value: Any) -> Polynomial | None:
    """Of a number; None of what is none."""
    if isinstance(value, Growing):
        return value.polynomial
    return number(value) if isinstance(value, int | Fraction) else None
