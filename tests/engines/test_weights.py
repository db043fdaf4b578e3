"""The one loader of weights against the loading of the reference engine, which shares nothing with it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.reference import ReferenceEngine, Sparse
from constructions.engines.weights import Weight, Weights, weight_of
from constructions.istree.hybrid import HYBRID
from constructions.istree.transformer import TRANSFORMER
from constructions.layers import Transformer
from constructions.rows import Row, coordinates
from precision.format import FP8_E4M3, Arithmetic, Discipline, Rounding, fixed_point
from precision.rounding import round_fraction
from tests.engines.cases import FIXED, NARROW, ROUNDINGS, match_like, unstructured

SMALL = (fixed_point(9), fixed_point(21), FP8_E4M3)  # which many weights of a construction do not fit


def sparse(pairs: Iterable[tuple[int, int]]) -> Sparse:
    places, weights = zip(*pairs, strict=True) if (pairs := list(pairs)) else ((), ())
    return Sparse(places, weights)


def quanta(rows: Iterable[Row]) -> list[Sparse]:
    return [sparse((j, weight.quanta) for j, weight in row) for row in rows]


def assert_same(model: Transformer, arithmetic: Arithmetic) -> None:
    ours, theirs = Weights(model, arithmetic), ReferenceEngine(model, arithmetic)
    words = [
        sparse((r, word) for r, of_words in ours.words.items() if (word := of_words[i]))
        for i in range(len(model.words))
    ]
    assert words == theirs._words
    assert [ours.position.get(register, 0) for register in range(model.width)] == theirs._position
    assert quanta(ours.unembed) == theirs._unembed
    for block, other in zip(ours.blocks, theirs._blocks, strict=True):
        for head, others in zip(block.heads, other.heads, strict=True):
            assert [quanta(rows) for rows in (head.query, head.key, head.value)] == [
                others.query,
                others.key,
                others.value,
            ]
        assert [(r, *quanta([row])) for r, row in block.out] == [(r, row) for r, row in other.out if row.places]
        ffn = block.feed_forward
        assert [(r, *quanta([row]), bias.quanta) for r, row, bias in ffn.down] == other.down
        assert quanta(unit.gate for unit in ffn.units) == other.gate
        assert quanta(unit.up for unit in ffn.units) == other.up
        assert [unit.gate_bias.quanta for unit in ffn.units] == other.gate_bias
        assert [unit.up_bias.quanta for unit in ffn.units] == other.up_bias
        ends = [
            (r, Sparse(carry.places + tuple(j + model.width for j in feed.places), carry.weights + feed.weights))
            for r, carry, feed in other.recurrence
        ]
        rows = block.recurrence.end_to_end(model.width) if block.recurrence else ()
        assert [(register, *quanta([row])) for register, row in rows] == ends


@settings(max_examples=25, deadline=None)
@given(
    rng=st.randoms(use_true_random=False), fmt=st.sampled_from((*FIXED, *NARROW)), rounding=st.sampled_from(ROUNDINGS)
)
def test_random_models_are_read_as_the_reference_engine_reads_them(rng, fmt, rounding):
    for case in (unstructured(rng, fmt=fmt, rounding=rounding, discipline=Discipline.FUSED), match_like(rng)):
        assert_same(case.model, case.arithmetic)


@pytest.mark.parametrize("rounding", [Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO])
@pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: str(fmt.name))
def test_constructions_are_read_so_where_their_weights_do_not_fit(fmt, rounding):
    for wired in (TRANSFORMER.build(6), HYBRID.build(6)):
        assert_same(wired.model, Arithmetic(fmt, Discipline.FUSED, rounding))
        rows = Weights(wired.model, Arithmetic(fmt, Discipline.FUSED, rounding)).unembed
        assert coordinates(rows) <= np.flatnonzero(wired.model.unembed.any(axis=0)).tolist()


@given(st.integers(-(2**70), 2**70))
def test_mantissas_are_odd(integer):
    weight = weight_of(integer)
    assert weight.quanta == integer
    assert weight.mantissa % 2 == 1 or weight == Weight(0, 0)


def test_equal_weights_are_rounded_once(monkeypatch):
    from constructions.engines import weights

    calls = []
    monkeypatch.setattr(
        weights, "round_fraction", lambda x, *rest, real=weights.round_fraction: calls.append(x) or real(x, *rest)
    )
    model = unstructured(
        random.Random(0), fmt=fixed_point(17), rounding=Rounding.NEAREST_EVEN, discipline=Discipline.FUSED
    ).model
    read = Weights(model, Arithmetic(fixed_point(5)))
    assert read.blocks is read.blocks
    assert read.unembed
    assert len(calls) == len(set(calls)) > 0


@pytest.mark.parametrize("fmt", [fixed_point(5), fixed_point(63), fixed_point(131), *NARROW], ids=lambda fmt: fmt.name)
def test_an_array_is_rounded_as_its_numbers_are(fmt):
    rng = random.Random(0)
    sizes = (rng.randint(-(2 ** rng.randint(0, 53)), 2 ** rng.randint(0, 53)) for _ in range(300))
    numbers = np.array(
        [[size * 2.0 ** rng.randint(-90, 20), rng.choice((0.0, -0.0, 1.0, 2.0**61, -(2.0**63)))] for size in sizes]
    )
    quanta, places = Weights(TRANSFORMER.build(2).model, Arithmetic(fmt)).distinct(numbers)
    assert len(quanta) == len(np.unique(numbers))
    for number, place in zip(numbers.ravel().tolist(), places.ravel().tolist(), strict=True):
        assert quanta[place] == round_fraction(Fraction(number), fmt, Rounding.NEAREST_EVEN).quanta
