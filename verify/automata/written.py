"""The token automaton of a program's texts: a place for each word and for the numbers of each piece."""

from __future__ import annotations

from constructions.language.texts import Texts
from constructions.language.values import START
from verify.automata.language import Bound, Language, Place


def of_texts(texts: Texts, n: Bound, sizes: tuple[int, int]) -> Language:
    """The prompts for n, and what is said behind them. sizes: n stands for these; the texts of the largest are those of all.

    An answer is due where a prompt may end, and behind all that is said.
    """
    pieces, prompt = texts.pieces, len(texts.prompt)
    places, of_piece = [Place(START, 1, 1, (), START)], {-1: [0]}
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
            name = _name(piece.name or word or "number", {place.name for place in places})
            numbers = (0, 0) if word else (piece.low, piece.largest(n))
            of_piece[i].append(len(places))
            places.append(Place(name, *spans[i], (), word, numbers))
    for i in range(len(pieces)):
        after = tuple(sorted(place for j in before[i] for place in of_piece[j]))
        for place in of_piece[i]:
            old = places[place]
            places[place] = Place(old.name, old.low, old.high, after, old.word, old.numbers)
    ends = {i for i in range(-1, prompt) if prompt in texts.behind(i, thought=False)} | {*range(prompt, len(pieces))}
    return Language(tuple(places), frozenset(places[j].name for i in ends for j in of_piece[i]), sizes)


def _name(name: str, taken: set[str]) -> str:
    """A name that no place has yet."""
    return (
        name
        if name not in taken
        else next(f"{name} {i}" for i in range(2, len(taken) + 3) if f"{name} {i}" not in taken)
    )
