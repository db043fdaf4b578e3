"""What is seen of matches from the places of a language, against every text of a small one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from constructions.language.interpreter import Input, Spoken
from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Back,
    IsWord,
    Matching,
    Nearest,
    NumberOf,
    Pick,
    Read,
    Term,
    as_term,
)
from verify.automata.language import State
from verify.dossiers.istree.texts import FIRST_THOUGHT, IN_PROMPT, IN_THOUGHT, SECOND, THOUGHT, istree
from verify.programs import matches
from verify.programs.facts import Facts
from verify.programs.normal import Normalizer

LANGUAGE = istree(2, 2, "eos")
LONGEST = 7  # with one edge, both ends and a verdict's place
K, NUMBER = as_term(POSITION), as_term(NumberOf())
END, JOINT = as_term(IsWord("[EOS]")), as_term(IsWord("-"))
ENDED = as_term(Read(END, Pick(Matching(((END, ONE),)))))
BEFORE = as_term(Read(NUMBER, Back(1)))
MATCHINGS = [
    Matching(pairs)
    for pairs in (
        ((END, ONE),),
        ((END, ZERO),),
        ((NUMBER, NUMBER),),
        ((NUMBER, as_term(2)),),
        ((NUMBER, BEFORE),),
        ((ENDED * NUMBER, NUMBER),),
        ((ENDED * NUMBER, ZERO),),
        ((ENDED, ONE), (NUMBER, NUMBER)),
        ((JOINT, ONE), (END, ZERO)),
        ((as_term(Read(END, Back(1))), ONE),),
    )
]


@cache
def texts() -> list[tuple[list[int], list[Spoken]]]:
    """Each with the place of each token."""
    found = []

    def grow(places: list[int], tokens: list[Spoken]) -> None:
        found.append((places, tokens))
        for i, place in enumerate(LANGUAGE.places):
            ends = LANGUAGE.positions(place)
            if len(places) < LONGEST and places[-1] in place.after and ends.low <= len(places) + 1 <= ends.high:
                numbers: list[Spoken] = [(place.word, 0)] if place.word else [("", 1), ("", 2)]
                for token in numbers:
                    grow([*places, i], [*tokens, token])

    grow([0], [(LANGUAGE.places[0].word, 0)])
    return found


def ends(place: int) -> Iterator[tuple[Input, list[int]]]:
    """The texts whose last token stands at this place."""
    for places, tokens in texts():
        if places[-1] == place:
            yield Input(tokens), places


def facts_of(place: int) -> tuple[Facts, Facts]:
    """Of a position at this place, of texts that may go on and of those that end there."""
    every = Facts.everywhere(LANGUAGE)
    return every.at(frozenset([place])), every.ending(place)


def test_the_texts_are_all_there_are() -> None:
    assert len(texts()) > 60
    assert {place for places, _ in texts() for place in places} == set(range(len(LANGUAGE.places)))


@pytest.mark.parametrize("last", [False, True])
def test_where_a_match_is_seen_to_be(last: bool) -> None:
    told = dict.fromkeys(("always", "before", "itself", "first"), 0)
    for place in range(1, len(LANGUAGE.places)):
        for matching in MATCHINGS:
            where = Pick(matching, last)
            of = facts_of(place)
            always = [matches.always_matches(f, matching) for f in of]
            earlier = [matches.always_matches(f, matching, before=True) for f in of]
            before, itself = (
                [matches.matches_before(f, where) for f in of],
                [matches.picks_itself(f, where) for f in of],
            )
            first = [matches.first_match(f, matching) for f in of]
            picked = matches.picked_places(of[0], where)
            told["always"] += any(always)
            told["before"] += any(before)
            told["itself"] += any(itself)
            told["first"] += any(first)
            for run, places in ends(place):
                k = len(places)
                found = [j for j in range(2, k + 1) if run._matches(matching, j, k)]
                (chosen,) = run.chosen(where, k)
                assert not any(always) or found
                assert not any(earlier) or found[0] < k
                assert not any(before) or chosen < k
                assert not any(itself) or chosen == k
                assert not found or places[chosen - 1] in picked
                assert all(p is None or found[0] == p for p in first)
    assert all(told.values())


TERMS: list[Term] = [
    END * ENDED,
    NUMBER * ENDED * as_term(Read(JOINT, Back(1))),
    ENDED - END * ENDED,
    as_term(Read(K, Pick(Matching(((END, ONE),))))),
    *(as_term(Read(BEFORE * ENDED + K, Nearest(as_term(j)))) for j in (-1, 1, 2, 9)),
    as_term(Read(as_term(Read(NUMBER, Back(2))), Nearest(as_term(3)))),
    *(as_term(Read(value, Pick(m, last))) for m in MATCHINGS for value in (NUMBER, ENDED, K) for last in (False, True)),
]


def test_a_normal_form_is_equal_at_each_place() -> None:
    everywhere = Normalizer(Facts.everywhere(LANGUAGE))
    told = 0
    for place in range(len(LANGUAGE.places)):
        normals = [everywhere, *(Normalizer(facts) for facts in facts_of(place))]
        for value in TERMS:
            forms = {form: None for normal in normals for form in (normal.term(value),)}
            told += len(forms) > 1
            low, high = normals[1].facts.bounds(value)
            for run, places in ends(place):
                right = run.value(value, len(places))
                assert all(run.value(form, len(places)) == right for form in forms)
                assert low <= right <= high
    assert told > len(TERMS)


def test_the_first_end_is_where_the_prompt_ends() -> None:
    """At it, it is k itself; behind it, it is before k, so that the difference is bounded."""
    end = as_term(Read(K, Pick(Matching(((END, ONE),)))))
    named = {place.state: i for i, place in enumerate(LANGUAGE.places)}
    assert Normalizer(facts_of(named[State("[EOS]", IN_PROMPT)])[1]).term(end) == K
    for state in (FIRST_THOUGHT, THOUGHT, State("[EOS]", IN_THOUGHT)):
        assert facts_of(named[state])[1].bounds(K - end)[0] == 1
    assert Normalizer(facts_of(named[SECOND])[1]).term(end) == ONE


def test_what_cannot_stand_there_has_no_place() -> None:
    every = Facts.everywhere(LANGUAGE)
    assert every.standing({0: IsWord("-"), 1: IsWord("-")}, (1, 9)) == frozenset()
    assert every.standing({1: IsWord("[EOS]")}, (1, 9))
