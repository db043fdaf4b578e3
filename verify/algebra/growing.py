"""Numbers of one case of all large n, for a builder and a checker to calculate with.

What they ask is answered by a walk (walks.py). So the program does for each n of the case what it does here. What has no answer
that is the same for all of them, or none that a walk would know of, raises Unanswered: a place in a table, a text, a float.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Number
from typing import Any, TypeGuard

from verify.algebra.quotients import (
    EXPONENTS,
    ONE,
    Interned,
    Quotient,
    Unanswered,
    added,
    at,
    constant,
    difference,
    interned,
    inverse,
    multiplied,
    negated,
    power_of_two,
    quotient,
    text,
)
from verify.algebra.walks import Walk
from verify.trusted import growth
from verify.trusted.growth import Polynomial, names_of, number, plus, symbol

NUMBERS = (int, Fraction)
MOST_STEPS = 4  # from the bits that a number has at one n to those that it has in the case


def grows(value: Any) -> TypeGuard[Growing]:
    """Whether it is a number of a case. isinstance takes five times as long of one that is none."""
    kind = type(value)
    return kind is not int and kind is not Fraction and isinstance(value, Growing)


def n_of(walk: Walk) -> Any:
    """The number n itself; where an int is asked for it is taken."""
    return Growing(symbol("n"), walk)


class Growing(Fraction):
    """A number that depends on n, top/under. It is called a Fraction so that forms of registers take it as a coefficient."""

    __slots__ = ("top", "under", "walk")
    top: Interned
    under: Interned  # positive in the case; 1 where the quotient is a polynomial
    walk: Walk

    def __new__(cls, top: Polynomial, walk: Walk, under: Polynomial = ONE) -> Growing:
        self = object.__new__(cls)
        self.walk = walk
        self.top = top if type(top) is Interned else interned(top)
        self.under = under if type(under) is Interned else interned(under)
        return self

    @property
    def polynomial(self) -> Interned:
        """Raises Unanswered for a quotient that is none."""
        if self.under is not ONE:
            raise Unanswered(f"{self!r} is no polynomial")
        return self.top

    def _made(self, value: Quotient) -> Any:
        """A Fraction where it is one number: an int divided by an int would be a float."""
        return Growing(value[0], self.walk, value[1]) if type(value) is tuple else value

    # What is a quotient of polynomials again

    def _other(self, other: Any) -> tuple[Interned, Interned] | None:
        """What is calculated with; None if it is none of these numbers. Raises Unanswered for one that another walk has made."""
        kind = type(other)
        if kind is int or kind is Fraction:  # isinstance takes five times as long of classes like these
            return constant(other), ONE
        if isinstance(other, Growing):
            if other.walk is not self.walk:
                raise Unanswered(f"{self!r} beside {other!r}, which is of another case")
            return other.top, other.under
        return (constant(other), ONE) if isinstance(other, NUMBERS) else None

    def __add__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(added(self.top, self.under, *its))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(multiplied(self.top, self.under, *its))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return Growing(negated(self.top), self.walk, self.under)

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        its = self._other(other)
        return NotImplemented if its is None else self._made(added(self.top, self.under, negated(its[0]), its[1]))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, power: Any, modulo: Any = None) -> Any:
        if type(power) is not int or power < 0 or modulo is not None:
            return NotImplemented
        top, under = (interned(growth.powers_of(part, power)[-1]) for part in (self.top, self.under))
        return self._made(quotient(top, under))

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Growing):
            return self * other._inverse()
        return self * (1 / Fraction(other)) if isinstance(other, NUMBERS) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return self._inverse() * other

    def _inverse(self) -> Any:
        """1 over it. Its sign is asked for, where it is no product of a number and powers of E and V."""
        if len(self.top) == 1 and names_of(self.top) <= EXPONENTS.keys():
            return self._made(multiplied(self.under, ONE, interned(inverse(self.top)), ONE))
        if self.walk.holds(self.top, ">"):
            return self._made(quotient(self.under, self.top))
        if not self.walk.holds(self.top, ">="):
            return self._made(quotient(negated(self.under), negated(self.top)))
        raise ZeroDivisionError(f"{self!r} is 0")

    def __rpow__(self, base: Any, modulo: Any = None) -> Any:
        """A power of two to an exponent that is a sum of whole multiples of B, of v and of 1."""
        if isinstance(base, int) and self < 0:
            raise Unanswered(f"{base}^({self!r}), a float")
        return self._power(base)

    def _power(self, base: Any = 2) -> Any:
        if base != 2:
            if type(base) is not int or base < 2 or base & (base - 1):
                raise Unanswered(f"{base}^({self!r})")
            return (self * (base.bit_length() - 1))._power()
        return self._made(power_of_two(self.polynomial))

    def __rlshift__(self, one: Any) -> Any:
        if self < 0:
            raise Unanswered(f"{one} << {self!r}")
        return one * self._power()

    # What is asked

    def _compared(self, other: Any, relation: str, sign: int) -> bool:
        its = self._other(other)
        if its is None:
            raise Unanswered(f"{self!r} beside {other!r}")
        cache, question = self.walk.compared, (self.top, self.under, *its, relation, sign)
        if question not in cache:
            apart = difference(self.top, self.under, *its) if sign > 0 else difference(*its, self.top, self.under)
            cache[question] = self.walk.holds(apart, relation)
        return cache[question]

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
        cache, question = self.walk.compared, (self.top, self.under, *its, "=", 0)
        if question not in cache:
            apart = self - other
            cache[question] = apart >= 0 and apart <= 0 if isinstance(apart, Growing) else not apart
        return cache[question]

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """What it is where the symbols are these numbers."""
        names = names_of(self.top) | names_of(self.under)
        floors = {name: self.walk.floors[int(name[1:])] for name in names if name[0] == "f"}
        values = {**values, **{name: Growing(of, self.walk).at(values) % 1 for name, of in floors.items()}}
        return at(self.top, values) / at(self.under, values)

    @property
    def is_whole(self) -> bool:
        """Whether it is seen to be a whole number."""
        return self.under is ONE and self.walk.is_whole(self.top)

    @property
    def is_never_whole(self) -> bool:
        """Whether it is seen to be none anywhere: a whole number and a proper fraction."""
        rest = self.top.get((), Fraction(0)) % 1
        return bool(rest) and self.under is ONE and self.walk.is_whole(plus(self.top, number(rest), -1))

    def __floor__(self) -> Any:
        walk, whole_part = self.walk, self.walk.floor(self.polynomial)
        if whole_part is not None:
            return self._made(quotient(interned(whole_part), ONE))
        if self.polynomial not in walk.floors:
            walk.floors.append(self.polynomial)
        rest = symbol(f"f{walk.floors.index(self.polynomial)}")
        return self._made(quotient(interned(plus(self.polynomial, rest, -1)), ONE))

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
        """The nearest whole number, of one that is a number away from a whole one."""
        rest = self.polynomial.get((), Fraction(0)) % 1
        if digits is not None or rest == Fraction(1, 2) or not (self - rest).is_whole:
            raise Unanswered(f"{self!r} is not seen to be near one whole number")
        return self - rest + round(rest)

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

    @property
    def power_above(self) -> Any:
        """A power of two that it is not above, of a number that is positive: nothing is split for it."""
        cache, question = self.walk.powers, self.polynomial
        if question not in cache:
            exponent = self._guessed_bits()
            powers = (Fraction(2) ** (exponent + more) for more in range(MOST_STEPS))
            cache[question] = next((power for power in powers if at_most(self, power)), None)
        if cache[question] is None:
            raise Unanswered(f"a power of two above {self!r}")
        return cache[question]

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
        return text(self.top) if self.under is ONE else f"({text(self.top)})/({text(self.under)})"

    def __format__(self, spec: str) -> str:
        """As a part of a name, or of what people read."""
        return self._refuse() if spec else repr(self)


class Written(Growing):
    """One that a table may have. Equal ones may be written in two ways, so that what is looked up may be missed."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(self))


def told_apart(value: Any) -> Any:
    """A whole number for a table where it does no harm that one is missed."""
    return Written(value.top, value.walk, value.under) if isinstance(value, Growing) else int(value)


def at_most(small: Any, large: Any) -> bool:
    """Whether one number is seen to be at most another one, at each n of the case, which is not split for that."""
    apart = large - small
    return bool(apart.walk.told(apart.top, ">=") if isinstance(apart, Growing) else apart >= 0)


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
    if not isinstance(value, int | Fraction):
        return None
    return number(value if value.denominator > 1 else value.numerator)  # ints calculate ten times as fast
