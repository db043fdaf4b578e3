"""Progress where stderr is no terminal: a line now and then, also while nothing counts tokens."""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from constructions.index import DOOR
from constructions.models.request import Request
from constructions.retrieval.cli import main
from constructions.retrieval.retriever import Retriever
from constructions.show import cli, exporting, terminal


def test_a_short_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with cli.progress("running", 10) as tick:
        tick(3)
    assert capsys.readouterr().err == ""


def told(capsys: pytest.CaptureFixture[str], text: str) -> list[str]:
    """The lines on stderr until one has this text; it comes from another thread."""
    said, deadline = "", time.monotonic() + 60
    while text not in said and time.monotonic() < deadline:
        time.sleep(0.01)
        said += capsys.readouterr().err
    return said.splitlines()


def test_a_long_run_says_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "FIRST_LINE_SECONDS", 0.05)
    with cli.progress("running", 100) as tick:
        assert told(capsys, "gone\n") == ["running: 0 s gone"]
        tick(25)
        last = told(capsys, "left")[-1]
    assert re.fullmatch(r"running: \d+ s gone, 25 of 100 tokens, about \d+ s left", last)


def test_work_that_nobody_counts_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "FIRST_LINE_SECONDS", 0.01)
    with cli.progress("wiring n = 1,000,000"):
        assert told(capsys, "gone\n")[0] == "wiring n = 1,000,000: 0 s gone"


def test_lines_come_each_time_that_it_lasted_twice_as_long() -> None:
    assert list(itertools.islice(cli.line_times(5), 4)) == [5, 10, 20, 40]


def test_an_error_inside_ends_the_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cli, "FIRST_LINE_SECONDS", 0.3)
    with pytest.raises(ZeroDivisionError), cli.progress("running", 10):
        raise ZeroDivisionError
    time.sleep(0.6)
    assert capsys.readouterr().err == ""


def test_a_bar_is_drawn_once_a_run_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    moved, opened = list[int](), threading.Event()

    @contextlib.contextmanager
    def bar(
        title: str, last: int, work_at: Callable[[int], int], done: int, *_: object
    ) -> Iterator[Callable[[int], None]]:
        moved.append(done)
        opened.set()
        yield moved.append
        moved.append(-1)

    monkeypatch.setattr(terminal, "bar", bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with cli.progress("running", 10) as tick:
        tick(3)
    assert not opened.is_set()
    monkeypatch.setattr(cli, "PATIENCE_SECONDS", 0.3)
    with cli.progress("running", 10) as tick:
        tick(3)
        assert opened.wait(60)
        while moved[-1] == 3:  # where the run is when it begins; then it follows
            tick(7)
    assert moved[0] == 3
    assert 7 in moved
    assert moved[-1] == -1


def test_an_export_and_what_comes_before_a_run_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each waits until its line is there."""
    path, ready = tmp_path / "a.pt2", Retriever.request

    def export(*_: object) -> tuple[Path, ...]:
        assert told(capsys, "exporting")[-1] == f"exporting to {path}: 0 s gone"
        return (path,)

    def request(*given: Any, **named: Any) -> Request:
        assert told(capsys, "preparing")[-1] == "preparing the run: 0 s gone"
        return ready(*given, **named)

    monkeypatch.setattr(cli, "FIRST_LINE_SECONDS", 0.01)
    monkeypatch.setattr(exporting, "export", export)
    monkeypatch.setattr(Retriever, "request", request)
    assert main(DOOR, ["4 2 ? 1", "--export", "torch", str(path)]) == 0
