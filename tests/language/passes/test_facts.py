"""What is known of a term is so, at every position of texts."""

from __future__ import annotations

import pytest

from constructions.language.passes.facts import asked_position, value_at_start
from constructions.language.program import NotCompiled
from constructions.language.terms import Count, Term, as_term
from constructions.language.values import number, position, running_sum, select, word
from tests.language.passes.passed import Passed, passed, value_of
from tests.language.programs import Written

COUNT = select(number, number).count()
LATER = Written('choose(select(number, number).count() > 2, "yes", "no")', "some(numbers())")


def check(one: Passed) -> None:
    for value, _ in (*one.operations, *one.equals):
        if any(type(atom).__module__.endswith("operations") for atom in value.atoms):
            continue
        summand = one.facts.summand(value)
        for text, k in one.positions:
            due = value_of(value, text, k)
            if one.facts.is_whole(value):
                assert due.denominator == 1
                assert not one.facts.is_bit(value) or due in (0, 1)
            if summand is not None:
                assert sum(value_of(summand, text, j) for j in range(1, k + 1)) == due, value
            if k == 1:
                assert value_at_start(value) == due


def test_a_count_is_whole_where_a_recurrence_has_it() -> None:
    rare = select(word("a")).count().term
    for architecture, whole in (("transformer", False), ("rnn", True), ("hybrid", True)):
        facts = Passed(Written('"yes"', 'some(words("a", "b"))', architecture).program).facts
        assert (facts.has_count(rare), facts.is_whole(rare)) == (not whole, whole)
        assert facts.has_sum(rare)
        assert facts.summand(rare + running_sum(word("b")).term - 1) is not None
        assert facts.summand(rare * as_term(2) * rare) is None


def test_a_sum_of_bits_is_a_bit_if_at_most_one_is_1() -> None:
    facts = Passed(Written('"yes"', 'some(words("a", "b"))').program).facts
    assert facts.is_flag((word("a") + word("b")).term)
    assert not facts.is_bit(((position > 1) + (position > 2)).term)
    assert not facts.is_bit((word("a") * 2).term)


def test_a_count_of_one_position_is_no_count() -> None:
    (atom,) = select(position, 3).count().term.atoms
    assert isinstance(atom, Count)
    assert asked_position(atom.where) == as_term(3)
    assert not passed(LATER).facts.has_count(as_term(atom))
    (other,) = COUNT.term.atoms
    assert isinstance(other, Count)
    assert asked_position(other.where) is None


@pytest.mark.parametrize(("term", "reason"), [(COUNT.term, "a count m is known"), (number.term * 0 + Term(()), "")])
def test_what_is_no_integer_is_refused(term: Term, reason: str) -> None:
    facts = passed(LATER).facts
    if reason:
        with pytest.raises(NotCompiled, match=reason):
            facts.require_whole(term, "a key")
    else:
        facts.require_whole(term, "a key")
