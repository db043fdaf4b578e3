"""A query and the states of keys that it may meet, and the margin that a winner needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from verify.algebra.polynomial import Polynomial, bits_above, ceiling, quotient
from verify.rounding.abstract_state import AbstractState
from verify.rounding.scores import Score

# Pseudo registers of a query and a key together, counted downwards: substitutions reach them as they do registers.
SCORE = -1_000_000  # the score, and below it the key's position, and the position looked for
QUERY = -1_500_000  # what the atoms are that the query's rows are made of
KEYS = -2_000_000
VALUES = -3_000_000
KNOWN = -4_000_000  # the group and the count of each invariant
GROUPS = -4_500_000  # the group of each invariant of positions that are apart
PLACE = "k'"
LOG2_E = (1_442_695, 1_000_000)  # from below


def needed_margin(fraction_bits: int, keys: int) -> int:
    """Returns a margin that suffices for so many keys.

    With leakage ε < keys·e^−margin ≤ 2^−(q + 1), a runner-up's weight is below half a step; a winner's, 1/(m + ε), differs from 1/m
    by less than 1/(m·2^(q + 1)), which is what 1/m keeps from any midpoint. Under `sequential` e^−margin alone must vanish.
    """
    bits = fraction_bits + 1 + bits_above(keys - 1)
    return ceiling(quotient(bits * LOG2_E[1], LOG2_E[0]))


@dataclass(frozen=True)
class HeadMargin:
    """What a head keeps. margin: between two scores that differ. needed: of it. winning: the least largest score."""

    margin: Fraction
    needed: int
    winning: Fraction


@dataclass(frozen=True)
class Candidate:
    """A query and one state of a key together, as one state over the atoms of both.

    ids: the states that the key may have; none for the query's own position. own: the atoms that are the key's alone. noise:
    how far rounding may take the score. on_grid: no operator rounds it. whole: nothing was restricted. equal: the forms that
    were made 0. text: which states the key may have, and what its atoms are in each. asked: the atoms that the query's rows are
    made of, of which some may be other forms here.
    """

    ids: frozenset[int]
    joint: AbstractState
    own: frozenset[str]
    score: Score
    noise: Fraction = Fraction(0)
    on_grid: bool = True
    whole: bool = True
    equal: tuple[Polynomial, ...] = ()
    text: str = "itself"
    asked: tuple[str, ...] = ()

    @property
    def place(self) -> Polynomial:
        """The key's position."""
        return self.joint.register(SCORE - 1)

    @property
    def exact(self) -> Polynomial:
        """The score as it is."""
        return self.joint.register(SCORE)

    def over_joint_atoms(self, function: Polynomial) -> Polynomial:
        """Rewrites a polynomial in the query's atoms over the joint state, in which some atoms were substituted."""
        gone = {a: self.joint.register(QUERY - i) for i, a in enumerate(self.asked) if a not in self.joint.box}
        return self.joint.fixed(function.substitute(gone))

    def value(self, i: int) -> Polynomial:
        """Returns the value that the head would read at this key."""
        return self.joint.register(VALUES - i)

    @cached_property
    def upper(self) -> Fraction:
        """An upper bound of the score."""
        return self.score.upper(self.joint)

    @cached_property
    def lower(self) -> Fraction:
        """A lower bound of the score."""
        return self.score.lower(self.joint)

    @property
    def certain(self) -> bool:
        """Returns whether all such keys have the same score."""
        return self.whole and self.upper == self.lower

    @property
    def is_self(self) -> bool:
        return not self.ids


class Keys:
    """The states at the entry of a block, and how one can follow another."""

    def __init__(self, states: Sequence[AbstractState]) -> None:
        self.states = states
        self.first = frozenset(i for i, state in enumerate(states) if state.position.low == 1)
        self.after: list[set[int]] = [set() for _ in states]
        for i, state in enumerate(states):
            for j in state.before:
                self.after[j].add(i)
        self.earlier = [self._reachable(i) for i in range(len(states))]
        self.single = frozenset(i for i in range(len(states)) if i not in self.earlier[i])
        self._missed: dict[frozenset[int], set[int]] = {}

    def _reachable(self, start: int) -> frozenset[int]:
        """States that a position before one of state `start` can have."""
        nodes = set(self.states[start].before)
        queue = list(nodes)
        while queue:
            further = self.states[queue.pop()].before - nodes
            nodes |= further
            queue += further
        return frozenset(nodes)

    def _states_after(self, without: frozenset[int]) -> set[int]:
        """Returns the states that a position can have if none of `without` stands before it."""
        nodes: set[int] = set()
        queue = list(self.first - without)
        while queue:
            further = self.after[queue.pop()] - nodes
            nodes |= further
            queue += further - without
        return nodes

    def sure(self, start: int, ids: frozenset[int]) -> bool:
        """Returns whether every sequence has one of these states before a position of state `start`."""
        if ids not in self._missed:
            self._missed[ids] = self._states_after(ids)
        return start not in self.first and start not in self._missed[ids]


def steps_back(states: Sequence[AbstractState], start: int, steps: int) -> frozenset[int]:
    """Returns the states that the position so many steps before may have."""
    ids = frozenset([start])
    for _ in range(steps):
        ids = frozenset(j for i in ids for j in states[i].before)
    return ids


def entry(query: AbstractState) -> int:
    """Returns the state that this one was at the block's entry."""
    (entry,) = query.parents
    return entry


def lowest(candidates: Sequence[Candidate]) -> Fraction:
    """Returns a lower bound of every score."""
    return min(c.lower for c in candidates)
