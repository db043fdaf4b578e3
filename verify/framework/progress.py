"""How far a run of tests is and how long it will still take, as commands show it (constructions/show/cli.py)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TextIO

from constructions.show import cli

FIRST_LINE_SECONDS = 30.0


def real_stderr() -> TextIO:
    """Returns a stream of our own to stderr: pytest redirects the usual one while a test runs."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
    except (OSError, ValueError):  # stderr is an object in memory
        return sys.stderr


class Progress:
    """Counts finished tests. Each weighs what it took in the last run, or as much as the average one."""

    def __init__(self, tests: Sequence[str], seconds: Mapping[str, float], stream: TextIO, live: bool) -> None:
        usual = sum(seconds.values()) / len(seconds) if seconds else 1.0
        self.waiting = {test: max(seconds.get(test, usual), 1e-3) for test in tests}
        self.total = len(self.waiting)
        self.weight, self.finished = sum(self.waiting.values()), [0.0]  # of all; after each number of tests
        self.detail = ""
        self.shown = ExitStack()
        self.tell = self.shown.enter_context(
            cli.progress(
                "verify",
                self.total,
                lambda done: self.weight if done == self.total else self.finished[done],
                "tests",
                detail=lambda: self.detail,
                stream=stream,
                live=live,
                first_line_seconds=FIRST_LINE_SECONDS,
            )
        )

    def finish(self, test: str) -> None:
        """Counts one more test as done."""
        if (weight := self.waiting.pop(test, None)) is None:
            return
        self.finished.append(self.finished[-1] + weight)
        self.detail = ""
        self.tell(self.total - len(self.waiting))
        if not self.waiting:
            self.close()

    def tick(self, claim: str, cases: int) -> None:
        """Counts so many cases of the claim that is being judged."""
        self.detail = f"{claim}, {cases:,} cases"

    def close(self) -> None:
        """Leaves the terminal as it was."""
        self.shown.close()
