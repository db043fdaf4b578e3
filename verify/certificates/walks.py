"""A walk: one way through a program that calculates with polynomials of n, its bit length B, E = 2^B, and the bit length of B.

Each comparison is answered by what is shown in the case, and every answer is kept as an inequality that verify/growth.py shows
again. Where neither answer is shown, the case is split in two: the walk goes on in one part, and another walk in the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from verify import growth
from verify.growth import OPPOSITE, Box, Polynomial, by_power, names_of, number, plus, symbol, times
from verify.kernel import Rejected, reject

EXPONENTS = {"E": "B", "V": "v"}
MOST_SPLITS = 40
MOST_QUESTIONS = 20_000
FIRST = 8  # numbers from an end of a case on, among which one of it is looked for
SOME = 4  # exponents v at which an n of a case is looked for
MOST_BITS = 4096  # of such an n
LARGEST_EXPONENT = 16  # up to which each v is looked at for itself
NARROW = Fraction(1, 256)  # how near to its root a question that is not linear splits n/E
Shown = tuple[Polynomial, str, int | None, Polynomial]  # the number of an answer and a factor, where it follows so


class Unanswered(TypeError):
    """What is asked has no one answer that is found."""


@dataclass
class Fork:
    """A place where the case is split: what was shown before, the split as verify/growth.py reads it, and the walk's answer."""

    shown: list[Shown]
    split: Any
    answer: bool

    def fits(self, of: Mapping[str, int | Fraction]) -> Callable[[int], bool]:
        """Whether the answer is right at n, where the other symbols are these numbers. That of v is in the box."""
        if self.split == "v":
            return lambda n: True
        question, relation = self.split["question"]
        parts = [at(part, of) for part in by_power(growth.parsed(question), "n")]
        denominator = math.lcm(*(part.denominator for part in parts))
        coefficients = [int(part * denominator) for part in reversed(parts)]

        def right(n: int) -> bool:
            found = 0
            for c in coefficients:
                found = found * n + c
            return self.answer is (found > 0 if relation == ">" else found >= 0)

        return right


@dataclass
class Walk:
    """box: of the case so far. turns: answers to the first questions that are split at; to others, true.

    answers: to questions. shown: since the last split. floors: what was rounded down, by its fraction. powers: those above numbers.
    ended: what is asked now would be kept nowhere.
    """

    box: Box
    turns: Sequence[bool] = ()
    forks: list[Fork] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    answers: dict[tuple[frozenset[Any], str], bool] = field(default_factory=dict)
    floors: list[Polynomial] = field(default_factory=list)
    ended: bool = False
    powers: dict[frozenset[Any], Any] = field(default_factory=dict)

    def holds(self, polynomial: Polynomial, relation: str) -> bool:
        """Whether it is > 0, or >= 0, in the case, which may be split for that."""
        while (found := self.told(polynomial, relation)) is None:
            if (same := self._of_whole_numbers(polynomial, relation)) is not None:
                return self.holds(same[0], ">=") is same[1]
            if len(self.forks) == MOST_SPLITS or len(self.answers) > MOST_QUESTIONS:
                raise Unanswered(f"the sign of {text(polynomial)}, behind so many questions")
            try:
                self._keep(polynomial, relation, self._split(simplest(polynomial), relation))
            except Rejected as error:
                if self.box.fixed or self.box.start >= LARGEST_EXPONENT:
                    raise Unanswered(f"the sign of {text(polynomial)}") from error
                self._turn("v", growth.by_exponent(self.box))
        return found

    def told(self, polynomial: Polynomial, relation: str) -> bool | None:
        """The same, of what is seen in the case, or was asked before; None of what is not."""
        if self.ended:
            raise Unanswered(f"the sign of {text(polynomial)}, in a case that is done with")
        if polynomial.keys() <= {()}:
            value = polynomial.get((), 0)
            return value > 0 if relation == ">" else value >= 0
        found = self.answers.get((frozenset(polynomial.items()), relation))
        if found is None:
            simple = simplest(polynomial)
            found = self.answers.get((frozenset(simple.items()), relation))
            with suppress(Rejected):
                if found is None and self.sees(simple, relation):
                    found = True
                elif found is None and self.sees(negated(simple), OPPOSITE[relation]):
                    found = False
                elif found is None and (same := self._of_whole_numbers(polynomial, relation)) is not None:
                    told = self.told(same[0], ">=")
                    found = None if told is None else told is same[1]
            if found is not None:
                self._keep(polynomial, relation, found)
        return found

    def _keep(self, polynomial: Polynomial, relation: str, answer: bool) -> None:
        for same in (polynomial, simplest(polynomial)):
            self.answers[frozenset(same.items()), relation] = answer
            self.answers[frozenset(negated(same).items()), OPPOSITE[relation]] = not answer

    def _of_whole_numbers(self, polynomial: Polynomial, relation: str) -> tuple[Polynomial, bool] | None:
        """A whole number, and whether the question is that it is >= 0, or that it is not; None if the question is that already.

        So questions that are the same of whole numbers are split at once: p >= 0 is ⌊p⌋ >= 0, and p > 0 is that -p >= 0 is not so.
        """
        floor = self.floor(polynomial if relation == ">=" else negated(polynomial))
        if floor is None or not names_of(floor):
            return None
        if floor[max(floor)] < 0:
            floor, relation = plus(number(-1), floor, -1), OPPOSITE[relation]
        return None if relation == ">=" and floor == polynomial else (floor, relation == ">=")

    def floor(self, polynomial: Polynomial) -> Polynomial | None:
        """It, rounded down, where that is seen to be a polynomial."""
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
        """Whether it is seen to be > 0, or >= 0, everywhere in the case so far."""
        question = frozenset(polynomial.items()), relation
        if question not in self.answers:
            shown = self._shown(polynomial, relation)
            if shown is None:
                return False
            self.shown.append(shown)
            self.answers[question] = True
        return self.answers[question]

    def _shown(self, polynomial: Polynomial, relation: str) -> Shown | None:
        """The inequality, with an answer that it follows from where one is needed; None if it is not seen to hold."""
        if self.box.shows(polynomial, relation):
            return polynomial, relation, None, {}
        for i, answer in enumerate(self.box.answers):
            parts, own = by_power(answer, "n"), by_power(polynomial, "n")
            if 2 < len(parts) == len(own) and len(parts[-1]) == 1:  # another one tells no more than the ends of the box
                factor = times(own[-1], inverse(parts[-1]))
                rest = plus(polynomial, times(factor, answer), -1)
                if self.box.shows(factor, ">=") and self.box.shows(rest, relation):
                    return polynomial, relation, i, factor
        return None

    def _split(self, polynomial: Polynomial, relation: str) -> bool:
        """Whether it is, in the part of the case in which the walk goes on. Raises Rejected where it cannot be split so."""
        name = next((name for name in ("n", "B") if name in names_of(polynomial)), None)
        if name is None or not names_of(polynomial) <= growth.SYMBOLS:
            reject("nothing to split at")
        parts = by_power(growth.cleared(polynomial), name)
        if len(parts) > 2 and name == "B":
            reject("no multiple of E")
        start, end, rises = (
            self._crossed(parts[0], parts[1], relation) if len(parts) == 2 else self._near_root(polynomial)
        )
        split = {
            "of": name,
            "question": [text(polynomial), relation],
            "from": text(start),
            "to": text(end),
            "rises": rises,
        }
        return self._turn(split, growth.parts_of(self.box, split))

    def _turn(self, split: Any, boxes: Sequence[Box]) -> bool:
        """Into which of two parts the walk turns: true for the first."""
        answer = self.turns[len(self.forks)] if len(self.forks) < len(self.turns) else True
        self.forks.append(Fork(self.shown, split, answer))
        self.shown, self.box = [], boxes[0 if answer else 1]
        return answer

    def _crossed(self, rest: Polynomial, slope: Polynomial, relation: str) -> tuple[Polynomial, Polynomial, bool]:
        """Where slope·x + rest changes its sign: from where on, up to where, and whether it rises."""
        rises = self.holds(slope, ">")
        root = times(times(rest, number(-1)), inverse(slope))
        above, below = plus(root, growth.step_of(root)), plus(root, growth.step_of(root), -1)
        if rises:
            return (root, below, True) if relation == ">=" else (above, root, True)
        return (above, root, False) if relation == ">=" else (root, below, False)

    def _near_root(self, polynomial: Polynomial) -> tuple[Polynomial, Polynomial, bool]:
        """The same, less narrow, if it changes its sign once near a multiple of E."""
        of = self.sample()
        low, high = (at(end, of) / of["E"] for end in self.box.ends["n"])
        rises = at(polynomial, of | {"n": high * of["E"]}) > 0
        while high - low > NARROW:
            middle = Fraction(round((low + high) / 2 / NARROW * 4), 4) * NARROW
            inside = at(polynomial, of | {"n": middle * of["E"]}) > 0
            low, high = (low, middle) if inside == rises else (middle, high)
        low, high = (Fraction(round(end / NARROW) + beside) * NARROW for end, beside in ((low, -1), (high, 1)))
        return times(number(low), symbol("E")), times(number(high), symbol("E")), rises

    def sample(self) -> dict[str, Any]:
        """Some numbers in the case."""
        v = self.box.start + 2 * (not self.box.fixed)
        of: dict[str, Any] = {"v": v, "V": 1 << v} | {f"f{i}": 0 for i in range(len(self.floors))}
        of["B"] = int(sum(at(end, of) for end in self.box.ends["B"]) / 2)
        of["E"] = 1 << of["B"]
        return of | {"n": int(sum(at(end, of) for end in self.box.ends["n"]) / 2)}

    def some_n(self) -> int | None:
        """One n of the case, if one of few enough bits is soon found."""
        for v in range(self.box.start, self.box.start + (1 if self.box.fixed else SOME)):
            of: dict[str, int | Fraction] = {"v": v, "V": 1 << v}
            for bits in _between(*(at(end, of) for end in self.box.ends["B"])):
                if bits > MOST_BITS:
                    continue
                of |= {"B": bits, "E": 1 << bits}
                some = _between(*(at(end, of) for end in self.box.ends["n"]))
                right = [fork.fits(of) for fork in self.forks]
                for n in [*some, *(near for fits in right for near in _turns(fits, some))]:
                    if all(fits(n) for fits in right):
                        return n
        return None

    def is_whole(self, polynomial: Polynomial) -> bool:
        """Whether it is seen to be a whole number everywhere."""
        for i, floor in reversed([*enumerate(self.floors)]):  # the last one first: it may be of those before
            c = polynomial.get(((f"f{i}", 1),), 0)
            if c.denominator != 1:
                return False
            polynomial = plus(polynomial, plus(floor, symbol(f"f{i}"), -1), c)
        return not self._not_whole(polynomial)

    def _not_whole(self, polynomial: Polynomial) -> Polynomial:
        """Terms without which it is seen to be a whole number: not n(n − 1)/2, which is whole at three n in a row."""
        of_n = {m: c for m, c in polynomial.items() if all(name == "n" and power > 0 for name, power in m)}
        if any(c.denominator > 1 for c in of_n.values()):
            degree = max((power for m in of_n for _, power in m), default=0)
            if any(at(of_n, {"n": n}).denominator > 1 for n in range(degree + 1)):
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
        return self.told(exponent, ">=") is True


class Tree:
    """All walks through a program, and their inequalities by number."""

    def __init__(self, program: Callable[[Walk], object]) -> None:
        self.program = program
        self.inequalities: dict[tuple[str, str], int] = {}

    def cases(self, box: Box, way: Sequence[Fork] = ()) -> Any:
        """The cases of a box behind these answers to the first questions, as verify/growth.py reads them.

        Raises Unanswered for a program that asks something else when it is run again.
        """
        walk = Walk(box, [fork.answer for fork in way])
        self.program(walk)
        walk.ended = True
        if walk.forks[: len(way)] != list(way):
            raise Unanswered("what is asked again is not what was asked before")
        found = {"shown": self._stored(walk.shown)}
        for i in reversed(range(len(way), len(walk.forks))):
            before, fork = walk.forks[:i], walk.forks[i]
            other = self.cases(box, [*before, replace(fork, answer=not fork.answer)])
            found = {"shown": self._stored(fork.shown), "split": fork.split, "parts": [found, other]}
        return found

    def _stored(self, shown: Sequence[Shown]) -> list[Any]:
        found: list[Any] = []
        for polynomial, relation, answer, factor in shown:
            place = self.inequalities.setdefault((text(polynomial), relation), len(self.inequalities))
            found.append(place if answer is None else [place, answer, text(factor)])
        return found


def theorem_of(program: Callable[[Walk], object], bits_of_bits: int) -> Any:
    """What all walks through a program have shown, as verify/growth.py reads it."""
    tree = Tree(program)
    cases = [tree.cases(growth.root(bits_of_bits, r)) for r in (0, 1)]
    return {"bits_of_bits": bits_of_bits, "inequalities": [list(one) for one in tree.inequalities], "cases": cases}


def values_of(n: int) -> dict[str, int | Fraction]:
    """What the symbols are at n."""
    bits = n.bit_length()
    v = bits.bit_length() // 2
    return {"n": n, "B": bits, "E": 1 << bits, "v": v, "V": 1 << v}


def _between(low: Fraction, high: Fraction) -> list[int]:
    """Some whole numbers from low to high: one in the middle, the last, and the first ones."""
    first, last = math.ceil(low), math.floor(high)
    return [(first + last) // 2, last, *range(first, min(last, first + FIRST))] if first <= last else []


def _turns(fits: Callable[[int], bool], some: Sequence[int]) -> list[int]:
    """Two n beside each other, from the least to the largest of some, of which one alone fits."""
    if not some or fits(min(some)) is (last := fits(max(some))):
        return []
    low, high = min(some), max(some)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) is last else (middle, high)
    return [low, high]


def inverse(polynomial: Polynomial) -> Polynomial:
    """1 over a product of a number and powers of E and V. Raises Unanswered for others."""
    ((monomial, c), *others) = polynomial.items()
    if others or any(name not in EXPONENTS for name, _ in monomial):
        raise Unanswered(f"1/({text(polynomial)}) is no polynomial")
    return times({tuple((name, -power) for name, power in monomial): 1}, number(Fraction(1) / c))


def simplest(polynomial: Polynomial) -> Polynomial:
    """With coprime whole coefficients, and without powers of positive numbers that divide all terms."""
    terms = [dict(m) for m in polynomial]
    least = {name: min(powers.get(name, 0) for powers in terms) for name in "BEVn"}
    common = math.gcd(*(c.numerator for c in polynomial.values()))
    scale = Fraction(math.lcm(*(c.denominator for c in polynomial.values())), common)
    factor = tuple((name, -power) for name, power in least.items() if power)
    if scale == 1 and not factor:
        return polynomial
    return times(polynomial, {factor: scale.numerator if scale.denominator == 1 else scale})


def negated(polynomial: Polynomial) -> Polynomial:
    """Times −1."""
    return {monomial: -c for monomial, c in polynomial.items()}


def at(polynomial: Polynomial, values: Mapping[str, int | Fraction]) -> Fraction:
    """Its value."""
    return Fraction(
        sum(c * math.prod(Fraction(values[name]) ** power for name, power in m) for m, c in polynomial.items())
    )


def text(polynomial: Polynomial) -> str:
    """For people, and for verify/growth.py."""
    return " + ".join("*".join([str(c), *map(_power, m)]) for m, c in sorted(polynomial.items())) or "0"


def _power(factor: tuple[str, int]) -> str:
    name, power = factor
    return name if power == 1 else f"{name}^{power}"
