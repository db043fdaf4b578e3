"""The float filter of scores in the dense engine: no key that counts is left out, and few others are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines.dense.batch import batch
from constructions.engines.dense.column import Column
from constructions.engines.dense.float_filter import FloatFilter, Workspace
from constructions.engines.dense.operators import Operators
from constructions.engines.dense.repeats import find_repeats
from precision.format import BF16, FP32, FP64, Arithmetic, Discipline, fixed_point
from precision.rounding import round_shifted
from precision.winners import decisive_gap
from tests.engines.dense_cases import VOCABULARY, assert_same, one_head

FORMATS = (fixed_point(17), fixed_point(65), fixed_point(129), fixed_point(255), FP64, FP32, BF16)
CPU = torch.device("cpu")


def candidates(operators: Operators, columns: Sequence[tuple[Column, Column]], length: int) -> list[set[int]]:
    """The keys that are kept for each query of one sequence; all keys where nothing is filtered."""
    tokens = batch([[0] * length], 1 << 20, CPU)
    gap = decisive_gap(length, operators.arithmetic)
    assert gap is not None
    float_filter = FloatFilter(operators, tokens, columns, gap, None)
    if not float_filter.usable:
        return [set(range(q + 1)) for q in range(length)]
    kept: list[set[int]] = [set() for _ in range(length)]
    for tile in float_filter.tiles(1 << 20):
        query, key = float_filter.candidates(tile, Workspace(CPU))
        for q, k in zip(query.tolist(), key.tolist(), strict=True):
            assert not float_filter.blind[q]
            kept[q].add(k)
    for q in float_filter.blind.nonzero().squeeze(1).tolist():
        kept[q] = set(range(q + 1))
    return kept


def score(arithmetic: Arithmetic, query: Sequence[int], key: Sequence[int]) -> int:
    """By definition, on integers in quanta."""
    fmt, shift = arithmetic.format, -arithmetic.format.quantum_exponent
    if arithmetic.discipline is Discipline.FUSED:
        return round_shifted(sum(q * k for q, k in zip(query, key, strict=True)), shift, fmt).quanta
    total = 0
    for q, k in zip(query, key, strict=True):
        total = round_shifted(total + round_shifted(q * k, shift, fmt).quanta, 0, fmt).quanta
    return total


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    fmt=st.sampled_from(FORMATS),
    discipline=st.sampled_from(Discipline),
    width=st.integers(0, 5),
    spread=st.integers(0, 60),
    cancel=st.booleans(),
)
def test_every_key_within_the_gap_is_kept(seed, fmt, discipline, width, spread, cancel):
    rng = np.random.default_rng(seed)
    arithmetic, length = Arithmetic(fmt, discipline), 12
    operators = Operators(arithmetic, CPU)
    if decisive_gap(length, operators.arithmetic) is None:
        return

    def element(exponent: int, bits: int) -> int:
        number = int(rng.integers(-(2**bits), 2**bits)) << max(0, exponent - fmt.quantum_exponent)
        return round_shifted(number, 0, fmt).quanta

    rows = []
    for _ in range(width):
        exponent, bits = int(rng.integers(-spread, spread + 1)) // 2, int(rng.integers(1, 54))
        queries = [element(exponent, bits) for _ in range(length)]
        keys = [element(-exponent if rng.random() < 0.5 else exponent, bits) for _ in range(length)]
        rows.append((queries, keys))
        if cancel:  # the same once more, with the other sign for half of the keys
            rows.append((queries, [-k if rng.random() < 0.5 else int(rng.integers(0, 2)) - k for k in keys]))
    columns = [
        tuple(operators.numbers.from_objects(np.array(numbers, dtype=object)) for numbers in row) for row in rows
    ]
    kept = candidates(operators, [(q, k) for q, k in columns if q.bound and k.bound], length)
    gap = decisive_gap(length, operators.arithmetic)
    for i in range(length):
        scores = [score(arithmetic, [q[i] for q, _ in rows], [k[j] for _, k in rows]) for j in range(i + 1)]
        for j, s in enumerate(scores):
            assert j in kept[i] or max(scores) - s >= gap


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    far=st.sampled_from([0, 1 << 60]),
    changed=st.sampled_from(["nothing", "a query", "a key"]),
    together=st.booleans(),
)
@example(seed=2, lengths=[8, 9], far=1 << 60, changed="a key", together=True)
def test_sequences_that_look_at_positions_only_are_filtered_as_one(seed, lengths, far, changed, together):
    """far: what is added to all keys, so that float64 does not see the change of one of them."""
    rng = np.random.default_rng(seed)
    operators = Operators(Arithmetic(fixed_point(191)), CPU)
    tokens = batch([[0] * length for length in lengths], 1 << 20, CPU)
    positions, starts = (tokens.position - 1).tolist(), tokens.start.tolist()
    queries = (rng.integers(-9, 10, max(lengths)) << 6)[positions].tolist()
    keys = (far + rng.integers(0, 4, max(lengths)))[positions].tolist()
    if changed == "a query":
        queries[rng.integers(0, tokens.size)] += 1 << 9
    if changed == "a key":
        keys[rng.integers(0, tokens.size)] += 7
    one = 1 << 95
    query, key = (operators.numbers.from_objects(np.array(row, dtype=object) * one) for row in (queries, keys))
    gap = decisive_gap(max(lengths), operators.arithmetic)
    assert gap is not None
    repeats = find_repeats(operators.numbers, tokens, [key]) if together else None
    float_filter = FloatFilter(operators, tokens, [(query, key)], gap, repeats)
    found = [float_filter.candidates(tile, Workspace(CPU)) for tile in float_filter.tiles(1 << 8)]
    kept = [pair for query, key in found for pair in zip(query.tolist(), key.tolist(), strict=True)]
    assert len(kept) == len(set(kept))
    assert all(starts[q] <= k <= q for q, k in kept)
    if changed == "nothing":
        assert [len(group.filtered.start) for group in float_filter.groups.values()] == [1]
    for q, start in enumerate(starts):
        best = max(queries[q] * key for key in keys[start : q + 1])
        for k in range(start, q + 1):
            first = keys.index(keys[k], start) if repeats else k
            assert (q, first) in kept or (best - queries[q] * keys[k]) * one >= gap


def test_large_terms_that_cancel_leave_few_keys():
    """−2^50 (x − y)² − k'² / 2^10: float64 alone does not tell apart the keys, as its terms go up to 2^90."""
    length = 400
    numbers = Operators(Arithmetic(fixed_point(255)), CPU)
    one = 1 << 127
    x = [37 * k % length + 2**19 for k in range(length)]

    def column(values: Sequence[int]) -> Column:
        return numbers.numbers.from_objects(np.array(values, dtype=object))

    pairs = [
        (column([one] * length), column([-(one << 50) * v * v for v in x])),
        (column([one * v for v in x]), column([(one << 51) * v for v in x])),
        (column([one >> 10] * length), column([-one * k * k for k in range(length)])),
        (column([one] * length), column([one // 3 + k for k in range(length)])),  # no float64 holds these
    ]
    assert candidates(numbers, pairs, length) == [{i} for i in range(length)]


@pytest.mark.parametrize("fmt", [fixed_point(129), fixed_point(255), FP64, FP32], ids=lambda fmt: str(fmt.name))
@pytest.mark.parametrize("discipline", Discipline)
def test_scores_of_coarse_and_fine_terms_agree(fmt, discipline):
    rng = np.random.default_rng(fmt.significand_bits)
    texts = [rng.integers(0, VOCABULARY, size=length).tolist() for length in (20, 7)]
    for _ in range(6):
        exponents = rng.integers(-30, 31, size=(3, 1))
        query = rng.integers(-9, 10, size=(3, 3)) * 2.0**exponents
        key = rng.integers(-9, 10, size=(3, 3)) * 2.0 ** rng.integers(-20, 21, size=(3, 1))
        query, key = np.concatenate([query, query[:1]]), np.concatenate([key, -key[:1]])  # its first term cancels
        assert_same(one_head(query, key), Arithmetic(fmt, discipline), texts)
