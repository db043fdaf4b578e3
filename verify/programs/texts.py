"""The texts that end at a state: which states may stand before it, and up to which position."""

from __future__ import annotations

from dataclasses import replace

from verify.automata.token_automaton import TokenAutomaton


def ending(automaton: TokenAutomaton, end: int, last: int | None = None) -> tuple[TokenAutomaton, int]:
    """Returns the inputs whose last token stands at this state, at position `last` at most; and the number that the state has
    there.
    """
    states = automaton.states
    own = [automaton.positions(state) for state in states]
    highest = {end: own[end].within(own[end].low, own[end].high if last is None else last).high}
    pending = [end]
    while pending:
        i = pending.pop()
        for j in states[i].after:
            high = own[j].within(own[j].low, highest[i] - 1).high
            if own[j].low <= high and high > highest.get(j, 0):
                highest[j] = high
                pending.append(j)
    number = {i: new for new, i in enumerate(sorted(highest))}
    new_states = tuple(
        replace(
            states[i], low=own[i].low, high=highest[i], after=tuple(number[j] for j in states[i].after if j in number)
        )
        for i in number
    )
    return replace(automaton, states=new_states), number[end]
