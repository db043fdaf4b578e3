"""What Python calls of the compiled code, cached on disk, so that only the first run after a change compiles (20 seconds).

Numba looks at the one file that a function stands in when it asks whether a cached version is still good, and would go on using it
after a change elsewhere. It does look at the values that a function closes over; so these functions close over a digest
of all files.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from numba import njit  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba import types as numba_types

from constructions.engines.incremental import index, insertion, kernel
from constructions.engines.incremental.addresses import address
from constructions.engines.incremental.index import Index
from constructions.engines.incremental.limbs import OPTIONS, Shape, Words, lengths
from constructions.engines.incremental.sources import cache_folder, is_cached, sources
from constructions.engines.incremental.vocabulary import Vocabulary

Function = TypeVar("Function", bound=Callable[..., object])

PATIENCE_SECONDS = 2.5  # more than it takes to load what is cached


class Entries(NamedTuple):
    """See the functions of the same names in kernel.py, insertion.py and index.py."""

    advance: Callable[..., int]
    rebuild: Callable[[Index, int, int, Words], bool]
    squares_fit: Callable[[Index, int, int, int, int], int]
    dense_scores: Callable[[Index, int, int, Words, Words, Words, Words], None]


@cache
def load(limbs: int) -> Entries:
    """The functions compiled for numbers of so many limbs; says on stderr that it compiles, if that takes long."""
    source = b"".join(path.read_bytes() for path in sources())
    digest = int.from_bytes(hashlib.sha256(source).digest()[:7], "little") | 1

    def advance(
        code: Words,
        vec: Words,
        t: Words,
        ix: Index,
        state: Words,
        tokens: Words,
        stop: Words,
        words: tuple[Words, Words, Words],
        vocabulary: Vocabulary,
        width: int,
    ) -> int:
        if digest == 0:
            return -1
        v, (word_at, word_slots, word_limbs) = vocabulary, words
        return kernel.advance(
            address(code),
            address(vec),
            address(t),
            index.addressed(ix),
            address(state),
            tokens,
            stop,
            (address(word_at), address(word_slots), address(word_limbs)),
            Vocabulary(
                address(v.tokens), address(v.rows), v.parts, address(v.code), address(v.axes), address(v.points)
            ),
            width,
        )

    def rebuild(ix: Index, h: int, keys: int, t: Words) -> bool:
        return digest != 0 and insertion.rebuild(index.addressed(ix), h, keys, address(t))

    def squares_fit(ix: Index, h: int, keys: int, root: int, square: int) -> int:
        return insertion.squares_fit(index.addressed(ix), h, keys, root, square) if digest != 0 else 0

    def dense_scores(ix: Index, h: int, keys: int, code: Words, vec: Words, t: Words, scores: Words) -> None:
        if digest != 0:
            index.dense_scores(index.addressed(ix), h, keys, address(code), address(vec), address(t), address(scores))

    types: Any = numba_types
    number, numbers, wide = types.int64, types.int64[::1], types.uint64[::1]
    narrow, reals = types.int32[::1], types.float64[::1]
    tuples = (types.UniTuple(types.Tuple(()), length) for length in lengths(limbs))
    shape = types.NamedTuple([*tuples, numbers], Shape)
    memory = types.NamedTuple(
        [
            types.int64[:, ::1],
            *(numbers, wide, narrow, narrow, wide, narrow, narrow, reals, reals),
            *(wide, numbers, shape, reals),
        ],
        Index,
    )
    vocabulary = types.NamedTuple([*[numbers] * (len(Vocabulary._fields) - 1), reals], Vocabulary)
    words = types.Tuple((numbers, numbers, wide))
    with announced(limbs), alone(limbs), uncollected():
        return Entries(
            rebuild=_cached(rebuild, limbs, memory, number, number, wide),
            squares_fit=_cached(squares_fit, limbs, memory, number, number, number, number),
            dense_scores=_cached(dense_scores, limbs, memory, number, number, numbers, wide, wide, wide),
            # The last one, see is_cached.
            advance=_cached(
                advance, limbs, numbers, wide, wide, memory, numbers, numbers, numbers, words, vocabulary, number
            ),
        )


def _cached(function: Function, limbs: int, *arguments: Any) -> Function:
    """Compiled for these types, from the cache if there is one and a place for it."""
    function.__qualname__ = f"{function.__name__}_{limbs}"  # the name of its file in the cache, see is_cached
    try:
        return cast(Function, njit([arguments], cache=True, **OPTIONS)(function))
    except RuntimeError:  # no folder that may be written to
        return cast(Function, njit([arguments], **OPTIONS)(function))


@contextlib.contextmanager
def alone(limbs: int) -> Iterator[None]:
    """One process at a time compiles: the next one waits for what the first one puts into the cache."""
    with contextlib.ExitStack() as stack:
        if not is_cached(limbs):
            with contextlib.suppress(ImportError, OSError):  # no locks here, or no place for one
                import fcntl

                lock = stack.enter_context((cache_folder() / f"compiling_{limbs}.lock").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Numba's objects live long; looking for cycles among them again and again is a twentieth of its time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextlib.contextmanager
def announced(limbs: int) -> Iterator[None]:
    """Says on stderr what takes so long, if it does."""
    message = (
        f"compiling incremental decoding for {64 * limbs} bits, once (20 seconds); later runs take it from a cache"
    )
    timer = threading.Timer(PATIENCE_SECONDS, print, [message], {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
