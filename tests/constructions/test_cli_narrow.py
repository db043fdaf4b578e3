"""In a narrow terminal: no line is longer than it, and no word is broken."""

from __future__ import annotations

import re

import pytest

from constructions.show.terminal import bar
from tests.constructions.commands import command

COMMANDS = ("__main__", "istree", "recall", "turing")
EDGES = ("--edges", "1-2,2-3,2-4", "--engine", "reference")


def words_and_lines(capsys: pytest.CaptureFixture[str]) -> tuple[set[str], list[str]]:
    text = capsys.readouterr().out
    return set(text.split()), text.splitlines()


@pytest.mark.parametrize(
    ("name", "argv"),
    [
        *((name, ("--help",)) for name in COMMANDS),
        ("__main__", ()),
        ("istree", (*EDGES, "--trace")),
        ("istree", (*EDGES, "--trace", "--model", "hybrid")),
        ("recall", ("5 2 5 9 ? 5", "--trace")),
        ("turing", ("--machine", "bb3", "--trace")),
    ],
)
def test_forty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, argv: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert command(name)(argv) == 0
    wide, _ = words_and_lines(capsys)
    monkeypatch.setenv("COLUMNS", "40")
    assert command(name)(argv) == 0
    narrow, lines = words_and_lines(capsys)
    broken = {word for word in wide - narrow if len(word) <= 30 and not set(word) <= set("─-")}
    assert broken == set()
    shown = [line.rstrip() for line in lines[: -2 if "--trace" in argv else None]]  # then come answers, a line each
    assert [line for line in shown if len(line) > 40 and len(line.split()) > 2 and "python -m" not in line] == []


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_bar_has_room_for_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    with bar("searching", 4_999_970, lambda length: length) as move:
        move(2_499_985)
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    frames = [frame for frame in re.split(r"[\r\n]", drawn) if frame.strip()]
    assert re.fullmatch(r"searching .*50% .*left\s*", frames[-1])
    assert max(map(len, frames)) <= columns
