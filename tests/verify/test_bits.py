"""What models cost: least precisions against bounds, for every n of one bit length, and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from constructions.istree import lean, transformer
from constructions.measures import HYBRID_RNN, TRANSFORMER
from tests.verify.test_slips import judged
from verify.framework.claim import Verdict
from verify.runs.costs import FEW_BITS, Cost, exactly, first_above, require_logarithmic, span_of


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


def test_each_bound_that_is_too_low_is_refuted() -> None:
    least = transformer.TRANSFORMER.least_precision
    row = judged(require_logarithmic, [(least, lambda log2: 10 * log2 + 29), (least, lambda log2: 6 * log2 + 20)])
    assert row.verdict is Verdict.REFUTED


COST = Cost(TRANSFORMER, lambda heads: len(heads) == 9 and max(heads) == 2, exactly(0))


@pytest.mark.parametrize(
    "less",
    [
        {},
        {"of_class": HYBRID_RNN},
        {"fits": lambda heads: max(heads) == 1},
        {"state_numbers": exactly(1)},
        {"parameters": 100},
    ],
)
def test_a_model_that_costs_more_is_named(less: Mapping[str, Any]) -> None:
    large, small = (transformer.TRANSFORMER.build(n) for n in (9, 4))
    assert (replace(COST, **less).excess(large, small) is None) == (not less)
    assert COST.excess(large, lean.LEAN.build(4)) is not None  # whose matrices are smaller
