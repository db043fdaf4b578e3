"""Exact columns against Python's fractions, also where int64 ends."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constructions.engines.indexed.column import (
    Column,
    at_most,
    combine,
    concatenated,
    constant,
    dyadic,
    from_floats,
    multiply,
    normalised,
    of_integers,
    positive_part,
    rounded,
    zeros,
)
from constructions.engines.indexed.keys import count_at_most, look_up
from constructions.engines.indexed.mantissas import SMALL, Array, Digits
from constructions.engines.indexed.ordering import Sorted, unique
from precision.format import FLOAT_FORMATS, Arithmetic, Discipline, Format, Rounding, fixed_point
from precision.rounding import round_fraction
from tests.strategies import elements

LENGTH = 4
FORMATS = (*map(fixed_point, (5, 9, 17, 33, 65, 129, 255)), *FLOAT_FORMATS)

near_the_end = st.builds(
    lambda power, difference, sign: sign * ((1 << power) + difference),
    st.sampled_from((30, 31, 32, 60, 61, 62, 63, 64, 127)),
    st.integers(-2, 2),
    st.sampled_from((-1, 1)),
)
mantissas = st.integers(-3, 3) | near_the_end | st.integers(-(2**70), 2**70) | st.integers(-(2**20), 2**20)
exponents = st.integers(-70, 70)


@st.composite
def columns(draw: st.DrawFn) -> Column:
    """Columns as the engine makes them: normal, but some of a part of a longer column, so that the bound is not tight."""
    m = draw(st.lists(mantissas, min_size=LENGTH, max_size=LENGTH))
    whole = of_integers(m, draw(exponents))
    if draw(st.booleans()):
        return whole
    return whole.take(np.array(draw(st.lists(st.integers(0, LENGTH - 1), min_size=LENGTH, max_size=LENGTH))))


weights = st.builds(lambda m, e: m * Fraction(2) ** e, mantissas, exponents)


def values(column: Column) -> list[Fraction]:
    return [column.at(place) for place in range(len(column))]


def assert_sound(column: Column) -> None:
    """The bound holds, and int64 is only used with room for an addition."""
    assert all(abs(int(m)) <= column.bound for m in column.m)
    assert isinstance(column.m, Digits) or (column.m.dtype == np.int64 and column.bound <= SMALL)
    if isinstance(column.m, Digits):
        assert all(0 <= int(digit) < 2**30 for row in column.m.rows[:-1] for digit in row)
        assert all(abs(int(digit)) <= 2**61 for digit in column.m.rows[-1])


def column_of(numbers: list[int], e: int = 0) -> Column:
    return of_integers(numbers, e)


@given(m=st.lists(mantissas, min_size=0, max_size=5), e=exponents)
@example([2**62, -(2**62)], 0)
@example([-(2**63), 2**63 - 1], 0)
@example([2**62 - 1, 0], 0)
def test_normalised_keeps_values_and_has_one_form(m, e):
    column = of_integers(m, e)
    assert values(column) == [x * Fraction(2) ** e for x in m]
    assert_sound(column)
    largest = max((abs(int(x)) for x in column.m), default=0)
    assert largest <= column.bound <= largest + (largest >> 28 if isinstance(column.m, Digits) else 0)
    assert column.is_zero == (not any(m))
    assert column.is_zero or any(int(x) & 1 for x in column.m)
    assert isinstance(column.m, Digits) == (column.bound >= SMALL)
    if all(-(2**63) <= x < 2**63 for x in m):
        narrow = normalised(np.array(m, np.int64), e)
        assert (narrow.e, narrow.m.tolist()) == (column.e, column.m.tolist())


@given(column=columns(), down=st.integers(0, 140))
def test_scaling_keeps_values(column, down):
    scaled = column.scaled_to(column.e - down)
    assert [int(m) * Fraction(2) ** (column.e - down) for m in scaled] == values(column)
    assert column.to_quanta(column.e - down) == [int(m) for m in scaled]


def test_scaling_up_is_refused_but_for_zeros():
    with pytest.raises(ValueError, match="exponent 0"):
        column_of([1]).scaled_to(1)
    assert zeros(2).scaled_to(70).tolist() == [0, 0]


@given(terms=st.lists(st.tuples(weights, columns()), max_size=4), offset=weights | st.just(Fraction(0)))
@example([(Fraction(1), column_of([2**62 - 1] * LENGTH))], Fraction(1))
@example([(Fraction(1), column_of([2**61 + 1] * LENGTH)), (Fraction(1), column_of([2**61 - 1] * LENGTH))], Fraction(0))
@example([(Fraction(-1), column_of([2**62 + 1] * LENGTH)), (Fraction(1), column_of([2**62 + 1] * LENGTH))], Fraction(0))
@example([(Fraction(1), zeros(LENGTH))], Fraction(2) ** 100)
@example(
    [(Fraction(c), column_of([1, *[m] * (LENGTH - 1)])) for c, m in ((1, 2**61), (2, 2**60 + 1), (2, 2**60 - 1))],
    Fraction(0),
)
def test_combinations_are_exact(terms, offset):
    before = [column.m.tolist() for _, column in terms]
    result = combine(terms, offset, LENGTH)
    table = [values(column) for _, column in terms]
    expected = [sum((w * row[i] for (w, _), row in zip(terms, table, strict=True)), offset) for i in range(LENGTH)]
    assert values(result) == expected
    assert_sound(result)
    assert [column.m.tolist() for _, column in terms] == before


@given(a=columns(), b=columns())
@example(column_of([2**31] * LENGTH), column_of([2**31 - 1, -(2**31), 1, 0]))
@example(column_of([2**31 + 1] * LENGTH), column_of([2**31 + 1] * LENGTH))
@example(column_of([2**32 + 1, 0, 1, 2**32 + 1]), column_of([2**32 - 1, 2**80, -1, 0]))
def test_products_are_exact(a, b):
    result = multiply(a, b)
    assert values(result) == [x * y for x, y in zip(values(a), values(b), strict=True)]
    assert_sound(result)


@given(a=columns())
def test_positive_parts(a):
    result = positive_part(a)
    assert values(result) == [max(x, Fraction(0)) for x in values(a)]
    assert_sound(result)


@given(value=weights)
def test_constants(value):
    column = constant(value, LENGTH)
    assert values(column) == [value] * LENGTH
    assert_sound(column)
    mantissa, e = dyadic(value)
    assert mantissa * Fraction(2) ** e == value
    assert mantissa % 2 == 1 or value == 0


def test_a_third_is_no_weight():
    with pytest.raises(ValueError, match="1/3 is not a dyadic rational"):
        combine([(Fraction(1, 3), column_of([3]))], Fraction(0), 1)


@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
@example([5e-324, 1.7976931348623157e308, -5e-324, 0.0, -0.0])
@example([2.0**61, 1.0, -(2.0**62)])
@example([2.0**62 - 2.0**9, 1.0])
def test_floats_are_taken_exactly(numbers):
    column = from_floats(np.array(numbers))
    assert values(column) == [Fraction(x) for x in numbers]
    assert_sound(column)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_floats_without_a_value_are_refused(number):
    with pytest.raises(ValueError, match="infinities and NaN"):
        from_floats(np.array([1.0, number]))


@st.composite
def roundings(draw: st.DrawFn) -> tuple[Column, Format, Rounding]:
    """A format and a column of elements, midpoints and their neighbours, in no narrower a form than the engine may meet."""
    fmt = draw(st.sampled_from(FORMATS))
    halves = st.builds(
        lambda x, k, s: x / fmt.quantum * 2 + k + s * Fraction(1, 2**70),
        elements(fmt),
        st.integers(-2, 2),
        st.sampled_from((-1, 0, 0, 0, 1)),
    )
    rows = draw(st.lists(halves, min_size=1, max_size=5))
    column = of_integers([int(x * 2**70) for x in rows], fmt.quantum_exponent - 71)
    other = draw(columns())
    return draw(st.sampled_from((column, other))), fmt, draw(st.sampled_from(tuple(Rounding)[:3]))


@given(roundings())
@example((column_of([2**62 - 1, -(2**62 - 1), 1], -70), fixed_point(129), Rounding.NEAREST_EVEN))
@example((column_of([3, -3, 5, -5, 1, -1], -5), fixed_point(9), Rounding.NEAREST_EVEN))
@example((column_of([2**61 + 1, 3], -90), fixed_point(17), Rounding.NEAREST_EVEN))
@example((column_of([511, -511, 1], -5), fixed_point(9), Rounding.NEAREST_EVEN))
def test_columns_round_by_the_definition(case):
    column, fmt, rounding = case
    result, saturated = rounded(column, Arithmetic(fmt, Discipline.FUSED, rounding))
    expected = [round_fraction(x, fmt, rounding) for x in values(column)]
    assert result.to_quanta(fmt.quantum_exponent) == [x.quanta for x in expected]
    places: Array = np.array([], np.int64) if saturated is None else saturated
    assert places.tolist() == [i for i, x in enumerate(expected) if x.saturated]
    assert_sound(result)


@given(
    st.lists(st.integers(-(2**70), 2**70), max_size=4),
    st.lists(st.integers(-9, 9), max_size=4),
    st.integers(-70, 70),
    st.integers(-3, 3),
)
def test_columns_are_concatenated_exactly(first, second, e, f):
    a, b = of_integers(first, e), of_integers(second, f)
    both = concatenated(a, b)
    expected = [*(a.at(i) for i in range(len(a))), *(b.at(i) for i in range(len(b)))]
    assert [both.at(i) for i in range(len(both))] == expected
    assert all(abs(int(m)) <= both.bound for m in both.m)


# Searching in columns


@given(a=columns(), limit=weights | st.fractions(max_denominator=5))
def test_comparisons_with_a_number(a, limit):
    assert at_most(a, limit).tolist() == [x <= limit for x in values(a)]


@given(a=columns().filter(len), places=st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_comparisons_of_values(a, places):
    few = np.array([place % len(a) for place in places])
    b, x = a.take(few), values(a)
    y, first = [x[place] for place in few], a.take(np.arange(min(len(few), len(a))))
    both = list(zip(y, x, strict=False))
    for other in (first, first.packed(), of_integers(first.to_quanta(first.e), first.e)):
        assert b.take(np.arange(len(other))).equals(other).tolist() == [p == q for p, q in both]
    assert b.changes().tolist() == [p != q for p, q in itertools.pairwise(y)]
    even = len({q - p for p, q in itertools.pairwise(y)}) <= 1
    assert b.is_even() == even or isinstance(b.m, Digits)


@given(queries=columns(), keys=columns())
def test_searches_among_sorted_keys(queries, keys):
    distinct, _ = unique(keys.m)
    table = [int(m) * Fraction(2) ** keys.e for m in distinct]
    place, multiple = look_up(queries, keys.e, Sorted(distinct))
    for x, actual, fits in zip(values(queries), place.tolist(), multiple.tolist(), strict=True):
        assert actual == (table.index(x) if x in table else -1)
        assert fits == ((x / Fraction(2) ** keys.e).denominator == 1)
    counts = count_at_most(Sorted(distinct), keys.e, queries)
    assert counts.tolist() == [sum(x <= query for x in table) for query in values(queries)]


def test_nothing_is_taken_from_zeros_by_places_or_by_a_mask() -> None:
    """A column of zeros is not gathered; it has the length all the same."""
    for column in (zeros(4), from_floats(np.array([1.0, 0.0, 2.0, 0.5]))):
        for index in (np.array([3, 0, 0, 1, 2]), np.array([True, False, True, True])):
            assert column.take(index).to_quanta(-1) == np.array(column.to_quanta(-1))[index].tolist()
