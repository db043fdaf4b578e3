"""Files that are written beside and then moved into place: whole or not at all, even if the disk is full."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write instead, which then takes the place of `path`. A device or a pipe is written as it is."""
    path = path.resolve()  # a link stays, and what it leads to is replaced
    if path.exists() and not path.is_file():
        yield path
        return
    fresh = _beside(path)
    with _cleaning_up():
        try:
            yield fresh
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A folder to write into instead, whose files then go to `path`; other files there stay."""
    import shutil

    path = path.resolve()
    fresh = _beside(path)
    with _cleaning_up():
        fresh.mkdir()
        try:
            yield fresh
            path.mkdir(exist_ok=True)
            for file in sorted(fresh.iterdir()):
                file.replace(path / file.name)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a whole file. Raises OSError."""
    with replacing(path) as fresh:
        fresh.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """The same for a text, in UTF-8."""
    write_bytes(path, text.encode("utf-8"))


@contextmanager
def _cleaning_up() -> Iterator[None]:
    """SIGTERM ends Python on the spot. While a file is written, it is an exit like any other, with the status that shells have."""
    import signal

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _beside(path: Path) -> Path:
    """A name in the same folder that no other process takes, with the same ending."""
    return path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
