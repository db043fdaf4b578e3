"""A machine as chain of thought on every number of cells m at once: a case has the weights and the verdict of each m."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.turing import cot
from constructions.turing.configurations import AnyTextTask, Code
from constructions.turing.library import find
from constructions.turing.machine import parse_standard
from precision.format import Discipline
from tests.verify.certificates.walks import at, inputs_at, require_shown, require_unknown, walk_of, weights
from tests.verify.subjects import as_model
from verify import certify
from verify.algebra.quotients import Unanswered
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import Delayed
from verify.certificates.above import ALONE, BITS_OF_HALF, shown_again
from verify.certificates.building import at_size, build, in_case
from verify.certificates.document import CERTIFIED, changed, judge, subject_of
from verify.certificates.ranges import certificates
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.turing import configurations
from verify.dossiers.turing.configurations import turing
from verify.dossiers.turing.models import every_cells
from verify.rounding.model import ExactModel
from verify.trusted.growth import root

MACHINES = [*(str(find(name).machine) for name in ("bb2", "bb5", "counter")), "1RZ1LA"]
CELLS = st.integers(ALONE + 1, 400)
SMALL = "1RZ1LA"


def every(machine: str = SMALL, **how: Any) -> Subject:
    return every_cells(find_subject("turing", 1, model="cot", machine=machine, **how))


def number_of(cells: int) -> int:
    """One that stands for so many cells, and one more."""
    return 1 << (cells // 2 - 1)


def in_walk(machine: str, cells: int, program: Callable[[Subject], Any]) -> tuple[Walk, Any]:
    def of_case(walk: Walk) -> Any:
        return program(in_case(every(machine), n_of(walk))[cells % 2])

    return walk_of(number_of(cells), of_case, BITS_OF_HALF)


def of_matrices(machine: str, cells: int) -> ExactModel:
    """By the matrices that are run."""
    wired = cot.Cot(parse_standard(machine), cells=cells).build(1)
    return as_model(at_size(every(machine), cells), wired)


@given(st.sampled_from(MACHINES), CELLS)
def test_a_case_has_the_weights_and_texts_of_each_number_of_cells(machine: str, cells: int) -> None:
    n = number_of(cells)
    _, (model, texts) = in_walk(machine, cells, build)
    assert weights(model, n) == weights(of_matrices(machine, cells), n)
    steps = (1 << Code(parse_standard(machine)).bits) ** cells
    assert inputs_at(texts, n) == inputs_at(turing(AnyTextTask(parse_standard(machine), steps, "", cells)), n)
    (passed,) = texts.invariants
    assert isinstance(passed, Delayed)
    assert at(passed.by, n) == cells


@settings(max_examples=3)
@given(CELLS, st.sampled_from(Discipline))
def test_a_case_is_certified_as_each_number_of_cells_is(cells: int, discipline: Discipline) -> None:
    """And what it shows is so there."""
    n = number_of(cells)
    walk, judged = in_walk(SMALL, cells, lambda one: judge(*build(replace(one, discipline=discipline))))
    alone = find_subject("turing", 1000, model="cot", machine=SMALL, cells=cells, discipline=discipline)
    assert judged.verdict == judge(*build(alone)).verdict == CERTIFIED
    require_shown(walk, n)


@cache
def document() -> Any:
    return certificates(every())


def test_every_number_of_cells_is_certified() -> None:
    actual = document()
    assert actual["verdict"] == actual["above"]["verdict"] == CERTIFIED
    assert [one["cells"] for one in actual["intervals"]] == [[f"{m}", f"{m}"] for m in range(1, ALONE + 1)]
    cases = actual["above"]["cases"]
    assert int(actual["above"]["cells_from"]) == ALONE + 1 == 2 * 2 ** (actual["above"]["theorem"]["bits_of_bits"] - 1)
    assert {(case["cells"], case["precision_bits"]) for case in cases} == {
        ("2*B", "7 + 8*B"),  # the docstring of cot.py: at most 4(m + 1) + 3
        ("1 + 2*B", "11 + 8*B"),
    }
    assert "shown again" in shown_again(actual["above"])
    assert subject_of(actual) == every()


def test_a_field_that_was_changed_is_found() -> None:
    actual = document()
    for key, value in actual.items():
        other = {**actual, key: f"not {value}"}
        assert key in changed(other, actual)
    above = actual["above"]
    for key in above:
        assert changed({**actual, "above": {**above, key: "x"}}, actual) == ["above"]


@pytest.mark.parametrize(
    "change", [{"n": 5}, {"cells": ["2", None]}, {"cells": ["1", "9"]}, {"model": "rag"}, {"cells": [1, None]}]
)
def test_a_document_that_is_of_nothing(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        subject_of({**document(), **change})


own = {name: getattr(cot.QueueScale, name).fget for name in ("last", "last_bits", "least_bits", "scale")}
WRONG: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "the last digit counts twice": ("last", lambda queue: own["last"](queue) * 2),
    "one digit less": ("last_bits", lambda queue: own["last_bits"](queue) - queue.code.bits),
    "two bits less": ("least_bits", lambda queue: own["least_bits"](queue) - 2),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_weights_are_not_certified(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    name, value = WRONG[wrong]
    monkeypatch.setattr(cot.QueueScale, name, property(value))
    require_unknown(every())


SOME: list[tuple[int, Callable[[Any], bool]]] = [(37, lambda m: m == 37), (1000, lambda m: m > 999)]


@pytest.mark.parametrize(("wrong", "some"), [*zip(WRONG, [*SOME, SOME[0]], strict=True)])
def test_weights_that_are_wrong_for_some(
    monkeypatch: pytest.MonkeyPatch, wrong: str, some: tuple[int, Callable[[Any], bool]]
) -> None:
    """Not certified just where they are, as the case is split there."""
    (name, value), (cells, is_wrong) = WRONG[wrong], some
    monkeypatch.setattr(
        cot.QueueScale, name, property(lambda queue: value(queue) if is_wrong(queue.cells) else own[name](queue))
    )
    for m, right in ((cells, False), (cells - 2, True)):
        assert (in_walk(SMALL, m, lambda one: judge(*build(one)))[1].verdict == CERTIFIED) is right


def test_one_wrong_number_of_cells_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = property(lambda queue: own["last"](queue) * (2 if queue.cells == 10 else 1))
    monkeypatch.setattr(cot.QueueScale, "last", wrong)
    require_unknown(every())


@pytest.mark.parametrize("more", [1, -1])
def test_another_invariant_does_not_tell_of_the_queue(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    monkeypatch.setattr(configurations, "queue", lambda cells, of=configurations.queue: of(cells + more))
    require_unknown(every())


def test_one_p_for_all_cells_is_too_small() -> None:
    require_unknown(every(precision_bits=301))


def test_a_builder_that_looks_at_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are right for what stands for m, and others for numbers."""
    wrong = property(lambda queue: own["last"](queue) * (2 if isinstance(queue.cells, int) else 1))
    monkeypatch.setattr(cot.QueueScale, "last", wrong)
    assert "has other weights" in require_unknown(every())[1]


@given(st.integers(1, 6), st.integers(-3, 3), st.integers(-4, 9), st.integers(4, 200))
def test_a_power_of_a_power_of_two(twos: int, bits: int, more: int, size: int) -> None:
    n = 1 << (size - 1)
    _, actual = walk_of(n, lambda walk: (1 << twos) ** (abs(bits) * n_of(walk).bit_length() + abs(more)), BITS_OF_HALF)
    assert at(actual, n) == (2**twos) ** (abs(bits) * size + abs(more))


@pytest.mark.parametrize("base", [3, 6, 0, 1, -2])
def test_powers_of_other_numbers_are_not_told(base: int) -> None:
    with pytest.raises(Unanswered):
        base ** n_of(Walk(root(BITS_OF_HALF, 0))).bit_length()


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    path = tmp_path / "cells.json"
    certify._show(document(), as_json=False)
    told = capsys.readouterr().out
    assert f"turing, cot, {SMALL}, any number of cells: certified" in told
    assert "cells = 1 … 7, one by one\n  more than 7 cells: certified, in 4 cases" in told
    path.write_text(json.dumps(document()))
    assert certify.main(["--replay", str(path)]) == 0
