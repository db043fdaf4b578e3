"""Machine code that is kept in a folder: read again, unless somebody else may have changed it."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import pytest

from constructions.engines import linking

SEVEN = "define i64 @seven() {\n  ret i64 7\n}\n"


def call(linked: Any) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64)(linked.get_function_address("seven"))()


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Lists what the compiler was asked for; code is kept in `tmp_path`."""
    modules: list[object] = []
    simplify = linking._simplify
    monkeypatch.setenv("CONSTRUCTIONS_CACHE", str(tmp_path / "constructions"))
    monkeypatch.setattr(linking, "_simplify", lambda *given: modules.append(given) or simplify(*given))
    return modules


def test_code_is_compiled_once(compiled: list[object]) -> None:
    assert [call(linking.link(SEVEN)) for _ in range(3)] == [7, 7, 7]
    assert len(compiled) == 1
    assert call(linking.link(SEVEN.replace("7", "8"))) == 8


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ({"CONSTRUCTIONS_CACHE": "named", "XDG_CACHE_HOME": "caches", "HOME": "home"}, "named"),
        ({"XDG_CACHE_HOME": "caches", "HOME": "home"}, "caches/constructions"),
        ({"HOME": "home"}, "home/.cache/constructions"),
    ],
)
def test_the_folder_is_the_one_that_is_named_else_the_users(
    given: dict[str, str], folder: str, tmp_path: Path, compiled: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CONSTRUCTIONS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    linking.link(SEVEN)
    assert len([*(tmp_path / folder).iterdir()]) == len([*tmp_path.iterdir()]) == 1


def test_tests_keep_no_code_among_the_users() -> None:
    """Nor do the processes that they start."""
    assert os.environ.get("CONSTRUCTIONS_CACHE")


@pytest.mark.parametrize("how", ["cut", "changed", "writable"])
def test_a_file_that_may_be_another_is_not_read(how: str, tmp_path: Path, compiled: list[object]) -> None:
    assert call(linking.link(SEVEN)) == 7
    (file,) = (tmp_path / "constructions").iterdir()
    data = file.read_bytes()
    if how == "writable":
        file.chmod(0o666)
    else:
        file.write_bytes(data[:-9] if how == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    assert call(linking.link(SEVEN)) == 7
    assert len(compiled) == 2
    assert file.read_bytes() == data
    assert file.stat().st_mode & 0o022 == 0


def test_code_of_another_program_is_not_read(tmp_path: Path, compiled: list[object]) -> None:
    linking.link(SEVEN)
    (file,) = (tmp_path / "constructions").iterdir()
    linking.link(SEVEN.replace("ret i64 7", "ret i64 8"))
    (other,) = {*(tmp_path / "constructions").iterdir()} - {file}
    file.write_bytes(other.read_bytes())
    assert call(linking.link(SEVEN)) == 7
    assert len(compiled) == 3


def test_a_folder_that_cannot_be_made_costs_time_alone(tmp_path: Path, compiled: list[object]) -> None:
    (tmp_path / "constructions").write_text("a file")
    assert [call(linking.link(SEVEN)) for _ in range(2)] == [7, 7]
    assert len(compiled) == 2


def test_the_oldest_files_go(tmp_path: Path, compiled: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST_FILES", 2)
    for i in range(5):
        assert call(linking.link(SEVEN.replace("7", str(i)))) == i
    assert len(list((tmp_path / "constructions").iterdir())) == 2
