"""What is seen of matches from the states of an automaton, against every text of a small one."""

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
from tests.verify.programs.every_text import every_text
from verify.automata.token_automaton import Label
from verify.dossiers.istree.texts import FIRST_THOUGHT, IN_PROMPT, IN_THOUGHT, SECOND, THOUGHT, istree
from verify.programs import matches
from verify.programs.facts import Facts
from verify.programs.normal import Normalizer

AUTOMATON = istree(2, 2, "eos")
LONGEST = 7  # with one edge, both ends and a verdict's state
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
    """Each with the state of each token."""
    return list(every_text(AUTOMATON, LONGEST))


def ends(state: int) -> Iterator[tuple[Input, list[int]]]:
    """The texts whose last token stands at this state."""
    for states, tokens in texts():
        if states[-1] == state:
            yield Input(tokens), states


def facts_of(state: int) -> tuple[Facts, Facts]:
    """Of a position at this state, of texts that may go on and of those that end there."""
    every = Facts.everywhere(AUTOMATON)
    return every.facts_at(frozenset([state])), every.ending(state)


def test_the_texts_are_all_there_are() -> None:
    assert len(texts()) > 60
    assert {state for states, _ in texts() for state in states} == set(range(len(AUTOMATON.states)))


@pytest.mark.parametrize("last", [False, True])
def test_where_a_match_is_seen_to_be(last: bool) -> None:
    told = dict.fromkeys(("always", "before", "itself", "first"), 0)
    for state in range(1, len(AUTOMATON.states)):
        for matching in MATCHINGS:
            where = Pick(matching, last)
            of = facts_of(state)
            always = [matches.always_matches(f, matching) for f in of]
            earlier = [matches.always_matches(f, matching, before=True) for f in of]
            before, itself = (
                [matches.matches_before(f, where) for f in of],
                [matches.picks_itself(f, where) for f in of],
            )
            first = [matches.first_match(f, matching) for f in of]
            picked = matches.picked_states(of[0], where)
            told["always"] += any(always)
            told["before"] += any(before)
            told["itself"] += any(itself)
            told["first"] += any(first)
            for run, states in ends(state):
                k = len(states)
                actual = run._matches(matching, k)
                (chosen,) = run.chosen(where, k)
                assert not any(always) or actual
                assert not any(earlier) or actual[0] < k
                assert not any(before) or chosen < k
                assert not any(itself) or chosen == k
                assert not actual or states[chosen - 1] in picked
                assert all(p is None or actual[0] == p for p in first)
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


def test_a_normal_form_is_equal_at_each_state() -> None:
    everywhere = Normalizer(Facts.everywhere(AUTOMATON))
    told = 0
    for state in range(len(AUTOMATON.states)):
        normals = [everywhere, *(Normalizer(facts) for facts in facts_of(state))]
        for value in TERMS:
            forms = {form: None for normal in normals for form in (normal.term(value),)}
            told += len(forms) > 1
            low, high = normals[1].facts.bounds(value)
            for run, states in ends(state):
                right = run.value(value, len(states))
                assert all(run.value(form, len(states)) == right for form in forms)
                assert low <= right <= high
    assert told > len(TERMS)


def test_the_first_end_is_where_the_prompt_ends() -> None:
    """At it, it is k itself; after it, it is before k, so that the difference is bounded."""
    end = as_term(Read(K, Pick(Matching(((END, ONE),)))))
    named = {state.label: i for i, state in enumerate(AUTOMATON.states)}
    assert Normalizer(facts_of(named[Label("[EOS]", IN_PROMPT)])[1]).term(end) == K
    for label in (FIRST_THOUGHT, THOUGHT, Label("[EOS]", IN_THOUGHT)):
        assert facts_of(named[label])[1].bounds(K - end)[0] == 1
    assert Normalizer(facts_of(named[SECOND])[1]).term(end) == ONE


def test_what_cannot_stand_there_has_no_state() -> None:
    every = Facts.everywhere(AUTOMATON)
    assert every.standing({0: IsWord("-"), 1: IsWord("-")}, (1, 9)) == frozenset()
    assert every.standing({1: IsWord("[EOS]")}, (1, 9))
