"""The texts that end at a place: which places may stand before it, and up to which position."""

from __future__ import annotations

from dataclasses import replace

from verify.automata.language import Language


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
