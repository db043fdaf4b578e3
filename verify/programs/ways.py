"""Ways through the places of a language: what may stand before and behind what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from constructions.language.terms import Atom, IsNumber, IsWord
from verify.algebra.domains import Integer
from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import grows, told_apart
from verify.automata.language import Language, Place

FOLLOWED = 4  # steps of those whose number grows


def back(language: Language, begin: frozenset[int], ends: frozenset[int]) -> frozenset[int]:
    """The places on the ways back from these, that go no further than to one of the ends."""
    places, pending = frozenset[int](), begin
    while pending:
        places |= pending
        pending = frozenset(j for i in pending - ends for j in language.places[i].after) - places
    return places


def comes_again(language: Language, place: int) -> bool:
    """Whether a text may stand at a place twice."""
    return place in back(language, frozenset(language.places[place].after), frozenset([place]))


def ahead(language: Language, within: frozenset[int], ends: frozenset[int]) -> frozenset[int]:
    """The places on the ways from position 1 on, through some places alone, that go no further than to one of the ends."""
    places, pending = frozenset[int](), frozenset([0])
    while pending:
        places |= pending
        pending = frozenset(i for i in within - places if (pending - ends).intersection(language.places[i].after))
    return places


def standing(
    language: Language,
    ranges: Sequence[Integer],
    begin: frozenset[int],
    tokens: Mapping[int, Callable[[int], bool]],
    positions: tuple[int, int],
    before: int,
) -> frozenset[int]:
    """The places so many steps `before` k, which is at one of the places `begin` and between two bounds; none if that cannot be.

    tokens: at which places those may stand that are so many steps back, all together. ranges: the positions of each place.
    """
    if grows(before) or any(grows(step) for step in tokens):
        return _standing_far(language, ranges, begin, tokens, positions, before)
    places, steps = language.places, max([before, *tokens])
    reached = [begin]
    for step in range(steps + 1):
        if step:
            reached.append(frozenset(j for i in reached[-1] for j in places[i].after))
        low, high = positions[0] - step, positions[1] - step
        inside = {i: ranges[i].within(low, high) for i in reached[-1]}
        nonempty = (i for i, r in inside.items() if r.low <= r.high)
        reached[-1] = frozenset(i for i in nonempty if step not in tokens or tokens[step](i))
    places_before = reached[steps]
    for step in range(steps - 1, before - 1, -1):
        places_before = frozenset(i for i in reached[step] if places_before.intersection(places[i].after))
    return places_before if all(reached) else frozenset()


def _standing_far(
    language: Language,
    ranges: Sequence[Integer],
    begin: frozenset[int],
    tokens: Mapping[int, Callable[[int], bool]],
    positions: tuple[int, int],
    before: int,
) -> frozenset[int]:
    """The same, where steps grow: those between two moments that are asked for are not followed one by one. Some more places."""
    moments = sorted({0, *tokens, told_apart(before)})
    reached: list[frozenset[int]] = []
    for i, step in enumerate(moments):
        here = earlier(language, reached[-1], step - moments[i - 1]) if i else begin
        inside = {j: ranges[j].within(positions[0] - step, positions[1] - step) for j in here}
        nonempty = (j for j, r in inside.items() if r.low <= r.high)
        reached.append(frozenset(j for j in nonempty if step not in tokens or tokens[step](j)))
    places_before = reached[-1]
    for i in range(len(moments) - 2, -1, -1):
        if moments[i + 1] <= before:
            break
        gap = moments[i + 1] - moments[i]
        places_before = frozenset(j for j in reached[i] if places_before & earlier(language, frozenset([j]), gap))
    return places_before if all(reached) else frozenset()


def earlier(language: Language, begin: frozenset[int], steps: int) -> frozenset[int]:
    """The places so many steps before these; where that grows, those as many steps before or more as are followed at least."""
    endless = grows(steps)
    if endless and steps < FOLLOWED:
        raise Unanswered(f"{steps} steps before a place")
    places = begin
    for _ in range(FOLLOWED if endless else int(steps)):
        places = frozenset(j for i in places for j in language.places[i].after)
    return back(language, places, frozenset()) if endless else places


def stands(place: Place, token: Atom) -> bool:
    """Whether it is a place of this word, or of numbers of this family."""
    if isinstance(token, IsWord):
        return place.word == token.word
    return not place.word and token == IsNumber(place.family)
