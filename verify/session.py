"""What happens once in a run, however many processes share it: rows are gathered, progress and ledger are shown."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

import pytest

from verify import ledger
from verify.claim import Row
from verify.options import FILES, Options
from verify.order import LEDGER, seconds_of, seconds_of_tests
from verify.progress import Progress, real_stderr


class Session:
    """A pytest plugin for the process that the user started."""

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self.config = config
        self.options = options
        self.progress: Progress | None = None
        self.stream: TextIO = sys.stderr
        self.rows: list[Row] = []
        self.tests: list[str] = []
        self.lost: list[str] = []  # tests of claims that failed outside of their search
        self.reported: dict[str, float] = {}  # test → seconds

    def tick(self, claim: str) -> Callable[[int], None]:
        """What the search for a claim tells its number of cases to."""
        progress = self.progress
        return (lambda cases: None) if progress is None else (lambda cases: progress.tick(claim, cases))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if any(item.get_closest_marker("claim") for item in session.items):
            self._start([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not ids and self.config.option.claim is not None:
            raise pytest.UsageError(f"--claim {self.config.option.claim}: no such claim")
        files = {test.split("::")[0].rsplit("/", 1)[-1] for test in ids}
        if any(fnmatch.fnmatch(file, FILES) for file in files) and not self.tests:
            self._start(ids)

    def _start(self, tests: Sequence[str]) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or self.config.option.collectonly:
            return
        self.tests = list(tests)
        self.stream = real_stderr()
        live = self.stream.isatty() and self.config.get_verbosity() <= 0
        if live:  # pytest's own line of names and letters would run through the bar
            reporter.showfspath = False
        known = {**seconds_of_tests(tests, seconds_of(LEDGER)), **self._known_seconds()}
        self.progress = Progress(tests, known, self.stream, live)

    def _known_seconds(self) -> dict[str, float]:
        cache = getattr(self.config, "cache", None)
        return {} if cache is None else dict(cache.get(self._cache_key, {}))

    @property
    def _cache_key(self) -> str:
        return f"verify/seconds-n{self.options.n_max}-p{self.options.p_bits}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letters into the bar: whatever fails is told at the end."""
        if self.progress is None or self.progress.bar is None or report.when != "call":
            return None
        return "xfailed" if hasattr(report, "wasxfail") else report.outcome, "", ""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.reported[report.nodeid] = report.duration
        rows = ledger.rows_of(report)
        self.rows += rows
        if rows and self.config.option.ledger is not None:  # so that a run that is cut off can be resumed
            ledger.write(self.config.option.ledger, self.rows, self.options)
        if report.failed and not rows and ("claim" in report.keywords or not report.keywords):  # none: a worker died
            self.lost.append(report.nodeid)
        if self.progress is not None and report.when == "teardown":
            self.progress.finish(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        if self.progress is not None:
            self.progress.close()
            if self.stream is not sys.stderr:
                self.stream.close()
            cache = getattr(self.config, "cache", None)
            if cache is not None:
                cache.set(self._cache_key, {**self._known_seconds(), **self.reported})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        option = self.config.option
        if option.ledger is not None and not option.collectonly:
            ledger.write(option.ledger, self.rows, self.options)
        if not (self.rows or self.lost):
            return
        if option.update_witnesses:
            ledger.update_witnesses(option.witnesses, self.rows)
        terminalreporter.section("ledger")
        width = self.config.get_terminal_writer().fullwidth
        terminalreporter.write(ledger.text(self.rows, width, terminalreporter.hasmarkup))
        for test in sorted(set(self.lost)):
            terminalreporter.write_line(f"No verdict, see above: {test}")
        missing = len(set(self.tests) - set(self.reported))
        if missing:
            terminalreporter.write_line(f"The run ended early: {missing} of {len(self.tests)} tests were not run.")
        lines = ledger.replay_lines(self.rows, ledger.load_witnesses(option.witnesses), option.ledger)
        for line in ["Replay a witness:", *lines] if lines else []:
            terminalreporter.write_line(line)
