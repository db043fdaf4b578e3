"""Numbers that depend on n, for a checker to calculate with: what it finds holds for each n of a case at once.

Standard library alone. A case is a box of n as `growth.py` has it: n, its bit length B, E = 2^B, v
and V = 2^v, where B has 2v or 2v + 1 bits. A `Growing` is a quotient of two polynomials of these, of which the lower one is above 0
in the whole box. So it stands for one number at each n of the case.

Why a check is right for each n. Sums, products and quotients of these numbers are those of the numbers at n. A comparison has an
answer if `growth.py` shows it for all real n and B of the box; so the answer is right at n. If neither answer is shown, the check
ends: the case needs a split. Two numbers are equal if they are written alike, or if both ≥ and ≤ are shown. A number is rounded to
a whole polynomial below, of which it is shown that it is not above, nor 1 or more below. Nothing else can be asked: a float or a
place in a table raises TypeError.

So a program that uses these numbers does at each n what it does here, but that it may know less. Of a number that is not seen to be
whole it does not use that it is; and of two bounds, each of which is right, it takes the first where it cannot compare them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from verify.trusted import growth
from verify.trusted.growth import OPPOSITE, Box, Polynomial, names_of, number, plus, symbol, times
from verify.trusted.numbers import MARK, NumberOfN, at_least, is_more, is_whole, two_to
from verify.trusted.rejection import Rejected, reject

POSITIVE = frozenset(("B", "E", "V", "n"))
EXPONENTS = {"E": "B", "V": "v"}
QUOTIENT = re.compile(r"\(([^()]*)\)/\(([^()]*)\)")
MOST_TEXT = 5000
MOST_STEPS = 64
MOST_KEPT = 1 << 16  # results of each operation
cached = lru_cache(MOST_KEPT)


# Quotients of polynomials


class Interned(Polynomial):
    """A polynomial that nobody changes. There is one of those that are equal, so that it is looked up by its identity."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]


Quotient: TypeAlias = tuple[Interned, Interned] | Fraction
"""What is above, and what is below it, which is positive; a Fraction where it is one number."""

_interned: WeakValueDictionary[frozenset[tuple[growth.Monomial, int | Fraction]], Interned] = WeakValueDictionary()


def interned(polynomial: Polynomial) -> Interned:
    """Returns the one that is equal to it. Nothing else makes them."""
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
    """Times −1."""
    return interned({monomial: -c for monomial, c in polynomial.items()})


class Case:
    """The n of a box. parent: a case that has all of them, if there is one.

    answers: to comparisons. wholes: whether polynomials are seen to be whole. floors: of polynomials. numbers: that were read.
    """

    def __init__(self, box: Box, parent: Case | None = None) -> None:
        self.box, self.parent = box, parent
        self.answers: dict[tuple[Interned, str], bool | None] = {}
        self.wholes: dict[Interned, bool] = {}
        self.floors: dict[Interned, Any] = {}
        self.numbers: dict[str, Any] = {}

    def parts(self, split: Any) -> tuple[Case, Case]:
        """Returns the parts of a split, as growth.py reads it. Where a whole polynomial is > 0, it is ≥ 1."""
        if split == "v":
            boxes = growth.by_exponent(self.box)
        else:
            yes = split["question"][1]
            boxes = growth.parts_of(self.box, split)
            boxes = sharpened(boxes[0], yes), sharpened(boxes[1], OPPOSITE[yes])
        return Case(boxes[0], self), Case(boxes[1], self)

    def decide(self, polynomial: Interned, relation: str) -> bool | None:
        """Returns whether the polynomial is > 0, or >= 0, at each n of the case; False: at none; None if neither is shown."""
        question = polynomial, relation
        if question not in self.answers:
            self.answers[question] = self.show(polynomial, relation)
        return self.answers[question]

    def show(self, polynomial: Interned, relation: str) -> bool | None:
        """Looks at the box. What is shown of a wider one holds here too."""
        signs = {c > 0 for c in polynomial.values()}
        if len(signs) < 2 and POSITIVE.issuperset(names_of(polynomial)):
            return True in signs or (not signs and relation == ">=")
        if self.parent is not None and (answer := self.parent.decide(polynomial, relation)) is not None:
            return answer
        if self.shows(polynomial, relation):
            return True
        return False if self.shows(negated(polynomial), OPPOSITE[relation]) else None

    def shows(self, polynomial: Polynomial, relation: str) -> bool:
        """Returns whether the box shows it: by itself, or as a sum of a polynomial that it shows to be so, and of an answer times a
        factor ≥ 0. Answers are of questions that split the case, and ≥ 0; the factor is the ratio of the highest terms.
        """
        try:
            if self.box.shows(polynomial, relation):
                return True
            own = growth.by_power(polynomial, "n") if self.box.answers else []
            for answer in self.box.answers:
                parts = growth.by_power(answer, "n")
                if 2 < len(parts) == len(own):
                    (m, c), (monomial, d) = (max(part[-1].items(), key=height) for part in (own, parts))
                    inverse = tuple((name, -power) for name, power in monomial)
                    factor: Polynomial = {growth.multiplied(m, inverse): Fraction(c) / d}
                    rest = plus(polynomial, times(factor, answer), -1)
                    if self.box.shows(factor, ">=") and self.box.shows(rest, relation):
                        return True
        except Rejected:  # of powers that are too large
            pass
        return False

    def holds(self, polynomial: Interned, relation: str) -> bool:
        """Returns the same. Raises Rejected if neither is shown."""
        answer = self.decide(polynomial, relation)
        if answer is None:
            return self.ask(polynomial, relation)
        return answer

    def ask(self, polynomial: Interned, relation: str) -> bool:
        return reject(f"the case needs a split: {text_of(polynomial)} {relation} 0")

    def whole_part(self, polynomial: Polynomial) -> Polynomial:
        """Returns terms that are whole numbers together: 2^a/2^b with a ≥ b times whole numbers, and what is of n alone if that is
        whole at as many n in a row as its degree asks for.
        """
        of_n = {m: c for m, c in polynomial.items() if all(name == "n" and power > 0 for name, power in m)}
        degree = max((power for m in of_n for _, power in m), default=0)
        values = (sum(c * i ** dict(m).get("n", 0) for m, c in of_n.items()) for i in range(degree + 1))
        alone = of_n if all(value.denominator == 1 for value in values) else {}
        return {m: c for m, c in polynomial.items() if m in alone or self.is_whole_term(m, c)}

    def is_whole_term(self, monomial: growth.Monomial, c: int | Fraction) -> bool:
        twos = c.denominator.bit_length() - 1
        if c.denominator != 1 << twos or any(power < 0 and name not in EXPONENTS for name, power in monomial):
            return False
        if not twos and all(power > 0 for _, power in monomial):
            return True
        exponent = number(-twos)
        for name, power in monomial:
            if name in EXPONENTS:
                exponent = plus(exponent, symbol(EXPONENTS[name]), power)
        return self.decide(interned(exponent), ">=") is True

    def floor(self, polynomial: Interned) -> Any:
        """Returns the polynomial rounded down, as `Growing.floor` does."""
        whole = self.whole_part(polynomial)
        rest = plus(polynomial, whole, -1)
        whole = plus(whole, number(math.floor(rest.get((), 0))))
        little = self.divided(plus(polynomial, whole, -1), ONE)
        for beside in (0, -1):
            if at_least(little, beside) and is_more(beside + 1, little):
                return self.divided(plus(whole, number(beside)), ONE)
        return None

    # Texts of a certificate

    def number(self, text: str) -> Any:
        """Reads a number: a polynomial of symbols, or (top)/(under)."""
        if text in self.numbers:
            return self.numbers[text]
        if type(text) is not str or len(text) > MOST_TEXT:
            reject("a number is no text, or too long")
        parts = found.groups() if (found := QUOTIENT.fullmatch(text)) else (text, "1")
        top, under = (growth.parsed(part.replace(MARK, "")) for part in parts)
        if (names_of(top) | names_of(under)) - growth.SYMBOLS:
            reject("a number has unknown symbols")
        self.numbers[text] = self.divided(top, under)
        return self.numbers[text]

    def whole(self, value: Any) -> Any:
        """Reads a whole number of a file: one of JSON, or a text."""
        if type(value) is not int and not is_whole(value := self.number(value)):
            reject(f"{value} is not seen to be whole")
        return value

    # Numbers

    def divided(self, top: Polynomial, under: Polynomial) -> Any:
        """Returns top/under, which is not 0 in the case."""
        top, under = interned(top), interned(under)
        if len(under) == 1 and under is not ONE:
            (c,) = under.values()
            scale = number(1 / abs(Fraction(c)))
            top, under = interned(times(top, scale)), interned(times(under, scale))
        if under is not ONE and not self.holds(under, ">"):
            top, under = negated(top), negated(under)
            if not self.holds(under, ">"):
                reject("a number is divided by 0")
        return self.make_number(quotient(top, under))

    def make_number(self, value: Quotient) -> Any:
        """Returns an int or a Fraction where it is one number."""
        if type(value) is tuple:
            return Growing(self, *value)
        return value.numerator if value.denominator == 1 else value  # type: ignore[union-attr]


def height(term: tuple[growth.Monomial, int | Fraction]) -> tuple[int, int]:
    """Returns the powers of E and V, by which a term outgrows others."""
    powers = dict(term[0])
    return powers.get("E", 0), powers.get("V", 0)


def sharpened(box: Box, relation: str) -> Box:
    """Returns the box, of whose last answer it is known that it is > 0, or >= 0."""
    *others, answer = box.answers
    whole = all(c.denominator == 1 and all(power > 0 for _, power in m) for m, c in answer.items())
    return replace(box, answers=(*others, plus(answer, number(1), -1))) if relation == ">" and whole else box


class Growing(NumberOfN):
    """top/under at each n of the case; under > 0. It calculates as an int or a Fraction does."""

    __slots__ = ("case", "top", "under")

    def __init__(self, case: Case, top: Interned, under: Interned = ONE) -> None:
        self.case, self.top, self.under = case, top, under

    def other(self, value: Any) -> tuple[Interned, Interned] | None:
        kind = type(value)
        if kind is Growing:
            if value.case is not self.case:
                reject("numbers of two cases")
            return value.top, value.under
        return (constant(value), ONE) if kind is int or kind is Fraction else None

    def __add__(self, value: Any) -> Any:
        if (its := self.other(value)) is None:
            return NotImplemented
        return self.case.make_number(added(self.top, self.under, *its))

    __radd__ = __add__

    def __mul__(self, value: Any) -> Any:
        if (its := self.other(value)) is None:
            return NotImplemented
        return self.case.make_number(multiplied(self.top, self.under, *its))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return Growing(self.case, negated(self.top), self.under)

    def __sub__(self, value: Any) -> Any:
        return self + -value

    def __rsub__(self, value: Any) -> Any:
        return -self + value

    def __pow__(self, power: int) -> Any:
        return math.prod([self] * power)

    def __truediv__(self, value: Any) -> Any:
        if (its := self.other(value)) is None:
            return NotImplemented
        if type(value) is not Growing and value:
            return self * (1 / Fraction(value))
        return self.case.divided(times(self.top, its[1]), times(self.under, its[0]))

    def __rtruediv__(self, value: Any) -> Any:
        return self.case.divided(times(number(value), self.under), self.top)

    # Comparisons

    def less(self, value: Any) -> Interned:
        """Returns a polynomial of the sign of the difference."""
        if (its := self.other(value)) is None:
            reject("a number beside what is none")
        return difference(self.top, self.under, *its)

    def __gt__(self, value: Any) -> bool:
        return self.case.holds(self.less(value), ">")

    def __ge__(self, value: Any) -> bool:
        return self.case.holds(self.less(value), ">=")

    def __lt__(self, value: Any) -> bool:
        return not self >= value

    def __le__(self, value: Any) -> bool:
        return not self > value

    def __eq__(self, value: object) -> bool:
        if self.other(value) is None:
            return NotImplemented
        apart = self.less(value)
        return not (apart and (self.case.holds(apart, ">") or self.case.holds(negated(apart), ">")))

    def __hash__(self) -> int:
        return hash((self.top, self.under))

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    # Whole numbers

    @property
    def denominator(self) -> int:
        """Returns 1 if it is seen to be whole, else 0, which is the denominator of no number."""
        if self.top not in self.case.wholes:
            self.case.wholes[self.top] = self.case.whole_part(self.top) == self.top
        return int(self.under is ONE and self.case.wholes[self.top])

    @property
    def numerator(self) -> Any:
        return self

    def floor(self) -> Any:
        """Returns it, rounded down: a whole polynomial that is not above it, nor 1 or more below; None if none is seen."""
        if self.under is not ONE:
            return None
        if self.top not in self.case.floors:
            self.case.floors[self.top] = self.case.floor(self.top)
        return self.case.floors[self.top]

    def __floor__(self) -> Any:
        if (found := self.floor()) is None:
            reject(f"it is not seen what {self} is, rounded down")
        return found

    def __ceil__(self) -> Any:
        return -math.floor(-self)

    def __round__(self) -> Any:
        """Returns a whole number that none is nearer to."""
        return math.floor(self + Fraction(1, 2))

    def __floordiv__(self, value: Any) -> Any:
        return math.floor(self / value)

    def __rfloordiv__(self, value: Any) -> Any:
        return math.floor(value / self)

    def __mod__(self, value: int) -> Any:
        rest = self.top.get((), 0) % value
        return rest if is_whole((self - rest) / value) else self - self // value * value

    def bit_length(self) -> Any:
        """Returns b with 2^b above it, of a number ≥ 0: n < E, B < 2·V² and v < V, so each term is below a power of two."""
        if self.under is not ONE or any(power < 0 and name not in EXPONENTS for m in self.top for name, power in m):
            reject(f"the bit length of {self}")
        sizes: list[Any] = []
        for monomial, c in self.top.items():
            if c > 0:
                bits = number(math.ceil(c).bit_length())
                for name, power in monomial:
                    of = {"n": symbol("B"), "E": symbol("B"), "V": symbol("v"), "v": symbol("v")}
                    of["B"] = plus(times(number(2), symbol("v")), number(1))
                    bits = plus(bits, of[name], power)
                sizes.append(self.case.divided(bits, ONE))
        b = max(sizes, default=0) + (len(sizes) - 1).bit_length()
        for _ in range(MOST_STEPS):
            if not at_least(two_to(b - 1), self + 1):
                break
            b = b - 1
        return b

    def is_seen(self, relation: str) -> bool:
        return self.case.decide(self.top, relation) is True

    def power_of_two(self) -> Any:
        """Returns 2 to this power. Raises Rejected where it is no sum of whole multiples of B, v and 1."""
        powers, twos = [], 0
        for monomial, c in self.top.items():
            name = {(("B", 1),): "E", (("v", 1),): "V", (): ""}.get(monomial)
            if name is None or c.denominator != 1 or self.under is not ONE:
                reject(f"2^({self})")
            if name:
                powers.append((name, int(c)))
            else:
                twos = int(c)
        return self.case.divided({tuple(sorted(powers)): Fraction(2) ** twos}, ONE)

    def common_divisor(self, values: Sequence[Any]) -> Any:
        """Returns a number of which each value is a whole multiple, as n, B, v, E and V are whole; 0 if all are 0."""
        if any(isinstance(value, Growing) and value.under is not ONE for value in values):
            reject("a common divisor of quotients")
        polynomials = [value.top if isinstance(value, Growing) else number(value) for value in values]
        numbers = [c for polynomial in polynomials for c in polynomial.values()]
        terms = [dict(m) for polynomial in polynomials for m in polynomial]
        powers = ((name, min(term.get(name, 0) for term in terms)) for name in sorted(EXPONENTS))
        factor = Fraction(math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers)))
        return self.case.divided({tuple((name, power) for name, power in powers if power): factor}, ONE)

    def terms(self, *atoms: str) -> list[str]:
        if self.under is not ONE:
            reject("a quotient of polynomials has no text")
        return [term_of(powers, c, *atoms) for powers, c in sorted(self.top.items())]

    def __str__(self) -> str:
        top, under = (text_of(part) for part in (self.top, self.under))
        return top if self.under is ONE else f"({top})/({under})"

    __repr__ = __str__


def text_of(polynomial: Polynomial) -> str:
    """Writes a polynomial of symbols so that `Case.number` reads it."""
    return " + ".join(term_of(m, c) for m, c in sorted(polynomial.items())) or "0"


def term_of(monomial: growth.Monomial, c: int | Fraction, *atoms: str) -> str:
    powers = (f"{MARK}{name}" + (f"^{power}" if power != 1 else "") for name, power in monomial)
    return "*".join((str(c), *powers, *atoms))
