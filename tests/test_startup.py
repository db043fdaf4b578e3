"""What a command imports, from start to exit: no package that it does not use, no engine that it does not run, no other model.

And how many threads numpy starts in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("difflib", "flint", "hypothesis", "json", "mpmath", "numba", "numpy", "onnx", "pysat", "pytest", "rich"),
    *("safetensors", "shutil", "signal", "subprocess", "sympy", "torch"),
    *(f"constructions.engines.{name}" for name in ("dense", "incremental", "native", "reference")),
    *(f"constructions.{name}" for name in ("istree", "retrieval", "turing")),
    *(f"constructions.exports.{name}" for name in ("limits", "writing")),
    *(f"constructions.models.{name}" for name in ("checked", "program")),
    "constructions.show.flags",
}


def imported(*command: str) -> set[str]:
    """The modules that Python imports for a command."""
    argv = [sys.executable, "-X", "importtime", "-m", *command]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 2, done.stderr  # usage; what the command finds is its own affair
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.split("|")[2].strip() for line in lines}


@pytest.mark.parametrize(
    ("command", "used"),
    [
        (("verify.table",), ("json", "rich")),
        (("circuits", "add", "--p", "5"), ("numpy", "rich")),
        (
            ("constructions.istree", "--edges", "1-2"),
            ("numpy", "constructions.istree", "constructions.models.program", "constructions.engines.reference"),
        ),
        (
            ("constructions.index", "4 2 ? 1", "--json"),
            (
                *("numpy", "json", "constructions.retrieval", "constructions.models.program"),
                *("constructions.show.flags", "constructions.engines.reference"),
            ),
        ),
        (
            ("constructions.turing", "--machine", "bb2", "--steps", "1", "--model", "cot"),
            (*("numpy", "constructions.turing", "constructions.models.program"), "constructions.engines.reference"),
        ),
    ],
    ids=" ".join,
)
def test_a_command_imports_what_it_uses(command: tuple[str, ...], used: tuple[str, ...]) -> None:
    assert imported(*command) & HEAVY == set(used)


def loaded(program: str) -> set[str]:
    """The modules that a process has when it has run this program, which prints nothing."""
    argv = [sys.executable, "-W", "error", "-c", f"import sys; {program}; print(*sys.modules)"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_claims_are_read_without_what_takes_long_to_load() -> None:
    """All commands that look for a claim read all of them."""
    modules = loaded("from verify import replay; assert replay.main(['WRONG']) == 2")
    assert "verify.claims.istree_layer7" in modules
    assert not modules & {"flint", "mpmath", "numba", "pysat", "sympy", "torch", "z3", "constructions.engines.dense"}


@pytest.mark.parametrize(("package", "before"), [("precision", "numpy"), ("constructions.turing", "sys")])
def test_a_package_imports_itself_and_no_library_but_numpy(package: str, before: str) -> None:
    """precision alone imports numpy. What `before` loads is not counted."""
    ours = package.partition(".")[0]
    fresh = {name.partition(".")[0] for name in loaded(f"import {package}") - loaded(f"import {before}")}
    assert ours in fresh
    assert fresh <= {ours, before, *sys.stdlib_module_names}


# How many threads stay: a slow command has one more that shows how far it is, and that may be just ending.
AT_EXIT = """
import atexit, os, sys, time
said = sys.stderr
def tell():
    counts = []
    for _ in range(10):
        counts.append(len(os.listdir("/proc/self/task")))
        time.sleep(0.02)
    print(min(counts), os.environ.get("OPENBLAS_NUM_THREADS"), file=said)
atexit.register(tell)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted where Linux lists them")
@pytest.mark.parametrize("given", [None, "2"])
def test_a_command_keeps_numpy_to_one_thread_and_nobody_else(tmp_path: Path, given: str | None) -> None:
    """Unless the caller has said how many; and what torch or another program would read afterwards is as it was."""
    (tmp_path / "sitecustomize.py").write_text(AT_EXIT)
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given

    def at_exit(*arguments: str) -> tuple[str, str]:
        argv = [sys.executable, *arguments]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True, timeout=60)
        threads, variable = done.stderr.splitlines()[-1].split()
        return threads, variable

    numpys = at_exit("-c", "import numpy")
    assert at_exit("-c", "import constructions, numpy; from constructions.istree.__main__ import main") == numpys
    ours = at_exit("-m", "constructions.istree", "--edges", "1-2")
    assert ours == (numpys if given else ("1", "None"))
