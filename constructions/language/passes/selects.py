"""Selects: what a head compares, so that it reads from the positions that are meant."""

from __future__ import annotations

from constructions.language.passes.facts import TermFacts, is_key, value_at_start
from constructions.language.passes.operations import Outside, Select
from constructions.language.program import NotCompiled
from constructions.language.terms import (
    ONE,
    POSITION,
    Back,
    Closest,
    Count,
    Equal,
    Matching,
    Nearest,
    Pick,
    Selection,
    Term,
    as_term,
    fraction,
)

START_OF_TEXT = 2  # the position after `<s>`
PLACES = as_term(POSITION) * as_term(POSITION)


def plan_select(facts: TermFacts, where: Selection | Count) -> Select:
    """Returns what the head compares that reads there. Raises NotCompiled for a selection that no head has."""
    match where:
        case Back(steps):
            return Select(where, (PLACES,), target=as_term(POSITION) - steps)
        case Nearest(target) if target == as_term(START_OF_TEXT):
            is_start = as_term(Equal(as_term(POSITION), fraction(START_OF_TEXT)))
            return Select(where, (is_start,))
        case Nearest(target):
            facts.require_whole(target, "a position")
            far = outside(facts, target)
            return Select(where, (target, target * target, *map(as_term, far), PLACES), target=target, outside=far)
        case Pick(matching, _):
            pairs = keys(facts, matching)
            # A square of a position, that is read as well, is read by the same head: then a certificate knows what it is of.
            return Select(where, (*_sides(pairs), PLACES), pairs)
        case Closest(matching, target):
            facts.require_whole(target, "a position")
            pairs = keys(facts, matching)
            return Select(where, (*_sides(pairs), target, target * target, PLACES), pairs)
        case Count(matching):
            pairs = keys(facts, matching)
            return Select(where, _sides(pairs), pairs)
    raise NotCompiled(f"the compiler has no head for {type(where).__name__}")


def keys(facts: TermFacts, matching: Matching) -> tuple[tuple[Term, Term], ...]:
    """Returns keys and queries, moved so that `<s>` has the key 0."""
    moved = []
    for key, query in matching.pairs:
        if query.is_constant and (facts.has_count(key) or facts.has_sum(key)):
            # A bit: a share is no key, and a sum has more digits.
            key, query = is_key(key, query), ONE
        origin = value_at_start(key)
        moved.append((key - origin, query - origin))
    for side in (side for pair in moved for side in pair):
        facts.require_whole(side, "a key")
    return tuple(moved)


def outside(facts: TermFacts, target: Term) -> tuple[Outside, ...]:
    """Returns how far a position that is asked for lies outside of 1 … k, on each side where that may be more than 1."""
    distances = (target - as_term(POSITION), ONE - target)
    return tuple(Outside(distance) for distance in distances if facts.tight.term(distance)[1] > 1)


def _sides(pairs: tuple[tuple[Term, Term], ...]) -> tuple[Term, ...]:
    """Returns keys and queries, each with its square."""
    return tuple(part for pair in pairs for side in pair for part in (side, side * side))
