"""The token automaton of a program's texts: a state for each word and for the numbers of each piece."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from constructions.language.texts import Texts
from constructions.language.values import START
from constructions.models.search import END_SEARCH
from verify.automata.token_automaton import Bound, Label, State, TokenAutomaton


def text_automaton(texts: Texts, n: Bound, sizes: tuple[int, int]) -> TokenAutomaton:
    """Returns prompts and answers for n. sizes: n stands for these; the texts of the largest are those of all.

    An answer is due where a prompt may end, and after all that is said; but after a search stands what it finds.
    """
    pieces, prompt = texts.pieces, len(texts.prompt)
    states, of_piece = [State(Label(START), 1, 1, (), START)], {-1: [0]}
    low: Bound = 2
    high: Bound = 1
    spans = []
    for piece in pieces:
        high = high + piece.most(n)
        spans.append((low, high))
        low = low + piece.least
    before: dict[int, list[int]] = {i: [] for i in range(len(pieces))}
    for i in range(-1, len(pieces)):
        for j in texts.next_places(i):
            if j < len(pieces):
                before[j].append(i)
    for i, piece in enumerate(pieces):
        of_piece[i] = []
        for word in (*piece.words, *[""] * piece.numbers):
            label = _label(piece.name or word or "number", {str(state.label) for state in states})
            numbers = (0, 0) if word else (piece.low, piece.largest(n))
            of_piece[i].append(len(states))
            states.append(State(label, *spans[i], (), word, numbers))
    for i in range(len(pieces)):
        after = tuple(sorted(state for j in before[i] for state in of_piece[j]))
        for state in of_piece[i]:
            states[state] = replace(states[state], after=after)
    ends = {i for i in range(-1, prompt) if prompt in texts.next_places(i, thought=False)} | {
        *range(prompt, len(pieces))
    }
    due = (states[j] for i in ends for j in of_piece[i])
    return TokenAutomaton(tuple(states), frozenset(state.label for state in due if state.word != END_SEARCH), sizes)


def _label(part: str, taken: set[str]) -> Label:
    """Returns one whose text no state has yet."""
    return next(label for i in count(1) if str(label := Label(part, i if i > 1 else "")) not in taken)
