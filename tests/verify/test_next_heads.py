"""The two printed heads of IsTree's layer 7, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.istree.graphs import Graph
from verify.claims import istree_layer7
from verify.oracles.next_heads import NOTHING, find_walked, nxt, read, records

STAR = ((1, 2), (4, 1), (1, 3), (1, 5), (6, 1))
THIRD, QUARTER = Fraction(1, 3), Fraction(1, 4)


def test_a_record_has_both_ends_and_both_counts() -> None:
    assert records(STAR)[1] == (4, 1, Fraction(1, 2), THIRD)
    assert find_walked(STAR, 1, 4) == (0, THIRD)
    assert find_walked(STAR, 1, 3) == (QUARTER, 0)
    assert find_walked(STAR, 2, 3) == (0, 0)


@pytest.mark.parametrize("m", range(1, 40))
def test_the_target_is_nearest_to_the_next_count(m: int) -> None:
    distance = {k: abs(Fraction(1, k) - nxt(Fraction(1, m))) for k in range(1, 60)}
    assert min(distance, key=lambda k: distance[k]) == m + 1


def test_a_head_reads_the_next_edge_an_average_or_nothing() -> None:
    assert read(STAR, 1, 0, THIRD) == (1, 3, QUARTER, Fraction(1, 2))
    assert read(STAR, 1, 1, THIRD) == (5, 1, Fraction(1, 2), QUARTER)  # the mean of 4 ~ 1 and 6 ~ 1
    assert read(STAR, 2, 0, THIRD) == NOTHING


def test_one_more_register_tells_the_two_stars_apart() -> None:
    other = ((1, 6), (1, 4), (5, 1), (3, 1), (1, 2))
    one, two = (istree_layer7.with_side(Graph(6, edges), 2) for edges in (STAR, other))
    assert one[:2] == two[:2]
    assert one[2] != two[2]
