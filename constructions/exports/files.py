"""Files that are written beside and then moved into place: whole or not at all. And JSON that says one thing alone."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

PATIENCE_SECONDS = 5.0  # with a pipe that nobody has opened to write


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a file to write instead, which then takes the place of `path`. A device or a pipe is written as it is."""
    path = _end_of_links(path)
    if path.exists() and not path.is_file():
        yield path
        return
    fresh = _temporary_path(path)
    with _cleaning_up():
        try:
            yield fresh
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yields a folder to write into instead, whose files then go to `path`; other files there stay."""
    import shutil

    path = _end_of_links(path)
    fresh = _temporary_path(path)
    with _cleaning_up():
        fresh.mkdir()
        try:
            yield fresh
            path.mkdir(exist_ok=True)
            for file in sorted(fresh.iterdir()):
                file.replace(path / file.name)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def open_input(path: Path) -> BinaryIO:
    """Returns a file to read, or a pipe as soon as somebody writes to it. Raises OSError, also if nobody does."""
    if not path.is_fifo():
        return path.open("rb")
    files = list[BinaryIO]()
    waiting = threading.Thread(target=lambda: files.append(path.open("rb")), daemon=True)
    waiting.start()
    waiting.join(PATIENCE_SECONDS)
    if waiting.is_alive():
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))  # a writer, so that the thread ends
        waiting.join()
        files.pop().close()
        raise OSError(errno.ENXIO, f"a pipe to which nobody writes for {PATIENCE_SECONDS:g} seconds", str(path))
    return files.pop()


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Keeps other processes from writing this file. ValueError if one does already, by the name `what`.

    The kernel's lock goes with its process, however that ends. The file that it is on is empty, and goes as well.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.lock")
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # no locks here, or no place for one
            import fcntl

            while True:
                lock = stack.enter_context(open(beside, "ab"))
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise ValueError(f"{what}: another run is writing it") from error
                if beside.exists() and os.path.samestat(beside.stat(), os.fstat(lock.fileno())):
                    break  # or the run before this one has just taken the file away
            if not os.fstat(lock.fileno()).st_size:
                stack.callback(beside.unlink, missing_ok=True)
        yield


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a whole file. Raises OSError, which names that file and not the one beside it."""
    try:
        with replacing(path) as fresh:
            fresh.write_bytes(data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Writes a text in UTF-8, as `write` does."""
    write_bytes(path, text.encode("utf-8"))


@contextmanager
def _cleaning_up() -> Iterator[None]:
    """Makes SIGTERM, which ends Python on the spot, an exit like any other while a file is written, with the shells' status."""
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


def parse_json(text: str | bytes) -> Any:
    """Parses JSON in which no name stands twice in an object, and every number is one. Raises ValueError.

    Of a name that stands twice, one reader takes the first value and another the last.
    """
    import json

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members: dict[str, object] = {}
        for name, value in pairs:
            if name in members:
                raise ValueError(f"{name[:40]!r} stands twice in one object")
            members[name] = value
        return members

    def number(text: str) -> NoReturn:
        raise ValueError(f"{text} is no number")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=number)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _end_of_links(path: Path) -> Path:
    """Follows links to what is replaced; a link itself stays. Raises OSError for links in a circle."""
    end = Path(os.path.realpath(path))
    if end.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return end


def _temporary_path(path: Path) -> Path:
    """Returns a name in the same folder that no other process takes, with the same ending."""
    return path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
