"""Bad input to `python -m constructions.istree`: one line that names the thing and the bound, exit code 2, never a traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from constructions.istree.__main__ import main
from constructions.istree.transformer import TRANSFORMER
from constructions.models.door import LARGEST_N
from constructions.show import cli
from constructions.show.cli import MOST_BYTES

PROG = "python -m constructions.istree"


def fails(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 2) -> str:
    """The one line on stderr of a command that must fail."""
    assert main(argv) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith(f"{PROG}: error: ")
    assert len(captured.err) < 420
    return captured.err.removeprefix(f"{PROG}: error: ").strip()


def test_signs_that_a_terminal_obeys_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    for edge, shown in (("1-2\n\x1b[31m", "'1-2\\n\\x1b[31m'"), ("\udcff-2", "'\\udcff-2'")):
        assert f"{shown} is not an edge" in fails(capsys, "--edges", edge)


@pytest.mark.parametrize("discipline", ["fused", "sequential"])
def test_too_little_precision_names_the_least(capsys: pytest.CaptureFixture[str], discipline: str) -> None:
    from precision.format import Discipline

    least = TRANSFORMER.least_precision(9, Discipline(discipline))
    message = fails(capsys, "--edges", "1-9", "--precision", str(least - 2), "--discipline", discipline)
    assert f"too small for n = 9 ({discipline}); the least p it is wired for is {least}" in message
    assert main(("--edges", "1-9", "--precision", str(least), "--discipline", discipline)) == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the edge list is empty"),
        (b"# nothing\n\n", "the edge list is empty"),
        (b"1 2\n2 x\n", "line 2: '2 x' is not an edge"),
        (b"1 2 3\n", "line 1: '1 2 3' is not an edge"),
        (b"1 2\n1 -2\n", "line 2: vertex -2 of edge 1--2 is not in 1 … 2"),
        (b"1,2\n", "line 1: '1,2' is not an edge"),
        (b"# a comment\r\n\r\n1 2\r\n2\r\n", "line 4: '2' is not an edge"),
        (b"1 2\n\n1 1\n", "line 3: edge 1-1 is a self-loop"),
        (b"1 2\n2 3\n# 2 1\n2 1\n", "line 4: edge 2-1 repeats edge 1-2"),
        (b"1 2\n0 1\n", "line 2: vertex 0 of edge 0-1 is not in 1 … 2"),
        (b"1 2 # 99999999\n2 99999999\n", f"line 2: vertex 99999999 is above {LARGEST_N}"),
        (b"1 2\n\xff\n", "not UTF-8 text (byte 0xff at offset 4)"),
        (b"\x00\x01\n", "line 1: '\\x00\\x01' is not an edge"),
        (b"1 2\n1 " + b"7" * 100_000, f"line 2: the number {'7' * 20}… is above {LARGEST_N}"),
    ],
)
def test_a_bad_file_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "edges.txt"
    path.write_bytes(content)
    message = fails(capsys, "--graph", str(path))
    assert message.startswith(f"{path}: ")
    assert says in message


@pytest.mark.parametrize(
    ("option", "name", "there"),
    [
        ("--html", "README.md", "README.md"),
        ("--dump-weights", "w.npz", "w.npz"),
        ("--dump-weights", "w.safetensors", "w.safetensors"),
        ("--dump-weights", "package.safetensors", "package.json"),
    ],
)
def test_a_file_is_overwritten_only_with_force(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, name: str, there: str
) -> None:
    (tmp_path / there).write_text("precious")
    argv = ("--edges", "1-2", option, str(tmp_path / name))
    message = fails(capsys, *argv)
    assert f"{option} {tmp_path / name}: {tmp_path / there}" in message
    assert message.endswith("exists; --force overwrites it")
    assert (tmp_path / there).read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert main((*argv, "--force")) == 0
    assert (tmp_path / there).read_bytes() != b"precious"


def test_a_device_is_no_file_to_keep(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("--edges", "1-2", "--html", os.devnull)) == 0


def test_a_huge_file_is_refused_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert fails(capsys, "--graph", str(path)) == f"{path}: more than 32 MiB, the most that is read here"


def test_unreadable_files_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert fails(capsys, "--graph", str(tmp_path)) == f"{tmp_path}: Is a directory"
    assert fails(capsys, "--graph", str(tmp_path / "none")) == f"{tmp_path / 'none'}: No such file or directory"
    assert "null byte" in fails(capsys, "--graph", "a\0b")


def test_standard_input_is_judged_like_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1 2\n2 2\n"))
    assert fails(capsys, "-").startswith("standard input: line 2: edge 2-2 is a self-loop")
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert fails(capsys, "--graph", "-").startswith("standard input: the edge list is empty")


def test_long_digits_in_a_comment_do_no_harm(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_bytes(b"\xef\xbb\xbf# 12345678901234567890\r\n1 2 # 99999999999999\r\n")
    assert main(("--graph", str(path))) == 0
    assert capsys.readouterr().out == "1 2 1\nYES\n"


def test_a_missing_engine_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constructions.engines.importlib.util.find_spec", lambda name: None)
    assert "engine 'dense' is not installed" in fails(capsys, "--edges", "1-2", "--engine", "dense")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [(KeyboardInterrupt, 130, "interrupted"), (MemoryError, 2, "error: not enough memory for this run")],
)
def test_a_run_that_is_ended_says_one_line(
    error: type[BaseException],
    code: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("constructions.show.command.run_model", stop)
    assert main(("--edges", "1-2")) == code
    assert capsys.readouterr().err == f"{PROG}: {line}\n"


@pytest.mark.parametrize("command", ["constructions", "constructions.turing", "circuits", "verify.precision"])
def test_an_interrupt_during_the_imports_is_one_line(tmp_path: Path, command: str) -> None:
    (tmp_path / "numpy.py").write_text("raise KeyboardInterrupt")  # where a real one comes at some time or other
    done = subprocess.run(
        [sys.executable, "-m", command, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (130, f"python -m {command}: interrupted\n")


@pytest.mark.parametrize("command", ["verify.precision", "constructions.istree"])
def test_a_missing_package_is_one_line(tmp_path: Path, command: str) -> None:
    """Of another Python than that of .venv, say."""
    for name in ("rich", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError(name={name!r})\n", encoding="utf-8")
    done = shell(f'PYTHONPATH={tmp_path} "$PY" -m {command}')
    assert done.returncode == 2
    assert "is missing; `make .venv/ready` sets up .venv, which has it\n" in done.stderr
    assert done.stderr.count("\n") == 1


def test_only_interrupts_of_our_own_commands_are_changed() -> None:
    done = shell('"$PY" -c "import sys, constructions; assert sys.excepthook is sys.__excepthook__"')
    assert (done.returncode, done.stderr) == (0, "")
    assert "Traceback" in shell('PYTHONPATH=/nowhere "$PY" -c "import constructions; raise KeyboardInterrupt"').stderr


def shell(command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PY": sys.executable}
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, timeout=60)


def test_a_closed_pipe_is_one_line() -> None:
    done = shell('"$PY" -m constructions.istree --n 30 --dump-weights | true; exit ${PIPESTATUS[0]}')
    assert done.returncode in (0, 141)  # 0 if everything fitted into the pipe before it was closed
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_a_closed_pipe_has_the_exit_code_of_shells(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(("--edges", "1-2")) == 141
    assert capfd.readouterr().err == "engine: reference\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line() -> None:
    done = shell('"$PY" -m constructions.istree --edges 1-2 >/dev/full')
    assert (done.returncode, done.stderr) == (2, f"engine: reference\n{PROG}: error: output: No space left on device\n")


def test_closed_streams_do_no_harm() -> None:
    done = shell('"$PY" -m constructions.istree --edges 1-2 >&-')
    assert (done.returncode, done.stderr) == (0, "engine: reference\n")
    assert shell('"$PY" -m constructions.istree --edges 1-2 2>&-').stdout == "1 2 1\nYES\n"
    done = shell('"$PY" -m constructions.istree - <&-')
    assert (done.returncode, done.stderr) == (2, f"{PROG}: error: standard input is closed\n")


def test_a_terminal_without_mathematical_signs_gets_escapes() -> None:
    done = shell('PYTHONIOENCODING=ascii "$PY" -m constructions.istree --edges 1-2 --dump-weights')
    assert (done.returncode, done.stderr) == (0, "engine: reference\n")
    assert done.stdout.isascii()


def test_an_unforeseen_error_is_one_line_and_no_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(argv: object) -> int:
        raise KeyError("layer\nsecond line")

    monkeypatch.delenv(cli.TRACEBACK, raising=False)
    assert cli.run_command("it", broken, ()) == cli.OWN_ERROR == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("it: internal error: KeyError: ")
    assert cli.TRACEBACK in line
    monkeypatch.setenv(cli.TRACEBACK, "1")
    with pytest.raises(KeyError):
        cli.run_command("it", broken, ())
