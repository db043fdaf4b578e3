"""A walk: one way through a program that calculates with polynomials of n, its bit length B, E = 2^B, and the bit length of B.

Each comparison is answered by what is shown in the case, and every answer is kept as an inequality that trusted/growth.py shows
again. Where neither answer is shown, the case is split in two: the walk goes on in one part, and another walk in the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verify.algebra.nodes import Node, Shown
from verify.algebra.quotients import (
    EXPONENTS,
    ONE,
    Interned,
    Unanswered,
    interned,
    inverse,
    negated,
    quotient,
    simplest,
    text,
    value_at,
)
from verify.algebra.symbolic import Comparison, Symbolic, at_most
from verify.trusted import growth
from verify.trusted.growth import OPPOSITE, Box, Polynomial, by_power, names_of, number, plus, symbol, times
from verify.trusted.kernel import Rejected, reject

MOST_STEPS = 4  # from the bits that a number has at one n to those that it has in the case
MOST_SPLITS = 40
MOST_QUESTIONS = 20_000
LARGEST_EXPONENT = 16  # up to which each v is looked at for itself
LONGEST = 1 << 26  # bits of a number that is calculated
NARROW = Fraction(1, 256)  # how near to its root a question that is not linear splits n/E


@dataclass
class Fork:
    """A place where the case is split: what was shown before, the split as trusted/growth.py reads it, and the walk's answer."""

    shown: list[Shown]
    split: Any
    answer: bool


@dataclass
class Walk:
    """box: of the case so far. turns: answers to the first questions that are split at; to others, true.

    nodes: the parts on the way, the widest first; the last one has this box. answers: to questions. open: those without one so far.
    shown: since the last split. floors: what was rounded down, by its fraction. wholes: what is seen to be whole, or not.
    compared: answers to comparisons of two numbers. powers: those above numbers.
    ended: what is asked now raises Unanswered.
    """

    box: Box
    turns: Sequence[bool] = ()
    forks: list[Fork] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    answers: dict[tuple[Interned, str], bool] = field(default_factory=dict)
    open: set[tuple[Interned, str]] = field(default_factory=set)
    floors: list[Interned] = field(default_factory=list)
    wholes: dict[Interned, bool] = field(default_factory=dict)
    compared: dict[Comparison, bool] = field(default_factory=dict)
    ended: bool = False
    powers: dict[Interned, Any] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    endless = True

    def __post_init__(self) -> None:
        self.nodes = self.nodes or [Node(self.box)]

    def end(self) -> None:
        """Ends the walk: later questions would be kept nowhere."""
        self.ended = True
        self.compared.clear()

    def holds(self, polynomial: Polynomial, relation: str) -> bool:
        """Returns whether it is > 0, or >= 0, in the case, which may be split for that."""
        polynomial = interned(polynomial)
        while (answer := self.known_answer(polynomial, relation)) is None:
            if (same := self._of_whole_numbers(polynomial, relation)) is not None:
                answer = self.holds(same[0], ">=") is same[1]
                self._keep(polynomial, relation, answer)
                return answer
            if len(self.forks) == MOST_SPLITS or len(self.answers) > MOST_QUESTIONS:
                raise Unanswered(f"the sign of {text(polynomial)}, after so many questions")
            try:
                self._keep(polynomial, relation, self._split(simplest(polynomial), relation))
            except Rejected as error:
                if self.box.fixed or self.box.start >= LARGEST_EXPONENT:
                    raise Unanswered(f"the sign of {text(polynomial)}") from error
                self._turn("v")
        return answer

    def known_answer(self, polynomial: Polynomial, relation: str) -> bool | None:
        """Returns the answer of `holds` if this case implies it or it was given before, else None: never splits the case."""
        polynomial = interned(polynomial)
        if self.ended:
            raise Unanswered(f"the sign of {text(polynomial)}, in a case that is done with")
        question = polynomial, relation
        answer = self.answers.get(question)
        if answer is not None or question in self.open:
            return answer
        if polynomial.keys() <= {()}:
            value = polynomial.get((), 0)
            return value > 0 if relation == ">" else value >= 0
        answer = self._tell(polynomial, relation)
        if answer is None:
            self.open.add(question)
        else:
            self._keep(polynomial, relation, answer)
        return answer

    def _tell(self, polynomial: Interned, relation: str) -> bool | None:
        simple = simplest(polynomial)
        answer = self.answers.get((simple, relation))
        if answer is not None:
            return answer
        if self.sees(simple, relation):
            return True
        if self.sees(negated(simple), OPPOSITE[relation]):
            return False
        if (same := self._of_whole_numbers(polynomial, relation)) is None:
            return None
        equivalent = self.known_answer(same[0], ">=")
        return None if equivalent is None else equivalent is same[1]

    def _keep(self, polynomial: Interned, relation: str, answer: bool) -> None:
        for same in (polynomial, simplest(polynomial)):
            self.answers[same, relation] = answer
            self.answers[negated(same), OPPOSITE[relation]] = not answer

    def _of_whole_numbers(self, polynomial: Interned, relation: str) -> tuple[Interned, bool] | None:
        """Returns a whole number, and whether the question is that it is >= 0, or that it is not; None if the question is that
        already.

        So questions that are the same of whole numbers are split at once: p >= 0 is ⌊p⌋ >= 0, and p > 0 is that -p >= 0 is not so.
        """
        floor = self.floor(polynomial if relation == ">=" else negated(polynomial))
        if floor is None or not names_of(floor):
            return None
        if floor[max(floor)] < 0:
            floor, relation = plus(number(-1), floor, -1), OPPOSITE[relation]
        return None if relation == ">=" and floor == polynomial else (interned(floor), relation == ">=")

    def floor(self, polynomial: Polynomial) -> Polynomial | None:
        """Returns the value rounded down, if that is shown to be a polynomial, else None."""
        rest = number(polynomial.get((), 0) % 1)
        near = plus(polynomial, rest, -1)
        if self.is_whole(near):
            return near
        little = self._not_whole(polynomial)
        whole = plus(polynomial, little, -1)
        for beside in (0, -1):  # what is left lies between two whole numbers
            above = plus(little, number(-beside))
            if self.sees(above, ">=") and self.sees(plus(number(1), above, -1), ">"):
                return plus(whole, number(beside))
        return None

    def sees(self, polynomial: Polynomial, relation: str) -> bool:
        """Returns whether it is seen to be > 0, or >= 0, everywhere in the case so far, or in a wider part."""
        question = interned(polynomial), relation
        if question not in self.answers:
            shown = next((shown for node in self.nodes if (shown := node.inequality(*question))), None)
            if shown is None:
                return False
            self.shown.append(shown)
            self.answers[question] = True
        return self.answers[question]

    def _split(self, polynomial: Interned, relation: str) -> bool:
        """Returns whether it is, in the part of the case in which the walk goes on. Raises Rejected where it cannot be split so."""
        name = next((name for name in ("n", "B") if name in names_of(polynomial)), None)
        if name is None or not names_of(polynomial) <= growth.SYMBOLS:
            reject("nothing to split at")
        parts = by_power(growth.cleared(polynomial), name)
        if len(parts) > 2 and name == "B":
            reject("no multiple of E")
        start, end, rises = (
            self._cross(parts[0], parts[1], relation) if len(parts) == 2 else self._near_root(polynomial)
        )
        split = {
            "of": name,
            "question": [text(polynomial), relation],
            "from": text(start),
            "to": text(end),
            "rises": rises,
        }
        return self._turn(split)

    def _turn(self, split: Any) -> bool:
        """Splits the case in two, and returns whether the walk goes on in the first part."""
        parts = self.nodes[-1].divided(split)
        answer = self.turns[len(self.forks)] if len(self.forks) < len(self.turns) else True
        self.forks.append(Fork(self.shown, split, answer))
        self.nodes.append(parts[0 if answer else 1])
        self.shown, self.box = [], self.nodes[-1].box
        self.open, self.wholes = set(), {}
        return answer

    def _cross(self, rest: Polynomial, slope: Polynomial, relation: str) -> tuple[Polynomial, Polynomial, bool]:
        """Returns where slope·x + rest changes its sign: from where on, up to where, and whether it rises."""
        rises = self.holds(slope, ">")
        root = times(times(rest, number(-1)), inverse(slope))
        above, below = plus(root, growth.step_of(root)), plus(root, growth.step_of(root), -1)
        if rises:
            return (root, below, True) if relation == ">=" else (above, root, True)
        return (above, root, False) if relation == ">=" else (root, below, False)

    def _near_root(self, polynomial: Polynomial) -> tuple[Polynomial, Polynomial, bool]:
        """Returns the same, less narrow, if it changes its sign once near a multiple of E."""
        of = self.sample()
        low, high = (value_at(end, of) / of["E"] for end in self.box.ends["n"])
        rises = value_at(polynomial, of | {"n": high * of["E"]}) > 0
        while high - low > NARROW:
            middle = Fraction(round((low + high) / 2 / NARROW * 4), 4) * NARROW
            inside = value_at(polynomial, of | {"n": middle * of["E"]}) > 0
            low, high = (low, middle) if inside == rises else (middle, high)
        low, high = (Fraction(round(end / NARROW) + beside) * NARROW for end, beside in ((low, -1), (high, 1)))
        return times(number(low), symbol("E")), times(number(high), symbol("E")), rises

    def sample(self) -> dict[str, Any]:
        """Returns some numbers in the case."""
        v = self.box.start + 2 * (not self.box.fixed)
        of: dict[str, Any] = {"v": v, "V": 1 << v} | {f"f{i}": 0 for i in range(len(self.floors))}
        of["B"] = int(sum(value_at(end, of) for end in self.box.ends["B"]) / 2)
        if of["B"] > LONGEST:
            raise Unanswered(f"what numbers of {of['B']} bits have in common")
        of["E"] = 1 << of["B"]
        return of | {"n": int(sum(value_at(end, of) for end in self.box.ends["n"]) / 2)}

    def is_whole(self, polynomial: Polynomial) -> bool:
        """Returns whether it is seen to be a whole number everywhere."""
        polynomial = interned(polynomial)
        if polynomial not in self.wholes:
            self.wholes[polynomial] = self._sees_whole(polynomial)
        return self.wholes[polynomial]

    def _sees_whole(self, polynomial: Polynomial) -> bool:
        for i, floor in reversed([*enumerate(self.floors)]):  # the last one first: it may be of those before
            c = polynomial.get(((f"f{i}", 1),), 0)
            if c.denominator != 1:
                return False
            polynomial = plus(polynomial, plus(floor, symbol(f"f{i}"), -1), c)
        return not self._not_whole(polynomial)

    def _not_whole(self, polynomial: Polynomial) -> Polynomial:
        """Returns the terms that may be no whole number. n(n − 1)/2 is not among them: it is whole at three n in a row."""
        of_n = {m: c for m, c in polynomial.items() if all(name == "n" and power > 0 for name, power in m)}
        if any(c.denominator > 1 for c in of_n.values()):
            degree = max((power for m in of_n for _, power in m), default=0)
            if any(value_at(of_n, {"n": n}).denominator > 1 for n in range(degree + 1)):
                of_n = {}
        return {m: c for m, c in polynomial.items() if m not in of_n and not self._is_whole(m, c)}

    def _is_whole(self, monomial: growth.Monomial, c: int | Fraction) -> bool:
        if c.denominator == 1 and all(power > 0 and name[0] != "f" for name, power in monomial):
            return True
        twos = c.denominator.bit_length() - 1
        if c.denominator != 1 << twos or any(
            name not in EXPONENTS and (power < 0 or name[0] == "f") for name, power in monomial
        ):
            return False
        exponent = number(-twos)
        for name, power in monomial:
            if name in EXPONENTS:
                exponent = plus(exponent, symbol(EXPONENTS[name]), power)
        return self.known_answer(exponent, ">=") is True

    # Numbers of the case

    def rounded_down(self, value: Symbolic) -> Any:
        """Returns the largest whole number that is not above it: a polynomial, with a symbol for what is left where that is not
        seen.
        """
        polynomial = value.polynomial
        whole_part = self.floor(polynomial)
        if whole_part is None:
            if polynomial not in self.floors:
                self.floors.append(polynomial)
            whole_part = plus(polynomial, symbol(f"f{self.floors.index(polynomial)}"), -1)
        made = quotient(interned(whole_part), ONE)
        return Symbolic(made[0], self, made[1]) if isinstance(made, tuple) else made

    def remainder(self, value: Symbolic, divisor: Any) -> Any:
        """Returns what is left of it."""
        return value - value // divisor * divisor

    def nearest(self, value: Symbolic) -> Any:
        """Returns the nearest whole number, of one that is a number away from a whole one."""
        rest = value.polynomial.get((), Fraction(0)) % 1
        if rest == Fraction(1, 2) or not (value - rest).is_whole:
            raise Unanswered(f"{value!r} is not seen to be near one whole number")
        return value - rest + round(rest)

    def bit_length(self, value: Symbolic) -> Any:
        """Returns the bit length of a whole number that is positive."""
        if not value.is_whole:
            raise Unanswered(f"{value!r} is not seen to be whole")
        exponent = self._guessed_bits(value)
        for _ in range(MOST_STEPS):
            if value >= Fraction(2) ** exponent:
                exponent = exponent + 1
            elif value < Fraction(2) ** (exponent - 1):
                exponent = exponent - 1
            else:
                return exponent
        raise Unanswered(f"{value!r} has no bit length of this form")

    def least_bits(self, value: Symbolic, leading: int) -> Any:
        """Returns an exponent of two, less than which is too little, n rounded up to so many digits. Nothing is split for that."""
        exponent = self._guessed_bits(value) + 1
        while not at_most(Fraction(2) ** (exponent - 1), value):
            exponent = exponent - 1
        return exponent

    def are_at_most(self, n: Symbolic, values: Sequence[Symbolic], most: Any, leading: int) -> bool:
        """Returns whether all `values`, nondecreasing in n, are ≤ `most`, with n rounded up to `leading` bits."""
        steps = 1 << leading
        step = Symbolic(symbol("E"), self) * Fraction(1, steps)

        def is_so(size: int) -> bool:
            return all(self._where_n_is(value, step * size) <= most for value in values)

        if is_so(steps):
            return True
        low, high = steps // 2, steps  # n lies above E/2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if is_so(middle) else (low, middle)
        return low > steps // 2 and n <= step * low

    def _where_n_is(self, value: Symbolic, size: Symbolic) -> Any:
        """Returns the number with another one in place of n."""
        result: Any = 0
        for monomial, c in value.polynomial.items():
            rest = tuple((name, power) for name, power in monomial if name != "n")
            power = sum(power for name, power in monomial if name == "n")
            result = result + Symbolic({rest: c}, self) * size**power
        return result

    def power_above(self, value: Symbolic) -> Any:
        """Returns a power of two ≥ a positive number, without a split."""
        question = value.polynomial
        if question not in self.powers:
            exponent = self._guessed_bits(value)
            powers = (Fraction(2) ** (exponent + more) for more in range(MOST_STEPS))
            self.powers[question] = next((power for power in powers if at_most(value, power)), None)
        if self.powers[question] is None:
            raise Unanswered(f"a power of two above {value!r}")
        return self.powers[question]

    def _guessed_bits(self, value: Symbolic) -> Any:
        """Returns the bit length that the number has at one n, if it grows as its fastest term does."""
        of, polynomial = self.sample(), value.polynomial
        rate = max(
            (
                sum(power for name, power in m if name in "nE"),
                sum(power * (1 + (name == "B")) for name, power in m if name in "BV"),
            )
            for m in polynomial
        )
        powers = Symbolic(symbol("B"), self) * rate[0] + Symbolic(symbol("v"), self) * rate[1]
        return powers + (int(value_at(polynomial, of)).bit_length() - rate[0] * of["B"] - rate[1] * of["v"])

    def value(self, value: Symbolic, values: Mapping[str, int | Fraction]) -> Fraction:
        """Returns its value where the symbols have these values."""
        names = names_of(value.top) | names_of(value.under)
        floors = {name: self.floors[int(name[1:])] for name in names if name[0] == "f"}
        values = {**values, **{name: Symbolic(of, self).value_at(values) % 1 for name, of in floors.items()}}
        return value_at(value.top, values) / value_at(value.under, values)

    def simplified(self, value: Symbolic) -> Fraction:
        """Returns the same number: it is as simple as it can be."""
        return value

    def denominator(self, value: Symbolic) -> int:
        """Raises Unanswered: the denominator differs between values of n."""
        raise Unanswered(f"the denominator of {value!r}")

    def exact_text(self, value: Symbolic) -> str:
        """Raises Unanswered: here equal numbers may have different texts."""
        raise Unanswered(f"{value!r} as a text")

    def plain(self, value: Symbolic) -> str:
        """Writes a number as quotients of polynomials."""
        return text(value.top) if value.under is ONE else f"({text(value.top)})/({text(value.under)})"


def n_of(walk: Walk) -> Any:
    """Returns the number n itself; where an int is asked for it is taken."""
    return Symbolic(symbol("n"), walk)
