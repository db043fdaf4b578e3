"""Linear recurrences of the dense engine against the reference engine, register by register."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from constructions.engines import dense
from constructions.engines.dense import engine as dense_engine
from constructions.engines.dense import recurrence as dense_recurrence
from constructions.models.registry import find_constructions
from constructions.parts.recurrences import first_positions, recent, recite, running_sum
from precision.format import BF16, FP8_E5M2, Arithmetic, Discipline, fixed_point
from tests.engines.dense_cases import VOCABULARY, assert_same, linear, random_linear_model, random_sequences
from verify.inputs.trial import Trial
from verify.runs.probe import wire_trial

SMALL_FORMATS = (fixed_point(5), fixed_point(17), fixed_point(65), FP8_E5M2, BF16)


@pytest.mark.parametrize("fmt", SMALL_FORMATS, ids=lambda fmt: str(fmt.name))
@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    ("carry", "feed", "words"),
    [
        ([[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 1], [0, -1], [0, 2], [0, 0]]),  # a sum that stays in range
        (
            [[1, 0], [0, 0]],
            [[0, 1], [0, 0]],
            [[0, 5], [0, -60], [0, 4000], [0, 0]],
        ),  # one that saturates and comes back
        ([[1, 0], [0, 0]], [[0, 2.0**-5], [0, 0]], [[0, 2.0**-4], [0, 1], [0, -1], [0, 3]]),  # feeds that are rounded
        ([[1, 0], [1, 1]], [[0, 1], [1, 0.5]], [[1, 0.5], [0, -1], [0.25, 2], [0, 0]]),  # a sum of sums
        (
            [[0, 0], [1, 1]],
            [[1, 0.5], [0, 1]],
            [[1, 0.5], [0, -1], [0.25, 2], [8, 7]],
        ),  # the order of terms: carry, then feed
        ([[0, 1], [1, 0]], [[1, 0], [0, 0]], [[1, 0], [-1, 1], [0.5, 0], [0, 0]]),  # two registers that change places
        ([[0, -1], [1, 0]], [[1, 0], [0, 1]], [[1, 0], [-1, 1], [0.5, 0], [3, 3]]),  # a rotation
        ([[0.5, 0], [0, 0.75]], [[1, 0], [0, 1]], [[1, 0], [-1, 1], [0.5, 0.25], [3, 3]]),  # decay
        ([[2, 0], [-1, 0]], [[1, 0], [0, 1]], [[1, 0], [-1, 1], [0.5, 0.25], [3, 3]]),  # growth, and what reads it
        ([[0, 0], [0, 0]], [[1, 0.5], [0.25, 0]], [[1, 0], [-1, 1], [0.5, 0.25], [3, 3]]),  # nothing is carried
        ([[0, 0], [0, 0]], [[0, 0], [0, 0]], [[1, 0], [-1, 1], [0.5, 0.25], [3, 3]]),  # nothing at all
        (
            [[0, 1], [0, 0]],
            [[0, 0], [0, 0]],
            [[1, 1], [-1, 1], [0.5, 0.25], [3, 3]],
        ),  # of a register that keeps no state
        ([[2.0**-70, 0], [1, 0]], [[0, 0], [0, 1]], [[1, 0], [-1, 1], [0.5, 0.25], [3, 3]]),  # weights that round to 0
    ],
)
def test_shapes_of_recurrences_agree(fmt, discipline, carry, feed, words):
    texts = [[0, 1, 2, 3] * 5, [2, 2, 1], [], [1] * 6 + [0] * 6, [3], [0] * 24]
    assert_same(linear(carry, feed, words), Arithmetic(fmt, discipline), texts)


def test_sums_of_numbers_wider_than_a_machine_word_agree():
    model = linear([[1, 0], [1, 1]], [[0, 1], [0, 0]], [[0, 2.0**90], [0, 2.0**-60], [0, -(2.0**90)], [0, 2.0**20]])
    for fmt in (fixed_point(129), fixed_point(255)):
        assert_same(model, Arithmetic(fmt), [[0, 1, 2, 3, 3, 1, 0, 2] * 2, [1, 1], [3] * 20])


@pytest.mark.parametrize("part", [recent.PART, running_sum.PART, first_positions.PART, recite.PART], ids=lambda p: p.id)
@pytest.mark.parametrize("extra_bits", [0, 12])
def test_linear_units_agree(part, extra_bits):
    n, length, rng = 30, 24, random.Random(part.id)
    precision_bits = part.least_precision(n, length) + extra_bits
    columns = {"x": tuple(Fraction(rng.randint(0 if part is recite.PART else -n, 1)) for _ in range(length))}
    model, _, tokens = wire_trial(part, Trial(n, length, precision_bits, columns), False)
    for discipline in Discipline:
        assert_same(model, Arithmetic(fixed_point(precision_bits), discipline), [tokens, tokens[5:9], tokens[::-1]])


def test_constructions_agree():
    """On tokens in no order that makes sense, so that the heads see ties and misses too; as printed, too."""
    recurrences = 0
    for model in find_constructions():
        for printed in ((), tuple(finding.id for finding in model.construction.findings)):
            wired = model.build(3, printed=printed)
            words = len(wired.model.words)
            texts = [
                [(7 * i * i + 3 * i * s + s) % words for i in range(length)] for s, length in ((0, 9), (1, 4), (2, 13))
            ]
            assert_same(replace(wired.model, longest=None), wired.arithmetic, texts)
            recurrences += any(block.recurrence is not None for block in wired.model.blocks)
    assert recurrences >= 16


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    ("precision_bits", "length", "coarse", "fine"), [(65, 3000, 1.0, 0.5), (255, 60, 2.0**90, 0.5)]
)
def test_shift_registers_and_sums_in_range_take_no_steps(discipline, precision_bits, length, coarse, fine, monkeypatch):
    monkeypatch.setattr(dense_recurrence, "_by_position", None)
    carry, feed = np.zeros((6, 6)), np.zeros((6, 6))
    carry[0, 1] = carry[1, 2] = 1  # a shift register: 2, 1, 0
    carry[3, 3] = carry[4, 4] = carry[4, 3] = 1  # a sum, and the sum of it
    feed[2, 5] = feed[3, 5] = 1
    words = np.zeros((VOCABULARY, 6))
    words[:, 5] = (1, -coarse, 3, fine)
    rng = random.Random(0)
    texts = [[rng.randrange(VOCABULARY) for _ in range(length)] for length in (length, 1, 17)]
    outcome = dense.run(
        linear(carry, feed, words), Arithmetic(fixed_point(precision_bits), discipline), texts, keep_registers=True
    )
    assert outcome.registers is not None
    for text, sublayers in zip(texts, outcome.registers, strict=True):
        x = (
            np.array([int(2 * words[token, 5]) for token in text], dtype=object) << (precision_bits - 3) // 2
        )  # in quanta
        sums = np.cumsum(x)
        table = sublayers[1]
        assert table[:, 3].tolist() == sums.tolist()
        assert table[:, 4].tolist() == np.cumsum(np.concatenate([[0], sums[:-1]])).tolist()
        assert table[:, 0].tolist() == ([0, 0, *x.tolist()])[: len(x)]


def test_every_way_of_running_a_recurrence_occurs(monkeypatch):
    """Otherwise the agreement above would say little."""
    sizes: list[tuple[int, bool]] = []
    at_once = dense_recurrence._at_once

    def counted(*arguments):
        known = at_once(*arguments)
        sizes.append((len(arguments[2]), known is not None))
        return known

    monkeypatch.setattr(dense_recurrence, "_at_once", counted)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        dense.run(random_linear_model(rng, 5, True), Arithmetic(fixed_point(17)), random_sequences(rng))
    assert {(1, True), (1, False), (2, False), (3, False)} <= set(sizes)


def test_recurrences_do_not_depend_on_batch_or_portion(monkeypatch):
    rng = np.random.default_rng(3)
    model, texts = random_linear_model(rng, 5, True), random_sequences(rng, 9, 30)
    arithmetic = Arithmetic(fixed_point(17), Discipline.SEQUENTIAL)
    together = dense.run(model, arithmetic, texts, keep_registers=True)
    monkeypatch.setitem(dense_engine._TOKENS, "cpu", 8)
    apart = dense.run(model, arithmetic, texts, keep_registers=True)
    assert together.registers is not None
    assert apart.registers is not None
    for ours, theirs in zip(apart.registers, together.registers, strict=True):
        assert [table.tolist() for table in ours] == [table.tolist() for table in theirs]
