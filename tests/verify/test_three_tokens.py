"""The arithmetic of three tokens a step: what the claim looks at can fail."""

from __future__ import annotations

import pytest

from constructions.turing.library import find
from verify.claims.three_tokens import as_the_machine
from verify.oracles.three_tokens import Step, Sums, steps
from verify.runs.turing_runs import SpaceCase

CASE = SpaceCase(str(find("bb2").machine), "", 6, 13)


def test_the_first_steps() -> None:
    first, second = (step for step, _, _ in steps(find("bb2").machine, "", 4, 1, 2))
    assert first == Step("B", 4, 2 << 1)  # 1RB on cell 1: M halves to 2^(4 − 2); x = 1, y = 0, so j = 1
    assert second == Step("A", 8, 4 << 3)  # 1LB's 1LA on cell 2: M doubles; x = 1, y = 1, so j = 3
    assert as_the_machine(CASE) is None


@pytest.mark.parametrize("part", ["left", "right"])
def test_a_sum_that_is_not_kept_is_seen(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Sums.add

    def wrong(sums: Sums, cells: int, before: int, step: Step) -> tuple[int, int]:
        kept = getattr(sums, part)
        found = right(sums, cells, before, step)
        setattr(sums, part, kept)
        return found

    monkeypatch.setattr(Sums, "add", wrong)
    assert as_the_machine(CASE) is not None
