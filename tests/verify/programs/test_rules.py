"""Rules about unit fractions and about cases, against every number that there is."""

from __future__ import annotations

import itertools
import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.certificates.building import Subject, language_of
from verify.programs import shares
from verify.programs.decisions import _with
from verify.programs.facts import Facts
from verify.programs.interpreter import Input
from verify.programs.normal import Normalizer
from verify.programs.terms import ZERO, Above, Back, Equal, NumberOf, Positive, Read, Reciprocal, Term, as_term

MOST = 6
NUMBER = as_term(NumberOf())
BEFORE = as_term(Read(NUMBER, Back(1)))
NORMAL = Normalizer(Facts.everywhere(language_of(Subject("index", MOST))))
DIFFERENCE = as_term(Reciprocal(NUMBER)) - as_term(Read(as_term(Reciprocal(NUMBER)), Back(1)))
WEIGHTS = st.integers(-3, 3).map(Fraction)


def values(term: Term) -> list[int | Fraction]:
    """For every two denominators up to MOST, that of k first."""
    return [Input([("", v), ("", u)]).value(term, 2) for u, v in itertools.product(range(1, MOST + 1), repeat=2)]


def test_unit_fractions_are_compared_by_their_denominators() -> None:
    found = shares.larger(DIFFERENCE, NORMAL)
    assert found is not None
    assert values(found) == values(as_term(Above(DIFFERENCE)))


def test_zero_is_a_unit_fraction_that_is_larger_than_none() -> None:
    """Denominator 0: at position 1 nothing stands before."""
    found = shares.larger(DIFFERENCE, NORMAL)
    assert found is not None
    for u, v in itertools.product(range(4), repeat=2):
        larger = (Fraction(1, u) if u else 0) > (Fraction(1, v) if v else 0)
        assert Input([("", v), ("", u)]).value(found, 2) == larger


@given(
    st.lists(st.tuples(WEIGHTS, st.fractions(-1, 1, max_denominator=4)), min_size=1, max_size=3),
    st.sampled_from([Fraction(1), Fraction(3, 2)]),
    st.booleans(),
)
def test_units_over_a_difference_of_unit_fractions_are_a_step(
    units: list[tuple[Fraction, Fraction]], wide: Fraction, level: bool
) -> None:
    """Where a corner is farther than the least difference, or it ends in a slope, that is refused."""
    least = wide / (MOST * (MOST - 1))
    units = [(c, b * least) for c, b in units]
    if level:
        units.append((-sum((c for c, _ in units), Fraction(0)), Fraction(0)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "most", lambda a, normal: MOST)
        found = shares.step(DIFFERENCE, units, NORMAL)
    if found is not None:
        assert values(found) == values(sum((as_term(Positive(DIFFERENCE + b)) * c for c, b in units), ZERO))


def test_the_step_that_is_wired_is_told() -> None:
    least = Fraction(1, MOST * (MOST - 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "most", lambda a, normal: MOST)
        steps = [
            shares.step(DIFFERENCE, [(Fraction(1), b), (Fraction(-1), b - scale * least)], NORMAL)
            for b, scale in ((Fraction(0), 1), (least, 1), (Fraction(0), 2))
        ]
    assert [found is None for found in steps] == [False, False, True]


@pytest.mark.parametrize("start", [2, 4, 7])
def test_what_is_nearest_for_every_denominator_is_so_for_each(start: int) -> None:
    """1/m + a/m² + b/m³: the larger a is, the later it leaves the share's own half."""
    for a, b in itertools.product((Fraction(i, 4) for i in range(-7, 1)), (Fraction(i, 2) for i in range(-6, 30, 3))):
        each = (shares._between(m, 1 / Fraction(m) + a / m**2 + b / m**3) for m in range(start, start + 300))
        assert shares._between_from(start, {1: Fraction(1), 2: a, 3: b}) == all(each), (a, b)


def test_less_its_square_a_share_is_nearest_to_the_next_from_a_quarter_on() -> None:
    def near(m: int, value: Fraction) -> bool:
        return min(range(2, 50), key=lambda t: abs(Fraction(1, t) - value)) == m + 1

    less_square = {1: Fraction(1), 2: Fraction(-1)}
    assert [shares._between_from(start, less_square) for start in (2, 3, 4, 5)] == [False, False, True, True]
    assert not shares._between_from(2, {1: Fraction(1)})  # nearest to itself
    assert not shares._between_from(2, {2: Fraction(1)})
    halfway_at_2 = {1: Fraction(1), 2: Fraction(-3, 4), 3: Fraction(5, 6)}
    assert [shares._between_from(start, halfway_at_2) for start in (2, 3)] == [False, True]
    for m, value in itertools.product(range(2, 8), (Fraction(i, 240) for i in range(1, 200))):
        if shares._between(m, value):
            assert near(m, value)


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("slope", [-2, -1, 1, 3])
@pytest.mark.parametrize("offset", [Fraction(i, 2) for i in range(-9, 10)])
def test_a_case_bounds_a_number_by_what_it_says(slope: int, offset: Fraction, holds: bool) -> None:
    low, high = NORMAL.facts.bounds(NUMBER)
    numbers = range(int(low), int(high) + 1)
    above = Above(NUMBER * slope + offset)
    equal = Equal(NUMBER * slope, -offset)
    for atom, compare in ((above, operator.gt), (equal, operator.eq)):
        left = [x for x in numbers if compare(slope * x + offset, 0) == holds]
        bit = NORMAL.term(as_term(atom))
        if bit.is_constant:
            assert left == (list(numbers) if bit.constant == holds else [])
            continue
        least, most = _with(NORMAL, bit, holds).facts.bounds(NUMBER)
        assert all(least <= x <= most for x in left)
        if atom is above or holds:
            assert (least, most) == (left[0], left[-1])


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("scale", [-2, 1, Fraction(1, 2)])
@pytest.mark.parametrize("offset", [-3, 0, 2])
def test_a_comparison_of_two_numbers_bounds_what_is_parallel_to_it(holds: bool, scale: Fraction, offset: int) -> None:
    above = Above(NUMBER * 2 - BEFORE + offset)
    facts = NORMAL.facts.knowing(above, Fraction(int(holds)), Fraction(int(holds)))
    value = (NUMBER * 2 - BEFORE) * scale + 1
    low, high = facts.bounds(value)
    every = zip(values(as_term(above)), values(value), strict=True)
    there = [v for bit, v in every if bit == holds]
    assert low <= min(there) <= max(there) <= high
    assert (low if (scale > 0) == holds else high) == (min if (scale > 0) == holds else max)(there)
