"""A queue that a linear recurrence keeps as the digits of one number: h_t = b·h_{t−1} + c·e_t − c·b^m·l_t.

Where l_t = e_{t−m}, an invariant of the run, h_t is c·Σ b^j·e_{t−j} over j = 0 … m − 1: the factor b would carry e_{t−m} on to
j = m, and that is what l_t takes away. Without the invariant nothing bounds h_t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.rows import Row, Weight
from verify.algebra.domains import Integer, Undecided, with_fields
from verify.algebra.polynomial import Number, Polynomial, atom
from verify.automata.token_automaton import Delayed
from verify.rounding.abstract_state import AbstractState
from verify.rounding.operators import dot


@dataclass(frozen=True)
class Queue:
    """The register `early` enters with the weight `unit`, and is multiplied by `base` at each position."""

    base: int
    unit: Number
    early: int
    invariant: Delayed

    def held(self, states: Sequence[AbstractState], where: str) -> Integer:
        """Returns, in units, a range that holds the state at every position. Raises Undecided if something else than a whole
        number enters.
        """
        ends = [Fraction(0)]
        for state in states:
            entering = state.register(self.early)
            if any(state.integer(name) is None for name in entering.atoms) or not _is_whole(entering):
                raise Undecided(where, f"{entering}, which enters the queue at {state.label}, is no whole number")
            ends += map(Fraction, state.bounds(entering))
        digits = (self.base**self.invariant.by - 1) // (self.base - 1)
        return Integer(int(min(ends)) * digits, int(max(ends)) * digits)

    def advance(
        self, state: AbstractState, domain: Integer, feed: Row, where: str, fused: bool
    ) -> tuple[AbstractState, Polynomial]:
        """Returns the state after a position, and what the queue keeps then. Raises Refused if operators may saturate or round."""
        old, new = state.space.fresh("s"), state.space.fresh("s")
        value = atom(new) * self.unit
        box = {**state.box, new: domain}
        if not fused:
            pairs: list[tuple[Weight, Polynomial]] = [(self.base, atom(old) * self.unit)]
            pairs += [(w, state.register(c)) for c, w in feed]
            exact, _ = dot(with_fields(state, box={**box, old: domain}), pairs, 0, where, fused)
            if len(exact.box) > len(box) + 1:
                raise Undecided(where, "a partial sum of the queue is rounded")
        state, rounded = with_fields(state, box=box).round(value, where)
        if rounded != value:
            raise Undecided(where, "the last digits of the queue are rounded")
        return state, value


def queue_of(register: int, carry: Row, feed: Row, names: Sequence[str], delays: Sequence[Delayed]) -> Queue | None:
    """Returns the queue that these rows keep in a register, if they do by one of the invariants."""
    if len(carry) != 1 or len(feed) != 2:
        return None
    (source, base), weights = carry[0], dict(feed)
    if source != register or not isinstance(base, int) or base < 2:
        return None
    for item in delays:
        if {item.early, item.late} <= set(names):
            early, late = names.index(item.early), names.index(item.late)
            unit = weights.get(early)
            if isinstance(unit, int | Fraction) and weights.get(late) == -unit * base**item.by:
                return Queue(base, unit, early, item)
    return None


def _is_whole(polynomial: Polynomial) -> bool:
    return all(c.denominator == 1 for c in polynomial.terms.values())
