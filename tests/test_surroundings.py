"""What stands in a user's folder, or in his environment, does not take the place of what is ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = (
    ("constructions.istree", "--edges", "1-2,2-3", "--engine", "dense"),
    ("constructions.recall", "5 2 5 9 ? 5"),
    ("circuits", "negate", "--p", "9", "--json"),
    ("verify.replay", "--list"),
)


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of ours in a folder, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_files_of_the_users_hide_no_module(command: tuple[str, ...], tmp_path: Path) -> None:
    """A program called random.py ended each command that imports random, and so did a folder called constructions."""
    right = run(tmp_path, *command)
    assert right.returncode == 0, right.stderr
    for name in ("random", "json", "numbers", "statistics", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('this is the user’s file')\n")
    for name in ("constructions", "verify", "precision", "circuits"):
        (tmp_path / name).mkdir()
    beside = run(tmp_path, *command)
    assert (beside.returncode, beside.stdout, beside.stderr) == (right.returncode, right.stdout, right.stderr)


def test_a_users_file_still_imports_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORDS = ('AGAIN', 'NEW')\n")
    (tmp_path / "again.py").write_text(
        "from helper import WORDS\nfrom constructions.language import choose, number, numbers, program, select, some\n"
        "again = program(choose(select(number, number).count() > 1, *WORDS), prompt=[some(numbers())],\n"
        "    oracle=lambda tokens: WORDS[tokens[-1] not in tokens[:-1]], examples=['3 1 3'])\n"
    )
    done = run(tmp_path, "constructions", "run", "again.py", "3 1 3")
    assert (done.returncode, done.stdout) == (0, "AGAIN\n"), done.stderr


@pytest.mark.parametrize("columns", ["0", "-3", "x", ""])
def test_a_width_that_is_none_swallows_nothing(columns: str, tmp_path: Path) -> None:
    """COLUMNS=0 printed nothing, with exit status 0."""
    for command in (("constructions",), ("verify.table",), ("constructions.istree", "--edges", "1-2", "--trace")):
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        right = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
        )
        assert len(right.stdout.splitlines()) > 9
        assert run(tmp_path, *command, COLUMNS=columns).stdout == right.stdout
