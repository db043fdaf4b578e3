"""What the numbers of a step can be: a range for each number of the state, proven by induction, and the words it reads.

A range is an *inductive invariant*: it holds at the start, and a step that starts within it and reads a word ends within
it. So gates that only matter elsewhere need not be there. `invariant` finds one: it starts with the initial state, takes in
what a step adds, and lets go of a bound that does not settle.
Source: P. Cousot and R. Cousot, Abstract Interpretation, 1977, for ranges and their widening.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

PATIENCE = 4  # how often a range may grow before its bounds are let go: that of a kept token grows with what it keeps


@dataclass(frozen=True)
class Range:
    """The multiples of 2^step from low to high, in quanta. Raises ValueError if 0 is not among them."""

    low: int
    high: int
    step: int = 0

    def __post_init__(self) -> None:
        if not self.low <= 0 <= self.high:
            raise ValueError(f"{self.low} … {self.high} is no range around 0")

    def __contains__(self, quanta: int) -> bool:
        return self.low <= quanta <= self.high and quanta % (1 << self.step) == 0

    def join(self, other: Range) -> Range:
        """Returns the least range with both."""
        return Range(min(self.low, other.low), max(self.high, other.high), min(self.step, other.step))

    def widen(self, other: Range, most: int) -> Range:
        """Widens the bounds to ±most where the other range goes beyond."""
        return Range(
            self.low if other.low >= self.low else -most,
            self.high if other.high <= self.high else most,
            0 if other.step < self.step else self.step,
        )


def whole(most: int) -> Range:
    """Returns every number up to ±most."""
    return Range(-most, most)


def range_of(values: Sequence[int]) -> Range:
    """Returns the least range with these values and 0."""
    step = min(((v & -v).bit_length() - 1 for v in values if v), default=0)
    return Range(min(0, *values), max(0, *values), step)


@dataclass(frozen=True)
class Reads:
    """What a step may rely on. states: the range of each number of the state.

    inputs: the values of each number of the input, in quanta, word by word; or a range, where the word alone does not say.
    A number that is not named may be any.
    """

    states: Mapping[str, Range] = field(default_factory=dict)
    inputs: Mapping[str, Sequence[int] | Range] = field(default_factory=dict)


def invariant(names: Sequence[str], reads: Reads, most: int, following: Callable[[Reads], Sequence[Range]]) -> Reads:
    """Returns the reads, and ranges of more numbers of the state that hold by induction.

    names: of these numbers. following: the ranges that they have after a step that relies on such reads. most: the largest number,
    in quanta.
    """
    ranges = dict.fromkeys(names, Range(0, 0, most.bit_length()))
    grown = dict.fromkeys(names, 0)
    while True:
        candidate = Reads({**reads.states, **ranges}, reads.inputs)
        for name, after in zip(names, following(candidate), strict=True):
            wider = ranges[name].join(after)
            if wider != ranges[name]:
                grown[name] += 1
                ranges[name] = wider if grown[name] <= PATIENCE else ranges[name].widen(wider, most)
        if all(candidate.states[name] == within for name, within in ranges.items()):
            return candidate
