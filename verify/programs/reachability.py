"""Reachability in an automaton: which states may stand before and after which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from constructions.language.terms import Atom, IsNumber, IsWord
from verify.algebra.domains import Integer
from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import grows, told_apart
from verify.automata.token_automaton import State, TokenAutomaton

FOLLOWED = 4  # steps of those whose number grows


def backward(automaton: TokenAutomaton, begin: frozenset[int], ends: frozenset[int]) -> frozenset[int]:
    """Returns the states on the ways back from these, that go no further than to one of the ends."""
    states, pending = frozenset[int](), begin
    while pending:
        states |= pending
        pending = frozenset(j for i in pending - ends for j in automaton.states[i].after) - states
    return states


def comes_again(automaton: TokenAutomaton, state: int) -> bool:
    """Returns whether a text may stand at a state twice."""
    return state in backward(automaton, frozenset(automaton.states[state].after), frozenset([state]))


def forward(automaton: TokenAutomaton, within: frozenset[int], ends: frozenset[int]) -> frozenset[int]:
    """Returns the states on the ways from position 1 on, through some states alone, that go no further than to one of the ends."""
    states, pending = frozenset[int](), frozenset([0])
    while pending:
        states |= pending
        pending = frozenset(i for i in within - states if (pending - ends).intersection(automaton.states[i].after))
    return states


def standing(
    automaton: TokenAutomaton,
    ranges: Sequence[Integer],
    begin: frozenset[int],
    tokens: Mapping[int, Callable[[int], bool]],
    positions: tuple[int, int],
    before: int,
) -> frozenset[int]:
    """Returns the states so many steps `before` k, which is at one of the states `begin` and between two bounds; none if that
    cannot be.

    tokens: at which states those may stand that are so many steps back, all together. ranges: the positions of each state.
    """
    if grows(before) or any(grows(step) for step in tokens):
        return _standing_far(automaton, ranges, begin, tokens, positions, before)
    states, steps = automaton.states, max([before, *tokens])
    reached = [begin]
    for step in range(steps + 1):
        if step:
            reached.append(frozenset().union(*[states[i].after for i in reached[-1]]))
        if step in tokens:
            reached[-1] = frozenset(filter(tokens[step], reached[-1]))
        low, high = positions[0] - step, positions[1] - step
        reached[-1] = frozenset([i for i in reached[-1] if _meets(ranges[i], low, high)])
    states_before = reached[steps]
    for step in range(steps - 1, before - 1, -1):
        states_before = frozenset(i for i in reached[step] if states_before.intersection(states[i].after))
    return states_before if all(reached) else frozenset()


def _meets(positions: Integer, low: int, high: int) -> bool:
    """Returns whether some of these lie between two bounds."""
    least, most = positions.low, positions.high
    if type(least) is type(most) is type(low) is type(high) is int:  # then nothing needs to be made
        first = max(least, low)
        return first + (least - first) % positions.step <= min(most, high)
    inside = positions.within(low, high)
    return inside.low <= inside.high


def _standing_far(
    automaton: TokenAutomaton,
    ranges: Sequence[Integer],
    begin: frozenset[int],
    tokens: Mapping[int, Callable[[int], bool]],
    positions: tuple[int, int],
    before: int,
) -> frozenset[int]:
    """Returns the same, where steps grow: those between two moments that are asked for are not followed one by one. Some more
    states.
    """
    moments = sorted({0, *tokens, told_apart(before)})
    reached: list[frozenset[int]] = []
    for i, step in enumerate(moments):
        here = earlier(automaton, reached[-1], step - moments[i - 1]) if i else begin
        inside = {j: ranges[j].within(positions[0] - step, positions[1] - step) for j in here}
        nonempty = (j for j, r in inside.items() if r.low <= r.high)
        reached.append(frozenset(j for j in nonempty if step not in tokens or tokens[step](j)))
    states_before = reached[-1]
    for i in range(len(moments) - 2, -1, -1):
        if moments[i + 1] <= before:
            break
        gap = moments[i + 1] - moments[i]
        states_before = frozenset(j for j in reached[i] if states_before & earlier(automaton, frozenset([j]), gap))
    return states_before if all(reached) else frozenset()


def earlier(automaton: TokenAutomaton, begin: frozenset[int], steps: int) -> frozenset[int]:
    """Returns the states so many steps before these; where that grows, those as many steps before or more as are followed at
    least.
    """
    endless = grows(steps)
    if endless and steps < FOLLOWED:
        raise Unanswered(f"{steps} steps before a place")
    states = begin
    for _ in range(FOLLOWED if endless else int(steps)):
        states = frozenset().union(*[automaton.states[i].after for i in states])
    return backward(automaton, states, frozenset()) if endless else states


def stands(state: State, token: Atom) -> bool:
    """Returns whether it is a state of this word, or of numbers of this family."""
    if isinstance(token, IsWord):
        return state.word == token.word
    return not state.word and token == IsNumber(state.family)
