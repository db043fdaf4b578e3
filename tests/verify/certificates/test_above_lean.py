"""IsTree's lean model from 2^63 on: cases of a fourth of a bit length, each with the weights of its n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.parts.heads import match_last
from tests.verify.certificates.test_above import SIZES, at, checked, walk_of, weights
from tests.verify.numbers_at import holds, values_at
from verify.certificates.above import Survey
from verify.certificates.building import Subject, build
from verify.certificates.document import CERTIFIED, UNKNOWN
from verify.certificates.growing import Growing, n_of
from verify.certificates.walks import Walk

LEAN = Subject("istree", 4, lean=True)
EDGES = st.builds(  # of where K has another digit
    lambda bits, digit, shift: max((digit << bits) // 5 + shift, 2**63),
    st.integers(59, 300),
    st.integers(16, 32),
    st.integers(-2, 2),
)


@settings(max_examples=20)
@given(st.one_of(SIZES, EDGES, st.integers(63, 500).map(lambda bits: 2**bits)))
def test_a_case_has_the_weights_of_each_of_its_n(n: int) -> None:
    walk, (model, _) = walk_of(n, lambda walk: build(replace(LEAN, n=n_of(walk))), 5, 4)
    assert weights(model, n) == weights(build(replace(LEAN, n=n))[0], n)
    values = values_at(n, 4) | {f"f{i}": at(of, n) % 1 for i, of in enumerate(Growing(p, walk) for p in walk.floors)}
    shown = [*walk.shown, *(item for fork in walk.forks for item in fork.shown)]
    assert shown
    assert all(holds((repr(Growing(p, walk)), relation), values) for p, relation, _, _ in shown)


@settings(max_examples=1)
@given(EDGES)
def test_a_case_is_certified_as_its_n_is(n: int) -> None:
    """Of what the check asks behind the builder's questions, the first case is looked at."""
    walk, _ = walk_of(n, lambda walk: build(replace(LEAN, n=n_of(walk))), 5, 4)
    again = Walk(walk.nodes[0].box, [fork.answer for fork in walk.forks])
    assert checked(replace(LEAN, n=n_of(again)))[2].verdict == checked(replace(LEAN, n=n))[2].verdict == CERTIFIED


def first_case(monkeypatch: pytest.MonkeyPatch, name: str, wrong: Callable[[Any], Any]) -> tuple[dict[str, Any], str]:
    """What is said above, and of one n, of models with another constant."""
    monkeypatch.setattr(match_last.Scale, name, property(wrong))
    survey = Survey(LEAN)
    survey.run()
    return survey.about, checked(replace(LEAN, n=2**64))[2].verdict


def test_with_less_than_its_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    above, at_one = first_case(monkeypatch, "lead", lambda scale: Fraction(21, 32) * scale.doublings)
    assert (above["verdict"], at_one) == (UNKNOWN, "refused")
    assert "may differ by" in above["what"]


def test_with_unequal_keys_too_near(monkeypatch: pytest.MonkeyPatch) -> None:
    own = match_last.Scale.mismatch_exponent
    assert isinstance(own, property)
    assert own.fget is not None
    exponent = own.fget
    above, at_one = first_case(monkeypatch, "mismatch_exponent", lambda scale: exponent(scale) - 2)
    assert above["verdict"] == UNKNOWN
    assert at_one != CERTIFIED
