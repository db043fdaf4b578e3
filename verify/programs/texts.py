"""The texts that end at a place: which places may stand before it, and up to which position."""

from __future__ import annotations

from dataclasses import replace

from constructions.turing.configurations import RUN
from constructions.turing.rag import PLACE
from constructions.turing.tape_models import CELL
from verify.automata.language import Language

MORE = ", n edges or more"


def ending(language: Language, end: int, last: int | None = None) -> tuple[Language, int]:
    """The inputs whose last token stands at this place, at position `last` at most; and the number that the place has there."""
    places = language.places
    own = [language.positions(place) for place in places]
    highest = {end: own[end].within(own[end].low, own[end].high if last is None else last).high}
    pending = [end]
    while pending:
        i = pending.pop()
        for j in places[i].after:
            high = own[j].within(own[j].low, highest[i] - 1).high
            if own[j].low <= high and high > highest.get(j, 0):
                highest[j] = high
                pending.append(j)
    number = {i: new for new, i in enumerate(sorted(highest))}
    new_places = tuple(
        replace(
            places[i], low=own[i].low, high=highest[i], after=tuple(number[j] for j in places[i].after if j in number)
        )
        for i in number
    )
    return replace(language, places=new_places), number[end]


def copied(language: Language, length: int) -> Language:
    """Of a Turing machine that searches: a word so long is copied first, and what is copied are cells of the word."""
    return replace(
        language,
        places=tuple(
            replace(place, numbers=(0, length - 1))
            if place.name.startswith("a copy") and place.family in (CELL, PLACE)
            else place
            for place in language.places
        ),
    )


def spaced(language: Language, cells: int) -> Language:
    """Of a tape that turns around: prompts of so many cells, and what is written behind them."""
    run, end = next(i for i, place in enumerate(language.places) if place.word == RUN), cells + 2
    prompt = [replace(place, high=min(place.high, end - 1)) for place in language.places[:run]]  # type: ignore[type-var]
    written = [replace(place, low=end + 1) for place in language.places[run + 1 :]]
    return replace(language, places=(*prompt, replace(language.places[run], low=end), *written))


def searched(language: Language, n: int, *, longer: bool = False) -> Language:
    """Of the paper's layout of a graph: prompts of up to n − 1 edges, and behind n − 1 a search of up to 2n − 1 vertices from 1 on.

    That it begins with 1 is what is said at the end of such a prompt. longer: prompts of n edges or more as well, at places of
    their own.
    """
    one = (replace(place, numbers=(1, 1)) if place.name == "thought 1" else place for place in language.places)
    search = replace(language, places=tuple(one))
    if search.places[-1].word:
        return search
    cut = ending(search, len(search.places) - 1, 5 * n - 3)[0]
    if not longer:
        return cut
    edge, number = search.places[1:4], len(cut.places)
    before = ((3, number + 2), (number,), (number + 1,))
    late = (
        replace(
            place, name=f"{place.name}{MORE}", low=3 * n - 1 + i, high=search.positions(place).high, after=before[i]
        )
        for i, place in enumerate(edge)
    )
    return replace(cut, places=(*cut.places, *late))
