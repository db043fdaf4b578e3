"""The argmax over a vocabulary by a few logits: how tokens are arranged, that few logits do, and the reference's bits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.incremental import IncrementalDecoder
from constructions.turing import hybrid
from constructions.turing.library import find
from precision.format import fixed_point
from tests.engines import test_incremental_cases as cases
from tests.engines.cases import FIXED, NARROW, Case
from tests.engines.test_incremental import assert_same


def parts_of(rows: list[tuple[int, ...]]) -> list[list[int]]:
    from constructions.engines.incremental.vocabulary import find_parts

    quanta = sorted({value for row in rows for value in row})
    places = np.array([[quanta.index(value) for value in row] for row in rows])
    return find_parts(places, quanta)


def test_parts_are_in_the_order_of_their_bend_and_without_repetitions() -> None:
    square = [(i, i * i, 0) for i in (3, -4, 0, 5, -1, 3)]
    assert parts_of(square) == [[1, 4, 2, 0, 3]]
    assert parts_of([(j, i, 0) for i, j, _ in square]) == [[1, 4, 2, 0, 3]]  # either register may be the root
    assert parts_of([(-j, i, 0) for i, j, _ in square]) == [[1, 4, 2, 0, 3]]
    assert parts_of([(i, 0, 0) for i, _, _ in square]) == [[1, 4, 2, 0, 3]]


def test_special_words_and_families_are_apart() -> None:
    rows = [(0, 0, 2), (1, 1, 1), (2, 4, 1), (0, 0, 3), (3, 9, 1), (4, 16, 1), (5, 25, 0), (6, 36, 0)]
    assert sorted(parts_of(rows)) == [[0], [1, 2, 4, 5], [3], [6, 7]]


def test_what_is_not_bent_one_way_is_looked_at_one_by_one() -> None:
    alone = [[token] for token in range(6)]
    assert parts_of([(i, i**3) for i in range(-3, 3)]) == alone
    assert parts_of([(i, i * i, (2 * i) % 5) for i in range(6)]) == alone
    assert parts_of([(0, 0), (0, 1), (1, 0), (2, 5), (5, 2), (3, 3)]) == alone
    assert len(parts_of([(i % 6, i // 6) for i in range(36)])) == 36


# How many positions take all logits, where any do

DENSE: Mapping[Callable[..., Case], int] = {
    cases.slopes: 1,
    cases.logits_that_rounding_makes_equal: 5,
    cases.logits_that_rounding_makes_equal_on_the_way_down: 5,
    cases.logits_that_saturate: 3,
}


@pytest.mark.parametrize("make", cases.VOCABULARIES)
def test_few_logits_do_unless_rounding_makes_many_equal(make: Callable[[], Case]) -> None:
    assert assert_same(make()).dense_logits == DENSE.get(make, 0)


def test_a_large_vocabulary_takes_few_logits() -> None:
    machine, steps = find("bb5").machine, 400
    wired = hybrid.Hybrid(machine).build(steps)
    expected = wired.tokens(hybrid.Hybrid(machine).expected(steps))
    decoder = IncrementalDecoder(wired.model, wired.arithmetic)
    assert decoder.decode(wired.tokens(hybrid.Hybrid(machine).prompt(steps)), set(), len(expected)) == expected
    assert decoder.columns.dense_logits == 0


def families(rng: random.Random) -> Case:
    """One to three families with special words between them, in any order; streams of any direction and size."""
    fmt = rng.choice((*FIXED, *NARROW, fixed_point(17)))
    rows: list[list[float]] = []
    for kind in range(rng.randint(1, 3)):
        bend, unit = rng.choice((1, 1, 1, 2, 0)), 2.0 ** rng.randint(-6, 0)
        other = rng.choice((0.0, 1.0))
        numbers = range(rng.randint(-9, 0), rng.randint(1, 12))
        rows += [[unit * i, unit * (abs(i) if bend == 0 else i * i * bend), other, float(kind)] for i in numbers]
    rows += [[0.0, 0.0, 0.0, rng.choice((-1.0, 2.0, 3.0))] for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.5:
        rng.shuffle(rows)
    streams = []
    for _ in range(min(len(rows), 12)):
        scale = 2.0 ** rng.randint(-9, 4)
        streams.append(
            [scale * rng.randint(-20, 20), scale * rng.choice((-1, -1, -2, 1, 0)), *rng.choices((0.0, 1.0, -1.0), k=2)]
        )
    return cases.vocabulary(fmt, rows, streams)


@settings(max_examples=150, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_families_agree(rng: random.Random) -> None:
    assert_same(families(rng))


def test_a_corpus_of_families_takes_both_ways() -> None:
    dense = [assert_same(families(random.Random(seed))).dense_logits > 0 for seed in range(60)]
    assert 5 < sum(dense) < 55
