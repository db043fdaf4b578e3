"""Which positions match what is asked for at k: at which states of the automaton, surely or perhaps, and which of them is
picked.
"""

from __future__ import annotations

from collections.abc import Iterable

from constructions.language.terms import Matching, Pick, Term
from verify.algebra.domains import Integer
from verify.algebra.symbolic import one_number
from verify.programs import reachability
from verify.programs.cases import KnownFacts


def matching_states(facts: KnownFacts, matching: Matching, *, before: bool = False) -> list[int]:
    """Returns the states at which positions from 2 to k may match the query at k. before: only positions less than k."""
    queries = [(key, *facts.bounds(query)) for key, query in matching.pairs]
    states = []
    for i in sorted(_reach(facts, before)):
        there = facts.each[i]
        ends = ((there.bounds(key), low, high) for key, low, high in queries)
        if there.positions[1] > 1 and all(a <= high and low <= b for (a, b), low, high in ends):
            states.append(i)
    return states


def most_matches(facts: KnownFacts, matching: Matching) -> int:
    """Returns how many positions of 2 … k match at most: as many as there are at the states where one may.

    After one state, once for each that no text comes to again. Of all k together rules for heads ask whether there is none.
    """
    last, once = facts.positions[1], 0
    rows: dict[tuple[int, int], Integer] = {}  # by the step and the remainder: from the first to the last
    for i in matching_states(facts, matching):
        step = facts.automaton.states[i].every
        low, high = facts.each[i].positions
        here = Integer(low, high, step).within(2, last)
        if here.low < here.high and len(facts.states) == 1 and not reachability.comes_again(facts.automaton, i):
            once += 1
        elif here.low <= here.high:
            key = step, one_number(low % step)
            row = rows.get(key, here)
            rows[key] = Integer(min(row.low, here.low), max(row.high, here.high), step)
    return min(once + sum((row.high - row.low) // row.step + 1 for row in rows.values()), last - 1)


def _reach(facts: KnownFacts, before: bool, ends: frozenset[int] = frozenset()) -> frozenset[int]:
    """States on the ways back from k, or from the position before it, that go no further than to one of the ends."""
    begin = frozenset(j for i in facts.states for j in facts.automaton.states[i].after) if before else facts.states
    return reachability.backward(facts.automaton, begin, ends)


def _sure_states(facts: KnownFacts, matching: Matching, states: Iterable[int]) -> frozenset[int]:
    """Returns the states where each position is seen to match."""
    each = ((i, facts.each[i]) for i in states)
    return frozenset(
        i for i, there in each if there.positions[0] > 1 and all(_same(facts, *p, there) for p in matching.pairs)
    )


def always_matches(facts: KnownFacts, matching: Matching, *, before: bool = False) -> bool:
    """Returns whether one of the positions 2 … k is seen to match: k itself, or all ways back to position 1 lead by a state that
    does.

    before: one that is less than k.
    """
    if not before and matches_itself(facts, matching):
        return True
    sure = _sure_states(facts, matching, matching_states(facts, matching, before=before))
    return facts.positions[0] > 1 and bool(sure) and 0 not in _reach(facts, before, sure)


def picked_states(facts: KnownFacts, where: Pick) -> frozenset[int]:
    """Returns where the first or the last match may be: on the way there from one end, no other state is one where all match."""
    states = matching_states(facts, where.matching)
    sure = _sure_states(facts, where.matching, states)
    if where.last:
        return _reach(facts, False, sure).intersection(states)
    return reachability.forward(facts.automaton, _reach(facts, False), sure).intersection(states)


def matches_before(facts: KnownFacts, where: Pick) -> bool:
    """Returns whether the position that is picked is surely less than k."""
    if not where.last and always_matches(facts, where.matching, before=True):
        return True
    return facts.positions[0] > 1 and not facts.states.intersection(matching_states(facts, where.matching))


def picks_itself(facts: KnownFacts, where: Pick) -> bool:
    """Returns whether the position that is picked is surely k."""
    alone = where.last or not matching_states(facts, where.matching, before=True)
    return alone and matches_itself(facts, where.matching)


def matches_itself(facts: KnownFacts, matching: Matching) -> bool:
    """Returns whether k, not the first position, is seen to be one that matches."""
    return facts.positions[0] > 1 and all(
        key == query or _same(facts, key, query, facts) for key, query in matching.pairs
    )


def _same(facts: KnownFacts, key: Term, query: Term, there: KnownFacts) -> bool:
    """Returns whether key and query are the same constant there."""
    (low, high), query_ends = there.bounds(key), facts.bounds(query)
    return low == high == query_ends[0] == query_ends[1]


def first_match(facts: KnownFacts, matching: Matching) -> int | None:
    """Returns the first position of 2 … k that matches, if all texts have it at one state; None if that is not seen."""
    states = matching_states(facts, matching)
    ranges = {i: facts.each[i].positions for i in _reach(facts, False)}
    sure = _sure_states(facts, matching, states)
    if facts.positions[0] > 1 and all(i in sure for i, (a, b) in ranges.items() if a <= 2 <= b):
        return 2
    for i in states:
        low, high = ranges[i]
        if low == high <= facts.positions[0] and i in sure:
            others = [(j, a, b) for j, (a, b) in ranges.items() if j != i]
            if all(a > low or (b < low and j not in states) for j, a, b in others):
                return low
    return None
