"""Least precisions against bounds, for every n of one bit length."""

from __future__ import annotations

import pytest

from constructions.istree import transformer
from precision.format import Discipline
from verify.runs.costs import FEW_BITS, first_above, span_of
from verify.runs.istree_walks import first_above_bounds


@pytest.mark.parametrize("bits", [1, FEW_BITS, FEW_BITS + 1, 10])
def test_the_first_n_above_a_bound(bits: int) -> None:
    """A bound that is met, and one that is one less than the largest p: the first n with that p is told."""
    first, last = span_of(bits)
    largest = max(range(first, last + 1), key=transformer.TRANSFORMER.least_precision)
    most = transformer.TRANSFORMER.least_precision(largest)
    assert first_above(transformer.TRANSFORMER.least_precision, lambda log2: most, bits) is None
    actual = first_above(transformer.TRANSFORMER.least_precision, lambda log2: most - 1, bits)
    assert actual is not None
    assert (actual.shows["n"], actual.shows["least"]) == (largest, most)


def test_a_bound_that_is_too_low_is_named() -> None:
    assert first_above_bounds(transformer.TRANSFORMER.least_precision, {Discipline.FUSED: (8, 29)}, 10) is None
    assert first_above_bounds(transformer.TRANSFORMER.least_precision, {Discipline.FUSED: (6, 20)}, 10) is not None
