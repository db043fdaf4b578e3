"""Ways through the places of a language: what may stand before and behind what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from verify.certificates.domains import Integer
from verify.certificates.language import Language, Place
from verify.programs.terms import Atom, IsNumber, IsWord


def back(language: Language, begin: frozenset[int], ends: frozenset[int]) -> frozenset[int]:
    """The places on the ways back from these, that go no further than to one of the ends."""
    found, pending = frozenset[int](), begin
    while pending:
        found |= pending
        pending = frozenset(j for i in pending - ends for j in language.places[i].after) - found
    return found


def comes_again(language: Language, place: int) -> bool:
    """Whether a text may stand at a place twice."""
    return place in back(language, frozenset(language.places[place].after), frozenset([place]))


def ahead(language: Language, within: frozenset[int], ends: frozenset[int]) -> frozenset[int]:
    """The places on the ways from position 1 on, through some places alone, that go no further than to one of the ends."""
    found, pending = frozenset[int](), frozenset([0])
    while pending:
        found |= pending
        pending = frozenset(i for i in within - found if (pending - ends).intersection(language.places[i].after))
    return found


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
    places, steps = language.places, max([before, *tokens])
    reached = [begin]
    for step in range(steps + 1):
        if step:
            reached.append(frozenset(j for i in reached[-1] for j in places[i].after))
        low, high = positions[0] - step, positions[1] - step
        inside = {i: ranges[i].within(low, high) for i in reached[-1]}
        kept = (i for i, r in inside.items() if r.low <= r.high)
        reached[-1] = frozenset(i for i in kept if step not in tokens or tokens[step](i))
    found = reached[steps]
    for step in range(steps - 1, before - 1, -1):
        found = frozenset(i for i in reached[step] if found.intersection(places[i].after))
    return found if all(reached) else frozenset()


def stands(place: Place, token: Atom) -> bool:
    """Whether it is a place of this word, or of numbers of this family."""
    if isinstance(token, IsWord):
        return place.word == token.word
    return not place.word and token == IsNumber(place.family)
