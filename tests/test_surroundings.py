"""What stands in a user's folder, or in his environment, does not take the place of what is ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.constructions.commands import main_of

COMMANDS = (
    ("constructions.istree", "--edges", "1-2,2-3", "--engine", "dense"),
    ("constructions.recall", "5 2 5 9 ? 5"),
    ("circuits", "negate", "--p", "9", "--json"),
    ("verify.replay", "--list"),
)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of ours in a folder, as a user does."""
    argv = [sys.executable, "-m", *command]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_files_of_the_users_hide_no_module(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program called random.py ended each command that imports random, and so did a folder called constructions."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main_of(command[0])(command[1:]) == 0
    right = capsys.readouterr()
    for name in ("random", "json", "numbers", "statistics", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('this is the user’s file')\n")
    for name in ("constructions", "verify", "precision", "circuits"):
        (tmp_path / name).mkdir()
    beside = run(tmp_path, *command)
    assert (beside.returncode, beside.stdout, beside.stderr) == (0, right.out, right.err)


def test_a_users_file_still_imports_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORDS = ('AGAIN', 'NEW')\n")
    (tmp_path / "again.py").write_text(
        "from helper import WORDS\nfrom constructions.language import choose, number, numbers, program, select, some\n"
        "again = program(choose(select(number, number).count() > 1, *WORDS), prompt=[some(numbers())],\n"
        "    oracle=lambda tokens: WORDS[tokens[-1] not in tokens[:-1]], examples=['3 1 3'])\n"
    )
    done = run(tmp_path, "constructions", "run", "again.py", "3 1 3")
    assert (done.returncode, done.stdout) == (0, "AGAIN\n"), done.stderr


@pytest.mark.parametrize("command", ["constructions", "verify.table", "constructions.istree --edges 1-2 --trace"])
def test_a_width_that_is_none_swallows_nothing(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """COLUMNS=0 printed nothing, with exit status 0."""
    monkeypatch.delenv("COLUMNS", raising=False)
    module, *argv = command.split()
    assert main_of(module)(argv) == 0
    right = capsys.readouterr().out
    assert len(right.splitlines()) > 9
    for columns in ("0", "-3", "x", "") if argv else ("0",):  # without arguments a command takes seconds
        monkeypatch.setenv("COLUMNS", columns)
        assert main_of(module)(argv) == 0
        assert capsys.readouterr().out == right
