"""Which token sequences a certificate speaks of: a finite automaton that reads them.

A state has bounds of its position and of its token's number, and says which states it may stand behind. This is all that is
assumed of an input; it is part of the certificate. A label names a state. Code compares labels as values; their texts are for
people and documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from verify.algebra.domains import SIZE, Integer
from verify.algebra.polynomial import Polynomial, constant, whole

Bound = int | Polynomial  # a polynomial in the size n; affine, or quadratic with n² ≥ 0 for an upper bound


@dataclass(frozen=True)
class Label:
    """Names a state: where a token stands in a text. part: the token, or of several the piece that it is in. which: of parts
    that are alike.

    result: what ended the part. behind: the part before, where this matters. number: of the token in its part, from 1.
    case: which of the tokens that may stand there.
    """

    part: str
    which: str | int = ""
    number: int = 0
    case: str = ""
    result: str = ""
    behind: Label | None = None

    def __str__(self) -> str:
        which, result = self.which and f" {self.which}", self.result and f": {self.result}"
        part = f"{self.part}{which}{result}" + (f" behind {self.behind}" if self.behind else "")
        return ", ".join(str(item) for item in (part, self.number, self.case) if item)

    @property
    def piece(self) -> Label:
        """The part, without the token's number in it."""
        return replace(self, number=0)


@dataclass(frozen=True)
class Content:
    """What a register holds at the positions of a state, whatever the token: low, low + every, … or ROUND(1/m) of such an m."""

    register: str
    low: Bound
    high: Bound
    is_reciprocal: bool = False
    every: int = 1

    def __str__(self) -> str:
        number = f"{self.low} … {self.high}" + (f", every {self.every}" if self.every > 1 else "")
        return f"{self.register}: {f'1/m, m = {number}' if self.is_reciprocal else number}"


@dataclass(frozen=True)
class State:
    """A state: positions low … high, where the token is `word`, or a number in `numbers`; after one of the states `after`.

    family: of the numbers. every: positions are low, low + every, … behind: if given, the number is at most its position minus
    this. same: if given, it is the number that stands so many positions before; no certificate uses that, but programs do.
    contents: registers that are given at each position, independently of all else; certificates use that, and no program does.
    """

    label: Label
    low: Bound
    high: Bound
    after: tuple[int, ...]
    word: str = ""
    numbers: tuple[Bound, Bound] = (0, 0)
    behind: int | None = None
    every: int = 1
    family: str = ""
    same: int = 0
    contents: tuple[Content, ...] = field(default=(), metadata={"said": "if given"})


@dataclass(frozen=True)
class Consecutive:
    """An invariant of the ideal run, assumed and named: for each number s ≥ 1 and at each position, the positions up to it whose
    register `group` holds s have 1/2, 1/3, …, 1/(d + 1) in `count`, each once, for some d from 0 to `most`.
    """

    name: str
    group: str
    count: str
    most: Bound
    statement: str


@dataclass(frozen=True)
class Delayed:
    """An invariant of the ideal run, assumed and named: at each position the register `late` holds what `early` held `by` positions
    before, 0 where there was none.
    """

    name: str
    late: str
    early: str
    by: int
    statement: str


@dataclass(frozen=True)
class Apart:
    """An invariant of the ideal run, assumed and named: positions whose register `group` holds the same number s ≥ 1 are at least
    `by` apart.
    """

    name: str
    group: str
    by: int
    statement: str


@dataclass(frozen=True)
class Limited:
    """An invariant of the ideal run, assumed and named: at each position the register `sum`, which a recurrence adds up, is at most
    `most`.
    """

    name: str
    sum: str
    most: Bound
    statement: str


@dataclass(frozen=True)
class OneWinner:
    """An invariant of the ideal run, assumed and named: the head of this name never has two keys with the largest score."""

    name: str
    head: str
    statement: str


@dataclass(frozen=True)
class Free:
    """After a block, from 1, a register may hold any whole numbers: between the bounds of each position, from position 1 on.

    So a certificate speaks of all models that differ in what this block writes there.
    """

    block: int
    register: str
    bounds: tuple[tuple[int, int], ...]


Invariant = Consecutive | Delayed | Apart | Limited | OneWinner


@dataclass(frozen=True)
class TokenAutomaton:
    """States, and the invariants that the runs of these inputs are known to keep.

    answers: labels of the states in which the next token matters; after the last block nothing else is read. sizes: n lies in
    this interval. loose: registers of which the check keeps the bounds, and forgets what they depend on. shown: where terms are
    told that no rule tells of all states. by_position: each state stands at one position, and heads look where that says.
    free: what else a register may hold; only a check by positions knows of it.
    """

    states: tuple[State, ...]
    answers: frozenset[Label]
    sizes: tuple[int, int]
    invariants: tuple[Invariant, ...] = ()
    loose: frozenset[str] = frozenset()
    shown: Label | None = None
    by_position: bool = field(default=False, metadata={"said": "if given"})
    free: tuple[Free, ...] = field(default=(), metadata={"said": "if given"})

    def positions(self, state: State) -> Integer:
        """Returns where such a token can stand."""
        low, high = self.range(state.low)[0], self.range(state.high)[1]
        return Integer(low, high, state.every).within(low, high)

    def range(self, bound: Bound) -> tuple[int, int]:
        """Returns the least value of a lower bound and the largest of an upper one, at ends of the interval: both are convex."""
        if not isinstance(bound, Polynomial):
            return bound, bound
        ends = [whole(bound.substitute({SIZE: constant(n)}).constant) for n in self.sizes]
        return min(ends), max(ends)
