"""The token automaton of a program's texts: a place for each word and for the numbers of each piece."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from constructions.language.texts import Texts
from constructions.language.values import START
from constructions.models.search import END_SEARCH
from verify.automata.language import Bound, Language, Place, State


def of_texts(texts: Texts, n: Bound, sizes: tuple[int, int]) -> Language:
    """The prompts for n, and what is said behind them. sizes: n stands for these; the texts of the largest are those of all.

    An answer is due where a prompt may end, and behind all that is said; but behind a search stands what it finds.
    """
    pieces, prompt = texts.pieces, len(texts.prompt)
    places, of_piece = [Place(State(START), 1, 1, (), START)], {-1: [0]}
    low: Bound = 2
    high: Bound = 1
    spans = []
    for piece in pieces:
        high = high + piece.most(n)
        spans.append((low, high))
        low = low + piece.least
    before: dict[int, list[int]] = {i: [] for i in range(len(pieces))}
    for i in range(-1, len(pieces)):
        for j in texts.behind(i):
            if j < len(pieces):
                before[j].append(i)
    for i, piece in enumerate(pieces):
        of_piece[i] = []
        for word in (*piece.words, *[""] * piece.numbers):
            state = _state(piece.name or word or "number", {str(place.state) for place in places})
            numbers = (0, 0) if word else (piece.low, piece.largest(n))
            of_piece[i].append(len(places))
            places.append(Place(state, *spans[i], (), word, numbers))
    for i in range(len(pieces)):
        after = tuple(sorted(place for j in before[i] for place in of_piece[j]))
        for place in of_piece[i]:
            places[place] = replace(places[place], after=after)
    ends = {i for i in range(-1, prompt) if prompt in texts.behind(i, thought=False)} | {*range(prompt, len(pieces))}
    due = (places[j] for i in ends for j in of_piece[i])
    return Language(tuple(places), frozenset(place.state for place in due if place.word != END_SEARCH), sizes)


def _state(part: str, taken: set[str]) -> State:
    """One whose text no place has yet."""
    return next(state for i in count(1) if str(state := State(part, i if i > 1 else "")) not in taken)
