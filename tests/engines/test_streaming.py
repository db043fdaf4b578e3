"""The indexed engine in chunks: which keys it may forget, and how it follows an answer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import indexed
from constructions.engines.indexed import Indexed, first_mismatch
from constructions.engines.indexed import head as indexed_head
from constructions.engines.indexed.column import Column, concatenated, of_integers
from constructions.engines.indexed.forgetting import Dropped, drop
from constructions.engines.indexed.head import KeysForgotten
from constructions.istree.transformer import TRANSFORMER
from constructions.layers import AttentionHead, Block, FeedForward, Transformer
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads.count import count
from constructions.parts.heads.match import pairs_of, prepare
from constructions.parts.heads.match_close import match_close
from constructions.turing import hybrid
from constructions.turing.library import find
from constructions.wiring.affine import reg
from constructions.wiring.part import Setting
from constructions.wiring.wire import BlockPlan, Component, Embedding, Head, constant, wire
from precision.format import Arithmetic, Discipline, fixed_point
from tests.engines.agreement import chunked, cuts_of
from tests.engines.cases import Case, difference, graph_tokens, random_graph, reference_trace

# Any cut


@pytest.mark.parametrize("discipline", Discipline)
def test_istree_hardly_needs_a_fallback(discipline):
    rng = random.Random(discipline.value)
    for n in (2, 6):
        wired = TRANSFORMER.build(n, discipline=discipline)
        case = Case(wired.model, wired.arithmetic, graph_tokens(random_graph(n, rng), "paper"))
        _, columns, _ = chunked(case, cuts_of(rng, len(case.tokens)), forget=False)
        assert columns.dense <= 2


def rewritten(tokens: Sequence[int]) -> Case:
    """A register that every head reads, and that the head and the unit of each of four blocks change unless it is 0."""
    out, one, itself = np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    head = AttentionHead(np.zeros((0, 2)), np.zeros((0, 2)), itself, out)
    unit = FeedForward(itself, np.zeros(1), one, np.zeros(1), out, np.zeros(2))
    words = np.array([[1.0, 0.0], [1.0, 1.0]])
    return Case(
        Transformer(words, np.zeros(2), (Block((head,), unit),) * 4, words), Arithmetic(fixed_point(33)), tokens
    )


@pytest.mark.parametrize("tokens", [[0, 0, 1, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]])
def test_a_column_is_not_taken_for_one_that_is_gone(tokens):
    """Blocks share what they remember of a register that is 0 at first; later columns may lie where an earlier one lay."""
    case = rewritten(tokens)
    expected = reference_trace(case)
    for cut in range(1, len(tokens)):
        assert difference(chunked(case, [cut], forget=False)[0], expected) == ""


# Forgetting


def latest_of(kinds: int, length: int, discipline: Discipline = Discipline.FUSED) -> Case:
    """Reads the payload of the last token of a kind that the query names."""
    rng = random.Random(length)
    words = [{"key": rng.randint(0, kinds), "query": rng.randint(1, kinds), "payload": i} for i in range(3 * kinds)]
    words[0]["key"] = 0
    setting = Setting(3 * kinds, length, fixed_point(95))
    head = match_close("the last of a kind", pairs_of(1), {"found": reg("payload")}, setting)
    embedding = Embedding(tuple(map(str, range(len(words)))), tuple(words), "position")
    model, _ = wire(embedding, (BlockPlan((), prepare()), BlockPlan((head,), ())), embedding.words, setting.format)
    return Case(
        model, Arithmetic(setting.format, discipline), [0, *(rng.randrange(1, len(words)) for _ in range(1, length))]
    )


def fickle(length: int) -> Case:
    """A head that asks for the key nearest to a wish of its own: a late one at first, an early one in the end."""
    setting, scale = Setting(4, length, fixed_point(75)), 64
    nearest = (
        Component(reg("position"), 2 * scale * reg("wish")),
        Component(reg("position_squared"), -scale * reg("one")),
    )
    head = Head("the nearest position", nearest, {"found": reg("payload")})
    before = BlockPlan((), (constant("1", {"one": 1}), square(reg("position"), "position_squared")))
    words = ({"wish": 200, "payload": 1}, {"wish": 199, "payload": 2}, {"wish": 3, "payload": 3})
    embedding = Embedding(("late", "later", "early"), words, "position")
    model, _ = wire(embedding, (before, BlockPlan((head,), ())), embedding.words, setting.format)
    return Case(model, Arithmetic(setting.format), [*(i % 2 for i in range(length - 5)), *[2] * 5])


def a_run(steps: int, tape: str = "") -> Case:
    """The hybrid RNN that runs the four-state busy beaver."""
    machine = find("bb4").machine
    wired = hybrid.Hybrid(machine, tape).build(steps)
    words = [
        *hybrid.Hybrid(machine, tape).prompt(steps),
        *hybrid.Hybrid(machine, tape).expected(steps),
    ]
    return Case(wired.model, wired.arithmetic, wired.tokens(words))


@pytest.mark.parametrize("discipline", Discipline)
def test_a_head_that_wants_the_latest_keeps_one_key_of_each_kind(discipline):
    case, cuts = latest_of(5, 120, discipline), [40, 41, 80]
    actual, columns, state = chunked(case, cuts, forget=True)
    assert difference(actual, reference_trace(case)) == ""
    assert columns.dense == 0
    memory = state.heads[1][0]
    assert memory.count == 120
    assert memory.dropped is not None
    assert memory.kept <= 7  # the kinds 0 … 5, and the special first key
    assert chunked(case, cuts, forget=False)[2].heads[1][0].kept == 120


@pytest.mark.parametrize("tape", ["", "0110"])
def test_a_machine_remembers_its_tape_alone(tape):
    case = a_run(107, tape)
    actual, columns, state = chunked(case, list(range(50, len(case.tokens), 50)), forget=True)
    assert difference(actual, reference_trace(case)) == ""
    assert columns.dense == 0
    assert state.heads[1][0].kept <= 14 + len(tape) + 2  # cells, the token that is no record, position 1


def test_a_head_that_counts_keeps_every_key():
    setting = Setting(3, 64, fixed_point(65))
    head = count("how many", reg("key"), reg("key_squared"), "share", setting)
    one, first = constant("1", {"one": 1}), indicator(reg("position"), 1, {"first": 1})
    words = ({"key": 0}, {"key": 1}, {"key": 2}, {"key": 3})
    embedding = Embedding(("<s>", "a", "b", "c"), words, "position")
    before = BlockPlan((), (one, first, square(reg("key"), "key_squared")))
    model, _ = wire(embedding, (before, BlockPlan((head,), ())), embedding.words, setting.format)
    rng = random.Random(5)
    case = Case(model, Arithmetic(setting.format), [0, *(rng.randrange(1, 4) for _ in range(63))])
    actual, columns, state = chunked(case, [16, 32, 48], forget=True)
    assert difference(actual, reference_trace(case)) == ""
    assert columns.dense == 0
    assert state.heads[1][0].kept == 64


def test_a_query_that_needs_a_dropped_key_says_so_and_decoding_starts_again():
    case = fickle(60)
    expected = reference_trace(case)
    assert difference(chunked(case, [30], forget=False)[0], expected) == ""
    with pytest.raises(KeysForgotten, match=r"block 2, head 1 at position \d+ has no certificate"):
        chunked(case, [30], forget=True)
    answer = [*expected.next_tokens[:-1]]
    fed = [case.tokens[0], *answer]
    right = reference_trace(case._replace(tokens=fed)).next_tokens
    differing = [i for i, token in enumerate(answer) if right[i] != token]
    wrong, _ = first_mismatch(case.model, case.arithmetic, fed[:1], answer, chunk=30)
    assert wrong == (differing[0] if differing else None)


def test_an_answer_is_followed_across_chunks():
    machine = find("bb4").machine
    wired = hybrid.Hybrid(machine).build(20)
    prompt = wired.tokens(hybrid.Hybrid(machine).prompt(20))
    answer = wired.tokens(hybrid.Hybrid(machine).expected(20))
    for chunk in (9, 64, len(answer), 10**6):
        lengths: list[int] = []
        wrong, followed = first_mismatch(
            wired.model, wired.arithmetic, prompt, answer, chunk=chunk, tick=lengths.append
        )
        assert (wrong, followed.written) == (None, None)
        assert followed.columns.certified >= len(answer) - 2  # a few keys may show no structure
        assert lengths[-1] == len(answer)
        for place in (0, 63, 64, 65, len(answer) - 1):
            other = [*answer[:place], (answer[place] + 1) % len(wired.vocabulary), *answer[place + 1 :]]
            wrong, followed = first_mismatch(wired.model, wired.arithmetic, prompt, np.array(other), chunk=chunk)
            assert (wrong, followed.written) == (place, answer[place])
            longer = [*prompt, *answer[:50]]  # than a chunk
            wrong, _ = first_mismatch(wired.model, wired.arithmetic, longer, np.array(other[50:]), chunk=chunk)
            assert wrong == (place - 50 if place >= 50 else None)


def test_an_answer_may_be_empty_and_its_tokens_are_not_cut():
    case = rewritten([0])
    for prompt in ([0], [0, 1]):
        wrong, followed = first_mismatch(case.model, case.arithmetic, prompt, [])
        assert (wrong, followed.written) == (None, None)
    for answer in (np.array([2**32]), np.array([0.5]), [2**70]):
        with pytest.raises(IndexError, match="integers of 32 bits"):
            first_mismatch(case.model, case.arithmetic, [0], answer)


def column(values: Sequence[int], exponent: int = 0) -> Column:
    return of_integers(values, exponent)


@given(
    keys=st.lists(st.tuples(st.integers(0, 2), st.integers(-9, 9), st.integers(-40, 40)), min_size=1, max_size=12),
    queries=st.lists(st.tuples(st.integers(-9, 9), st.integers(-99, 99), st.integers(-6, 1)), min_size=1, max_size=6),
    exponents=st.tuples(st.integers(-2, 2), st.integers(-3, 3)),
    least=st.integers(1, 20),
    squares=st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_dropped_keys_lie_below_one_that_is_kept(keys, queries, exponents, least, squares):
    """By exhaustion over the keys: scores from the definition, in rational numbers. Keys of known kinds are dropped alike."""
    kinds, roots = [k for k, _, _ in keys], [x for _, x, _ in keys]
    others = [x * x for x in roots] if squares else [s for _, _, s in keys]
    registers = {4: column(kinds), 2: column(roots, exponents[0]), 7: column(others, exponents[1])}
    found, order = drop(registers, 2, 7), sorted(range(len(kinds)), key=kinds.__getitem__)
    known = drop(registers, 2, 7, (np.array(order), np.array(kinds)[order]))
    if found is None:
        assert known is None
        return
    keep, dropped = found
    assert known is not None
    assert (known[0].tolist(), known[1]) == (keep.tolist(), dropped)
    assert not keep.all()
    coefficients = {i: column([query[place] for query in queries]) for place, i in enumerate((4, 2, 7))}
    lead = Fraction(least, 3)
    for place, fulfilled in enumerate(dropped.is_beaten(coefficients, lead)):
        scores = [
            sum((coefficients[i].at(place) * register.at(key) for i, register in registers.items()), Fraction(0))
            for key in range(len(keys))
        ]
        best = max(score for score, kept in zip(scores, keep, strict=True) if kept)
        if fulfilled:
            assert all(score <= best - lead for score, kept in zip(scores, keep, strict=True) if not kept)


@pytest.mark.parametrize(
    ("rise", "square_rise", "pull", "curvature", "lead"),
    [(Fraction(1, 4), 1, 6, -1, 1), (3, 1, Fraction(3, 2), -3, 3), (3, 1, 2, -3, Fraction(7, 2)), (1, 1, 3, -2, 1)],
)
def test_a_query_just_short_of_the_lead_is_not_answered(rise, square_rise, pull, curvature, lead):
    """Two keys: the later one is higher by less than the lead, or by no more than it."""
    assert pull * rise + curvature * square_rise <= lead
    x, s = (
        concatenated(column([0]), column([value.numerator], 1 - value.denominator.bit_length()))
        for value in (Fraction(rise), Fraction(square_rise))
    )
    actual = drop({0: x, 1: s}, 0, 1)
    assert actual is not None
    q = Fraction(pull)
    wish = {0: column([q.numerator], 1 - q.denominator.bit_length()), 1: column([curvature])}
    assert not actual[1].is_beaten(wish, Fraction(lead)).any()


def test_what_two_drops_ask_of_a_query_is_what_both_ask():
    a, b = Dropped(1, 2, Fraction(3), Fraction(5)), Dropped(1, 2, Fraction(2), Fraction(9))
    assert a.joined(b) == b.joined(a) == Dropped(1, 2, Fraction(2), Fraction(9))


# Careless engines

_advance = Indexed.advance


def _without_states(self: Indexed, state: indexed.State, tokens: Any, **options: Any) -> Any:
    return _advance(self, indexed.State(state.length, state.heads, ({},) * len(state.recurrences)), tokens, **options)


def _from_position_1(self: Indexed, state: indexed.State, tokens: Any, **options: Any) -> Any:
    after, found = _advance(self, indexed.State(0, state.heads, state.recurrences), tokens, **options)
    return indexed.State(state.length + len(tokens), after.heads, after.recurrences), found


def _all_are_alike(registers: Any, root: int, square: int, alike: Any) -> Any:
    """But for the first one, which is found where no other is."""
    places = np.arange(len(registers[root]))
    return drop(registers, root, square, (places, np.minimum(places, 1)))


MUTANTS: dict[str, tuple[object, str, object]] = {
    "recurrences hold nothing": (Indexed, "advance", _without_states),
    "positions start again": (Indexed, "advance", _from_position_1),
    "every query is beaten": (
        Dropped,
        "is_beaten",
        lambda self, coefficients, lead: np.ones(len(coefficients[self.square]), bool),
    ),
    "keys are alike": (indexed_head, "drop", _all_are_alike),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_chunks_are_caught(name, monkeypatch):
    owner, attribute, mutant = MUTANTS[name]
    cases = [latest_of(3, 50), fickle(50), a_run(30)]
    expected = [reference_trace(case) for case in cases]
    monkeypatch.setattr(owner, attribute, mutant)
    for case, trace in zip(cases, expected, strict=True):
        for cuts in ([1, 2, 3], [20], [17, 33]):
            try:
                if difference(chunked(case, cuts, forget=True)[0], trace):
                    return
            except KeysForgotten:
                pass
    pytest.fail(f"no case tells that not: {name}")
