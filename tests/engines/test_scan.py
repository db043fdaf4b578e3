"""Linear recurrences: the scan gives the same bits as running them by definition."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.indexed.column import normalised, of_integers
from constructions.engines.indexed.operators import Operators
from constructions.engines.indexed.scan import states
from constructions.engines.weights import weight_of
from constructions.rows import Recurrent, Written
from precision.format import BF16, Arithmetic, Discipline, Format, fixed_point
from tests.engines.agreement import assert_same
from tests.engines.cases import Case
from tests.engines.dense_cases import linear

WIDTH, VOCABULARY = 4, 5
Weighted = Mapping[int, Mapping[int, int | Fraction]]
FORMATS = (fixed_point(9), fixed_point(33), fixed_point(129), BF16)


@st.composite
def matrices(draw: st.DrawFn, shape: tuple[int, int], values: tuple[float, ...]) -> np.ndarray:
    cells = draw(st.lists(st.sampled_from(values), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(cells).reshape(shape)


@given(
    carry=matrices((WIDTH, WIDTH), (0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 2.0)),
    feed=matrices((WIDTH, WIDTH), (0.0, 1.0, -2.0, 0.25)),
    words=matrices((VOCABULARY, WIDTH), (0.0, 1.0, -1.0, 3.0, 0.0625)),
    tokens=st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=30),
    fmt=st.sampled_from(FORMATS),
    discipline=st.sampled_from(list(Discipline)),
)
@settings(max_examples=150, deadline=None)
def test_any_recurrence(
    carry: np.ndarray, feed: np.ndarray, words: np.ndarray, tokens: list[int], fmt: Format, discipline: Discipline
) -> None:
    assert_same("indexed", Case(linear(carry, feed, words), Arithmetic(fmt, discipline), tokens))


def recurrent(carry: Weighted, feed: Weighted, fmt: Format) -> Recurrent:
    """Register → its weights: over the states before, and over the registers."""

    def written(weighted: Weighted) -> Written:
        rows = ((i, {j: weight_of(int(w / fmt.quantum)) for j, w in row.items()}) for i, row in weighted.items())
        return tuple((i, tuple((j, w) for j, w in row.items() if w)) for i, row in rows)

    return Recurrent(written(carry), written(feed))


def test_states_that_read_each_other_are_one_group() -> None:
    """0 is carried on, 1 and 2 read each other and 0, 5 reads them by way of 3; 4 and 9 have no state, or read none."""
    carry = {0: {0: 1}, 1: {2: 1, 0: 1}, 2: {1: 1}, 3: {1: 1}, 5: {3: 1, 5: 2, 9: 1}}
    assert recurrent(carry, {4: {1: 1}}, fixed_point(9)).groups == ((0,), (4,), (1, 2), (3,), (5,))


@pytest.mark.parametrize("discipline", list(Discipline))
def test_shift_registers_and_integer_sums_are_scanned(discipline: Discipline) -> None:
    arithmetic = Arithmetic(fixed_point(65), discipline)
    recurrence = recurrent({1: {0: 1}, 2: {2: 1}}, {0: {3: 1}, 2: {3: 1}}, arithmetic.format)
    values = normalised(np.arange(1, 1001), 0)
    actual, scanned = states(Operators(arithmetic), recurrence, [values] * 4, 1000)
    assert scanned
    assert actual[2].to_quanta(0)[-1] == 500500
    assert actual[1].to_quanta(0)[:3] == [0, 1, 2]


def test_a_sum_that_saturates_is_run_by_definition() -> None:
    values = normalised(np.full(40, 3), 0)
    recurrence = recurrent({0: {0: 1}}, {0: {1: 1}}, fixed_point(9))
    actual, scanned = states(Operators(Arithmetic(fixed_point(9))), recurrence, [values] * 2, 40)
    assert not scanned
    assert actual[0].to_quanta(-4)[-1] == 255  # the largest element of R_9


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("weights", [(8, 1), (-1, 1), (1, 1), (2, 3), (8, Fraction(1, 64))])
def test_any_integer_factor_is_iterated_while_it_stays_within_the_format(
    discipline: Discipline, weights: tuple[int, Fraction]
) -> None:
    """Digits enter and leave: h_t = a·h_{t−1} + b·x_t, where x takes away what would be too much."""
    factor, weight = weights
    inputs, h = [], Fraction(0)
    for t in range(300):
        inputs.append(-int(factor * h / weight) + t % 5)
        h = factor * h + weight * inputs[-1]
    column = of_integers(inputs, 0)
    fmt = fixed_point(65)
    recurrence = recurrent({0: {0: factor}}, {0: {1: weight}}, fmt)
    actual, scanned = states(Operators(Arithmetic(fmt, discipline)), recurrence, [column] * 2, 300)
    assert scanned
    expected, h = [], Fraction(0)
    for x in inputs:
        h = factor * h + weight * x
        expected.append(h / fmt.quantum)
    assert actual[0].to_quanta(fmt.quantum_exponent) == expected


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize(("factor", "word"), [(2, 8.0), (2, 7.9375), (4, 4.0), (-1, 15.9375), (1, 15.0), (-2, 3.0)])
def test_iteration_ends_where_a_sum_saturates(discipline: Discipline, factor: int, word: float) -> None:
    """Words that bring the state to the end of R_9 and back."""
    carry, feed, words = np.zeros((WIDTH, WIDTH)), np.zeros((WIDTH, WIDTH)), np.zeros((VOCABULARY, WIDTH))
    carry[0, 0], feed[0, 1] = factor, 1.0
    words[1, 1], words[2, 1] = word, -word
    for tokens in ([1, 0], [1, 2, 2, 2], [1, 2, 2, 0, 1], [1, 0, 2, 1, 1, 2], [1, 2] * 8, [1, 1, 2, 2, 0, 0]):
        assert_same("indexed", Case(linear(carry, feed, words), Arithmetic(fixed_point(9), discipline), tokens))


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize(("factor", "weight"), [(1.0, 0.75), (2.0, 0.75), (-1.0, 0.75), (0.5, 1.0)])
def test_what_lies_between_two_elements_is_rounded_at_each_step(
    discipline: Discipline, factor: float, weight: float
) -> None:
    carry, feed, words = np.zeros((WIDTH, WIDTH)), np.zeros((WIDTH, WIDTH)), np.zeros((VOCABULARY, WIDTH))
    carry[0, 0], feed[0, 1] = factor, weight
    words[:, 1] = [0.0625, -0.0625, 0.1875, 0.0, -0.125]  # quanta of R_9 are 1/16
    assert_same(
        "indexed", Case(linear(carry, feed, words), Arithmetic(fixed_point(9), discipline), [0, 0, 1, 1, 3, 2, 4, 1, 0])
    )
