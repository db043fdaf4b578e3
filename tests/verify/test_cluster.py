"""Claims on a Dask cluster: the ledger of one process, whatever happens to the workers; and who may not be a worker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.conftest import PAPER, Paper
from tests.verify.test_ledger import without_seconds
from verify.framework.cluster import PACKAGES, ClusterJob, WorkUnit, units, versions

ROOT = Path(__file__).parents[2]
START = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
    cluster.close()
"""
KILLS_ITS_WORKER = """
@claim("K", source="K", statement="One worker dies at this.")
def test_last(check):
    import os, pathlib, signal, time
    if not pathlib.Path("{folder}/killed").exists():
        pathlib.Path("{folder}/killed").touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
        pathlib.Path("{folder}/outlived").touch()
    check.proved([SQUARES], by="x", range="all x")
"""
CRASHES = '\n@claim("Z", source="Z", statement="Z")\ndef test_crash(check):\n    import os\n    os._exit(9)\n'


@contextmanager
def started(folder: Path, packages: Path) -> Iterator[str]:
    """The address of a cluster of two worker processes that import these packages."""
    pytest.importorskip("distributed", reason="needs the extra dask: make sweep-test")
    script = folder / "start.py"
    script.write_text(START, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(packages)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.communicate()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with started(tmp_path_factory.mktemp("cluster"), ROOT) as address:
        yield address


def test_a_killed_worker_changes_nothing(paper: Paper, cluster: str) -> None:
    """Nothing is lost, nothing stands there twice, and what it was at ends with it."""
    paper.write(PAPER + KILLS_ITS_WORKER.format(folder=paper.folder))
    options = ("--n-max", "9", "--p-bits", "33", "--seed", "4")  # a witness repeats them
    spread = paper.run_apart("--dask", cluster, "--ledger", "spread.json", "--update-witnesses", *options)
    assert (paper.folder / "killed").exists()
    alone = paper.run_apart("--ledger", "alone.json", *options)
    assert (spread.ret, alone.ret) == (0, 0)
    assert without_seconds(paper.ledger("spread.json")) == without_seconds(paper.ledger("alone.json"))
    assert len(paper.ledger("spread.json")["rows"]) == 6
    spread.assert_outcomes(passed=5, xfailed=1)
    assert list(paper.ledger("witnesses.json")["witnesses"]) == ["T.1/printed"]
    assert not (paper.folder / "outlived").exists()


def test_a_test_that_crashes_is_named_and_the_others_are_judged(paper: Paper, cluster: str) -> None:
    paper.write(CRASHES + PAPER)
    result = paper.run_apart("--dask", cluster)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["4 holds, 1 refuted, 0 unknown*", "No verdict, see above: *::test_crash*"])
    result.stdout.fnmatch_lines(["tcp://*: exit status 9*"])


def test_settings_of_pytest_travel_along(paper: Paper, cluster: str) -> None:
    """-W, -o and -c: each alone makes the test of a claim fail or hold."""
    warns = '@claim("Z", source="Z", statement="Z")\ndef test_last(check):\n    import warnings\n    '
    paper.write(f"{PAPER}\n{warns}warnings.warn('late')\n    check.proved([SQUARES], by='x', range='all x')\n")
    (paper.folder / "strict.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    lenient = ("--claim", "Z", "-o", "filterwarnings=")
    assert paper.run_apart("--dask", cluster, *lenient).ret == 0
    assert paper.run_apart("--dask", cluster, *lenient, "-W", "error").ret == 1
    assert paper.run_apart("--dask", cluster, "--claim", "Z", "-c", "strict.ini", "-p", "verify.plugin").ret == 1


def test_an_interrupt_frees_the_workers_and_leaves_a_ledger(paper: Paper, cluster: str) -> None:
    last = '@claim("Z", source="Z", statement="Z")\ndef test_last(check):\n    '
    sleep = f"import os, pathlib, time\n    pathlib.Path('{paper.folder}/child').write_text(str(os.getpid()))\n    time.sleep(60)"
    paper.write(f"{PAPER}\n{last}{sleep}\n")
    command = [sys.executable, "-m", "pytest", "--dask", cluster, "--ledger", "ledger.json"]
    with subprocess.Popen(command, cwd=paper.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        part, child = paper.folder / "ledger.json.part", paper.folder / "child"
        while process.poll() is None and not (child.exists() and child.read_text() and part.exists()):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == pytest.ExitCode.INTERRUPTED
    assert paper.ledger()["rows"]
    for _ in range(100):
        if not Path(f"/proc/{child.read_text()}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{child.read_text()}").exists()


def test_a_worker_with_other_files_is_refused_by_name(paper: Paper, tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "verify" / "kernel.py").open("a", encoding="utf-8") as file:
        file.write("# another one\n")
    with started(tmp_path, tmp_path) as address:
        result = paper.run_apart("--dask", address)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --dask {address}: worker tcp://*: source *, not *; worker tcp://*: source *"])


def test_what_makes_a_worker_unfit(tmp_path: Path) -> None:
    file = tmp_path / "claims.py"
    file.write_text("one", encoding="utf-8")
    job = ClusterJob(versions(), {}, ())
    assert not job.misfit()
    assert replace(job, files={str(file): "0"}).misfit() == f"another {file}"
    assert replace(job, files={str(tmp_path / "none.py"): "0"}).misfit() == f"no {tmp_path / 'none.py'}"
    old = {**versions(), "version": "0.0"}
    assert replace(job, versions=old).misfit() == f"version {versions()['version']}, not 0.0"


def test_short_tests_travel_together_and_long_ones_first() -> None:
    tests = {name: (f"{name[0]}.py", name) for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1")}
    seconds = {"a1": 1.0, "a2": 100.0, "a3": 9.5, "a4": 0.5, "b1": 2.0, "b2": 3.0}
    assert units(tests, seconds) == [
        WorkUnit("a.py", ("a2",), 100.0),
        WorkUnit("a.py", ("a3", "a1"), 10.5),
        WorkUnit("c.py", ("c1",), 10.0),
        WorkUnit("b.py", ("b2", "b1"), 5.0),
        WorkUnit("a.py", ("a4",), 0.5),
    ]


def test_the_command_line(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    for options, line in (
        (["-n", "2"], "--dask: the processes are those of the cluster's workers, so -n and --tx have no use"),
        (["--fuzz", "1"], "--fuzz: nothing is judged, so --dask has no use"),
        ([], "--dask needs distributed: pip install 'rnn-transformer-constructions[dask]'"),
    ):
        monkeypatch.setitem(sys.modules, "distributed", None)
        result = paper.run("--dask", "tcp://127.0.0.1:1", *options)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert [text for text in result.stderr.lines if text.strip()] == [f"ERROR: {line}"]
