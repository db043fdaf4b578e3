"""Texts that are written in pieces: a state for each piece that one stands after, and numbers that stand at several states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from constructions.language.terms import Answer, Back, NumberOf, Read, SayNumber, as_term
from verify.algebra.symbolic import grows
from verify.automata.token_automaton import Label, State, TokenAutomaton


def by_way(automaton: TokenAutomaton) -> TokenAutomaton:
    """Returns the same texts, with a piece of their own for each piece that a piece may stand behind.

    The state of a piece that may stand behind several says after which.
    """
    states = automaton.states
    pieces = [state.label.piece for state in states]
    ways: list[set[Label]] = [set() for _ in states]
    while True:
        new_ways = [
            set[Label]().union(*(ways[j] if pieces[j] == pieces[i] else {pieces[j]} for j in state.after))
            for i, state in enumerate(states)
        ]
        if new_ways == ways:
            break
        ways = new_ways
    ways_of_state = [
        sorted(way, key=str) if state.label.number and len(way) > 1 else [None]
        for way, state in zip(ways, states, strict=True)
    ]
    number = {key: new for new, key in enumerate((i, way) for i, every in enumerate(ways_of_state) for way in every)}

    def copy(i: int, way: Label | None) -> State:
        state = states[i]
        after = [j for j in state.after if not way or pieces[j] in (pieces[i], way)]
        behind = (
            number[j, w] for j in after for w in ways_of_state[j] if not way or pieces[j] != pieces[i] or w == way
        )
        return replace(state, label=replace(state.label, behind=way), after=tuple(behind))

    return _reach(replace(automaton, states=tuple(copy(*key) for key in number)))


def _reach(automaton: TokenAutomaton) -> TokenAutomaton:
    """Sets positions to one more than those of the states before; where these are polynomials, they stay as they are."""
    states, before = automaton.states, tuple[State, ...]()
    while states != before:
        before = states

        def bounded(state: State, others: tuple[State, ...] = before) -> State:
            low, high = ([getattr(others[j], end) for j in state.after] for end in ("low", "high"))
            if low and all(isinstance(end, int) for end in (state.low, *low)):
                more = max(0, min(low) + 1 - state.low)
                state = replace(state, low=state.low + -(-more // state.every) * state.every) if more else state
            if high and all(isinstance(end, int) or grows(end) for end in (state.high, *high)):
                new_high = min(state.high, max(high) + 1)
                state = replace(state, high=new_high) if new_high is not state.high else state
            return state

        states = tuple(map(bounded, before))
    return replace(automaton, states=states)


def as_due(automaton: TokenAutomaton, prompt: int, due: Callable[[Label], Answer | None]) -> TokenAutomaton:
    """Keeps the texts whose numbers are what was due before them, where that is one number for all of them, or one that stood
    before.

    So what holds after all of these holds in a run of which each word is due: by induction it is one of them.
    prompt: how many states are of the prompt, of which nothing is due. due: in a state.
    """

    def copied(state: State) -> State:
        said = {due(automaton.states[j].label) for j in state.after}
        if (
            state.word
            or len(said) != 1
            or not isinstance(answer := said.pop(), SayNumber)
            or answer.family != state.family
        ):
            return state
        if answer.number.is_constant:
            return replace(state, numbers=(int(answer.number.constant),) * 2)
        steps = copied_from(answer)
        return state if steps is None else replace(state, same=steps + 1)

    return replace(automaton, states=(*automaton.states[:prompt], *map(copied, automaton.states[prompt:])))


def copied_from(answer: SayNumber) -> int | None:
    """Returns how many steps back the output number stands; None if the output copies no number of its family."""
    number = as_term(NumberOf(answer.family))
    if answer.number == number:
        return 0
    a = next(iter(answer.number.atoms), None)
    if (
        a is not None
        and answer.number == as_term(a)
        and isinstance(a, Read)
        and isinstance(a.where, Back)
        and a.value == number
    ):
        return a.where.steps
    return None
