"""Softmax against MPFR, its certificates against interval arithmetic, and the array twin against the definition."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, product, repeat
from unittest import mock

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from precision import (
    BF16,
    FP8_E4M3,
    FP16,
    FP32,
    FP64,
    TF32,
    Arithmetic,
    Discipline,
    Format,
    Rounding,
    exp_quanta,
    fixed_point,
    round_fraction,
    softmax,
    softmax_array,
)
from tests.precision import mpfr
from tests.precision.oracle import DETERMINISTIC, fine, round_by_search

by_name = {"ids": lambda item: getattr(item, "name", str(item))}
FORMATS = (fixed_point(5), fixed_point(9), fixed_point(17), fixed_point(33), fixed_point(61), BF16, FP16, FP8_E4M3)


def expected_fused(
    scores: Sequence[int], fmt: Format, rounding: Rounding, draws: Iterator[Fraction] | None = None
) -> list[int]:
    if len(set(scores)) == 1:
        exact = [Fraction(1, len(scores))] * len(scores)
    else:
        exact = mpfr.softmax([score * fmt.quantum for score in scores], 1500)
    return [round_fraction(weight, fmt, rounding, None if draws is None else next(draws)).quanta for weight in exact]


@st.composite
def columns(draw: st.DrawFn, fmt: Format) -> list[int]:
    """Scores in quanta with tied winners, small gaps, gaps around the certificates' thresholds, and large gaps."""
    one = 2**-fmt.quantum_exponent
    largest = min(fmt.max_quanta, 500 * one)
    threshold = int(-fmt.quantum_exponent * math.log(2) * one)
    gap = (
        st.just(0)
        | st.integers(0, 4 * one)
        | st.integers(max(0, threshold - 3 * one), threshold + 4 * one)
        | st.integers(0, largest)
    )
    top = draw(st.integers(-largest, largest))
    return [top - g for g in [0, *draw(st.lists(gap, max_size=8))]]


@pytest.mark.parametrize("rounding", Rounding, **by_name)
@pytest.mark.parametrize("fmt", FORMATS, **by_name)
@given(data=st.data())
@settings(max_examples=25)
def test_fused_weights_are_the_rounded_exact_ones(fmt: Format, rounding: Rounding, data: st.DataObject) -> None:
    scores = data.draw(columns(fmt))
    draws = data.draw(st.lists(st.fractions(0, 1, max_denominator=50).filter(lambda r: r < 1), min_size=9, max_size=9))
    arithmetic = Arithmetic(fmt, rounding=rounding)
    stochastic = rounding is Rounding.STOCHASTIC
    result = softmax(scores, arithmetic, iter(draws))
    assert result.weights == expected_fused(scores, fmt, rounding, iter(draws) if stochastic else None)
    assert (result.decided_by == "exact") == (len(set(scores)) == 1)


@pytest.mark.parametrize("rounding", DETERMINISTIC, **by_name)
def test_certificate_is_what_interval_arithmetic_finds(rounding: Rounding) -> None:
    """Every number of winners up to past the last one whose share is not zero, around the smallest certified gap."""
    definition = importlib.import_module("precision.softmax")  # the package's attribute of that name is the function
    decided: Counter[str] = Counter()
    for precision_bits in (5, 9):
        fmt = fixed_point(precision_bits)
        arithmetic = Arithmetic(fmt, rounding=rounding)
        for winners, losers, gap in product(
            range(1, 4 * 2**-fmt.quantum_exponent), (1, 3), range(1, 8 * 2**-fmt.quantum_exponent, 5)
        ):
            scores = [0] * winners + [-gap] * losers
            quick = softmax(scores, arithmetic)
            with (
                mock.patch.object(definition, "_certified_winner", return_value=None),
                mock.patch.object(definition, "_certified_loser", return_value=None),
            ):
                slow = softmax(scores, arithmetic)
            assert slow.decided_by == "arb"
            assert quick.weights == slow.weights
            decided[quick.decided_by] += 1
    assert decided["certificate"] > 100
    assert decided["arb"] > 100


@pytest.mark.parametrize("rounding", DETERMINISTIC, **by_name)
@pytest.mark.parametrize("fmt", [fixed_point(33), fixed_point(101), BF16, FP64], **by_name)
def test_leakage_too_small_to_evaluate_still_counts(fmt: Format, rounding: Rounding) -> None:
    """A gap of 2^40 (or as large as it gets) leaves the winner below 1/m, which TOWARD_ZERO must show."""
    gap = min(2**40 << -fmt.quantum_exponent, fmt.max_quanta)
    for winners in (1, 2, 3, 4, 64):
        result = softmax([0] * winners + [-gap], Arithmetic(fmt, rounding=rounding))
        below = Fraction(1, winners) - Fraction(1, 2**3000)
        share = round_fraction(below, fmt, rounding).quanta
        assert result.weights == [share] * winners + [0]
        assert result.decided_by == "certificate"


def test_leakage_counts_against_a_random_number_on_the_spot() -> None:
    """A third of 2^30 quanta leaves the fraction 1/3; with any loser the weight stays below it."""
    fmt = fixed_point(61)
    third = 2**30 // 3
    randoms = [Fraction(1, 3), Fraction(1, 3) - Fraction(1, 10**9), Fraction(0), Fraction(0)]
    result = softmax([0, 0, 0, -(2**29) << 30], Arithmetic(fmt, rounding=Rounding.STOCHASTIC), iter(randoms))
    assert result == ([third, third + 1, third + 1, 1], "certificate", False, False)
    uniform = softmax([0, 0, 0], Arithmetic(fmt, rounding=Rounding.STOCHASTIC), repeat(Fraction(1, 3)))
    assert uniform == ([third] * 3, "exact", False, False)


@pytest.mark.parametrize(("rounding", "weight"), [(Rounding.NEAREST_EVEN, 0), (Rounding.NEAREST_AWAY, 1)], **by_name)
def test_a_share_on_a_midpoint(rounding: Rounding, weight: int) -> None:
    """1/32 is half a quantum of R_9: a tie if the column is uniform, and below it with any loser however far away."""
    arithmetic = Arithmetic(fixed_point(9), rounding=rounding)
    assert softmax([0] * 32, arithmetic) == ([weight] * 32, "exact", False, True)
    assert softmax([0] * 32 + [-255], arithmetic) == ([0] * 33, "certificate", False, False)


def gap_for(share: Fraction, fmt: Format) -> int:
    """The score, in quanta rounded down, whose weight beside a score of 0 is this share."""
    ratio = share / (1 - share)
    with ctx.workprec(3000):
        log = (arb(ratio.numerator) / arb(ratio.denominator)).log() * arb((1, -fmt.quantum_exponent))
        return int(log.floor().unique_fmpz())


@pytest.mark.parametrize("quantum_exponent", [-60, -120, -400])
def test_near_ties_need_the_fallback(quantum_exponent: int) -> None:
    """Scores (g, 0) with g next to log(c / (1 - c)) for a midpoint c between two elements."""
    fmt = fine(quantum_exponent)
    weights = set()
    for k in range(1, 12):
        gap = gap_for(Fraction(2 * (512 + 40 * k) + 1, 2**11), fmt)
        for scores in ([gap, 0], [gap + 1, 0]):
            result = softmax(scores, Arithmetic(fmt))
            assert result.decided_by == "arb"
            assert result.weights == expected_fused(scores, fmt, Rounding.NEAREST_EVEN)
            weights.add(result.weights[0])
    assert len(weights) == 22  # the two sides of each midpoint round apart


def test_where_float64_goes_wrong_and_two_roundings_do() -> None:
    """On both sides of near ties; uniform columns; winners that tie."""
    cases = [([0] * m, fixed_point(9)) for m in range(1, 70)]
    cases += [([0] * m + [-g], fixed_point(9)) for m in (1, 2, 31, 32, 33) for g in (1, 40, 100, 255)]
    for fmt, k, shift in product((fine(-56), fine(-60)), range(8), range(-2, 4)):
        cases.append(([gap_for(Fraction(2 * (520 + 30 * k) + 1, 2**11), fmt) + shift, 0], fmt))
    in_float64, twice_rounded = [], []
    for scores, fmt in cases:
        right = expected_fused(scores, fmt, Rounding.NEAREST_EVEN)
        assert softmax(scores, Arithmetic(fmt)).weights == right
        differences = [score - max(scores) for score in scores]
        floats = [math.exp(float(difference * fmt.quantum)) for difference in differences]
        shares = [Fraction(power / math.fsum(floats)) for power in floats]
        in_float64.append([round_fraction(share, fmt).quanta for share in shares] == right)
        powers = [exp_quanta(difference, fmt).quanta for difference in differences]
        shares = [Fraction(power, sum(powers)) for power in powers]
        twice_rounded.append([round_fraction(share, fmt).quanta for share in shares] == right)
    assert not all(in_float64)
    assert not all(twice_rounded)


@pytest.mark.parametrize("rounding", DETERMINISTIC, **by_name)
@pytest.mark.parametrize("fmt", [fixed_point(5), fixed_point(9), FP8_E4M3], **by_name)
@given(data=st.data())
@settings(max_examples=40)
def test_sequential_rounds_every_operation(fmt: Format, rounding: Rounding, data: st.DataObject) -> None:
    element = st.integers(-fmt.max_quanta, fmt.max_quanta).map(
        lambda q: round_by_search(q * fmt.quantum, fmt, rounding)[0]
    )
    scores = data.draw(st.lists(element, min_size=1, max_size=40))
    flags = []

    def rnd(x: Fraction) -> Fraction:
        value, saturated, tie = round_by_search(x, fmt, rounding)
        flags.append((saturated, tie))
        return value

    differences = [rnd(score - max(scores)) for score in scores]
    powers = [rnd(mpfr.exp(max(d, Fraction(-60)), 300) if d else Fraction(1)) for d in differences]
    total = powers[0]
    for power in powers[1:]:
        total = rnd(total + power)
    weights = [rnd(power / total) for power in powers]
    result = softmax([int(score / fmt.quantum) for score in scores], Arithmetic(fmt, Discipline.SEQUENTIAL, rounding))
    assert [weight * fmt.quantum for weight in result.weights] == weights
    assert (result.saturated, result.tie) == tuple(map(any, zip(*flags, strict=True)))


def test_sequential_sum_may_saturate() -> None:
    fmt = fixed_point(5)
    result = softmax([0] * 40, Arithmetic(fmt, Discipline.SEQUENTIAL))
    assert result.saturated
    assert result.weights == [1] * 40  # 1 / 3.75 = 1.07 quanta


def test_sequential_stochastic_takes_draws_in_order() -> None:
    fmt = fixed_point(9)
    draws = (Fraction(k % 7, 7) for k in count())
    result = softmax([16, 0, 5], Arithmetic(fmt, Discipline.SEQUENTIAL, Rounding.STOCHASTIC), draws)
    assert next(draws) == Fraction(11 % 7, 7)  # 3 · 2 + 2 + 3 of them were used
    # exp(-1) = 5.89 and exp(-11/16) = 8.05 quanta with draws 3/7 and 5/7; then 16/30, 6/30, 8/30 with 1/7, 2/7, 3/7.
    assert result.weights == [9, 3, 4]


SLAB_FORMATS = [fixed_point(p) for p in (5, 9, 17, 33, 35, 37, 53)] + [FP64, FP32, TF32, BF16, FP16, FP8_E4M3]


@pytest.mark.parametrize("rounding", DETERMINISTIC, **by_name)
@pytest.mark.parametrize("discipline", Discipline, **by_name)
@pytest.mark.parametrize("fmt", SLAB_FORMATS, **by_name)
def test_array_twin_has_the_bits_of_the_definition(fmt: Format, discipline: Discipline, rounding: Rounding) -> None:
    rng = np.random.default_rng(2)
    keys, queries = 9, 24
    raw = rng.choice([0.0, 0.0, 1.0, -1.0, 3.5, 10.0, 25.0, -700.5], (keys, queries))
    raw = np.where(rng.random(raw.shape) < 0.5, raw, rng.uniform(-8, 8, raw.shape))
    raw[:, -2:] = 1.5
    quanta = [[round_fraction(Fraction(score), fmt).quanta for score in row] for row in raw.tolist()]
    scores = np.array([[float(score * fmt.quantum) for score in row] for row in quanta])
    mask = rng.random(raw.shape) < 0.8
    mask[rng.integers(0, keys, queries), np.arange(queries)] = True
    arithmetic = Arithmetic(fmt, discipline, rounding)
    ours = softmax_array(scores, mask, arithmetic, axis=0)
    assert not np.signbit(ours.weights).any()
    assert sum(ours.decided_by.values()) == queries
    for query in range(queries):
        attended = [key for key in range(keys) if mask[key, query]]
        column = softmax([quanta[key][query] for key in attended], arithmetic)
        expected = np.zeros(keys)
        expected[attended] = [float(weight * fmt.quantum) for weight in column.weights]
        assert ours.weights[:, query].tobytes() == expected.tobytes()
        assert (ours.saturated[query], ours.tie[query]) == (column.saturated, column.tie)


def test_array_twin_falls_back_and_says_so() -> None:
    scores = np.zeros((32, 3))
    scores[:, 1] = np.linspace(0, 15, 32).round()
    mask = np.ones_like(scores, dtype=bool)
    mask[16:, 2] = False
    ours = softmax_array(scores, mask, Arithmetic(fixed_point(9)), axis=0)
    assert ours.decided_by == {"exact": 1, "float64": 2}
    assert ours.tie.tolist() == [True, False, False]
    assert ours.weights[:, 0].tolist() == [0.0] * 32
    assert ours.weights[:16, 2].tolist() == [1 / 16] * 16


@pytest.mark.parametrize("fmt", [fixed_point(9), fixed_point(33), BF16], **by_name)
def test_array_twin_does_not_depend_on_its_neighbours(fmt: Format) -> None:
    rng = np.random.default_rng(9)
    scores = (
        softmax_array(rng.integers(-9, 9, (20, 600)), np.ones((20, 600), bool), Arithmetic(BF16), axis=0).weights * 64
    )
    scores = np.round(scores * 16) / 16
    mask = rng.random(scores.shape) < 0.9
    mask[0] = True
    whole = softmax_array(scores, mask, Arithmetic(fmt), axis=0).weights
    for query in (0, 255, 256, 599):
        alone = softmax_array(scores[:, [query]], mask[:, [query]], Arithmetic(fmt), axis=0).weights
        assert alone.tobytes() == whole[:, [query]].tobytes()


@given(columns(fixed_point(9)), st.randoms(use_true_random=False), st.integers(-50, 50))
@example([0] * 16 + [-100], None, 3)
@settings(max_examples=40)
def test_fused_depends_on_neither_order_nor_offset(scores: list[int], order: object, offset: int) -> None:
    arithmetic = Arithmetic(fixed_point(9))
    places = list(range(len(scores)))
    if hasattr(order, "shuffle"):
        order.shuffle(places)
    weights = softmax(scores, arithmetic).weights
    assert softmax([scores[place] + offset for place in places], arithmetic).weights == [weights[p] for p in places]


def test_bad_arguments_are_named() -> None:
    r9 = Arithmetic(fixed_point(9))
    stochastic = Arithmetic(fixed_point(9), rounding=Rounding.STOCHASTIC)
    with pytest.raises(ValueError, match="no key is attended to"):
        softmax([], r9)
    with pytest.raises(ValueError, match="tiny does not hold it"):
        softmax([1], Arithmetic(Format("tiny", 2, -3, 3)))
    with pytest.raises(ValueError, match="needs `draws`"):
        softmax([1], stochastic)
    assert softmax([1, 2], stochastic, repeat(Fraction(1, 2))).decided_by == "arb"
    ones = np.ones((2, 2))
    with pytest.raises(ValueError, match="query 1 attends to no key"):
        softmax_array(ones, np.array([[True, False], [True, False]]), r9, axis=0)
    with pytest.raises(ValueError, match="must both have the shape"):
        softmax_array(ones, np.ones(2), r9)
    with pytest.raises(ValueError, match="cannot take softmax of inf"):
        softmax_array(ones * math.inf, ones, r9)
    with pytest.raises(ValueError, match="stochastic rounding of a softmax is offered by `softmax` only"):
        softmax_array(ones, ones, stochastic)
    with pytest.raises(ValueError, match=r"0\.3 is not a multiple of the quantum of fp8"):
        softmax_array(
            np.array([[0.3], [0.3]]), np.ones((2, 1)), Arithmetic(FP8_E4M3, rounding=Rounding.TOWARD_ZERO), axis=0
        )


@pytest.mark.parametrize("discipline", Discipline, **by_name)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_any_axis_of_any_dimensions(axis: int, discipline: Discipline) -> None:
    """Each column along the axis has the weights of the definition; −∞ masks as the mask does."""
    fmt, rng = fixed_point(11), np.random.default_rng(5)
    quanta = rng.integers(-200, 200, (3, 4, 5))
    mask = rng.random(quanta.shape) < 0.7
    np.moveaxis(mask, axis, 0)[0] = True
    scores = quanta / 32
    ours = softmax_array(scores, mask, Arithmetic(fmt, discipline), axis=axis)
    infinite = softmax_array(np.where(mask, scores, -np.inf), None, Arithmetic(fmt, discipline), axis=axis)
    assert ours.weights.tobytes() == infinite.weights.tobytes()
    by_key, kept, weights = (np.moveaxis(x, axis, -1) for x in (quanta, mask, ours.weights))
    assert ours.tie.shape == ours.saturated.shape == by_key.shape[:-1]
    for place in np.ndindex(by_key.shape[:-1]):
        column = softmax(by_key[place][kept[place]].tolist(), Arithmetic(fmt, discipline))
        assert (weights[place][kept[place]] * 32).tolist() == column.weights
        assert not weights[place][np.logical_not(kept[place])].any()
        assert (ours.saturated[place], ours.tie[place]) == (column.saturated, column.tie)


def test_the_last_axis_is_the_default_as_in_other_libraries() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[[0.0, 1.0, 2.0], [4.0, 4.0, -math.inf]]])
    ours = softmax_array(scores, None, Arithmetic(FP32)).weights
    assert torch.allclose(ours, torch.softmax(scores.double(), dim=-1), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("scores", "axis", "message"),
    [
        ([[0.0, math.nan]], -1, "cannot take softmax of nan"),
        ([[0.0, math.inf]], -1, "cannot take softmax of inf"),
        ([[[0.0], [1.0]], [[0.0], [-math.inf]]], -1, r"query \(1, 1\) attends to no key"),
        ([0.0], 1, "axis 1 is none of scores of 1 dimensions"),
        (0.0, -1, "axis -1 is none of scores of 0 dimensions"),
        ([[], []], -1, "query 0 attends to no key"),
        ([-math.inf], -1, "the query attends to no key"),
    ],
)
def test_scores_that_have_no_softmax(scores: object, axis: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        softmax_array(scores, None, Arithmetic(fixed_point(9)), axis=axis)
