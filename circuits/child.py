"""Work in a child process: what hangs there, even inside one call of C, can be ended, and two children work on two cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

HAS_FORK = hasattr(os, "fork")


class DiedError(Exception):
    """A child ended without a result. status: its exit status, or the number of the signal that ended it, negative."""

    def __init__(self, status: int) -> None:
        super().__init__(f"a child process ended with {status}")
        self.status = status


def run_in_child(work: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Starts work in a child, at once, and returns what yields its items. Raises what the work raises, or DiedError.

    Items and errors are pickled. A child that nobody listens to ends when it sends. Without fork the work is done here.
    """
    if not HAS_FORK:
        return iter(work())
    receiver, sender = multiprocessing.Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of threads of numerical libraries, which the child does not use
        pid = os.fork()
    if pid == 0:
        receiver.close()
        _send(work, sender)
    sender.close()
    stream = _receive(pid, receiver)
    next(stream)  # from here on, `close` ends the child
    return stream


def _send(work: Callable[[], Iterable[Any]], sender: Connection) -> None:
    """Sends each item of the work, then the error if there is one, and ends the process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            for item in work():
                sender.send((item, None))
        except (BrokenPipeError, KeyboardInterrupt):
            pass
        except BaseException as error:
            with suppress(BrokenPipeError):
                sender.send((None, error))
        sender.close()
    finally:
        os._exit(0)


def _receive(pid: int, receiver: Connection) -> Iterator[Any]:
    try:
        yield None
        while True:
            try:
                item, error = receiver.recv()
            except EOFError:
                break
            if error is not None:
                raise error
            yield item
        status, pid = os.waitpid(pid, 0)[1], 0
        if code := os.waitstatus_to_exitcode(status):
            raise DiedError(code)
    finally:
        receiver.close()
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def interleave(children: int, work: Callable[[int], Any], items: range) -> Iterator[Any]:
    """Yields work(i) for each i of a range, in its order. Of c children, the k-th works on each c-th item, from the k-th on."""
    streams = [run_in_child(partial(map, work, items[k::children])) for k in range(children)]
    try:
        for i in range(len(items)):
            try:
                yield next(streams[i % children])
            except StopIteration:
                raise DiedError(0) from None
    finally:
        for stream in streams:
            if hasattr(stream, "close"):
                stream.close()


def cores() -> int:
    """Returns how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
