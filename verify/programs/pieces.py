"""Texts that are written in pieces: a place for each piece that one stands behind, and numbers that stand in several places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from constructions.language.terms import Answer, Back, NumberOf, Read, SayNumber, as_term
from verify.algebra.symbolic import grows
from verify.automata.language import Language, Place, State


def by_way(language: Language) -> Language:
    """The same texts, with a piece of their own for each piece that a piece may stand behind.

    The state of a piece that may stand behind several says behind which.
    """
    places = language.places
    pieces = [place.state.piece for place in places]
    ways: list[set[State]] = [set() for _ in places]
    while True:
        new_ways = [
            set[State]().union(*(ways[j] if pieces[j] == pieces[i] else {pieces[j]} for j in place.after))
            for i, place in enumerate(places)
        ]
        if new_ways == ways:
            break
        ways = new_ways
    place_ways = [
        sorted(way, key=str) if place.state.number and len(way) > 1 else [None]
        for way, place in zip(ways, places, strict=True)
    ]
    number = {key: new for new, key in enumerate((i, way) for i, every in enumerate(place_ways) for way in every)}

    def copy(i: int, way: State | None) -> Place:
        place = places[i]
        after = [j for j in place.after if not way or pieces[j] in (pieces[i], way)]
        behind = (number[j, w] for j in after for w in place_ways[j] if not way or pieces[j] != pieces[i] or w == way)
        return replace(place, state=replace(place.state, behind=way), after=tuple(behind))

    return _reached(replace(language, places=tuple(copy(*key) for key in number)))


def _reached(language: Language) -> Language:
    """With positions that are one more than those of the places before; where these are polynomials, they stay as they are."""
    places, before = language.places, tuple[Place, ...]()
    while places != before:
        before = places

        def bounded(place: Place, others: tuple[Place, ...] = before) -> Place:
            low, high = ([getattr(others[j], end) for j in place.after] for end in ("low", "high"))
            if low and all(isinstance(end, int) for end in (place.low, *low)):
                more = max(0, min(low) + 1 - place.low)
                place = replace(place, low=place.low + -(-more // place.every) * place.every) if more else place
            if high and all(isinstance(end, int) or grows(end) for end in (place.high, *high)):
                new_high = min(place.high, max(high) + 1)
                place = replace(place, high=new_high) if new_high is not place.high else place
            return place

        places = tuple(map(bounded, before))
    return replace(language, places=places)


def as_due(language: Language, prompt: int, due: Callable[[State], Answer | None]) -> Language:
    """Those whose numbers are what was due before them, where that is one number for all of them, or one that stood before.

    So what holds behind all of these holds in a run of which each word is due: by induction it is one of them.
    prompt: how many places are of the prompt, of which nothing is due. due: in a state.
    """

    def copied(place: Place) -> Place:
        said = {due(language.places[j].state) for j in place.after}
        if (
            place.word
            or len(said) != 1
            or not isinstance(answer := said.pop(), SayNumber)
            or answer.family != place.family
        ):
            return place
        if answer.number.is_constant:
            return replace(place, numbers=(int(answer.number.constant),) * 2)
        steps = copied_from(answer)
        return place if steps is None else replace(place, same=steps + 1)

    return replace(language, places=(*language.places[:prompt], *map(copied, language.places[prompt:])))


def copied_from(answer: SayNumber) -> int | None:
    """How many steps back the number stands that is said; None if it is none of its family that stands there."""
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
