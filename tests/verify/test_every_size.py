"""Least precisions for every n of a bit length at once, against each n by itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from constructions.istree import hybrid, rag
from verify.algebra.interval import values
from verify.claims.retrieval import RETRIEVERS
from verify.runs.costs import first_above

FORMULAS: dict[str, Callable[[int], int]] = {
    "hybrid": hybrid.HYBRID.least_precision,
    "rag": rag.RAG.least_precision,
    "ngram": RETRIEVERS["4.6/ngram"].least_precision,
    "one n alone": lambda n: 40 if n == 777 else 8,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_those_of_each_number(name: str) -> None:
    formula, starts = FORMULAS[name], dict(values(FORMULAS[name], 1, 1000))
    value = 0
    for n in range(1, 1001):
        value = starts.get(n, value)
        assert formula(n) == value, n


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("rest", [6, 15, 30])
def test_the_first_number_above_a_bound_is_found(name: str, rest: int) -> None:
    formula = FORMULAS[name]
    for bits in (1, 4, 10):
        numbers = range(1 << (bits - 1), 1 << bits)
        expected = next((n for n in numbers if formula(n) > 2 * math.log2(n) + rest), None)
        actual = first_above(formula, lambda log2: 2 * log2 + rest, bits)
        assert (None if actual is None else actual.shows["n"]) == expected


def test_a_formula_that_is_another_number_at_each_n_is_refused() -> None:
    with pytest.raises(TypeError, match="from n = 32 on the formula is"):
        first_above(lambda n: 3 * n, lambda log2: 80 * log2, 6)
