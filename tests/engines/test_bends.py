"""Rows of an output head in parts that are bent one way."""

from __future__ import annotations

import numpy as np

from constructions.engines.incremental.words import find_parts


def parts_of(rows: list[tuple[int, ...]]) -> list[list[int]]:
    quanta = sorted({value for row in rows for value in row})
    places = np.array([[quanta.index(value) for value in row] for row in rows])
    return [list(part.tokens) for part in find_parts(range(places.shape[1]), quanta, places)]


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
