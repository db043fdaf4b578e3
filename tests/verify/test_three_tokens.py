"""Three tokens a step: what the claims look at can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from constructions.turing.library import find
from tests.constructions.cutting import without_states, without_units
from verify.claims import three_tokens
from verify.claims.three_tokens import keeps_the_tape, model_of, says_each_rule, writes_the_run
from verify.runs.turing_runs import SpaceCase

CASE = SpaceCase(str(find("bb2").machine), "", 6, 5)


def test_a_right_model_is_accepted() -> None:
    assert writes_the_run(CASE) is None
    assert keeps_the_tape(CASE) is None
    assert says_each_rule(CASE.machine) is None


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_sum_that_is_not_kept_is_seen(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(case: SpaceCase, **how: int) -> object:
        wired = model_of(case, **how)
        return replace(wired, model=without_states(wired.model, 4, [wired.registers.index(side)]))

    monkeypatch.setattr(three_tokens, "model_of", wrong)
    assert writes_the_run(CASE) is not None
    actual = keeps_the_tape(CASE)
    assert actual is not None
    assert actual.shows["register"] == side


def test_a_rounded_register_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose numbers differ from those of the wider one."""

    def wrong(case: SpaceCase, more_bits: int = 0) -> object:
        wired = model_of(case, more_bits=more_bits)
        return wired if more_bits else replace(wired, model=without_units(wired.model, 0, [0]))

    monkeypatch.setattr(three_tokens, "model_of", wrong)
    actual = keeps_the_tape(CASE)
    assert actual is not None
    assert actual.shows["register"] == "e"


def test_a_rule_that_is_not_said_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = three_tokens.table
    monkeypatch.setattr(three_tokens, "table", lambda space: replace(right(space), units=right(space).units[1:]))
    assert says_each_rule(CASE.machine) is not None
