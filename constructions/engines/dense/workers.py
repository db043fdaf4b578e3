"""Threads that each take whole tiles.

torch's own threads split every operation and wait for each other after it; a tile takes many operations of a fraction of
a millisecond, and where other programs use the cores as well, the waiting takes most of the time. So a run uses torch
with one thread, on as many tiles at once as torch was allowed threads. Results come back in the order of the tiles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

import torch

from constructions.engines.dense.batch import Tile
from constructions.engines.dense.float_filter import Workspace

Result = TypeVar("Result")


class Workers:
    """A number of threads, each with memory of its own for one tile."""

    def __init__(self, device: torch.device, count: int, pool: ThreadPoolExecutor | None) -> None:
        self.device = device
        self._count = count
        self._pool = pool
        self._idle: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(count):
            self._idle.put(Workspace(device))

    def map(self, work: Callable[[Tile, Workspace], Result], tiles: Iterable[Tile]) -> Iterator[Result]:
        """Yields the results in order; only a few tiles are begun before their results are asked for."""

        def task(tile: Tile) -> Result:
            workspace = self._idle.get()
            try:
                return work(tile, workspace)
            finally:
                self._idle.put(workspace)

        if self._pool is None:
            yield from (task(tile) for tile in tiles)
            return
        begun: deque[Future[Result]] = deque()
        try:
            for tile in tiles:
                begun.append(self._pool.submit(task, tile))
                if len(begun) > 2 * self._count:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()


@contextmanager
def workers(device: torch.device) -> Iterator[Workers]:
    """Yields as many workers as torch has threads, one on a GPU. Meanwhile each torch operation of this thread stays on it."""
    allowed = torch.get_num_threads()
    if device.type != "cpu" or allowed == 1:
        yield Workers(device, 1, None)
        return
    torch.set_num_threads(1)
    try:
        # Threads that torch has not met before take over the number set last.
        with ThreadPoolExecutor(allowed) as pool:
            yield Workers(device, allowed, pool)
    finally:
        torch.set_num_threads(allowed)
