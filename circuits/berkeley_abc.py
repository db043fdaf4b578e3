"""A second opinion: equivalence by Berkeley ABC, where it is installed.

Source: R. Brayton and A. Mishchenko, ABC: An Academic Industrial-Strength Verification Tool, 2010. Command `cec`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from circuits import aiger
from circuits.circuit import Circuit

PROGRAMS = ("berkeley-abc", "abc")  # Debian's name, and its own


def find_abc() -> str | None:
    """Returns the program's path, or None where it is not installed."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


def equivalent(first: Circuit, second: Circuit, program: str, timeout_seconds: float = 60.0) -> bool:
    """Returns whether ABC finds the circuits equal. Raises RuntimeError if it does not say, TimeoutExpired after that time."""
    with tempfile.TemporaryDirectory() as folder:
        for name, circuit in (("first.aig", first), ("second.aig", second)):
            aiger.write(circuit, Path(folder, name))
        done = subprocess.run(
            [program, "-c", "cec first.aig second.aig"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
    if "Networks are equivalent" in done.stdout:
        return True
    if "Networks are NOT EQUIVALENT" in done.stdout:
        return False
    raise RuntimeError(f"ABC did not decide: {' '.join((done.stdout + done.stderr).split())[-200:]}")
