"""Every text of a small token automaton."""

from __future__ import annotations

import math
from collections.abc import Iterator

from constructions.language.interpreter import Spoken
from verify.automata.token_automaton import TokenAutomaton


def every_text(automaton: TokenAutomaton, longest: float = math.inf) -> Iterator[tuple[list[int], list[Spoken]]]:
    """Up to each of its positions: the states of its tokens, and the tokens. longest: how many there are at most."""

    def behind(states: list[int], tokens: list[Spoken]) -> Iterator[tuple[list[int], list[Spoken]]]:
        yield states, tokens
        position = len(tokens) + 1
        for i, state in enumerate(automaton.states):
            at = automaton.positions(state)
            if position <= longest and states[-1] in state.after and at.low <= position <= at.high:
                low, high = (automaton.range(end)[0] for end in state.numbers)
                numbers = [(state.word, 0)] if state.word else [(state.family, x) for x in range(low, high + 1)]
                for token in numbers:
                    yield from behind([*states, i], [*tokens, token])

    yield from behind([0], [(automaton.states[0].word, 0)])
