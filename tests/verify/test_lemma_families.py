"""The lemmas at other parameters than those of constructions/parts/: oracles on columns by hand, and slips that must show."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from constructions.parts.heads.copy import position_square_precision
from constructions.wiring.part import Columns, Part
from precision.format import Discipline
from verify.claims.lemmas_general import LemmaCase, all_inputs_at_once, judged, one_key, part_of
from verify.inputs.trial import Trial
from verify.oracles.lemma_families import ALONE, FAMILIES
from verify.oracles.tape_text import last_record, moments
from verify.runs.probe import compare


def column(*values: int | Fraction) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, values))


def trial_of(part: Part, n: int, columns: Columns) -> Trial:
    length = len(next(iter(columns.values())))
    return Trial(n, length, part.least_precision(n, length), dict(columns))


PAIRS = {
    "key 1": column(0, 2, 2, 2, 1),
    "key 2": column(0, 1, 3, 1, 0),
    "query 1": column(2, 2, 2, 2, 1),
    "query 2": column(1, 1, 3, 1, 1),
    "payload": column(5, 4, 3, 2, 1),
}
COUNTED = {
    **PAIRS,
    "wish": column(0, 0, 0, 0, 0),
    "count": column(0, Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(1, 2)),
    "query_count": column(1, 1, Fraction(1, 2), 1, 1),
}
UNEQUAL = {**PAIRS, "key 3": column(0, 1, 1, 1, 1), "query 3": column(2, 2, 2, 2, 2)}


@pytest.mark.parametrize(
    ("lemma", "parameter", "columns", "out"),
    [
        ("C.13", (3,), {"x": column(0, 4, 5, 1, 2)}, [0, 0, 0, 0, 4]),
        ("C.15", (2,), PAIRS, [5, 4, 3, 4, 5]),
        ("C.16", (2,), PAIRS, [5, 4, 3, 2, 5]),
        ("C.17", (2,), {**PAIRS, "wanted": column(1, 1, 1, 4, 4)}, [5, 4, 3, 2, 5]),
        ("C.17", (2,), {**PAIRS, "wanted": column(1, 1, 1, 3, 4)}, [5, 4, 3, None, 5]),
        ("C.18", (2, 1), COUNTED, [5, 4, 3, 4, 5]),
        ("C.4", (2, 2, 7, 0, -3, 5), {"digit 1": column(0, 1), "digit 2": column(1, 1), "out": column(0, 0)}, [-3, 5]),
        ("C.23", (3, 0, -2), {"x": column(0, 0, 0, 0), "out": column(0, 0, 0, 0)}, [3, 0, -2, 0]),
    ],
)
def test_oracles_and_weights_by_hand(
    lemma: str, parameter: tuple[int, ...], columns: Columns, out: list[int | None]
) -> None:
    are_right(lemma, parameter, columns, {"out": out})


@pytest.mark.parametrize(
    ("lemma", "columns", "written"),
    [
        (
            "C.20",
            {"x": column(1, 2, 3), "y": column(4, 5, 0)},
            {"x-0": [1, 2, 3], "x-1": [0, 1, 2], "y-0": [4, 5, 0], "y-1": [0, 4, 5]},
        ),
        ("C.22", {"x": column(1, 2, 3)}, {"x at 1": [1, 1, 1], "x at 2": [0, 2, 2]}),
    ],
)
def test_what_two_inputs_leave_behind_by_hand(
    lemma: str, columns: Columns, written: dict[str, list[int | None]]
) -> None:
    are_right(lemma, (2,), columns, written)


def are_right(lemma: str, parameter: tuple[int, ...], columns: Columns, written: dict[str, list[int | None]]) -> None:
    """The oracle says what is written, and the weights write it."""
    part = part_of(lemma, parameter)
    trial = trial_of(part, 5, columns)
    assert part.oracle(trial.setting, trial.columns) == written
    assert judged(LemmaCase(lemma, parameter, trial), "reference", Discipline.FUSED) is None


@pytest.mark.parametrize(
    ("lemma", "right", "slip", "columns"),
    [
        ("C.13", (2,), (3,), {"x": column(0, 4, 5, 1, 2)}),
        ("C.15", (3,), (2,), UNEQUAL),
        ("C.4", (2, 1, 1, 0), (2, 1, 0, 1), {"digit 1": column(0, 1), "out": column(0, 0)}),
        ("C.2", (1, 1, 0, 1), (1, 0, 1, 1), {name: column(1, 0) for name in ("x 1", "x 2", "y 1", "y 2")}),
        ("C.23", (3,), (0, 3), {"x": column(0, 0), "out": column(0, 0)}),
    ],
)
def test_weights_of_another_parameter_are_refuted(
    lemma: str, right: tuple[int, ...], slip: tuple[int, ...], columns: Columns
) -> None:
    part, other = part_of(lemma, right), part_of(lemma, slip)
    if lemma == "C.2":
        columns = {**columns, "x 2": column(0, 1), "y 1": column(0, 0), "y 2": column(0, 0)}
    mixed = replace(part, plan=other.plan, least_precision=lambda n, length: 33)
    assert compare(mixed, trial_of(mixed, 5, columns), "reference") is not None


def test_a_copy_from_far_before_the_start_does_not_saturate() -> None:
    """With room for the registers alone, both positions tie at the least element."""
    part, columns = part_of("C.13", (24,)), {"x": column(0, 1)}
    assert (
        judged(
            LemmaCase("C.13", (24,), Trial(1, 2, part.least_precision(1, 2), columns)), "reference", Discipline.FUSED
        )
        is None
    )
    narrow = Trial(1, 2, position_square_precision(1, 24), columns)
    assert judged(LemmaCase("C.13", (24,), narrow), "reference", Discipline.FUSED) is not None


def test_every_count_down_to_the_square_is_asked_for() -> None:
    case = one_key(5)
    asked = {count.denominator for count in case.trial.columns["query_count"]}
    assert max(count.denominator for count in case.trial.columns["count"] if count) == 25
    assert asked == set(range(1, 25))
    assert judged(case, "reference", Discipline.FUSED) is None


def test_one_column_holds_every_input_of_a_table() -> None:
    trial = all_inputs_at_once(part_of("C.4", (3, 2, *range(9))), 1)
    assert len(set(zip(*trial.columns.values(), strict=True))) == trial.length == 9


def test_each_lemma_is_there_once() -> None:
    assert not set(ALONE) & set(FAMILIES)


def test_a_record_is_the_last_one_of_its_cell() -> None:
    assert last_record(["1", "a", "1", "2", "b", "2", "1", "c", "1", "2", "1"], "1") == "c"
    assert last_record(["1", "a", "2"], "1") == "FAILED"
    for numbers, behind in ((True, ["2", "1"]), (False, ["state-B", "right"])):
        texts = [(words[-6:], *seen) for words, *seen in moments("1RB1LB_1LA1RZ", "", 3, numbers)]
        assert [seen for _, *seen in texts] == [["1", "FAILED"], ["2", "FAILED"], ["1", "b"]]
        assert texts[1][0] == ["FAILED", "1", "b", "1", *behind]
