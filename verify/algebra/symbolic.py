"""Numbers that depend on n, for a builder and a checker to calculate with: one model stands for many n.

A Symbolic is a quotient of two polynomials of n, and of what else its oracle speaks of. Sums, products and quotients stay such.
What asks for more (a comparison, a bit length, a quotient rounded down) is answered by the oracle. Its answer is right for each n
that the oracle is about. There are two oracles: one is about an interval of n, which it cuts to where its answers are right
(interval.py). The other is about all large n, which it splits into cases (walks.py). So what is made in the end is what is made for
each n of the interval, or of the case. What has no answer that is the same for all of them raises Unanswered: a place in a table,
a float.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Number
from typing import Any, Protocol, TypeAlias, TypeGuard

from verify.algebra.quotients import (
    EXPONENTS,
    ONE,
    Interned,
    Quotient,
    Unanswered,
    added,
    constant,
    difference,
    interned,
    inverse,
    multiplied,
    negated,
    power_of_two,
    quotient,
)
from verify.trusted import growth
from verify.trusted.growth import Polynomial, names_of, number

NUMBERS = (int, Fraction)
Comparison: TypeAlias = tuple[Interned, Interned, Interned, Interned, str, int]


class Oracle(Protocol):
    """Answers questions about each n that it is about at once. compared: its answers to comparisons of two numbers.

    endless: whether it is about all large n, so that no bound of its numbers is a number.
    """

    compared: dict[Comparison, bool]
    endless: bool

    def holds(self, polynomial: Interned, relation: str) -> bool:
        """Returns whether it is > 0, or >= 0. From here on the oracle speaks only of the n for which this answer is right."""

    def known_answer(self, polynomial: Interned, relation: str) -> bool | None:
        """Returns the answer of `holds` if it is known without a new question, else None."""

    def is_whole(self, polynomial: Interned) -> bool:
        """Returns whether it is seen to be a whole number."""

    def rounded_down(self, value: Symbolic) -> Any:
        """Returns the largest whole number that is not above it."""

    def remainder(self, value: Symbolic, divisor: Any) -> Any:
        """Returns what is left of it."""

    def nearest(self, value: Symbolic) -> Any:
        """Returns a whole number beside it, of one that is not midway between two."""

    def bit_length(self, value: Symbolic) -> Any:
        """Returns the bit length of a whole number that is not negative."""

    def least_bits(self, value: Symbolic, leading: int) -> Any:
        """Returns an exponent of two, less than which is too little, n rounded up to so many digits. Nothing is cut or split for
        that.
        """

    def are_at_most(self, n: Symbolic, values: Sequence[Symbolic], most: Any, leading: int) -> bool:
        """Returns whether these, which fall nowhere, are at most that number, n rounded up to so many digits."""

    def denominator(self, value: Symbolic) -> int:
        """Returns a number that it is a whole number with."""

    def simplified(self, value: Symbolic) -> Fraction:
        """Returns the same number: a polynomial, or one that does not depend on n, if it is seen to be."""

    def value(self, value: Symbolic, values: Mapping[str, int | Fraction]) -> Fraction:
        """Returns its value where the symbols have these values."""

    def exact_text(self, value: Symbolic) -> str:
        """Writes a number so that different numbers have different texts."""

    def plain(self, value: Symbolic) -> str:
        """Writes a number for people, and as a part of a name."""


def is_symbolic(value: Any) -> TypeGuard[Symbolic]:
    """Returns whether it depends on n. isinstance takes five times as long of one that does not."""
    kind = type(value)
    return kind is not int and kind is not Fraction and isinstance(value, Symbolic)


def grows(value: Any) -> TypeGuard[Symbolic]:
    """Returns whether it is a number of all large n."""
    return is_symbolic(value) and value.oracle.endless


def is_sized(value: Any) -> TypeGuard[Symbolic]:
    """Returns whether it is a number of an interval of n."""
    return is_symbolic(value) and not value.oracle.endless


class Symbolic(Fraction):
    """A number that depends on n, top/under. It is called a Fraction so that forms of registers take it as a coefficient."""

    __slots__ = ("oracle", "top", "under")
    top: Interned
    under: Interned  # positive; 1 where the quotient is a polynomial
    oracle: Any  # an Oracle

    def __new__(cls, top: Polynomial, oracle: Oracle, under: Polynomial = ONE) -> Symbolic:
        self = object.__new__(cls)
        self.oracle = oracle
        self.top = top if type(top) is Interned else interned(top)
        self.under = under if type(under) is Interned else interned(under)
        return self

    @property
    def polynomial(self) -> Interned:
        """Raises Unanswered for a quotient that is none."""
        if self.under is not ONE:
            raise Unanswered(f"{self!r} is no polynomial")
        return self.top

    def _make(self, value: Quotient) -> Any:
        """Returns a Fraction where it is one number: an int divided by an int would be a float."""
        return Symbolic(value[0], self.oracle, value[1]) if type(value) is tuple else value

    # What is a quotient of polynomials again

    def _other(self, other: Any) -> tuple[Interned, Interned] | None:
        """Returns what is calculated with; None if it is none of these numbers. Raises Unanswered for one of another oracle."""
        kind = type(other)
        if kind is int or kind is Fraction:  # isinstance takes five times as long of classes like these
            return constant(other), ONE
        if isinstance(other, Symbolic):
            if other.oracle is not self.oracle:
                raise Unanswered(f"{self!r} beside {other!r}, which is of another case")
            return other.top, other.under
        return (constant(other), ONE) if isinstance(other, NUMBERS) else None

    def __add__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._make(added(self.top, self.under, *its))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._make(multiplied(self.top, self.under, *its))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return Symbolic(negated(self.top), self.oracle, self.under)

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._make(added(self.top, self.under, negated(its[0]), its[1]))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, power: Any, modulo: Any = None) -> Any:
        if type(power) is not int or power < 0 or modulo is not None:
            return NotImplemented
        top, under = (interned(growth.powers_of(part, power)[-1]) for part in (self.top, self.under))
        return self._make(quotient(top, under))

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Symbolic):
            return self * other._inverse()
        return self * (1 / Fraction(other)) if isinstance(other, NUMBERS) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return self._inverse() * other

    def _inverse(self) -> Any:
        """Returns 1/self. Asks for its sign, unless it is a product of a number and powers of E and V, which are positive."""
        if len(self.top) == 1 and names_of(self.top) <= EXPONENTS.keys():
            return self._make(multiplied(self.under, ONE, interned(inverse(self.top)), ONE))
        if self.oracle.holds(self.top, ">"):
            return self._make(quotient(self.under, self.top))
        if not self.oracle.holds(self.top, ">="):
            return self._make(quotient(negated(self.under), negated(self.top)))
        raise ZeroDivisionError(f"{self!r} is 0")

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """Returns a power of two to an exponent that is a sum of whole multiples of B, of v and of 1."""
        if isinstance(base, int) and self < 0:
            raise Unanswered(f"{base}^({self!r}), a float")
        return self._power(base)

    def _power(self, base: Any = 2) -> Any:
        if base != 2:
            if type(base) is not int or base < 2 or base & (base - 1):
                raise Unanswered(f"{base}^({self!r})")
            return (self * (base.bit_length() - 1))._power()
        return self._make(power_of_two(self.polynomial))

    def __rlshift__(self, one: Any) -> Any:
        if self < 0:
            raise Unanswered(f"{one} << {self!r}")
        return one * self._power()

    # What is asked

    def _compared(self, other: Any, relation: str, sign: int) -> bool:
        its = self._other(other)
        if its is None:
            raise Unanswered(f"{self!r} beside {other!r}")
        cache, question = self.oracle.compared, (self.top, self.under, *its, relation, sign)
        if question not in cache:
            apart = difference(self.top, self.under, *its) if sign > 0 else difference(*its, self.top, self.under)
            cache[question] = self.oracle.holds(apart, relation)
        return bool(cache[question])

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
        its = self._other(other)
        if its is None:
            return NotImplemented
        cache, question = self.oracle.compared, (self.top, self.under, *its, "=", 0)
        if question not in cache:
            apart = self - other
            cache[question] = apart >= 0 and apart <= 0 if isinstance(apart, Symbolic) else not apart
        return bool(cache[question])

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def value_at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """Returns its value where the symbols have these values."""
        result: Fraction = self.oracle.value(self, values)
        return result

    @property
    def is_whole(self) -> bool:
        """Returns whether it is seen to be a whole number."""
        return self.under is ONE and bool(self.oracle.is_whole(self.top))

    @property
    def is_never_whole(self) -> bool:
        """Returns whether it is seen to be none anywhere: a whole number and a proper fraction."""
        rest = self.top.get((), Fraction(0)) % 1
        return (
            bool(rest)
            and self.under is ONE
            and bool(self.oracle.is_whole(interned(growth.plus(self.top, number(rest), -1))))
        )

    @property
    def settled(self) -> Fraction:
        """The same number, as simple as it is seen to be."""
        result: Fraction = self.oracle.simplified(self)
        return result

    def __floor__(self) -> Any:
        return self.oracle.rounded_down(self)

    def __ceil__(self) -> Any:
        return -math.floor(-self)

    def __floordiv__(self, other: Any) -> Any:
        return math.floor(self / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return math.floor(other / self)

    def __mod__(self, other: Any) -> Any:
        return self.oracle.remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        return other - other // self * self

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None:
            raise Unanswered(f"{self!r} rounded to {digits} digits")
        return self.oracle.nearest(self)

    def bit_length(self) -> Any:
        """Returns the bit length of a whole number that is not negative."""
        return self.oracle.bit_length(self)

    def least_bits(self, leading: int) -> Any:
        """Returns an exponent of two, less than which is too little, n rounded up to so many digits."""
        return self.oracle.least_bits(self, leading)

    def are_at_most(self, values: Sequence[Symbolic], most: Any, leading: int) -> bool:
        """Returns whether these, which fall nowhere, are at most that number, n rounded up to so many digits. It is n itself."""
        return bool(self.oracle.are_at_most(self, values, most, leading))

    @property
    def numerator(self) -> Any:
        """Over `denominator`; the two may have common factors that a Fraction's have not."""
        return self * self.denominator

    @property
    def denominator(self) -> int:
        """A number that it is a whole number with."""
        return int(self.oracle.denominator(self))

    @property
    def power_above(self) -> Any:
        """A power of two that it is not above, of a number of all large n that is positive: nothing is split for it."""
        return self.oracle.power_above(self)

    # What nobody may ask. The rest of a Fraction reads its slots, which are empty here.

    def _refuse(self, *_: Any) -> Any:
        raise Unanswered(f"{self!r} is a number only once n is one")

    __float__ = __int__ = __index__ = __trunc__ = __complex__ = __divmod__ = __rdivmod__ = _refuse  # type: ignore[assignment]
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = __lshift__ = __rshift__ = __rrshift__ = (
        _refuse
    )
    __hash__ = _refuse
    _numerator = _denominator = property(_refuse)

    def __str__(self) -> str:
        return str(self.oracle.exact_text(self))

    def __repr__(self) -> str:
        return str(self.oracle.plain(self))

    def __format__(self, spec: str) -> str:
        """Writes the number as a part of a name, or for people."""
        return self._refuse() if spec else repr(self)


class WrittenNumber(Symbolic):
    """One that a table may have. Equal ones may be written in two ways, so that what is looked up may be missed."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(self))


def told_apart(value: Any) -> Any:
    """Returns a whole number for a table where it does no harm that one is missed."""
    return WrittenNumber(value.top, value.oracle, value.under) if grows(value) else int(value)


def at_most(small: Any, large: Any) -> bool:
    """Returns whether one number is seen to be at most another one, at each n; no case is split for that, but an interval may be
    cut.
    """
    apart = large - small
    return bool(apart.oracle.known_answer(apart.top, ">=") if is_symbolic(apart) else apart >= 0)


def nearest(value: int | Fraction) -> int:
    """Returns a whole number that none is nearer to it than."""
    if not grows(value):
        return round(value)
    below: int = math.floor(value)
    return below + (1 if value - below >= Fraction(1, 2) else 0)


def is_never_whole(value: Any) -> bool:
    """Returns whether it is seen to be an integer at no n."""
    return bool(value.is_never_whole if is_symbolic(value) else value.denominator != 1)


def one_number(value: int | Fraction) -> int:
    """Returns an integer as an int; if it depends on n, cuts the interval to where it is constant. Raises Unanswered."""
    if grows(value):
        raise Unanswered(f"{value} is another number at each n")
    return round(value)


def span(low: int, high: int) -> list[int]:
    """Returns the integers from low to high; their number must be the same at each n."""
    return [low + i for i in range(one_number(high - low) + 1)]


def common_divisor(values: Iterable[int | Fraction]) -> Fraction:
    """Returns a common divisor of these numbers; the greatest one, if none is symbolic in all large n.

    Of numbers of an interval each coefficient is such a multiple; quotients of polynomials are left out.
    """
    values = [value for value in values if not is_sized(value) or value.under is ONE]
    polynomials = [its for value in values if (its := polynomial_of(value))]
    powers = [item for p in polynomials for m in p for item in m]
    if any(name[0] == "f" or (power < 0 and name not in EXPONENTS) for name, power in powers):
        raise Unanswered("a common divisor")
    numbers = [c for p in polynomials for c in p.values()]
    factor = Fraction(math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers)))
    growing = next(filter(grows, values), None)
    if growing is None:
        return factor
    least = (
        (name, min(dict(m).get(name, 0) for p in polynomials for m in p)) for name in EXPONENTS
    )  # of whole numbers, 2^B and 2^v
    return Symbolic({tuple((name, power) for name, power in least if power): factor}, growing.oracle)


def polynomial_of(value: Any) -> Polynomial | None:
    """Returns a number as a polynomial; None for any other object."""
    if is_symbolic(value):
        return value.polynomial
    if not isinstance(value, int | Fraction):
        return None
    return number(value if value.denominator > 1 else value.numerator)  # ints calculate ten times as fast
