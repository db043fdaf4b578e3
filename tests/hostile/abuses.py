"""What is done to commands. A new abuse is a line here; `test_hostile` tries it wherever a command has a place for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

NUMBERS: Mapping[str, str] = {  # none of them is one that is asked for
    "huge": "1" + "0" * 30,
    "negative": "-1",
    "exponent": "1e3",
    "fraction": "3.0",
    "empty": "",
    "blank": " ",
    "arabic": "٣",
    "superscript": "³",
    "nan": "nan",
    "hexadecimal": "0x10",
    "underscore": "1_000",
    "signs": "+-1",
    "endless": "9" * 100_000,
}
TEXTS: Mapping[str, str] = {
    "empty": "",
    "blanks": "  ",
    "newline": "\n",
    "long": "a" * 100_000,
    "digits": "9" * 100_000,
    "many": "x " * 50_000,
    "duck": "🦆",
    "surrogate": "\udcff",
    "escape": "\x1b[31m",
    "upwards": "../../../etc/passwd",
    "option": "--",
    "format": "%s%n{0}{}",
    "sequel": "1-2;rm",
}


def looping(path: Path) -> None:
    path.symlink_to(path.name)


def socketed(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(before)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 34)


def unreadable(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0)


def holding(data: bytes) -> Callable[[Path], None]:
    return lambda path: void(path.write_bytes(data))


def void(_: object) -> None:
    """Of what is done for its effect."""


FILES: Mapping[str, Callable[[Path], None]] = {
    "missing": lambda path: None,
    "empty": holding(b""),
    "binary": holding(bytes(range(256)) * 40),
    "zeros": holding(bytes(4096)),
    "sparse": sparse,
    "folder": lambda path: path.mkdir(),
    "loop": looping,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "null": lambda path: path.symlink_to("/dev/null"),
    "pipe": lambda path: os.mkfifo(path),
    "socket": socketed,
    "unreadable": unreadable,
    "long line": holding(b"x" * 10_000_000),
    "digits": holding(b"9" * 1_000_000),
    "utf-16": holding("1 2\n".encode("utf-16")),
    "latin": holding("½ 2\n".encode("latin-1")),
    "nested": holding(b"[" * 200_000),
    "nested objects": holding(b'{"a":' * 100_000),
    "cut": holding(b'{"schema": 1, "rows": ['),
    "nan": holding(b'{"schema": 1, "construction": "recall", "model": "transformer", "n": NaN}'),
    "infinite": holding(b'{"schema": 1, "construction": "recall", "model": "transformer", "n": 1e999}'),
    "twice": holding(b'{"schema": 1, "schema": 1, "rows": [], "options": {}}'),
    "twice of many": holding(b"{" + b",".join(b'"%d": 0' % (i % 299_999) for i in range(300_000)) + b"}"),
    "surrogate": holding(b'{"schema": "\\ud800", "construction": "\\ud800"}'),
    "list": holding(b"[]"),
    "object": holding(b"{}"),
    "nothing": holding(b"null"),
    "text": holding(b'"recall"'),
    "wrong types": holding(b'{"schema": 1, "construction": [], "model": {}, "n": "4", "rows": 3, "options": 0}'),
    "wrong schema": holding(b'{"schema": 99, "rows": [], "options": {}}'),
    "parquet": holding(b"PAR1" + bytes(60) + b"PAR1"),
    "header": holding((2**63).to_bytes(8, "little") + b"{}"),
    "bomb": holding(b"aag 99999999999 99999999999 0 1 0\n"),
    "bomb of ands": holding(b"aig 4000000000 1 0 1 3999999999\n2\n\x01\x01"),
}
STRANGER = b"precious\n"
PLACES: Mapping[str, Callable[[Path], None]] = {  # where a file is to be written
    "a stranger": holding(STRANGER),
    "a folder": lambda path: path.mkdir(),
    "a loop": looping,
    "a link to nowhere": lambda path: path.symlink_to("no/where"),
    "a link to a stranger": lambda path: (void(path.with_name("kept").write_bytes(STRANGER)), path.symlink_to("kept"))[
        1
    ],
    "a pipe": lambda path: os.mkfifo(path),
    "a full disk": lambda path: path.symlink_to("/dev/full"),
}
NAMES: Mapping[str, str] = {  # of a file to be written; `{}` is its proper name
    "no folder": "no/where/{}",
    "below a file": "ledger.json/{}",
    "too long": "x" * 300 + "{}",
    "proc": "/proc/{}",
    "many folders": "a/" * 3000 + "{}",
}
ENDINGS = ("x.npz", "x.safetensors", "x.pt2", "x.onnx", "x", "x.SAFETENSORS", "x.json", ".safetensors", "x.svg.exe")
