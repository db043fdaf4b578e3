"""What Python calls of the compiled code, cached on disk, so that only the first run after a change compiles (half a minute).

Numba looks at the one file that a function stands in when it asks whether a cached version is still good, and would go on using it
after a change elsewhere. It does look at the values that a function closes over; so these functions close over a digest
of all files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from numba import njit  # type: ignore[import-not-found,import-untyped,unused-ignore]

from constructions.engines import incremental_index, incremental_kernel
from constructions.engines.incremental_index import Index
from constructions.engines.incremental_limbs import OPTIONS, Words

Function = TypeVar("Function", bound=Callable[..., object])


class Entries(NamedTuple):
    """See the functions of the same names in incremental_kernel.py and incremental_index.py."""

    advance: Callable[..., int]
    rebuild: Callable[[Index, int, int, Words], bool]
    squares_fit: Callable[[Index, int, int, int, int, Words], int]
    dense_scores: Callable[[Index, int, int, Words, Words, Words], None]


def cached(function: Function) -> Function:
    """Compiled on first use, from the cache if there is one and a place for it."""
    try:
        return cast(Function, njit(cache=True, **OPTIONS)(function))
    except RuntimeError:  # no folder that may be written to
        return cast(Function, njit(**OPTIONS)(function))


@cache
def load() -> Entries:
    """The compiled functions; nothing is compiled before they are called."""
    source = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("incremental*.py")))
    digest = int.from_bytes(hashlib.sha256(source).digest()[:7], "little") | 1

    def advance(
        code: Words,
        vec: Words,
        t: Words,
        ix: Index,
        state: Words,
        tokens: Words,
        capacity: int,
        stop: Words,
        words: tuple[Words, Words, Words],
        width: int,
    ) -> int:
        if digest == 0:
            return -1
        return incremental_kernel.advance(
            code, vec, t, ix, state, tokens, capacity, stop, words[0], words[1], words[2], width
        )

    def rebuild(ix: Index, h: int, keys: int, t: Words) -> bool:
        return digest != 0 and incremental_index.rebuild(ix, h, keys, t)

    def squares_fit(ix: Index, h: int, keys: int, root: int, square: int, t: Words) -> int:
        return incremental_index.squares_fit(ix, h, keys, root, square, t) if digest != 0 else 0

    def dense_scores(ix: Index, h: int, keys: int, vec: Words, t: Words, scores: Words) -> None:
        if digest != 0:
            incremental_index.dense_scores(ix, h, keys, vec, t, scores)

    return Entries(cached(advance), cached(rebuild), cached(squares_fit), cached(dense_scores))
