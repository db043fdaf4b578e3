"""How far a run is and how long it will still take, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

SECONDS_BETWEEN_LINES = 30.0
SECONDS_BETWEEN_UPDATES = 0.2
WIDE = 110  # columns, for a bar


def real_stderr() -> TextIO:
    """Returns a stream of our own to stderr: pytest redirects the usual one while a test runs."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
    except (OSError, ValueError):  # stderr is an object in memory
        return sys.stderr


def duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Progress:
    """Counts finished tests. Each weighs what it took in the last run, or as much as the average one."""

    def __init__(self, tests: Sequence[str], seconds: Mapping[str, float], stream: TextIO, live: bool) -> None:
        usual = sum(seconds.values()) / len(seconds) if seconds else 1.0
        self.weights = {test: max(seconds.get(test, usual), 1e-3) for test in tests}
        self.total = len(self.weights)
        self.waiting = dict(self.weights)
        self.stream = stream
        self.started = self.last = time.monotonic()
        self.detail = ""
        self.bar: Bar | None = self._bar() if live else None

    @property
    def done(self) -> int:
        """Returns how many tests are finished."""
        return self.total - len(self.waiting)

    def time_left(self) -> float | None:
        """Seconds, or None while nothing is finished."""
        work_left = sum(self.waiting.values())
        finished = sum(self.weights.values()) - work_left
        elapsed = time.monotonic() - self.started
        return None if self.done == 0 else elapsed * work_left / finished

    def left_text(self) -> str:
        """Returns the time left in words, or ""."""
        seconds = self.time_left()
        return "" if seconds is None else f"about {duration(seconds)} left"

    def finish(self, test: str) -> None:
        """Counts one more test as done."""
        self.waiting.pop(test, None)
        self.detail = ""
        if self.waiting:
            self._show(force=self.bar is not None)
        else:
            self.close()

    def tick(self, claim: str, cases: int) -> None:
        """Counts so many cases of the claim that is being judged."""
        if time.monotonic() - self.last >= SECONDS_BETWEEN_UPDATES:
            self.say(f"{claim}, {cases:,} cases")

    def say(self, detail: str) -> None:
        """Shows what else there is to know, for as long as nothing finishes."""
        self.detail = detail
        self._show(force=False)

    def close(self) -> None:
        """Leaves the terminal as it was."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def _show(self, force: bool) -> None:
        now = time.monotonic()
        pause = SECONDS_BETWEEN_LINES if self.bar is None else SECONDS_BETWEEN_UPDATES
        if not (force or now - self.last >= pause):
            return
        self.last = now
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done)
            return
        parts = [
            f"verify: {self.done} of {self.total} finished",
            duration(now - self.started),
            self.left_text(),
            self.detail,
        ]
        self.stream.write("; ".join(part for part in parts if part) + "\n")
        self.stream.flush()

    def _bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        console = Console(file=self.stream, force_terminal=True)
        bar_and_time = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        shown, needed = (bar_and_time, 90) if console.width >= WIDE else ([MofNCompleteColumn()], 40)
        room = max(console.width - needed, 0)

        class Words(ProgressColumn):
            def __init__(self, words: Callable[[], str]) -> None:
                super().__init__()
                self.words = words

            def render(self, task: Task) -> Text:
                return Text(self.words(), no_wrap=True)

        bar = Bar(
            TextColumn("verify"),
            *shown,
            Words(self.left_text),
            Words(lambda: self.detail[:room]),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            refresh_per_second=4,
        )
        bar.add_task("", total=self.total)
        bar.start()
        return bar
