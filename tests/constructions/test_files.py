"""A file is whole or not there, and what stood in its place stays until then."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from constructions.exports import files
from constructions.show import cli


class Full(Exception):
    """The disk is full."""


def half_a_file(path: Path) -> None:
    with files.replacing(path) as fresh:
        assert (fresh.suffix, fresh.parent) == (path.suffix, path.parent)
        fresh.write_text("half")
        raise Full


def half_a_folder(path: Path) -> None:
    with files.replacing_folder(path) as fresh:
        (fresh / "config.json").write_text("2")
        raise Full


def test_a_file_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    files.write_text(path, "≥ 1\n")
    assert path.read_bytes() == "≥ 1\n".encode()
    with pytest.raises(Full):
        half_a_file(path)
    assert path.read_text(encoding="utf-8") == "≥ 1\n"
    assert [item.name for item in tmp_path.iterdir()] == ["run.json"]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.txt", tmp_path / "there" / "target.txt"
    target.write_text("old")
    link.symlink_to(target)
    files.write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_is_written_as_it_is() -> None:
    files.write_text(Path(os.devnull), "gone")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(OSError, match="No space left"):
        files.write_text(Path("/dev/full"), "more than there is room for")


def test_a_pipe_is_read_when_somebody_writes_to_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"later",))
    writer.start()
    with files.open_input(pipe) as file:
        assert file.read() == b"later"
    writer.join()


def test_a_pipe_to_which_nobody_writes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert files.PATIENCE_SECONDS < 10
    monkeypatch.setattr(files, "PATIENCE_SECONDS", 0.1)
    before = threading.active_count()
    with pytest.raises(OSError, match="a pipe to which nobody writes"):
        files.open_input(pipe)
    assert threading.active_count() == before


def test_a_folder_gets_its_files_when_all_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with files.replacing_folder(path) as fresh:
        (fresh / "config.json").write_text("1")
        assert not path.exists()
    (path / "notes.txt").write_text("mine")
    with pytest.raises(Full):
        half_a_folder(path)
    assert (path / "config.json").read_text() == "1"
    with files.replacing_folder(path) as fresh:
        (fresh / "config.json").write_text("3")
    assert {item.name: item.read_text() for item in path.iterdir()} == {"config.json": "3", "notes.txt": "mine"}
    assert [item.name for item in tmp_path.iterdir()] == ["model"]


def test_links_in_a_circle_are_an_error_of_the_system(tmp_path: Path) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to("loop.txt")
    with pytest.raises(OSError, match="symbolic links"):
        files.write_text(loop, "1")
    assert loop.is_symlink()


def test_a_termination_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")
    before = signal.getsignal(signal.SIGTERM)

    def terminated() -> None:
        with files.replacing(path) as fresh:
            fresh.write_text("half")
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as end:
        terminated()
    assert end.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert {item.name: item.read_text() for item in tmp_path.iterdir()} == {"run.json": "old"}


def test_a_command_that_is_terminated_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"

    @cli.command("the command")
    def command(argv: object) -> int:
        with files.replacing(path) as fresh:
            fresh.write_text("half")
            signal.raise_signal(signal.SIGTERM)
        return 0

    assert command([]) == 143
    assert capsys.readouterr().err == "the command: terminated; no half of a file is left\n"
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "b": {"a": 1, "a": 1}}', "'a' stands twice in one object"),
        ("[NaN]", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("[" * 100_000, "nested too deep"),
        ("", "Expecting value"),
    ],
)
def test_json_that_says_several_things_is_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        files.parse_json(text)


def test_json_is_read_as_it_stands() -> None:
    assert files.parse_json(b'{"a": [1, 2.5, "\xc3\xa4", null, true], "b": {"a": {}}}') == {
        "a": [1, 2.5, "ä", None, True],
        "b": {"a": {}},
    }


def test_weights_and_their_sidecar_are_written_both_or_neither(tmp_path: Path) -> None:
    from constructions.exports.weights import save
    from constructions.index import TRANSFORMER

    path, model = tmp_path / "w.safetensors", TRANSFORMER.build(3).model
    save(model, {"n": 3}, path)
    before = {item.name: item.read_bytes() for item in tmp_path.iterdir()}
    with pytest.raises(UnicodeEncodeError):
        save(
            TRANSFORMER.build(4).model, {"n": "\ud800"}, path
        )  # as if the disk were full when the sidecar's turn comes
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == before
