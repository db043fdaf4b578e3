"""A random search depends on its seed, and on nothing around it."""

from __future__ import annotations

import contextlib
import sys
import types
from pathlib import Path

import pytest
from hypothesis import strategies as st

from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Sampled
from verify.framework.options import Options
from verify.framework.predicates import WitnessFound
from verify.framework.sampling import search


def drawn(seed: int, count: int = 200) -> list[list[int]]:
    seen: list[list[int]] = []

    def look(case: list[int]) -> None:
        seen.append(case)

    assert search(st.lists(st.integers()), look, count, seed) is None
    return seen


def test_the_seed_fixes_every_case() -> None:
    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)


def test_other_modules_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn(5)
    (tmp_path / "local.py").write_text("\n".join(f"X{i} = {i}{i}{i}77777" for i in range(300)))
    module = types.ModuleType("local")
    module.__file__ = str(tmp_path / "local.py")
    monkeypatch.setitem(sys.modules, "local", module)
    assert drawn(5) == before


def test_counts_are_of_cases_not_of_shrinking() -> None:
    looked: list[int] = []

    def above(number: int) -> Counterexample | None:
        looked.append(number)
        return Counterexample(found=number) if number > 1000 else None

    check = Check(Claim("V", "V", "V"), Options())
    with pytest.raises(WitnessFound):
        check.sampled(st.integers(0, 10**6), above, range="numbers", size=lambda number: number)
    [evidence] = check.evidence
    assert isinstance(evidence, Sampled)
    first = next(index for index, number in enumerate(looked) if number > 1000)
    assert evidence.cases == first + 1
    assert check.witness is not None
    assert check.witness.case == 1001


@pytest.mark.parametrize("limit", [1000, 10**7])
def test_cases_that_are_computed_ahead_are_the_same_cases(limit: int) -> None:
    """Evidence and witness are those of a search that computes one case after the other, of which only shrinking is left."""
    computed: list[int] = []

    def compute(cases: list[int]) -> list[int]:
        computed.append(len(cases))
        return [number + 1 for number in cases]

    def judge(ahead: bool) -> Check:
        batches = Batches(compute, key=lambda number: number % 2, chunk=500)
        check = Check(Claim("V", "V", "V"), Options())

        def above(number: int) -> Counterexample | None:
            after = batches.outcome(number)
            return Counterexample(after=after) if after > limit else None

        with contextlib.suppress(WitnessFound):
            kept = batches if ahead else None
            check.sampled(st.integers(0, 10**6), above, range="numbers", size=lambda number: number, ahead=kept)
        return check

    alone = judge(ahead=False)
    assert set(computed) == {1}
    computed.clear()
    together = judge(ahead=True)
    assert (together.evidence, together.witness) == (alone.evidence, alone.witness)
    assert (together.witness is None) == (limit > 10**6)
    assert sum(computed[:2]) == 100
    assert set(computed[2:]) <= {1}
    assert len(computed) == 2 or together.witness is not None


def test_a_small_space_is_counted_as_it_is() -> None:
    check = Check(Claim("V", "V", "V"), Options())
    check.sampled(
        st.integers(1, 5), lambda number: None, range="numbers", size=lambda number: number, max_examples=1000
    )
    [evidence] = check.evidence
    assert isinstance(evidence, Sampled)
    assert (evidence.cases, evidence.n_max) == (5, 5)


def test_a_crash_comes_through() -> None:
    def crash(case: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search(st.integers(), crash, 10, 0)
