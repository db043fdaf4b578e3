"""A file is whole or not there, and what stood in its place stays until then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from constructions.exports import files


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
