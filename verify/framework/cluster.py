"""`pytest verify/ --dask ADDRESS`: the workers of a Dask cluster judge the claims.

What is sent is a file of claims, the names of some of its tests, and the run's options. A worker has them judged by pytest in a
process of its own, which Ctrl-C and a crash end without harm to the worker, and sends back pytest's reports. They hold rows,
witnesses and proofs, as those of pytest-xdist's workers do, so that nobody after them sees a difference. What a worker was at
when it died, Dask gives to another one: reports arrive whole or not at all.

A worker whose files are others than those here is refused by its address: its verdicts would be about something else.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pytest

import constructions
from verify.framework.claim import Json
from verify.framework.options import ALREADY_IMPORTED, Options

if TYPE_CHECKING:
    from verify.framework.session import Session

HERE = Path(__file__).parents[2]  # the folder of the packages
PACKAGES = ("precision", "constructions", "circuits", "verify")
CONNECT_SECONDS = 10
SECONDS_BETWEEN_LOOKS = 1.0  # of a worker: is this still wanted? of the one who waits: are there workers?
UNIT_SECONDS = 10.0  # tests that took less are sent together: each process imports for seconds
WANTED = "executing"  # the state of a task that the scheduler waits for
NOT_RUN = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


@dataclass(frozen=True)
class ClusterJob:
    """What all units of a run have in common. files: the SHA-256 of each file that is read, by path; below HERE, relative to it.

    ini: the file of pytest's settings, one of these, if the user named it.
    """

    versions: Mapping[str, str]
    files: Mapping[str, str]
    options: tuple[str, ...]
    ini: str = ""

    def misfit(self) -> str:
        """Returns why this process must not judge; "" if it may."""
        here = versions()
        different = [
            f"{name} {here[name]}, not {expected}" for name, expected in self.versions.items() if here[name] != expected
        ]
        for file, expected in self.files.items():
            digest = _sha256(HERE / file)
            if digest != expected:
                different.append(f"another {file}" if digest else f"no {file}")
        return "; ".join(different)


@dataclass(frozen=True)
class WorkUnit:
    """Some tests of one file, by their names in it. seconds: what they took the last time, all together."""

    file: str
    names: tuple[str, ...]
    seconds: float


@dataclass
class Answer:
    """refused: why nothing was judged. reports: of pytest, by test. crashed: how the process of a test ended without any."""

    worker: str
    refused: str = ""
    reports: dict[str, list[Json]] = field(default_factory=dict)
    crashed: dict[str, str] = field(default_factory=dict)


def versions() -> dict[str, str]:
    """Returns whatever verdicts and witnesses may depend on."""
    source = hashlib.sha256()
    for path in sorted(path for package in PACKAGES for path in (HERE / package).rglob("*.py")):
        source.update(f"{path.relative_to(HERE)} {_sha256(path)}\n".encode())
    return {
        "version": constructions.__version__,
        "source": source.hexdigest()[:12],
        "hypothesis": importlib.metadata.version("hypothesis"),
        "Python": platform.python_version().rpartition(".")[0],
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


# On a worker


def judge(job: ClusterJob, unit: WorkUnit) -> Answer:
    """Runs these tests in a process of their own and returns the reports; after a crash, another process takes the rest."""
    from distributed import get_worker

    worker = get_worker()
    answer = Answer(worker.address, job.misfit())
    task = worker.state.tasks[worker.get_current_task()]
    remaining = [] if answer.refused else list(unit.names)
    while remaining and task.state == WANTED:
        code, error = _run([f"{HERE / unit.file}::{name}" for name in remaining], job, task, answer.reports)
        remaining = [
            name
            for name in remaining
            if not any(report["when"] == "teardown" for report in answer.reports.get(name, ()))
        ]
        for name in remaining if code in NOT_RUN else remaining[:1]:
            answer.crashed[name] = f"{worker.address}: exit status {code}: {error}"
        remaining = [name for name in remaining if name not in answer.crashed]
    return answer


def _run(tests: Sequence[str], job: ClusterJob, task: Any, reports: dict[str, list[Json]]) -> tuple[int, str]:
    """Returns the exit status and the last line of stderr, and adds reports. Ends the process when nobody wants the task."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    settings = ("-c", str(HERE / job.ini)) if job.ini else ()
    command = [sys.executable, "-P", "-m", "verify.framework.cluster", *settings, *job.options, *tests]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        # stdin stays open for as long as the worker lives: see `main`
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, env=environment) as process:
            while process.poll() is None:
                if task.state != WANTED:
                    process.kill()
                try:
                    process.wait(SECONDS_BETWEEN_LOOKS)
                except subprocess.TimeoutExpired:
                    continue
        out.seek(0)
        err.seek(0)
        for line in out.read().split("\n")[:-1]:
            report = json.loads(line)
            reports.setdefault(report["nodeid"].partition("::")[2], []).append(report)
        return process.returncode, (err.read().strip().splitlines() or ["nothing on stderr"])[-1]


class Reporter:
    """A pytest plugin that writes each report as a line of JSON."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def pytest_configure(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        print(json.dumps(data, default=str), file=self.stream, flush=True)


def main() -> int:
    """Runs pytest with the arguments given, reports on stdout. Ends when stdin does, and so when the worker dies."""

    def watch() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    plugins = ["-p", "verify.plugin", "-p", "no:terminal", "-p", "no:cacheprovider"]
    fixed = [*plugins, "-o", "addopts=", *ALREADY_IMPORTED]
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as stream:
        os.dup2(2, 1)  # whatever else is printed
        return int(pytest.main([*sys.argv[1:], *fixed], plugins=[Reporter(stream)]))  # the last word is that of `fixed`


# In the process that the user started


def connect(address: str) -> Any:
    """Returns a client of the cluster. ValueError if there is none."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError("--dask needs distributed: pip install 'rnn-transformer-constructions[dask]'") from error
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"--dask {address}: no scheduler answers there") from error


def units(tests: Mapping[str, tuple[str, str]], seconds: Mapping[str, float]) -> list[WorkUnit]:
    """Groups tests into units, the longest first. tests: test → its file and its name. A test never timed goes alone."""
    full_units: list[WorkUnit] = []
    open_units: dict[str, WorkUnit] = {}
    for test in sorted(tests, key=lambda test: -seconds.get(test, UNIT_SECONDS)):
        file, name = tests[test]
        before = open_units.pop(file, WorkUnit(file, (), 0.0))
        unit = WorkUnit(file, (*before.names, name), before.seconds + seconds.get(test, UNIT_SECONDS))
        if unit.seconds < UNIT_SECONDS:
            open_units[file] = unit
        else:
            full_units.append(unit)
    return sorted([*full_units, *open_units.values()], key=lambda unit: -unit.seconds)


class Cluster:
    """A pytest plugin that has the tests of a session run by workers, and hands their reports on as if they had run here."""

    def __init__(self, config: pytest.Config, address: str, options: Options) -> None:
        self.config, self.address, self.options = config, address, options
        self.client = connect(address)
        config.add_cleanup(self.client.close)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if self.config.option.collectonly or session.testsfailed or not session.items:
            return None  # nothing is run, or pytest says why not
        tests = {item.nodeid: (_worker_path(item.path), item.nodeid.partition("::")[2]) for item in session.items}
        named = self.config.inipath if self.config.option.inifilename else None
        ini = "" if named is None else _worker_path(named)
        files = {*(file for file, _ in tests.values()), *([ini] if ini else [])}
        job = ClusterJob(versions(), {file: _sha256(HERE / file) for file in sorted(files)}, self._arguments(), ini)
        self.require_workers(job)
        verifier: Session | None = self.config.pluginmanager.get_plugin("verify-session")
        items = {tests[item.nodeid]: item for item in session.items}
        work = units(tests, verifier.seconds if verifier is not None else {})
        futures = {self._submit(job, unit, place): unit for place, unit in enumerate(work)}
        try:
            while futures:
                self._receive(session, job, items, futures)
        finally:
            self.client.cancel(list(futures), force=True)
        return True

    def _arguments(self) -> tuple[str, ...]:
        options, option = self.options, self.config.option
        precision = () if options.p_bits is None else (f"--p-bits={options.p_bits}",)
        settings = [f"--override-ini={setting}" for setting in option.override_ini or ()]
        settings += [f"--pythonwarnings={warning}" for warning in option.pythonwarnings or ()]
        engine = f"--engine={option.engine}"
        return (
            f"--n-max={options.n_max}",
            *precision,
            engine,
            f"--device={options.device}",
            f"--seed={options.seed}",
            *settings,
        )

    def require_workers(self, job: ClusterJob) -> None:
        """Raises UsageError that names each worker that must not judge. Some clusters have no worker before there is work."""
        misfits = self.client.run(job.misfit, on_error="return")
        unfit = [f"worker {worker}: {_words(why)}" for worker, why in misfits.items() if why]
        if unfit:
            raise pytest.UsageError(f"--dask {self.address}: {'; '.join(unfit)}")

    def _submit(self, job: ClusterJob, unit: WorkUnit, place: int) -> Any:
        return self.client.submit(judge, job, unit, priority=-place, pure=False)

    def _receive(
        self,
        session: pytest.Session,
        job: ClusterJob,
        items: Mapping[tuple[str, str], pytest.Item],
        futures: dict[Any, WorkUnit],
    ) -> None:
        """Waits for answers, and takes them out of `futures`."""
        from distributed import KilledWorker, wait

        try:
            done = wait(list(futures), SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            self._say_workers()
            return
        except CancelledError as error:
            raise session.Interrupted(f"--dask {self.address}: the scheduler is gone") from error
        refused = ""
        for future in done:
            unit = futures.pop(future)
            failure = future.exception()
            if isinstance(failure, KilledWorker) and len(unit.names) > 1:  # one of them may be to blame
                alone = [WorkUnit(unit.file, (name,), 0.0) for name in unit.names]
                futures |= {self._submit(job, one, 0): one for one in alone}
                continue
            if isinstance(failure, KilledWorker):
                answer = Answer("", crashed={unit.names[0]: "each worker that had it died"})
            else:
                answer = Answer("unknown", refused=_words(failure)) if failure else future.result()
            if answer.refused:
                refused = f"--dask {self.address}: worker {answer.worker}: {answer.refused}"
                continue
            for name in unit.names:
                self._hand_on(session, items[unit.file, name], answer.reports.get(name, []), answer.crashed.get(name))
        if refused:  # one that came later; what the others have found is kept
            raise session.Interrupted(refused)

    def _hand_on(self, session: pytest.Session, item: pytest.Item, reports: Sequence[Json], crash: str | None) -> None:
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self.config, data={**data, "nodeid": item.nodeid})
            hook.pytest_runtest_logreport(report=report)
        if crash is not None:  # as pytest-xdist says it
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", crash, "???")  # type: ignore[arg-type]
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

    def _say_workers(self) -> None:
        verifier: Session | None = self.config.pluginmanager.get_plugin("verify-session")
        if verifier is not None and verifier.progress is not None:
            workers = len(self.client.nthreads())
            some = f"{workers} {'worker' if workers == 1 else 'workers'}"
            verifier.progress.detail = some if workers else "waiting for a worker"


def _worker_path(path: Path) -> str:
    """Returns how a worker finds a file: below HERE, wherever that is there, or else by its full name."""
    return str(path.relative_to(HERE) if path.is_relative_to(HERE) else path)


def _words(why: object) -> str:
    return f"{type(why).__name__}: {why}" if isinstance(why, BaseException) else str(why)


if __name__ == "__main__":
    sys.exit(main())
