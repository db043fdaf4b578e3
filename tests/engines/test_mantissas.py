"""Wide integers in digits against Python's integers."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constructions.engines.indexed.mantissas import (
    Mantissas,
    Total,
    concatenate,
    divisible,
    from_integers,
    integers,
    least_and_most,
    less,
    running_sums,
    shift_right,
    where,
)
from constructions.engines.indexed.ordering import NEAR, Sorted, stable_order, unique

close = st.builds(
    lambda power, step, sign: sign * ((1 << power) + step),
    st.sampled_from((29, 30, 31, 59, 60, 61, 62, 63, 89, 90, 91, 92, 121, 122, 200)),
    st.integers(-2, 2),
    st.sampled_from((-1, 1)),
)
numbers = st.lists(close | st.integers(-3, 3) | st.integers(-(2**100), 2**100), min_size=1, max_size=8)


def wide(values: list[int]) -> Mantissas:
    return from_integers(np.array(values, object))


@given(st.lists(st.tuples(close | st.integers(1, 9), numbers), min_size=1, max_size=12), st.integers(-(2**70), 2**70))
@example([(1, [2**61]), (2, [2**60 + 1]), (2, [2**60 - 1])], 0)
def test_sums_of_multiples(terms: list[tuple[int, list[int]]], offset: int) -> None:
    """A digit that is full is carried into one that is full itself, and the carry is not lost."""
    places = min(len(values) for _, values in terms)
    total, bound = Total(), abs(offset)
    for factor, values in terms:
        largest = max(map(abs, values[:places]))
        total.add(wide(values[:places]), largest, factor)
        bound += abs(factor) * largest
    expected = [sum(factor * values[i] for factor, values in terms) + offset for i in range(places)]
    assert integers(total.result(offset, bound, places)).tolist() == expected


@given(numbers, numbers)
@example([2**62], [2**62 - 1])
@example([-(2**91) - 1, 2**91], [-(2**91), 1])
def test_order_and_place(a: list[int], b: list[int]) -> None:
    assert integers(wide(a)).tolist() == a
    assert least_and_most(wide(a)) == (min(a), max(a))
    pairs = list(zip(a, b, strict=False))
    left, right = wide(a)[: len(pairs)], wide(b)[: len(pairs)]
    assert less(left, right).tolist() == [x < y for x, y in pairs]
    assert less(left, b[0]).tolist() == [x < b[0] for x, _ in pairs]
    assert np.asarray(left == right).tolist() == [x == y for x, y in pairs]
    assert integers(where(less(left, right), left, right)).tolist() == [min(pair) for pair in pairs]
    assert integers(concatenate([left, right])).tolist() == a[: len(pairs)] + b[: len(pairs)]


@given(numbers, numbers)
@example([2**90, 2**90 + 1, 2**90 + 1, -(2**90)], [2**90 + 1, 2**90 + 2, -(2**95)])
@example([2**100 + i for i in range(8)], [2**100 + 5, 2**100 - 1, 2**100 + 9])
@example([5, -3, 5, 0], [6, -4, 0, 2**62 - 1, 1 - 2**62])  # looked up in a table
@example([2**62 - 1, 2**62 - 4, 2**62 - 2], [1 - 2**62, 2**62 - 3, 2**62 - 1])
@example([10**6, -(10**9), 3], [3, 10**6 + 1, -(10**10), 3])  # sorted
@example([10**6, 3, 1 - 2**62], [2**62 - 1, 3, 1 - 2**62])
def test_sorting_and_searching(keys: list[int], wishes: list[int]) -> None:
    values, places = unique(wide(keys))
    ordered = sorted(set(keys))
    assert integers(values).tolist() == ordered
    assert [ordered[place] for place in places.tolist()] == keys
    assert Sorted(values).below(wide(wishes)).tolist() == [sum(x < w for x in ordered) for w in wishes]
    assert Sorted(values).below(wide(wishes), equal=True).tolist() == [sum(x <= w for x in ordered) for w in wishes]


@pytest.mark.parametrize(
    "few",
    [
        [10**12, -(10**17), 3, 3],
        [2**62 - 1, 1 - 2**62],
        [2**90, -(2**90), 0, 2**90 + 2**60],
        [2**100 + i for i in (5, 0, 3)],  # whose first digits are the same
        [*range(0, 2**72, 2**66), 1],
    ],
)
@pytest.mark.parametrize("odd", [[], [2**61 + 1, 7, -5]])  # which a sample does not see
def test_few_numbers_among_many_places(few: list[int], odd: list[int]) -> None:
    keys = [few[i * i % len(few)] for i in range(5000)]
    for i, number in enumerate(odd):
        keys[1 + 1001 * i] = number
    values, places = unique(wide(keys))
    ordered = integers(values).tolist()
    assert ordered == sorted(set(keys))
    assert [ordered[place] for place in places.tolist()] == keys


@given(st.data(), st.integers(0, 4 * NEAR))
def test_searching_within_bounds(data: st.DataObject, width: int) -> None:
    keys = sorted(data.draw(st.sets(st.integers(-(10**15), 10**15), min_size=1, max_size=6 * NEAR)))
    wishes = data.draw(st.lists(st.sampled_from(keys) | st.integers(-(10**15), 10**15), min_size=1))
    below = np.array([sum(x < w for x in keys) for w in wishes])
    high = np.minimum(below + width, len(keys))
    low = np.maximum(below - data.draw(st.integers(0, 2 * NEAR)), 0)
    searched = Sorted(np.array(keys))
    assert searched.below_within(np.array(wishes), low, high).tolist() == below.tolist()


@given(st.lists(st.integers(0, 2**62) | st.integers(0, 3), min_size=1))
@example([2**62, 2**61, 2**62, 1])
@example([1, 0, 1, 3, 0])
def test_equal_numbers_stay_in_order(values: list[int]) -> None:
    order = sorted(range(len(values)), key=values.__getitem__)
    assert stable_order(np.array(values), max(values)).tolist() == order


@given(numbers, st.integers(0, 260))
@example([2**62, -(2**62)], 62)
@example([2**61, 2**89, 0], 61)
def test_shifts_and_sums(values: list[int], places: int) -> None:
    assert integers(shift_right(wide(values), places)).tolist() == [x >> places for x in values]
    assert divisible(wide(values), places).tolist() == [x % 2**places == 0 for x in values]
    bound = max(map(abs, values))
    assert integers(running_sums(wide(values), bound)).tolist() == list(accumulate(values))
