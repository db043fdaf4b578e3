"""The two lemmas about winners, against ball arithmetic, MPFR and a search through all elements."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precision import FP8_E4M3, FP8_E5M2, FP16, Arithmetic, Discipline, Format, Rounding, fixed_point, softmax
from precision.winners import vanishing_lead, winners_share
from tests.precision import mpfr
from tests.precision.oracle import DETERMINISTIC, round_by_search

FORMATS = (*map(fixed_point, (5, 7, 9, 11)), FP8_E4M3, FP8_E5M2)
NUMBERS = st.integers(1, 80) | st.sampled_from([2**i for i in range(10)])


@given(keys=st.integers(0, 2**40), fraction_bits=st.integers(0, 600))
def test_after_a_vanishing_lead_a_whole_column_vanishes(keys: int, fraction_bits: int) -> None:
    lead = vanishing_lead(keys, fraction_bits)
    leak = max(keys, 1) * (flint.arb(-lead.numerator) / lead.denominator).exp()
    assert bool(leak < flint.arb((1, -fraction_bits - 2)))
    assert bool(leak > flint.arb((1, -fraction_bits - 4)))  # no more than is needed, but for the keys' bits


def clear_gap(arithmetic: Arithmetic) -> int:
    """The least gap of two scores, in quanta, after which sixteen keys vanish; one that they can have."""
    fmt, fused = arithmetic.format, arithmetic.discipline is Discipline.FUSED
    gap = ceil(vanishing_lead(16 if fused else 0, -fmt.quantum_exponent) / fmt.quantum)
    return gap if fmt.is_fixed_point else 1 << (gap - 1).bit_length()


@settings(max_examples=60)
@given(
    fmt=st.sampled_from(FORMATS),
    rounding=st.sampled_from(DETERMINISTIC),
    winners=NUMBERS,
    losers=st.sampled_from((0, 1, 16)),
)
def test_winners_share_what_is_nearest_to_their_exact_weight(
    fmt: Format, rounding: Rounding, winners: int, losers: int
) -> None:
    arithmetic = Arithmetic(fmt, Discipline.FUSED, rounding)
    gap = clear_gap(arithmetic) * fmt.quantum
    weights = mpfr.softmax([Fraction(0)] * winners + [-gap] * losers)
    share = winners_share(winners, arithmetic, losers=losers > 0) * fmt.quantum
    assert share == round_by_search(weights[0], fmt, rounding)[0]
    assert all(round_by_search(weight, fmt, rounding)[0] == 0 for weight in weights[winners:][:1])


@given(
    fmt=st.sampled_from((*FORMATS, fixed_point(17), FP16)),
    discipline=st.sampled_from(Discipline),
    rounding=st.sampled_from(DETERMINISTIC),
    winners=NUMBERS,
    losers=st.integers(0, 16),
)
def test_shares_are_those_of_the_softmax(
    fmt: Format, discipline: Discipline, rounding: Rounding, winners: int, losers: int
) -> None:
    arithmetic = Arithmetic(fmt, discipline, rounding)
    gap = clear_gap(arithmetic)
    if gap > (2 if discipline is Discipline.FUSED else 1) * fmt.max_quanta:
        return  # no two scores are so far apart
    top = min(gap, fmt.max_quanta)
    weights = softmax([top] * winners + [top - gap] * losers, arithmetic).weights
    assert weights == [winners_share(winners, arithmetic, losers=losers > 0)] * winners + [0] * losers


@pytest.mark.parametrize("rounding", DETERMINISTIC)
def test_a_loser_shows_where_the_share_is_a_critical_point(rounding: Rounding) -> None:
    """1/2^q is an element, 1/2^(q + 1) a midpoint; what is just below them rounds down, or to the same element."""
    arithmetic = Arithmetic(fixed_point(9), Discipline.FUSED, rounding)
    alone, beside = ([winners_share(2**e, arithmetic, losers=losers) for e in (4, 5)] for losers in (False, True))
    assert alone == {"even": [1, 0], "away": [1, 1], "zero": [1, 0]}[rounding.value.split("-")[-1]]
    assert beside == {"even": [1, 0], "away": [1, 0], "zero": [0, 0]}[rounding.value.split("-")[-1]]


@pytest.mark.parametrize(("fmt", "count"), [(fixed_point(5), 100), (FP8_E4M3, 10**6), (fixed_point(9), 10**9)])
def test_counting_that_has_stalled_ends(fmt: Format, count: int) -> None:
    """1 + 1 + … no longer grows long before so many."""
    arithmetic = Arithmetic(fmt, Discipline.SEQUENTIAL)
    assert winners_share(count, arithmetic, losers=True) == softmax([0] * 100, arithmetic).weights[0]
