"""What went wrong with the indexed engine once, what it must not compute densely, and its teacher forcing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from constructions import index
from constructions.engines import Asked, decode_by_reference
from constructions.engines.indexed import first_mismatch, run
from constructions.engines.indexed.column import from_floats
from constructions.engines.indexed.squares import split_special
from constructions.engines.reference import ReferenceEngine
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.models import MODELS
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from constructions.layers import Transformer
from constructions.retrieval.task import Question
from constructions.wiring.affine import Number, reg
from precision.format import Arithmetic, Discipline, Format, Rounding, fixed_point
from tests.engines import agreement
from tests.engines.cases import (
    NARROW,
    ROUNDINGS,
    Case,
    graph_tokens,
    random_graph,
    reference_trace,
    searching,
)

assert_same = partial(agreement.assert_same, "indexed")


# What once went wrong, or nearly did


def constant_scores(arithmetic: Arithmetic, length: int) -> Case:
    """All keys tie, and one of the values is 1, as when occurrences are counted."""
    return searching(arithmetic, [{"x": 0}, {"x": 1}], [(1, 0)], [1, *[0] * (length - 1)], "x")


def ties_against_losers(arithmetic: Arithmetic, winners: int, losers: int) -> Case:
    """So many keys of score −7 in front of so many of score 7; what is read is 1 at one of these."""
    rows: list[Mapping[str, Number]] = [{"high": -1, "payload": 0}, {"high": 1, "payload": 1}, {"high": 1}]
    return searching(arithmetic, rows, [(reg("high"), 7)], [*[0] * losers, 1, *[2] * (winners - 1)], "payload")


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("discipline", Discipline)
def test_a_winner_beside_losers_weighs_just_less_than_its_share(discipline, rounding):
    """TOWARD_ZERO takes a single winner's weight to 1 − 2^−q; NEAREST_AWAY takes 1/16 up to 1/8 only if there are no losers."""
    arithmetic = Arithmetic(fixed_point(7), discipline, rounding)
    for winners in (1, 2, 3, 8, 15, 16, 17):
        for losers in (1, 5):
            columns = assert_same(ties_against_losers(arithmetic, winners, losers))
            assert columns.certified >= winners or winners < 8 or losers > 1
        assert_same(constant_scores(arithmetic, winners))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("precision_bits", [9, 11])
def test_more_winners_than_the_format_counts_to(precision_bits, discipline, rounding):
    """Under `sequential` the sum of the exponentials saturates, and each weight is more than 1/m."""
    columns = assert_same(constant_scores(Arithmetic(fixed_point(precision_bits), discipline, rounding), 70))
    assert columns.dense == 0


def test_a_difference_of_scores_may_saturate():
    """From 6.5 down to −6.5 is 13, which this format cuts to 6.5, and e^−6.5 is more than a quantum."""
    arithmetic = Arithmetic(NARROW[2], Discipline.SEQUENTIAL)
    rows: list[Mapping[str, Number]] = [{"high": -1, "payload": 1}, {"high": 1}]
    assert_same(searching(arithmetic, rows, [(reg("high"), Fraction(13, 2))], [1, 0, 1, 1, 1], "payload"))


def test_values_whose_sum_leaves_64_bits():
    """Five special keys and an ordinary one tie; each value is close to 2^61, and one is odd."""
    big = 2**61 - 2**9
    rows: list[Mapping[str, Number]] = [
        {"x": 1, "payload": 1},
        {"x": 2, "payload": big},
        {"x": 0, "y": 0, "payload": big},
        {"y": 1, "payload": big},
        {"y": 2, "payload": big},
    ]
    components = [(reg("x"), 0 * reg("x")), (reg("y"), 0 * reg("x"))]
    columns = assert_same(searching(Arithmetic(fixed_point(129)), rows, components, [0, 1, 1, 2, 3, 4], "payload"))
    assert columns.certified > 0


def test_special_values_beyond_64_bits():
    rows: list[Mapping[str, Number]] = [{"x": 0, "payload": 1}, {"x": 1, "payload": 2**80}]
    case = searching(Arithmetic(fixed_point(255)), rows, [(reg("x"), 0 * reg("x"))], [0, 1, 1, 0, 0, 0, 0], "payload")
    assert assert_same(case).certified > 0


def test_costs_beyond_64_bits():
    """A mismatch costs 2^80; what is compared with it are zeros."""
    rows = [{"x": x, "x_squared": x * x, "y": y, "y_squared": y} for x in range(4) for y in (0, 1)]
    wish = reg("x")
    components = [
        (2**40 * reg("x_squared"), -(2**40)),
        (2**40 * reg("x"), 2**41 * wish),
        (2**4 * reg("y_squared"), -(2**4)),
        (2**4 * reg("y"), 2**5 * reg("y")),
    ]
    tokens = [0, 2, 4, 6, 0, 2, 1, 3, 5, 7, 7, 5, 3, 1, 3]
    columns = assert_same(searching(Arithmetic(fixed_point(255)), rows, components, tokens))
    assert columns.certified > 10


def test_logits_that_tie_are_decided_by_the_first():
    """Rows that are equal, that saturate to equal logits, and that differ by less than their rounding."""
    fmt = fixed_point(9)
    rows: list[Mapping[str, Number]] = [{"x": 0}, {"x": 3}, {"x": 15}, {"x": 15}, {"x": 2}, {"x": Fraction(1, 16)}]
    columns = assert_same(searching(Arithmetic(fmt), rows, [(1, 0)], [0, 1, 2, 3, 4, 5, 5, 0, 1], "x"))
    assert columns.dense_logits > 0


def test_saturated_winners_are_not_certified():
    rows: list[Mapping[str, Number]] = [{"x": 0, "x_squared": 0}, {"x": 1, "x_squared": 1}, {"x": 3, "x_squared": 9}]
    components = [(15 * reg("x_squared"), -15), (15 * reg("x"), 15), (15, 15 * reg("x"))]
    for discipline in Discipline:
        columns = assert_same(
            searching(Arithmetic(fixed_point(9), discipline), rows, components, [0, 1, 2, 2, 1, 0, 1, 2] * 3)
        )
        assert columns.dense > 0


# What must not leave the fast way


@pytest.mark.parametrize("length", [4, 5, 40, 41])
def test_a_special_key_may_stand_anywhere(length):
    """One key alone is marked. Nobody but its own query asks for it, and each of the others for itself."""
    components = [(64 * reg("x_squared"), -1), (64 * reg("x"), 2 * reg("x")), (reg("mark"), 0 * reg("x"))]
    for place in range(length):
        rows = [{"x": i, "x_squared": i * i, "mark": int(i == place)} for i in range(length)]
        mark = from_floats(np.array([float(row["mark"]) for row in rows]))
        assert [actual.tolist() for actual in map(np.array, split_special([mark], length))] == [[0], [place]]
        if place in (0, length // 2, length - 1):
            case = searching(Arithmetic(fixed_point(45)), rows, components, range(length), "x")
            assert assert_same(case).dense == 0


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("model", [0, 2])
def test_prompts_that_ask_far_beyond_their_sequence_stay_certified(model, rounding):
    """At the least precision all scores of such a query saturate, and every key that it sees ties."""
    n, rng = 100, random.Random(3)
    wired = index.RETRIEVERS[model].build(n)
    beyond = 0
    for sequence in ([n] * 20, list(range(n, 60, -1)), [rng.randint(1, n) for _ in range(30)]):
        case = Case(
            wired.model,
            replace(wired.arithmetic, rounding=rounding),
            wired.tokens(Question(tuple(sequence), (len(sequence),)).words()),
        )
        expected = reference_trace(case)
        assert assert_same(case, expected).dense == 0
        engine = ReferenceEngine(case.model, case.arithmetic)
        beyond += max(len(engine.append(token).attention[1][0]) for token in case.tokens) > 5
    assert beyond > 0


@pytest.mark.parametrize("model", [0, 2])
def test_sums_of_scores_are_bounded_by_what_they_are_sums_of(model):
    """Under `sequential` the terms of a score go up and down again; their magnitudes together are more than the format holds."""
    wired = index.RETRIEVERS[model].build(50, discipline=Discipline.SEQUENTIAL)
    tokens = wired.tokens(Question(tuple(range(50, 0, -1)), (50,)).words())
    assert assert_same(Case(wired.model, wired.arithmetic, tokens)).dense == 0


def test_equal_keys_tie_whatever_their_products_are_rounded_to():
    """Under `sequential`, as heads 7 and 8 of IsTree average over keys that are all the same."""
    wired = TRANSFORMER.build(8, discipline=Discipline.SEQUENTIAL)
    columns = assert_same(Case(wired.model, wired.arithmetic, graph_tokens(random_graph(8, random.Random(8)), "paper")))
    assert columns.certified > 0
    assert columns.dense == 0


# Constructions


@pytest.mark.parametrize("layout", ["paper", "eos"])
def test_repaired_istree_needs_no_fallback(layout):
    wired = MODELS["transformer", layout].build(12)
    edges = tuple((v, v // 2) for v in range(2, 13))
    tokens = graph_tokens(Graph(12, edges), layout)
    columns = assert_same(Case(wired.model, wired.arithmetic, tokens))
    assert columns.dense == 0
    assert columns.dense_logits == 0


# Decoding


def test_teacher_forcing_finds_decodings_first_deviation():
    rng = random.Random(3)
    stop = {PAPER.token("YES", 5), PAPER.token("NO", 5)}
    mismatches = []
    for printed in ((), FINDING_IDS):
        wired = TRANSFORMER.build(5, printed=printed)
        for _ in range(4):
            graph = random_graph(5, rng)
            prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
            produced = decode_by_reference(Asked(wired.model, wired.arithmetic, prompt, stop, len(answer))).produced
            differing = [i for i, token in enumerate(answer) if i >= len(produced) or produced[i] != token]
            mismatch, _ = first_mismatch(wired.model, wired.arithmetic, prompt, answer)
            assert mismatch == (differing[0] if differing else None)
            mismatches.append(mismatch)
    assert mismatches[:4] == [None] * 4
    assert mismatches[4:] != [None] * 4
    assert first_mismatch(wired.model, wired.arithmetic, prompt, [])[0] is None


def test_refusals_are_one_line():
    wired = TRANSFORMER.build(2)
    with pytest.raises(IndexError, match="at least one token"):
        run(wired.model, wired.arithmetic, [])
    with pytest.raises(IndexError, match="integers from 0 to 7"):
        run(wired.model, wired.arithmetic, [0, 8])
    with pytest.raises(IndexError, match="integers from 0 to 7"):
        run(wired.model, wired.arithmetic, [0.5])  # type: ignore[list-item]
    with pytest.raises(IndexError, match="a prompt"):
        first_mismatch(wired.model, wired.arithmetic, [], [0])
    with pytest.raises(ValueError, match="stochastically"):
        run(wired.model, Arithmetic(fixed_point(9), rounding=Rounding.STOCHASTIC), [0])
    with pytest.raises(ValueError, match="needs 1 to be an element"):
        run(wired.model, Arithmetic(Format("coarse", 4, 1, 15)), [0])
    infinite = Transformer(np.array([[np.inf]]), np.zeros(1), (), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="infinities and NaN"):
        run(infinite, Arithmetic(fixed_point(9)), [0])
