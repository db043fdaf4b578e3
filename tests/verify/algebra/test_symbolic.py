"""n as a symbol: what a builder makes of it is what it makes of each n of the interval, and nothing else can be asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.istree.graphs import LAYOUTS
from constructions.rows import Weight
from precision.format import Discipline
from tests.verify.subjects import as_model
from verify.algebra.interval import symbol
from verify.algebra.polynomial import Polynomial, constant
from verify.algebra.symbolic import Symbolic
from verify.certificates.building import model_of, part_of, precision_of, wired_of
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import RETRIEVERS
from verify.rounding.model import ExactModel, vocabulary
from verify.stored.intervals import name_of

SUBJECTS = [
    *(find_subject(name, 4) for name in RETRIEVERS),
    *(find_subject("istree", 4, layout=layout, lean=lean) for layout in LAYOUTS for lean in (False, True)),
    *(find_subject("istree", 4, model=model) for model in ("hybrid", "rag")),
    *(find_subject("turing", 4, model=model, machine="1RB1LB_1LA1RZ", tape="1") for model in ("hybrid", "rag")),
]


def at(model: ExactModel, n: int) -> list[Weight]:
    """Every weight of the layers, for one n."""
    found = [weight for layer in model.layers for weight in layer.weights()]
    return [w.substitute({"n": constant(n)}).constant if isinstance(w, Polynomial) else w for w in found]


@settings(max_examples=30)
@given(
    st.sampled_from(SUBJECTS),
    st.sampled_from(list(Discipline)),
    st.one_of(st.integers(4, 200), st.integers(4, 2**64)),
    st.fractions(0, 1),
)
def test_a_model_of_an_interval(subject: Subject, discipline: Discipline, low: int, share: Fraction) -> None:
    subject = replace(subject, n=low, discipline=discipline)
    part = part_of(subject, 1 << 65)
    model, high = part.model, part.high
    for n in {low, low + math.floor((high - low) * share), high}:
        one = replace(subject, n=n)
        own = model_of(one)
        assert model.arithmetic == own.arithmetic
        assert precision_of(one) == own.arithmetic.format.significand_bits + 1
        assert at(model, n) == [weight for layer in own.layers for weight in layer.weights()]
        assert vocabulary(model) == vocabulary(own)


each = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: name_of(s, "rounding"))


@each
def test_the_plan_is_what_is_built(subject: Subject) -> None:
    """With powers, of which a few numbers are listed at n = 9, and as matrices with the rows of all numbers."""
    for n in (4, 9):
        one = replace(subject, n=n)
        plan, matrices = model_of(one), as_model(one, wired_of(one))
        assert plan.digest == matrices.digest
        assert (plan.families, plan.specials, plan.position) == (
            matrices.families,
            matrices.specials,
            matrices.position,
        )


@each
def test_intervals_are_wide(subject: Subject) -> None:
    """None is a single size, as where a builder asks for what a symbol does not tell."""
    assert part_of(replace(subject, n=1_050_000), 1 << 64).high > 1_060_000


QUESTIONS: list[Callable[[Any], object]] = [
    lambda n: n > 7,
    lambda n: 3 * n * n - 40 * n >= 5,
    lambda n: n == 12,
    lambda n: (n * (n - 1) // 2).bit_length(),
    lambda n: -(-5 * n // 8) * 8,
    lambda n: round(n / 5),
    lambda n: Fraction(1, 3) < 7 / (n + 1),
    lambda n: max(n * n, 20 * n + 3) - min(n, 9) == 0,
    lambda n: abs(n - 20) > 3,
    lambda n: bool(n - 15),
    lambda n: math.floor(n / 7) + math.ceil(n / 9),
]


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=20)
@given(st.integers(1, 60))
def test_answers_are_those_of_the_whole_interval(question: Callable[[Any], object], low: int) -> None:
    n = symbol(low, 300)
    try:
        answer = question(n)
    except TypeError:
        assert question is QUESTIONS[5]
        return
    assert low <= n.oracle.high <= 300
    for m in range(low, n.oracle.high + 1):
        assert question(Fraction(m) if question is not QUESTIONS[3] else m) == answer


@pytest.mark.parametrize(
    "use", [int, float, hash, math.isqrt, range, lambda n: n % 2, lambda n: {n: 1}, lambda n: 1 << n, str.__len__]
)
def test_nothing_else_can_be_asked(use: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError):
        use(symbol(5, 9))


@pytest.mark.parametrize(
    "operation", [lambda n: n + 1, lambda n: 1 - n, lambda n: Fraction(1, 2) * n, lambda n: n**2, lambda n: 2 / n]
)
def test_arithmetic_keeps_the_symbol(operation: Callable[[Any], Any]) -> None:
    result = operation(symbol(5, 9))
    assert type(result) is Symbolic
    assert result.value_at({"n": 5}) == operation(Fraction(5))
