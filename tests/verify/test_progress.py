"""Progress: silent when short, a line now and then when long, never on stdout."""

from __future__ import annotations

import io
import re

import pytest

from tests.verify.conftest import Paper
from verify.framework import progress
from verify.framework.progress import Progress, duration


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_lines_come_with_the_time_left(clock: Clock) -> None:
    stream = io.StringIO()
    shown = Progress(["a", "b", "c"], {}, stream, live=False)
    clock.now = 10
    shown.finish("a")
    assert stream.getvalue() == ""
    clock.now = 40
    shown.tick("C.1/printed", 12345)
    assert stream.getvalue() == "verify: 1 of 3 finished; 40 s; about 1 min 20 s left; C.1/printed, 12,345 cases\n"


def test_tests_weigh_what_they_took(clock: Clock) -> None:
    shown = Progress(["a", "b"], {"a": 1.0, "b": 9.0}, io.StringIO(), live=False)
    assert shown.time_left() is None
    clock.now = 2
    shown.finish("a")
    assert shown.time_left() == pytest.approx(18)


def test_a_bar_cleans_up() -> None:
    stream = io.StringIO()
    shown = Progress(["a", "b"], {}, stream, live=True)
    shown.finish("a")
    shown.tick("C.1", 3)
    assert shown.bar is not None
    shown.finish("b")
    assert shown.bar is None
    assert "verify" in stream.getvalue()


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_bar_has_room_for_the_time_left(monkeypatch: pytest.MonkeyPatch, clock: Clock, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    shown = Progress([f"test {i}" for i in range(350)], {}, stream, live=True)
    clock.now = 20
    shown.finish("test 3")
    shown.tick("5.3/istree-precision/printed", 1_234_567)
    assert shown.bar is not None
    shown.bar.refresh()
    shown.close()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    frames = [frame.rstrip() for frame in re.split(r"[\r\n]", drawn) if frame.strip()]
    assert re.match(r"verify .*1/350 .*about 1 h 56 min left", frames[-1])
    assert max(map(len, frames)) <= columns
    assert all(frame.startswith("verify ") for frame in frames)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (61, "1 min 1 s"), (7322, "2 h 2 min")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_short_run_says_nothing(paper: Paper) -> None:
    result = paper.run_apart("-n", "1")
    assert result.stderr.str() == ""
