"""Progress: silent when short, a line now and then when long, never on stdout."""

from __future__ import annotations

import io
import re
import time

import pytest

from constructions.show import cli
from tests.verify.conftest import Paper
from verify.framework import progress
from verify.framework.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(stream: io.StringIO, text: str) -> str:
    """What was written once it has this text; it comes from another thread."""
    deadline = time.monotonic() + 60
    while text not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    return stream.getvalue()


def test_lines_come_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE_SECONDS", 1.0)
    stream = Terminal()
    shown = Progress(["a", "b", "c"], {"a": 0.5, "b": 0.5, "c": 9.0}, stream, live=False)
    for test in ("a", "a", "b"):  # one that is run again counts once
        shown.finish(test)
    shown.tick("C.1/printed", 12345)
    line = "verify: 1 s gone, 2 of 3 tests, about 9 s left; C.1/printed, 12,345 cases\n"
    assert written(stream, "\n").startswith(line)
    shown.close()


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_bar_has_room_for_the_time_left(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(cli, "PATIENCE_SECONDS", 0.0)
    stream = Terminal()
    shown = Progress([f"test {i}" for i in range(350)], {}, stream, live=True)
    written(stream, "verify")
    shown.tick("5.3/istree-precision/printed", 1_234_567)
    for test in range(70):
        shown.finish(f"test {test}")
        shown.tick("5.3/istree-precision/printed", 1_234_567)
    shown.close()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    frames = [frame.rstrip() for frame in re.split(r"[\r\n]", drawn) if frame.strip()]
    assert re.match(r"verify .*20% .*left 5\.3/is.*", frames[-1])
    assert max(map(len, frames)) <= columns
    assert all(frame.startswith("verify ") for frame in frames)


def test_a_short_run_says_nothing(paper: Paper) -> None:
    result = paper.run_apart("-n", "1")
    assert result.stderr.str() == ""
