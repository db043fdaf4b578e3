"""The claim about ties notices a checker that takes several keys for one."""

from __future__ import annotations

import pytest

from precision.format import Discipline
from verify.claims.checker import FEWEST, MOST_KEYS, TiedKeys, _certify
from verify.rounding import attention


@pytest.mark.parametrize("discipline", Discipline)
def test_several_keys_that_are_taken_for_one(discipline: Discipline, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [TiedKeys(keys, discipline) for keys in range(FEWEST, MOST_KEYS + 1)]
    assert [_certify(case) for case in cases] == [None] * len(cases)
    (rules,) = (rules for rules in vars(attention).values() if isinstance(rules, type) and "_many" in vars(rules))
    monkeypatch.setattr(rules, "_many", lambda self, candidate: False)
    assert None not in [_certify(case) for case in cases]
