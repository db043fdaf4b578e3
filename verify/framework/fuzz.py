"""`pytest verify/ tests/ --fuzz MINUTES`: fresh random cases for claims and for the tests' properties, until the time is over.

pytest-xdist shares the work: one process a core, each test again and again. A property that fails is kept, shrunk, in
hypothesis' database of examples, which every run of the tests reads; a claim that fails is kept as a witness beside it. Only
claims that are meant to hold are tried, and of these only what they sample: what is exhaustive has no fresh cases.
"""

from __future__ import annotations

import functools
import random
import shlex
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import is_hypothesis_test
from hypothesis.errors import UnsatisfiedAssumption
from xdist.scheduler.load import LoadScheduling

from constructions.show import cli
from verify.framework import ledger
from verify.framework.options import where
from verify.framework.progress import FIRST_LINE_SECONDS, real_stderr
from verify.framework.sampling import TimeIsOver

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

FOLDER = ".hypothesis"  # below pytest's root
CASES = "fuzz-cases"  # the property of a report that tells how many cases the test saw


def kept_examples(root: Path) -> Path:
    """Returns where hypothesis keeps the cases that failed."""
    return root / FOLDER / "examples"


def kept_witnesses(root: Path) -> Path:
    """Returns where the cases stand that refuted a claim."""
    return root / FOLDER / "witnesses.json"


def is_property(item: pytest.Item) -> bool:
    """Does hypothesis draw the cases of this test?"""
    return is_hypothesis_test(getattr(item, "obj", None))


class Worker:
    """A pytest plugin for one of the processes: runs what it is told to, counts cases, stops in time."""

    def __init__(self, minutes: float) -> None:
        self.minutes = minutes
        self.until = 0.0  # of time.time(); once all tests are read

    def pytest_collection_finish(self) -> None:
        self.until = time.time() + 60 * self.minutes

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Runs a test as usual, but leaves nothing set up: the next test may be the same one."""
        if time.time() < self.until:
            item.user_properties.clear()
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            runtestprotocol(item, nextitem=None)
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        if not is_property(pyfuncitem):
            return (yield)
        with _count_cases(pyfuncitem.obj, self.until) as cases:
            try:
                return (yield)
            except TimeIsOver:
                return True
            finally:
                pyfuncitem.user_properties.append((CASES, len(cases)))


@contextmanager
def _count_cases(test: Callable[..., object], until: float) -> Iterator[list[None]]:
    """Adds each case of a property to the list; when the time is over and nothing failed, the next one ends the test."""
    handle = test.hypothesis  # type: ignore[attr-defined]
    judge = handle.inner_test
    cases: list[None] = []
    failed = False

    @functools.wraps(judge)
    def count(*arguments: object, **named: object) -> object:
        nonlocal failed
        if time.time() >= until and not failed:
            raise TimeIsOver
        if not failed:
            cases.append(None)
        try:
            return judge(*arguments, **named)
        except UnsatisfiedAssumption:
            raise
        except Exception:
            failed = True
            raise

    handle.inner_test = count
    try:
        yield cases
    finally:
        handle.inner_test = judge


class Controller:
    """A pytest plugin for the process that the user started: hands out tests, keeps what fails, tells how far it is."""

    def __init__(self, config: pytest.Config, minutes: float) -> None:
        self.config = config
        self.minutes = minutes
        self.cases = 0
        self.tests: set[str] = set()
        self.again: dict[str, str] = {}  # test that failed → the command that shows it
        self.rounds: Rounds | None = None
        self.shown = ExitStack()

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> LoadScheduling:
        self.rounds = Rounds(config, log, self.minutes)
        self.shown.enter_context(
            cli.progress("fuzz", detail=self.text, stream=real_stderr(), first_line_seconds=FIRST_LINE_SECONDS)
        )
        return self.rounds

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not ids:
            claim = self.config.option.claim
            raise pytest.UsageError("--fuzz: nothing here draws cases" + (f" for claim {claim}" if claim else ""))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Writes no letter for each of thousands of runs."""
        return ("passed", "", "") if report.when == "call" and report.passed else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        rows = ledger.rows_of(report)
        cases = sum(int(str(value)) for name, value in report.user_properties if name == CASES)
        if report.when == "call":
            self.cases += cases
            self.tests |= {report.nodeid} if cases else set()
        if report.failed:
            refuted = [row for row in rows if row.witness is not None]
            if refuted:
                ledger.update_witnesses(self._file(), refuted)
            there = where(self.config.rootpath / report.nodeid.partition("::")[0])
            commands = [row.witness.command(row.claim.id) + there for row in refuted if row.witness is not None]
            self.again.setdefault(
                report.nodeid, commands[0] if commands else f"python -m pytest {shlex.quote(report.nodeid)}"
            )
        if self.rounds is not None and (report.failed or (report.when == "call" and not cases)):
            self.rounds.forget(report.nodeid)

    def _file(self) -> Path:
        path = kept_witnesses(self.config.rootpath)
        path.parent.mkdir(exist_ok=True)
        return path

    def pytest_sessionfinish(self) -> None:
        self.shown.close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("fuzz")
        terminalreporter.write_line(self.text())
        for test, command in sorted(self.again.items()):
            terminalreporter.write_line(f"{test}\n  again: {command}")
        if self.again:
            terminalreporter.write_line(
                f"Kept below {self.config.rootpath / FOLDER}; the next run of the tests tries it again."
            )

    def text(self) -> str:
        """Returns how many cases, and of how many tests."""
        return f"{self.cases:,} cases of {len(self.tests)} tests; {len(self.again)} failed"


class Rounds(LoadScheduling):  # type: ignore[misc]
    """Hands out all tests, round after round, each in a new order, until the time is over."""

    def __init__(self, config: pytest.Config, log: Producer, minutes: float) -> None:
        super().__init__(config, log)
        self.collection: list[str] | None = None
        self.maxschedchunk = 1
        self.minutes = minutes
        self.until = 0.0
        self.done_with: set[int] = set()

    def forget(self, test: str) -> None:
        """Drops a test that has failed or draws nothing: once is enough."""
        if self.collection is not None and test in self.collection:
            self.done_with.add(self.collection.index(test))
            self.pending[:] = [index for index in self.pending if index not in self.done_with]

    def schedule(self) -> None:
        if self.collection is None:
            if not self._check_nodes_have_same_collection():
                return
            self.collection = next(iter(self.node2collection.values()))
            self.until = time.time() + 60 * self.minutes
        for node in self.nodes:
            self.check_schedule(node)

    def check_schedule(self, node: WorkerController, duration: float = 0.0) -> None:
        tests = sorted(set(range(len(self.collection or []))) - self.done_with)
        if time.time() >= self.until:
            self.pending.clear()
        elif tests:
            while len(self.pending) < 2:  # a worker holds one test back until it has the next
                self.pending += random.sample(tests, len(tests))
        super().check_schedule(node, duration)
