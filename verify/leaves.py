"""Leaves of a search that was interrupted, in a file: which search it is, then 8 bytes for each leaf, subtree by subtree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from circuits.rnn import RnnError

HEAD = 32  # bytes


class LeafFile:
    """The file. about: what the leaves depend on: the task, the RNN's own text, and n. width: leaves of a subtree."""

    def __init__(self, path: Path, about: bytes, width: int) -> None:
        self.path, self.width = path, width
        self.head = hashlib.blake2b(about, digest_size=HEAD).digest()

    def rows(self) -> Iterator[Any]:
        """Yields the leaves of each subtree that is whole. Raises RnnError if the file is of another search."""
        if not self.path.exists():
            self.path.write_bytes(self.head)
        with self.path.open("rb") as file:
            if file.read(HEAD) != self.head:
                raise RnnError(
                    f"{self.path} has the leaves of another search, or its RNN has changed; delete it to begin anew"
                )
            while len(row := file.read(8 * self.width)) == 8 * self.width:
                yield np.frombuffer(row, np.uint64)

    def add(self, number: int, row: Any) -> None:
        """Writes the leaves of a subtree by its number, over what may stand there in part."""
        with self.path.open("r+b") as file:
            file.seek(HEAD + 8 * self.width * number)
            file.write(np.ascontiguousarray(row, np.uint64).tobytes())
