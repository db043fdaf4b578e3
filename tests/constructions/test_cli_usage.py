"""Bad input to `python -m constructions.istree`: one line that names the thing and the bound, exit code 2, never a traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from constructions.istree.__main__ import main
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
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


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("--edges", "2-2"), "edge 2-2 is a self-loop"),
        (("--edges", "1-2,2-3,2-1"), "edge 2-1 repeats edge 1-2"),
        (("--edges", "0-1,1-2"), "vertex 0 of edge 0-1 is not in 1 … 2"),
        (("--edges", "1-4", "--n", "3"), "vertex 4 of edge 1-4 is not in 1 … 3"),
        (("--edges", "-1-2"), "vertex -1 of edge -1-2 is not in 1 … 2"),
        (("--edges", "1-x"), "'1-x' is not an edge"),
        (("--edges", "1.5-2"), "'1.5-2' is not an edge"),
        (("--edges", "1-2-3"), "'1-2-3' is not an edge"),
        (("--edges", "1 -2"), "vertex -2 of edge 1--2 is not in 1 … 1"),
        (("--edges", "1- 2"), "'1- 2' is not an edge"),
        (("--edges", "1~2"), "'1~2' is not an edge"),
        (("--edges", "1-2\n\x1b[31m"), "'1-2\\n\\x1b[31m' is not an edge"),
        (("--edges", "\udcff-2"), "'\\udcff-2' is not an edge"),
        (("--edges", ""), "--edges is empty"),
        (("--edges", " , "), "--edges is empty"),
        (("--edges", "1-99999999"), f"vertex 99999999 is above {LARGEST_N}"),
        (("--edges", "1-" + "9" * 5000), f"is above {LARGEST_N}"),
        (("--edges", "1-2", "-"), "--edges and -: give the graph once"),
        (("--edges", "1-2", "--graph", "x"), "--edges and --graph: give the graph once"),
        (("--edges", "1-2", "--edges", "2-3"), "argument --edges: is given twice; give it once"),
        (("--graph", "x", "--graph=y"), "argument --graph: is given twice; give it once"),
        (("--edges", "1-2", "--n", "3", "--n", "3"), "argument --n: is given twice; give it once"),
        (("--n", "3", "--dump-weights", "x.npz", "--dump-weights"), "argument --dump-weights: is given twice"),
        (("--n", "3", "--export", "torch", "x.pt2", "--export", "torch", "y.pt2"), "argument --export: is given twice"),
        (("--edges", "1-2", "--precision", "8"), "an odd number of bits, at least 5 and at most 1023, not '8'"),
        (("--edges", "1-2", "--precision", "3"), "an odd number of bits, at least 5"),
        (("--edges", "1-2", "--precision", "0"), "an odd number of bits, at least 5"),
        (("--edges", "1-2", "--precision", "-7"), "an odd number of bits, at least 5"),
        (("--edges", "1-2", "--precision", "9" * 100), "an odd number of bits, at least 5"),
        (("--edges", "1-2", "--precision", "17.0"), "an odd number of bits, at least 5"),
        (("--edges", "1-2", "--printed", "C.99"), f"unknown finding 'C.99'; known: {', '.join(FINDING_IDS)}"),
        (("--edges", "1-2", "--printed", ","), "--printed names no finding"),
        (("--edges", "1-2", "--variant", "printed", "--printed", "C.3"), "--variant printed has all of them"),
        (("--edges", "1-2", "--variant", "mended"), "invalid choice: 'mended'"),
        (("--edges", "1-2", "--tokens", "bos"), "invalid choice: 'bos'"),
        (("--edges", "1-2", "--engine", "steam"), "invalid choice: 'steam'"),
        (("--edges", "1-2", "--discipline", "loose"), "invalid choice: 'loose'"),
        (("--dump-weights", "--n", "0"), f"'0' is not in 1 … {LARGEST_N}"),
        (("--dump-weights", "--n", "-3"), f"'-3' is not in 1 … {LARGEST_N}"),
        (("--dump-weights", "--n", "9" * 5000), f"is not in 1 … {LARGEST_N}"),
        (("--dump-weights", "--n", "many"), "'many' is not a whole number"),
        (("--dump-weights", "w.txt"), "--dump-weights w.txt: the name must end in .safetensors or .npz"),
        (("--dump-weights", "/nowhere/w.npz"), "there is no folder /nowhere"),
        (("--dump-weights", "--edges", "1-2", "--json"), "--json prints one document"),
        (("--edges", "1-2", "--html", "/"), "--html /: this is a folder, not a file"),
        (("--edges", "1-2", "--html", "-"), "--html '-': this needs the name of a file"),
        (("--edges", "1-2", "--html", ""), "this needs the name of a file"),
        (("--edges", "1-2", "--html", "/nowhere/p.html"), "there is no folder /nowhere"),
        (("--trace", "--dump-weights"), "--trace needs a graph"),
        ((), "nothing to do"),
        (("--n", "3"), "nothing to do"),
        (("1-2",), "'1-2' is not understood"),
        (("--edges",), "expected one argument"),
        (("--speed", "3"), "unrecognized arguments"),
        (("--edge", "1-2"), "unrecognized arguments: --edge"),
    ],
)
def test_a_wrong_argument_is_named(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], says: str) -> None:
    assert says in fails(capsys, *argv)


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


def test_an_interrupt_of_a_run_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("constructions.show.command.run_model", stop)
    assert main(("--edges", "1-2")) == 130
    assert capsys.readouterr().err == f"{PROG}: interrupted\n"


def test_want_of_memory_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("constructions.show.command.run_model", fail)
    assert main(("--edges", "1-2")) == 2
    assert capsys.readouterr().err == f"{PROG}: error: not enough memory for this run\n"


@pytest.mark.parametrize(
    "command",
    [
        "constructions",
        "constructions.istree",
        "constructions.recall",
        "constructions.turing",
        "circuits",
        "verify.precision",
    ],
)
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
    assert (done.returncode, done.stderr) == (
        2,
        f"engine: reference\n{PROG}: error: output: No space left on device\n",
    )


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
