"""What a command imports, from start to exit: no package that it does not use, no engine that it does not run, no other task."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    *(
        "flint",
        "hypothesis",
        "mpmath",
        "numba",
        "numpy",
        "onnx",
        "pysat",
        "pytest",
        "rich",
        "safetensors",
        "subprocess",
        "sympy",
        "torch",
    ),
    *(f"constructions.engines.{name}" for name in ("dense", "incremental", "indexed", "reference")),
    *(f"constructions.{name}" for name in ("istree", "retrieval", "turing")),
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
        (("verify.replay", "C.3/repaired"), ()),
        (("verify.table",), ("rich",)),
        (("circuits", "add", "--p", "5"), ("numpy", "rich")),
        (
            ("constructions.istree", "--edges", "1-2"),
            ("numpy", "constructions.istree", "constructions.engines.reference"),
        ),
        (
            ("constructions.index", "4 2 ? 1", "--json"),
            ("numpy", "constructions.retrieval", "constructions.engines.reference"),
        ),
        (
            ("constructions.turing", "--machine", "bb2", "--steps", "1", "--model", "cot"),
            ("numpy", "constructions.turing", "constructions.engines.reference"),
        ),
    ],
    ids=" ".join,
)
def test_a_command_imports_what_it_uses(command: tuple[str, ...], used: tuple[str, ...]) -> None:
    assert imported(*command) & HEAVY == set(used)
