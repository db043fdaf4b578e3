"""The stored figure's data: every pair of prompts is run again, and two rows, drawn anew each time, are broken again."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from circuits.rnn import FunctionRnn, load_object
from tests.verify.test_adversary import numbers, right_answer
from verify.capacity import TASKS, cell_of, cells, draw, least, main, wired

DOCS = Path(__file__).parents[2] / "docs"
STORED: dict[str, Any] = json.loads((DOCS / "capacity.json").read_text(encoding="utf-8"))
BROKEN = [row for row in STORED["broken"] if row["n"]]


def ran(row: dict[str, Any]) -> FunctionRnn:
    return load_object(cell_of(row), None, row["architecture"])


def test_each_cell_and_task_has_a_row() -> None:
    about = ("architecture", "d", "p", "weights")
    rows = [tuple(row[what] for what in (*about, "task")) for row in STORED["broken"]]
    assert rows == [(*(cell[what] for what in about), task) for cell, _ in cells() for task in TASKS]
    assert [row["state_bits"] for row in STORED["broken"]] == [c.STATE_BITS for _, c in cells() for _ in TASKS]


def test_each_stored_pair_is_one_state_and_two_right_answers() -> None:
    assert len(BROKEN) > 100
    for row in BROKEN:
        rnn, states, asked = ran(row), [], []
        for prompt, right in zip(row["prompts"], row["right"], strict=True):
            assert right_answer(row["task"], prompt) == right
            tokens, query = numbers(prompt)
            if row["task"] == "istree":
                tokens, query = tokens[:-2], tuple(tokens[-2:])
            state = rnn.state_after(tokens)
            states.append(np.concatenate([part.reshape(-1) for part in state]).tolist())
            asked.append((len(tokens), query))
        assert states[0] == states[1]
        assert asked[0] == asked[1]
        assert row["right"][0] != row["right"][1]
        assert row["n"] <= row["state_bits"] + 1  # the line of the figure


@pytest.mark.parametrize("number", range(2))
def test_a_random_row_is_broken_again(number: int) -> None:
    row = random.SystemRandom().choice([row for row in BROKEN if row["n"] <= 10])
    again = least(ran(row), row["task"], row["n"])
    assert {what: row[what] for what in again} == again, row


def test_models_by_hand_answer_both_prompts_of_each_pair() -> None:
    assert {row["model"] for row in STORED["wired"]} == {"Transformer", "RNN with search", "hybrid"}
    assert all(row["right"] == row["pairs"] > 0 for row in STORED["wired"])
    assert [row for row in STORED["wired"] if row["n"] <= 4 and row["task"] == "index"] == list(wired(["index"], 4))


def test_the_stored_figure_is_of_the_stored_data(tmp_path: Path) -> None:
    """The same points; matplotlib's text may differ by version."""
    pytest.importorskip("matplotlib")
    draw(STORED, tmp_path / "capacity.svg")
    drawn, stored = (
        re.findall(r'<use [^>]*x="([^"]*)"', p.read_text()) for p in (tmp_path / "capacity.svg", DOCS / "capacity.svg")
    )
    assert drawn == stored
    assert len(drawn) > len(STORED["broken"])


def test_the_command_says_what_it_breaks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.capacity.WIRED_SIZES", (2,))
    monkeypatch.setattr("verify.capacity.TRAINED", ())
    assert main(["--tasks", "recall", "--n-max", "3"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^GRU +d = 2  p = 5 random +10 bits  recall +broken at n = [23]$", out, re.M)
    assert "no pair up to n = 3" in out
