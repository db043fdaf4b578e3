"""What `check.equivalent` makes of equal and of different circuits, also if the solver lies or a proof is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from circuits import equivalence, sweep
from circuits.builder import Builder
from circuits.circuit import Circuit
from circuits.obvious import obvious
from circuits.operations import OPERATIONS
from verify.framework.check import Check
from verify.framework.claim import Claim, Proved, Solved
from verify.framework.options import Options
from verify.framework.predicates import NoVerdict, WitnessFound


def pair(p: int) -> tuple[Circuit, Circuit]:
    """Two circuits of addition; different ones for p = 9."""
    first, second = OPERATIONS["add"].circuit(p), obvious("add", p)
    return (first, replace(second, outputs=second.outputs[1:] + second.outputs[:1])) if p == 9 else (first, second)


def judge(*cases: int) -> Check:
    """The check after it compared these pairs."""
    check = Check(Claim("V", "V", "V"), Options())
    check.equivalent(cases, pair, range="additions", limit="small p", size=lambda p: p)
    return check


def test_equal_circuits_are_proved_for_the_limit_alone() -> None:
    [evidence] = judge(5, 7)._evidence
    assert isinstance(evidence, Proved)
    assert (evidence.theorems, evidence.limit, evidence.sha256) == (2, "small p", "")
    assert evidence.sizes == ((5, 5), (7, 7))


def test_different_circuits_refute() -> None:
    check = Check(Claim("V", "V", "V"), Options())
    with pytest.raises(WitnessFound):
        check.equivalent([5, 9], pair, range="additions", limit="small p")
    [witness], [evidence] = check._witnesses, check._evidence
    assert "in the first and" in witness.shows["difference"]
    assert isinstance(evidence, Solved)


def test_a_proof_that_is_rejected_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    compare = equivalence.compare

    def without_a_line(first: Circuit, second: Circuit) -> equivalence.Difference | equivalence.EqualCircuits:
        result = compare(first, second)
        assert isinstance(result, equivalence.EqualCircuits)
        return replace(result, proof=result.proof[:-1])

    monkeypatch.setattr(equivalence, "compare", without_a_line)
    with pytest.raises(NoVerdict, match="no step says that nothing is possible"):
        judge(5)


def test_a_solver_that_lies_has_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    class Liar(sweep.Solver):  # type: ignore[misc,unused-ignore]
        def solve(self, assumptions: list[int]) -> bool:
            return super().solve(assumptions) and False

    monkeypatch.setattr(sweep, "Solver", Liar)
    b = Builder()
    x, y = b.input("x"), b.input("y")
    made = b.circuit({"and": x & y, "x": x})
    with pytest.raises(ValueError, match="propagation does not show clause"):
        sweep.sweep(made, [(made.outputs[0], made.outputs[1])], ())
