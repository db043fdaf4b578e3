"""Equal keys in the dense engine: which they are, what they carry together, and that no query reads one after itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.dense.batch import batch
from constructions.engines.dense.column import Numbers
from constructions.engines.dense.repeats import find_repeats
from precision.format import Arithmetic, Discipline, fixed_point
from tests.engines.dense_cases import assert_same, one_head

CPU = torch.device("cpu")
NUMBERS = Numbers(fixed_point(65), CPU)
SEQUENCES = st.lists(
    st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([0, 1, 1 << 70])), min_size=1, max_size=9),
    min_size=1,
    max_size=4,
)


@settings(max_examples=100, deadline=None)
@given(SEQUENCES)
def test_each_span_holds_the_equal_keys_up_to_the_query(sequences):
    tokens = batch([[0] * len(sequence) for sequence in sequences], 1 << 10, CPU)
    place = np.argsort(tokens.order)  # sequences are laid out by length
    keys = [key for i in place.tolist() for key in sequences[i]]
    columns = [NUMBERS.from_objects(np.array(component, dtype=object)) for component in zip(*keys, strict=True)]
    actual = find_repeats(NUMBERS, tokens, columns)
    assert (actual is None) == all(len(set(sequence)) == len(sequence) for sequence in sequences)
    if actual is None:
        return
    starts = tokens.start.tolist()
    pairs = [(q, k) for q in range(len(keys)) for k in range(starts[q], q + 1)]
    begin, end = actual.spans(torch.tensor([q for q, _ in pairs]), torch.tensor([k for _, k in pairs]))
    for (q, k), a, b in zip(pairs, begin.tolist(), end.tolist(), strict=True):
        assert actual.order[a:b].tolist() == [t for t in range(starts[q], q + 1) if keys[t] == keys[k]]
    firsts = [t for t in range(len(keys)) if keys[t] not in keys[starts[t] : t]]
    assert actual.first.tolist() == firsts
    assert actual.fresh.tolist() == [sum(first < t for first in firsts) for t in range(len(keys) + 1)]


@pytest.mark.parametrize("bits", [3, 61, 62, 90])
def test_prefix_sums_are_exact(bits):
    numbers = [(1 << bits) - i for i in range(5)] + [-(1 << bits)] * 3
    sums = NUMBERS.prefix_sums(NUMBERS.from_objects(np.array(numbers, dtype=object))).quanta().tolist()
    assert sums == [sum(numbers[:i]) for i in range(len(numbers) + 1)]


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("bits", [9, 33])
def test_different_keys_that_tie_are_read_in_the_order_of_tokens(discipline, bits):
    """The query of word 0 is 0, so that all keys tie; under `sequential` each share of a value is rounded before they add up."""
    model = one_head(np.array([[1.0, 0, 0]]), np.array([[1.0, 0, 0]]))
    texts = [[3, 1, 2, 3, 1, 2, 0, 3, 3, 0, 1, 0], [1, 1, 2, 0, 2]]
    for tile in (2, 64):
        assert_same(model, Arithmetic(fixed_point(bits), discipline), texts, tile)
