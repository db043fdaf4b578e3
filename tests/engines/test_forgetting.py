"""Keys that are dropped still count: what they leak, that they are there at all, and what they ask of every later query."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from constructions.engines import indexed
from constructions.engines.indexed import Indexed
from constructions.engines.indexed import engine as indexed_engine
from constructions.engines.indexed.forgetting import Dropped
from constructions.engines.indexed.head import KeysForgotten
from constructions.wiring.affine import reg
from precision.format import Arithmetic, Discipline, Rounding, fixed_point
from tests.engines.agreement import chunked
from tests.engines.cases import difference, in_order, reference_trace, searching
from tests.engines.test_streaming import fickle, latest_of


def test_what_losers_of_earlier_chunks_leak_adds_up():
    """Each of 59 losers weighs less than half a quantum beside a winner in a chunk of its own; all of them take a third of it."""
    rows = [{"high": -1, "payload": 0}, {"high": 1, "payload": 1}]
    arithmetic = Arithmetic(fixed_point(7))
    case = searching(arithmetic, rows, [(reg("high"), Fraction(9, 4))], [*[0] * 59, 1], "payload")
    assert difference(chunked(case, [59], forget=False)[0], reference_trace(case)) == ""


def test_winners_beside_dropped_keys_alone_weigh_just_less_than_their_share():
    rows = [{"x": 1, "x_squared": 1, "payload": 1}, {"x": 2, "x_squared": 4, "payload": 1}]
    arithmetic = Arithmetic(fixed_point(33), Discipline.FUSED, Rounding.TOWARD_ZERO)
    case = searching(arithmetic, rows, [(reg("x_squared"), -8), (reg("x"), 64)], [0, 1, 1, 1], "payload")
    actual, columns, state = chunked(case, [2], forget=True)
    assert difference(actual, reference_trace(case)) == ""
    assert columns.dense == 0
    assert state.heads[0][0].kept == 3


def test_a_chunk_that_drops_nothing_does_not_forget_what_was_dropped():
    case = fickle(60)
    engine = Indexed(case.model, case.arithmetic)
    state, _ = engine.advance(engine.start, case.tokens[:30], forget=True)
    assert state.heads[1][0].dropped is not None
    state, _ = engine.advance(state, case.tokens[30:55])
    with pytest.raises(KeysForgotten):
        engine.advance(state, case.tokens[55:])


def test_drops_by_other_registers_are_not_one_condition():
    a = Dropped(1, 2, Fraction(3), Fraction(5))
    assert a.joined(Dropped(3, 2, Fraction(3), Fraction(5))) is None
    assert a.joined(Dropped(1, 4, Fraction(3), Fraction(5))) is None


def test_what_is_dropped_counts_for_the_reach():
    """The largest keys may be those that are dropped; that no score saturates has to be shown with them."""
    rows = [{"x": x, "x_squared": x * x} for x in range(-9, 1)]
    arithmetic = Arithmetic(fixed_point(33), Discipline.SEQUENTIAL)
    case = searching(arithmetic, rows, [(reg("x_squared"), -8), (reg("x"), 64)], range(10))
    memories = [chunked(case, [4, 7], forget=forget)[2].heads[0][0] for forget in (False, True)]
    assert [memory.kept for memory in memories] == [10, 1]
    assert memories[0].ranges == memories[1].ranges == ((0, 81), (-9, 0))


def test_chunks_are_small_only_where_every_head_forgets(monkeypatch):
    monkeypatch.setattr(indexed_engine, "CHUNK", 20)
    forgets, keeps = latest_of(2, 120), in_order(random.Random(206))
    for case, ends in ((forgets, [20, 40, 60]), (keeps, [20, 60])):
        tokens = ([*case.tokens] * 9)[:60]
        for prompt, expected_ends in ((tokens, ends), (tokens[:40], [40])):  # the latter are too few to try
            lengths: list[int] = []
            answer = reference_trace(case._replace(tokens=prompt)).next_tokens[-1:]
            wrong, _ = indexed.first_mismatch(case.model, case.arithmetic, prompt, answer, tick=lengths.append)
            assert (wrong, lengths) == (None, expected_ends)
    expected = reference_trace(forgets).next_tokens
    wrong, followed = indexed.first_mismatch(forgets.model, forgets.arithmetic, forgets.tokens[:1], forgets.tokens[1:])
    first = next(i for i, token in enumerate(forgets.tokens[1:]) if expected[i] != token)
    assert (wrong, followed.written) == (first, expected[first])


def test_a_run_that_regrets_forgetting_starts_again(monkeypatch):
    monkeypatch.setattr(indexed_engine, "CHUNK", 20)
    case = fickle(60)
    expected = reference_trace(case).next_tokens
    runs = []
    follow = Indexed.follow

    def counted(self, *arguments, forget):
        runs.append(forget)
        return follow(self, *arguments, forget=forget)

    monkeypatch.setattr(Indexed, "follow", counted)
    prompt = case.tokens[:-1]  # its queries need a key that was dropped
    wrong, _ = indexed.first_mismatch(case.model, case.arithmetic, prompt, [expected[-2]])
    assert wrong is None
    assert runs == [True, False]
