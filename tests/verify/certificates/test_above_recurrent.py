"""Every n from 2^63 on, of the models of IsTree and of Turing machines that have a recurrence; and what these asked for first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.istree import hybrid, rag
from constructions.wiring import part
from tests.verify.certificates.test_above import TURING
from tests.verify.certificates.walks import SIZES, at, inputs_at, require_unknown, walk_of, weights
from verify.algebra.polynomial import bits_above
from verify.algebra.symbolic import at_most
from verify.algebra.walks import Walk, n_of
from verify.certificates.building import build
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.trusted.growth import root

SEARCHES = [find_subject("istree", 4, model=model) for model in ("hybrid", "rag")]


@settings(max_examples=10)
@given(st.sampled_from(SEARCHES), SIZES)
def test_a_case_of_istree_has_the_weights_and_texts_of_each_of_its_n(subject: Subject, n: int) -> None:
    _, (model, texts) = walk_of(n, lambda walk: build(replace(subject, n=n_of(walk))))
    own, inputs = build(replace(subject, n=n))
    assert weights(model, n) == weights(own, n)
    assert inputs_at(texts, n) == inputs_at(inputs, n)


@pytest.mark.parametrize("of", [*TURING, SEARCHES[1]])
def test_two_bits_less_are_not_certified(monkeypatch: pytest.MonkeyPatch, of: Subject) -> None:
    own = type(of.dossier).least_precision
    monkeypatch.setattr(type(of.dossier), "least_precision", lambda dossier, subject: own(dossier, subject) - 2)
    require_unknown(of)


@pytest.mark.parametrize("of", [TURING[0], SEARCHES[0]])
def test_a_quarter_of_the_margin_is_refused(monkeypatch: pytest.MonkeyPatch, of: Subject) -> None:
    monkeypatch.setattr(part, "least_gap", lambda q, length, gap=part.least_gap: gap(q, length) // 4)
    assert "may differ by" in require_unknown(of)[1]


NUMBERS: list[Callable[[Any], Any]] = [
    lambda n: n,
    lambda n: 3 * n - 2 + hybrid.HYBRID.limit(n),
    lambda n: rag.RAG.length(n),
    lambda n: 7 * n.bit_length() - 3,
    lambda n: 2 ** n.bit_length() - 2,
    lambda n: 2 ** n.bit_length() - 1,
    lambda n: 2 ** n.bit_length(),
]


@given(st.sampled_from(NUMBERS), SIZES)
def test_a_power_of_two_above_is_found_without_a_split(number: Callable[[Any], Any], n: int) -> None:
    walk, bits = walk_of(n, lambda walk: (walk, bits_above(number(n_of(walk)))))[1]
    assert 2 ** at(bits, n) > number(n)
    assert len(walk.forks) == len(walk_of(n, lambda walk: number(n_of(walk)))[0].forks)


@given(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.integers(-2, 2), SIZES)
def test_what_is_seen_to_be_at_most_another_number_is_so(
    small: Callable[[Any], Any], large: Callable[[Any], Any], more: int, n: int
) -> None:
    _, seen = walk_of(n, lambda walk: at_most(small(n_of(walk)) + more, large(n_of(walk))))
    assert not seen or small(n) + more <= large(n)


def test_questions_that_are_the_same_of_whole_numbers_split_once() -> None:
    walk = Walk(root(7, 1))
    n = n_of(walk)
    near = (3 * n * (n - 1) // 2, 2 ** (2 * n.bit_length() - 1))
    answers = [near[0] > near[1], near[0] - 1 >= near[1], not near[0] <= near[1], near[0] >= near[1] + Fraction(1, 3)]
    assert len(set(answers)) == len(walk.forks) == 1
    assert at_most(near[0], near[1]) != answers[0]


def test_questions_that_are_not_the_same_of_halves_split_twice() -> None:
    walk = Walk(root(7, 1))
    n, end = n_of(walk), 2 ** n_of(walk).bit_length()
    half = n * Fraction(3, 2)
    assert (half > end) in (True, False)
    assert (half - 1 >= end) in (True, False)
    assert len(walk.forks) == 2
