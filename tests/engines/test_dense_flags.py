"""Flags of the dense engine: of columns, at every site, of scores and recurrences; sites, counts and first positions."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import dense
from constructions.engines.dense import score_flags as dense_score_flags
from constructions.engines.dense.column import Numbers
from constructions.engines.dense.rounding import Rounder
from constructions.layers import Transformer
from precision.format import (
    BF16,
    FP8_E4M3,
    FP16,
    FP32,
    FP64,
    Arithmetic,
    Discipline,
    Format,
    Rounding,
    fixed_point,
)
from precision.rounding import round_shifted
from tests.engines.dense_cases import (
    FORMATS,
    ROUNDINGS,
    TOKENS,
    assert_same,
    linear,
    one_head,
    random_linear_model,
    random_model,
    random_sequences,
)

same_flags = partial(assert_same, registers=False)

# Columns


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: str(fmt.name))
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_small_numbers_and_those_around_the_largest_element_are_flagged_by_the_definition(fmt, rounding):
    """Each quarter of a step, alone and beside the others: elements between numbers that are rounded have no flags."""
    step = 1 << max(0, fmt.max_quanta.bit_length() - fmt.significand_bits)
    numbers = Numbers(fmt, torch.device("cpu"))
    for shift in (-3, 0, 1, 2, 5, 70):
        scale, left = max(0, shift), max(0, -shift)
        small = [*range(70), *(1 << bits for bits in range(61))]
        large = [((4 * fmt.max_quanta + k * step) << scale) >> (2 + left) for k in range(-12, 13)]
        for mantissas in (small, large, [*small, *large], [-mantissa for mantissa in large]):
            column = numbers.from_objects(np.array(mantissas, dtype=object), -shift)
            expected = [round_shifted(mantissa << left, scale, fmt, rounding) for mantissa in mantissas]
            flagged = Rounder(numbers, rounding).flagged(column)
            actual = ([False] * len(mantissas),) * 2 if flagged is None else tuple(mask.tolist() for mask in flagged)
            assert actual == ([rounded.saturated for rounded in expected], [rounded.tie for rounded in expected])


@settings(max_examples=300, deadline=None)
@given(data=st.data(), fmt=st.sampled_from(FORMATS), rounding=st.sampled_from(ROUNDINGS), shift=st.integers(-6, 70))
def test_columns_are_flagged_by_the_definition(data, fmt: Format, rounding: Rounding, shift: int):
    """Numbers of all sizes, many of them half-way between elements or around the largest one."""
    step = 1 << max(0, fmt.max_quanta.bit_length() - fmt.significand_bits)
    scale = max(0, shift)
    around_largest = [(2 * fmt.max_quanta + step * k << scale) // 2 for k in range(-3, 4)]
    half_way = st.builds(
        lambda whole, places: (2 * whole + 1) << places,
        st.integers(0, 2**fmt.significand_bits),
        st.integers(0, max(scale - 1, fmt.max_quanta.bit_length() - fmt.significand_bits + 1)),
    )
    number = st.one_of(
        st.integers(0, 70).flatmap(lambda bits: st.integers(0, 2**bits)),
        st.sampled_from([1 << scale >> 1, fmt.max_quanta << scale, *around_largest]),
        half_way,
    )
    moved = st.builds(lambda n, by, sign: sign * (n + by), number, st.integers(-1, 1), st.sampled_from((-1, 1)))
    mantissas = data.draw(st.lists(moved, min_size=1, max_size=5))
    numbers = Numbers(fmt, torch.device("cpu"))
    column = numbers.from_objects(np.array(mantissas, dtype=object), -shift)
    expected = [round_shifted(number << max(0, -shift), scale, fmt, rounding) for number in mantissas]
    flagged = Rounder(numbers, rounding).flagged(column)
    actual = ([False] * len(mantissas),) * 2 if flagged is None else tuple(mask.tolist() for mask in flagged)
    assert actual == ([rounded.saturated for rounded in expected], [rounded.tie for rounded in expected])


# Models without structure


ROUNDED = (
    *("embedding", "attn.query", "attn.key", "attn.value", "attn.score", "attn.sum", "attn.out", "attn.residual"),
    *("state", "recurrence.residual", "ffn.gate", "ffn.up", "ffn.product", "ffn.down", "ffn.residual", "logit"),
)
LOADED = (
    *("words", "position", "attn.query", "attn.key", "attn.value", "attn.out", "recurrence.carry", "recurrence.feed"),
    *("ffn.gate", "ffn.gate_bias", "ffn.up", "ffn.up_bias", "ffn.down", "ffn.down_bias", "unembed"),
)


@pytest.mark.parametrize("discipline", Discipline)
def test_every_kind_of_flag_occurs_at_every_site_and_is_the_same(discipline):
    """A site that is not looked at, or called by another name, shows here."""
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng([seed, 5])
        make = random_linear_model if seed % 3 == 0 else random_model
        model = make(rng, int(rng.choice((2, 5, 40))), True)
        arithmetic = Arithmetic((fixed_point(9), FP8_E4M3, fixed_point(5))[seed // 3 % 3], discipline)
        for flags in same_flags(model, arithmetic, random_sequences(rng)):
            seen |= {(site.kind, re.sub(r"\.\d+|\[\d+\]", "", site.site)) for site in flags.counts}
    wanted = {(kind, place) for kind in ("saturation", "rounding tie") for place in ROUNDED}
    wanted |= {("weight rounded", place) for place in LOADED} | {("logit tie", "logit")}
    assert wanted - seen == set()


def test_equal_rows_are_each_flagged():
    """Rows that are computed once for all of them."""
    model = random_model(np.random.default_rng(3), 40, True)
    ffn = model.blocks[0].feed_forward
    same = replace(
        ffn,
        **{name: np.repeat(getattr(ffn, name)[:1], 3, axis=0) for name in ("gate", "gate_bias", "up", "up_bias")},
        down=np.repeat(ffn.down[:, :1], 3, axis=1),
    )
    model = replace(model, blocks=(replace(model.blocks[0], feed_forward=same),), unembed=model.unembed[[0, 1, 0, 1]])
    for discipline in Discipline:
        (flags,) = same_flags(model, Arithmetic(fixed_point(7), discipline), [[0, 1, 2, 3] * 3])
        assert {f"ffn.up[{i}]" for i in range(3)} <= {site.site for site in flags.counts}


# Scores, of which the engine computes few


@pytest.mark.parametrize(
    "fmt", [*map(fixed_point, (9, 17, 65, 129)), BF16, FP16, FP32, FP64], ids=lambda fmt: str(fmt.name)
)
@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ([[0, 1, 0]], [[-(2.0**30), 0, 0]]),
        ([[0, 1, 0]], [[-(2.0**30), -(2.0**30), 0]]),
        ([[0, 1, 0], [0, 1, 0]], [[2.0**20, 0, 0], [-(2.0**20), 0, 0]]),  # terms saturate, their sum does not
        ([[0, 2.0**-4, 0]], [[1, 2.0**-6, 0]]),  # digits are rounded away
        ([[0, 2.0**-4, 0]], [[2.0**9, 2.0**-5, 0]]),  # both
        ([[2.0**31, 0, 0], [-(2.0**31), 0, 0]], [[2.0**31, 0, 0], [2.0**31, 2.0**-31, 0]]),  # large terms that cancel
        ([[0, 1, 0]], [[7.9375, 0, 0]]),  # around the largest element of R_9
        (np.zeros((0, 3)), np.zeros((0, 3))),
    ],
)
def test_flags_of_scores_are_the_same(fmt, discipline, query, key):
    for tile in (2, 64):
        same_flags(one_head(query, key), Arithmetic(fmt, discipline), TOKENS, tile)


def around_the_largest_score(fmt: Format) -> Transformer:
    """Scores within a few halves of a step of the largest element, which float64 alone may not place."""
    half = max(0, fmt.max_quanta.bit_length() - fmt.significand_bits) + fmt.quantum_exponent - 1  # log2
    query = np.array([[0, 0, 1.0], [0, 0, 2.0 ** (half - half // 2)]])
    model = one_head(query, np.array([[0, 0, float(fmt.max_value)], [2.0 ** (half // 2), 0, 0]]))
    words = np.array([[float(k), 0, 1] for k in range(-3, 4)])
    return replace(model, words=words, unembed=np.eye(7, 3))


@pytest.mark.parametrize("fmt", [*map(fixed_point, (9, 33, 51, 65)), BF16, FP32], ids=lambda fmt: str(fmt.name))
@pytest.mark.parametrize("discipline", Discipline)
def test_scores_around_the_largest_element_have_the_same_flags(fmt, discipline):
    model = around_the_largest_score(fmt)
    for rounding in ROUNDINGS:
        same_flags(model, Arithmetic(fmt, discipline, rounding), [[0, 3, 5, 6, 2, 4, 1, 3] * 2, [4] * 3])


def test_every_way_of_telling_the_flags_of_scores_occurs(monkeypatch):
    """Otherwise the agreement above would say little."""
    seen = {"saturated": 0, "open": 0, "clear": 0}
    sift = dense_score_flags._Sieve.sift

    def counted(self, tile, workspace):
        sifted = sift(self, tile, workspace)
        seen["saturated"] += int(sifted.saturated.sum())
        seen["open"] += len(sifted.query)
        seen["clear"] += 16 * 17 // 2 - int(sifted.saturated.sum()) - len(sifted.query)
        return sifted

    monkeypatch.setattr(dense_score_flags._Sieve, "sift", counted)
    fmt = fixed_point(65)
    sequence = [[0, 3, 5, 6, 2, 4, 1, 3] * 2]
    dense.run(around_the_largest_score(fmt), Arithmetic(fmt), sequence, tile=1024, flags=True)
    assert seen["open"] > 5
    seen["clear"] = 0
    dense.run(one_head([[0, 1, 0]], [[2.0**28, 0, 0]]), Arithmetic(fmt), [TOKENS[0]], tile=1024, flags=True)
    assert seen["saturated"] > 5
    assert seen["clear"] > 5


def test_scores_of_a_size_that_float64_cannot_bear_have_the_same_flags():
    model = one_head([[0, 2.0**400, 0]], [[2.0**400, 0, 0]])
    same_flags(model, Arithmetic(FP64), TOKENS)
    same_flags(model, Arithmetic(fixed_point(255), Discipline.SEQUENTIAL), TOKENS)


# Recurrences


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    ("carry", "feed", "words"),
    [
        # A sum whose guess is refuted: it saturates and comes back.
        ([[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 5], [0, -60], [0, 4000], [0, 0]]),
        # A sum whose guess is right though its terms are rounded, or are ties.
        ([[1, 0], [0, 0]], [[0, 2.0**-5], [0, 0]], [[0, 2.0**-4], [0, 1], [0, -1], [0, 3]]),
        ([[0, 1], [1, 0]], [[100, 0], [0, 0]], [[1, 0], [-1, 1], [0.5, 0], [0, 0]]),  # two registers that change places
        ([[2, 0], [-1, 0.0625]], [[1, 0], [0, 1]], [[1, 0], [-1, 1], [0.5, 0.25], [3, 3]]),  # growth, and decay
    ],
)
def test_flags_of_recurrences_are_the_same(discipline, carry, feed, words):
    texts = [[0, 1, 2, 3] * 5, [2, 2, 1], [], [1] * 6 + [0] * 6, [3], [0] * 24, [2, 1, 0, 3, 3] * 2]
    for fmt in (fixed_point(9), fixed_point(17), FP8_E4M3, BF16):
        same_flags(linear(carry, feed, words), Arithmetic(fmt, discipline), texts)
