"""Cases that are computed ahead come out as they went in, each with what was found about it."""

from __future__ import annotations

from typing import Any

from verify.framework.batches import Batches


def squares(chunk: int) -> tuple[Batches[int, int], list[list[int]]]:
    """Returns batches of so many numbers, even or odd ones, and the groups that are computed."""
    seen: list[list[int]] = []

    def compute(cases: list[int]) -> list[int]:
        seen.append(cases)
        return [case * case for case in cases]

    return Batches(compute, key=lambda case: case % 2, chunk=chunk), seen


def test_cases_are_computed_in_groups_that_agree() -> None:
    batches, seen = squares(4)
    handed = [(case, batches.outcome(case)) for case in batches.compute_ahead([1, 3, 2, 4, 5, 7])]
    assert handed == [(1, 1), (3, 9), (2, 4), (4, 16), (5, 25), (7, 49)]
    assert seen == [[1, 3], [2, 4], [5, 7]]
    assert not batches.known


def test_a_case_out_of_order_is_computed_alone() -> None:
    batches: Any = Batches(lambda cases: [len(cases)] * len(cases), key=lambda case: 0, chunk=3)
    assert list(batches.compute_ahead("xyz")) == list("xyz")
    assert batches.outcome("x") == 3
    assert batches.outcome("x") == 1


def test_cases_that_are_foreseen_are_computed_in_groups() -> None:
    batches, seen = squares(2)
    batches.foresee([1, 2, 3, 4, 1, 5])
    assert seen == [[1, 3], [5], [2, 4]]
    assert [batches.outcome(case) for case in (5, 4, 3, 2, 1)] == [25, 16, 9, 4, 1]
    assert len(seen) == 3
    assert batches.outcome(1) == 1
    assert seen[3:] == [[1]]
