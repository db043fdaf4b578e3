"""What a state stands for, listed: every choice of its atoms' numbers that its box and its forms allow.

Nothing of the checker is asked here: polynomials are their terms, and rounding is Python's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from verify.algebra.domains import Integer, Reciprocal, Rounded
from verify.algebra.polynomial import Polynomial
from verify.rounding.abstract_state import AbstractState

STEPS = 256  # of 1: the format has 8 bits after the point
LARGEST = Fraction(STEPS * STEPS - 1, STEPS)

Number = int | Fraction
Values = Mapping[str, Number]


def rounded(value: Number) -> Fraction:
    """To the nearest step, to the even one of two, and no farther than the largest."""
    return max(min(Fraction(round(value * STEPS), STEPS), LARGEST), -LARGEST)


def at(polynomial: Polynomial, values: Values) -> Number:
    """Its value, term by term."""
    result: Number = 0
    for monomial, c in polynomial.terms.items():
        product: Number = c
        for name in monomial:
            product *= values[name]
        result += product
    return result


@dataclass(frozen=True)
class StatePoint:
    """One choice: the numbers of all atoms as the format has them, and as they are ideally."""

    rounded: Values
    ideal: Values

    def both(self, polynomial: Polynomial) -> tuple[Number, Number]:
        """Its value in both readings."""
        return at(polynomial, self.rounded), at(polynomial, self.ideal)

    def registers(self, state: AbstractState, indices: Iterable[int]) -> tuple[tuple[Number, Number], ...]:
        """What these hold, in both readings."""
        return tuple(self.both(state.register(i)) for i in indices)


def points(state: AbstractState) -> Iterator[StatePoint]:
    """Every choice."""
    integers = {name: domain for name, domain in state.box.items() if isinstance(domain, Integer)}
    ranges = [range(domain.low, domain.high + 1, domain.step) for domain in integers.values()]
    for chosen in itertools.product(*ranges):
        mine = dict(zip(integers, chosen, strict=True))
        forms = ((first, sum(c * mine[name] for name, c in form), last) for form, (first, last) in state.forms.items())
        if all(first <= value <= last for first, value, last in forms):
            yield _with_the_rest(state, mine)


def _with_the_rest(state: AbstractState, integers: dict[str, int]) -> StatePoint:
    mine: dict[str, Number] = {**integers}
    ideal: dict[str, Number] = {**integers}
    left = {name: domain for name, domain in state.box.items() if name not in integers}
    while left:  # what is rounded may be made of other such numbers
        for name, domain in [*left.items()]:
            if isinstance(domain, Reciprocal):
                ideal[name] = Fraction(1, integers[domain.of] + domain.shift)
                mine[name] = rounded(ideal[name])
            elif isinstance(domain, Rounded) and domain.exact.atoms | domain.ideal.atoms <= mine.keys():
                mine[name], ideal[name] = rounded(at(domain.exact, mine)), at(domain.ideal, ideal)
            else:
                continue
            del left[name]
    return StatePoint(mine, ideal)


def contents(states: Iterable[AbstractState], indices: Iterable[int]) -> set[tuple[tuple[Number, Number], ...]]:
    """Position and n, and what these registers hold, at each point of some of the states."""
    result = set()
    for state in states:
        for point in points(state):
            place = tuple((point.rounded[name], point.rounded[name]) for name in ("k", "n"))
            result.add(place + point.registers(state, indices))
    return result
