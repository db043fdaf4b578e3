"""How a command is run that may do anything: bounded in memory and silence, with what it said.

An abuse of an argument or a file needs no interpreter of its own: a server that has imported the commands forks one for each.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import runpy
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from constructions.exports import files

MOST_BYTES = 2 << 30
MOST_SILENCE = 60.0  # seconds
PRELOADED = ("constructions.models.registry", "verify.certify", "verify.explain", "verify.theorem")


@dataclass(frozen=True)
class Ended:
    """status: as shells have it. bytes: of memory, at most. silence: the longest, in seconds."""

    status: int
    out: str
    err: str
    bytes: int
    silence: float


def forked(module: str, arguments: Sequence[str], folder: Path, most_of_a_file: int | None = None) -> Ended:
    """Runs a command. most_of_a_file: bytes, as if the disk were full after them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    process = context.Process(target=_child, args=(module, list(arguments), str(folder), most_of_a_file))
    process.start()
    silence = _watched(folder, lambda: process.exitcode is None, process.kill)
    used = folder / ".bytes"
    most = int(used.read_text()) if used.exists() else 0
    used.unlink(missing_ok=True)
    return _ended(folder, process.exitcode or 0, most, silence)


def _child(module: str, arguments: list[str], folder: str, most_of_a_file: int | None) -> None:
    os.chdir(folder)
    for number, name in ((0, os.devnull), (1, ".out"), (2, ".err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.argv = [module, *arguments]
    files.PATIENCE_SECONDS = 0.1  # with a pipe to which nobody writes
    warnings.simplefilter("ignore", RuntimeWarning)  # that the module is imported already
    before = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (before + MOST_BYTES, before + MOST_BYTES))
    if most_of_a_file is not None:
        sys.dont_write_bytecode = True  # Python would keep the beginning of what it compiles, for every run from now on
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_of_a_file, resource.RLIM_INFINITY))
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    sys.stdout.flush()
    if most_of_a_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    Path(".bytes").write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10))
    os._exit(code)


def started(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str | None] | None = None,
    stop: Callable[[subprocess.Popen[bytes]], None] = lambda process: None,
) -> Ended:
    """Runs a program by itself. environment: what of it is another, None for what is not there. stop: called every moment."""
    given = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **(environment or {})}
    with (folder / ".out").open("wb") as out, (folder / ".err").open("wb") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            env={name: value for name, value in given.items() if value is not None},
            start_new_session=True,
        )
    ends: list[tuple[int, int]] = []

    def runs() -> bool:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            ends.append((process.returncode, used.ru_maxrss << 10))
        else:
            stop(process)
        return not pid

    silence = _watched(folder, runs, lambda: os.killpg(process.pid, signal.SIGKILL))
    return _ended(folder, *ends[0], silence)


def _watched(folder: Path, runs: Callable[[], bool], kill: Callable[[], object]) -> float:
    """Waits for the end, and returns the longest silence; one that is too long is the end."""
    said, since, longest = 0, time.monotonic(), 0.0
    while runs():
        time.sleep(0.01)
        now = sum(path.stat().st_size for path in (folder / ".out", folder / ".err") if path.exists())
        if now != said:
            said, since = now, time.monotonic()
        longest = max(longest, time.monotonic() - since)
        if longest > MOST_SILENCE:
            kill()
    return longest


def _ended(folder: Path, code: int, most: int, silence: float) -> Ended:
    texts = []
    for path in (folder / ".out", folder / ".err"):
        texts.append(path.read_text(encoding="utf-8", errors="replace") if path.exists() else "")
        path.unlink(missing_ok=True)
    return Ended(code if code >= 0 else 128 - code, texts[0], texts[1], most, silence)
