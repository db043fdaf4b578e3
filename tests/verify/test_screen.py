"""The last screen of a run, of the committed ledger and of changed ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from verify.framework.claim import Row, Verdict
from verify.framework.ledger import read
from verify.framework.order import LEDGER
from verify.screen import counts, text
from verify.table import Mark, cells


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read(LEDGER)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_all_claims_end_in_one_screen(rows: list[Row], width: int) -> None:
    shown = text(rows, width, False, 0, Path("run.json"))
    assert len(shown.splitlines()) <= 60
    assert max(map(len, shown.splitlines())) <= max(width, 80)
    for words in (
        "Transformer",
        "IsTree",
        "All rows: run.json",
        "python -m verify --claim ID",
        "No repaired construction",
    ):
        assert words in " ".join(shown.split())


def test_a_cell_says_of_which_machine_and_c_it_is(rows: list[Row]) -> None:
    """BB(2) is certified, and c-grams with c = 3; "solved, every n" would be wider than that."""
    wanted = {"c-gram retrieval": "certified for c = 3, n =", "Turing machines": "certified for bb2, n ="}
    seen = 0
    for cell in cells(rows):
        if cell.outcome is Mark.SOLVED and cell.task in wanted:
            assert cell.certified_sizes()[0].startswith(wanted[cell.task])
            seen += 1
    assert seen == 5


def test_the_counts_are_those_of_the_rows(rows: list[Row]) -> None:
    verdicts = Counter(row.verdict for row in rows)
    kinds = Counter(row.claim.kind for row in rows if row.verdict is Verdict.REFUTED)
    sentence = counts(rows, 2)
    assert sentence.startswith(
        f"{verdicts[Verdict.HOLDS]} of {len(rows)} claims hold, {verdicts[Verdict.REFUTED]} are refuted"
    )
    assert "2 not judged" in sentence
    for kind, count in kinds.items():
        assert f"{count} {kind}" in sentence


def test_a_surprise_is_printed_in_full(rows: list[Row]) -> None:
    """A repaired claim that is refuted: its statement, its cell, and no sentence that denies it."""
    (number,) = [i for i, row in enumerate(rows) if row.claim.id == "4.6/recall"]
    changed = [*rows]
    witness = next(row.witness for row in rows if row.witness is not None)
    changed[number] = replace(rows[number], verdict=Verdict.REFUTED, witness=witness)
    shown = text(changed, 100, False, 0, None)
    assert "Not as expected: 1" in shown
    assert " ".join(rows[number].claim.statement.split()[:3]) in " ".join(shown.split())
    assert "refuted\n" in shown or "refuted " in shown
    assert "No repaired construction" not in shown
    assert "--ledger PATH writes them" in shown


def test_rows_of_one_theorem_settle_no_other_cell(rows: list[Row]) -> None:
    shown = text([row for row in rows if row.claim.id.startswith("5.6")], 100, False, 0, None)
    assert "not settled" in shown
    assert "impossible" not in shown
