"""Partial sums of scores: who is said to stay within the format does, by exact rationals, and who clearly does is said to."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constructions.engines.indexed import first_mismatch, reach
from constructions.engines.indexed.column import of_integers
from constructions.istree.graphs import PAPER, expected_answer
from constructions.istree.transformer import TRANSFORMER
from precision.format import Discipline
from verify.inputs.large_graphs import LargeGraph

numbers = st.integers(-(2**70), 2**70) | st.integers(-40, 40)
vectors = st.integers(1, 3).flatmap(
    lambda width: st.tuples(*(st.lists(st.tuples(*[numbers] * width), min_size=1, max_size=6) for _ in range(2)))
)


def furthest(query: tuple[int, ...], keys: list[tuple[int, ...]]) -> int:
    """How far from 0 a partial sum gets."""
    return max(abs(total) for key in keys for total in accumulate(q * k for q, k in zip(query, key, strict=True)))


@given(vectors, st.integers(1, 2**70), st.fractions(0, 2))
@example(([(2**60, -(2**60))], [(2**60, 2**60)]), 1, Fraction(1))  # the first product alone leaves
@example(([(1, -1)] * 2, [(5, 5), (-3, 2)]), 1, Fraction(1))
def test_who_stays_within(rows, scale, part):
    queries, keys = rows
    largest = Fraction(furthest(queries[0], keys)) * part or Fraction(scale)
    wide = [of_integers(column, 0) for column in zip(*queries, strict=True)]
    found = reach.sums_stay_within(wide, reach.distinct([of_integers(c, 0) for c in zip(*keys, strict=True)]), largest)
    for query, within in zip(queries, found.tolist(), strict=True):
        if within:
            assert furthest(query, keys) <= largest
        elif sum(abs(q) * max(abs(key[c]) for key in keys) for c, q in enumerate(query)) < 2**30 * largest:
            assert furthest(query, keys) > largest * Fraction(99, 100)


@pytest.mark.parametrize("corner", [min, max])
def test_only_one_corner_of_a_box_is_not_enough(corner, monkeypatch):
    """Of a box from (−4, −4) to (4, 4), a corner is only as good as its own sign."""
    fits = reach._fits

    def one(low, high, *given):
        end = low if corner is min else high
        return fits(end, end, *given)

    queries, keys = [(-4, 4), (4, -4)], [(4, 0), (0, 4), (-4, 3)]
    columns = [[of_integers(c, 0) for c in zip(*rows, strict=True)] for rows in (queries, keys)]
    largest = Fraction(27)
    assert not reach.sums_stay_within(columns[0], reach.distinct(columns[1]), largest).any()
    monkeypatch.setattr(reach, "_fits", one)
    assert reach.sums_stay_within(columns[0], reach.distinct(columns[1]), largest).all()


def test_numbers_beyond_float64_are_not_judged():
    column = [of_integers([1], 0)]
    assert not reach.sums_stay_within(column, reach.distinct(column), Fraction(2**2000)).any()


def test_scores_of_large_trees_need_no_fallback():
    """Its summands may each come close to the end of the format, though never together with others of the same sign."""
    graph = LargeGraph("random recursive tree", 1000, 0).graph()
    wired = TRANSFORMER.build(1000, discipline=Discipline.SEQUENTIAL)
    wrong, followed = first_mismatch(wired.model, wired.arithmetic, PAPER.prompt(graph), expected_answer(graph, PAPER))
    assert (wrong, followed.columns.dense) == (None, 0)
