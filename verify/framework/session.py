"""What happens once in a run, however many processes share it: rows are gathered, progress and ledger are shown."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import pytest

from constructions.exports.files import alone
from verify.framework import ledger, proofs
from verify.framework.claim import Json, Row
from verify.framework.options import FILES, Options, matching, no_claim
from verify.framework.order import LEDGER, are_claims, seconds_of, seconds_of_tests
from verify.framework.progress import Progress, real_stderr

Screen: TypeAlias = Callable[[Sequence[Row], int, bool, int, Path | None], str]
"""The last screen of rows: terminal's width, colour, number of claims not judged, the ledger that was written."""
MOST_TOGETHER = 12  # rows that a run prints whole, without being asked


class Session:
    """A pytest plugin for the process that the user started.

    screen: makes what a run of many claims ends in, unless `--full` is given.
    """

    def __init__(self, config: pytest.Config, options: Options, screen: Screen) -> None:
        self.config = config
        self.options = options
        self.screen = screen
        self.progress: Progress | None = None
        self.stream: TextIO = sys.stderr
        self.live = False  # whether a bar is drawn
        self.rows: list[Row] = []
        self.files: dict[str, Path] = {}  # claim → the file that it stands in
        self.proofs: dict[str, dict[str, list[Json]]] = {}
        self.tests: list[str] = []
        self.not_judged: list[ledger.NotJudged] = []
        self.journal: ledger.Journal | None = None
        self.alone = ExitStack()  # with the files that it writes
        self.trouble: list[str] = []  # with files
        self.lost: list[str] = []  # tests of claims that failed outside of their search
        self.seconds: dict[str, float] = {}  # test → seconds, of earlier runs
        self.reported: dict[str, float] = {}  # the same of this run

    def tick(self, claim: str) -> Callable[[int], None]:
        """Returns what the search for a claim tells its number of cases to."""
        progress = self.progress
        return (lambda cases: None) if progress is None else (lambda cases: progress.tick(claim, cases))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        option = self.config.option
        if option.collectonly:
            return
        written = [("--ledger", option.ledger)] if option.ledger is not None else []
        written += [("--update-witnesses", option.witnesses)] if option.update_witnesses else []
        try:
            for name, path in written:
                self.alone.enter_context(alone(path, f"{name} {path}"))
        except ValueError as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_unconfigure(self) -> None:
        self.alone.close()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if any(item.get_closest_marker("claim") for item in session.items):
            self._start([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        claim_option = self.config.option.claim
        if not ids and claim_option is not None and not matching(claim_option, [row.claim.id for row in self.rows]):
            ours = are_claims(self.config.args, self.config.invocation_params.dir)
            claim_ids = [claim for claim, _ in seconds_of(LEDGER)] if ours else []  # the workers told none
            raise pytest.UsageError(f"--claim {claim_option!r}: {no_claim(claim_option, claim_ids)}")
        files = {test.split("::")[0].rsplit("/", 1)[-1] for test in ids}
        if any(fnmatch.fnmatch(file, FILES) for file in files) and not self.tests:
            self._start(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> object:
        """Hands out claims a group at a time, so that nobody waits for a heap of long ones. None for other tests."""
        if not are_claims(config.args, config.invocation_params.dir) or config.option.dist != "load":
            return None
        from verify.framework.scheduling import Groups

        return Groups(config, log)

    def _start(self, tests: Sequence[str]) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or self.config.option.collectonly:
            return
        self.tests = list(tests)
        self.stream = real_stderr()
        self.live = self.stream.isatty() and self.config.get_verbosity() <= 0
        if self.live:  # pytest's own line of names and letters would run through the bar
            reporter.showfspath = False
        self.seconds = {**seconds_of_tests(tests, seconds_of(LEDGER)), **self._known_seconds()}
        self.progress = Progress(tests, self.seconds, self.stream, self.live)

    def _known_seconds(self) -> dict[str, float]:
        cache = getattr(self.config, "cache", None)
        return {} if cache is None else dict(cache.get(self._cache_key, {}))

    @property
    def _cache_key(self) -> str:
        return f"verify/seconds-n{self.options.n_max}-p{self.options.p_bits}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Writes no letters into the bar: whatever fails is told at the end."""
        if not self.live or report.when != "call":
            return None
        return "xfailed" if hasattr(report, "wasxfail") else report.outcome, "", ""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.reported[report.nodeid] = report.duration
        rows = ledger.rows_of(report)
        self._keep(rows)
        self.files |= {row.claim.id: self.config.rootpath / report.nodeid.partition("::")[0] for row in rows}
        self.proofs |= proofs.report_proofs(report)
        self.not_judged += ledger.not_judged_of(report)
        if report.failed and not rows and ("claim" in report.keywords or not report.keywords):  # none: a worker died
            self.lost.append(report.nodeid)
        if self.progress is not None and report.when in ("teardown", "???"):  # ???: its process died
            self.progress.finish(report.nodeid)

    def _keep(self, rows: list[Row]) -> None:
        path = self.config.option.ledger
        self.rows += rows
        if path is None or not rows or self.trouble:
            return
        try:
            if self.journal is None:
                self.journal = ledger.Journal(path, self.options, self.rows)
            else:
                self.journal.add(rows)
        except OSError as error:
            self.trouble.append(f"--ledger {path}: {error.strerror}, so that rows are kept in memory only")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.progress is not None:
            self.progress.close()
            if self.stream is not sys.stderr:
                self.stream.close()
            cache = getattr(self.config, "cache", None)
            if cache is not None:
                cache.set(self._cache_key, {**self._known_seconds(), **self.reported})
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.rows:  # all of them taken over by --resume
            session.exitstatus = pytest.ExitCode.OK
        if not self.config.option.collectonly:
            self._write_files()
        self.trouble += ledger.contradictions(self.rows)
        if self.trouble and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _write_files(self) -> None:
        option = self.config.option
        try:
            if option.ledger is not None and (self.rows or self.not_judged):
                ledger.write(option.ledger, self.rows, self.options, self.not_judged)
                ledger.part_of(option.ledger).unlink(missing_ok=True)
        except OSError as error:
            note = f"; the rows are in {self.journal.path}" if self.journal is not None else ""
            self.trouble.append(f"--ledger {option.ledger}: {error.strerror}{note}")
        try:
            if option.update_witnesses:
                ledger.update_witnesses(option.witnesses, self.rows)
                proofs.update(proofs.file_of(option.witnesses), [*self.files], self.proofs)  # --resume has rows alone
        except OSError as error:
            self.trouble.append(f"--witnesses {option.witnesses}: {error.strerror}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        option = self.config.option
        whole = option.full or len(self.rows) <= MOST_TOGETHER
        if self.rows or self.lost or self.not_judged:
            terminalreporter.section("ledger")
            about = self.config.get_terminal_writer().fullwidth, terminalreporter.hasmarkup, len(self.not_judged)
            terminalreporter.write(
                ledger.text(self.rows, *about) if whole else self.screen(self.rows, *about, option.ledger)
            )
        for claim in sorted(self.not_judged, key=lambda claim: ledger.natural(claim.id)):
            terminalreporter.write_line(f"Not judged: {claim.id}: {claim.reason}")
        for test in sorted(set(self.lost)):
            terminalreporter.write_line(f"No verdict, see above: {test}")
        missing = len(set(self.tests) - set(self.reported))
        if missing:
            terminalreporter.write_line(f"The run ended early: {missing} of {len(self.tests)} tests were not run.")
        try:
            stored = ledger.load_witnesses(option.witnesses)
        except ValueError as error:
            stored = {}
            self.trouble.append(str(error))
        replayed = self.rows if whole else [row for row in self.rows if not row.as_expected]
        lines = ledger.replay_lines(replayed, stored, option.ledger, self.files, option.witnesses)
        for line in ["Replay a witness:", *lines] if lines else []:
            terminalreporter.write_line(line)
        for line in self.trouble:
            terminalreporter.write_line(f"ERROR: {line}")
