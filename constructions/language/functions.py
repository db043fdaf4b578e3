"""Functions of somebody's file: where one fails or takes too long, one line says so."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 10  # that code of a file may take at a time


class FunctionError(ValueError):
    """A function of somebody's file fails or takes too long; the message is one line."""


@contextmanager
def told(what: str) -> Iterator[None]:
    """Raises ValueError, with one line, where somebody's function fails or takes too long."""
    try:
        with limited(what):
            yield
    except ValueError as error:
        message = str(error) if what in str(error) else f"{what} raises ValueError: {error}"
        raise FunctionError(message.splitlines()[0]) from error
    except Exception as error:  # somebody's code may raise anything
        raise FunctionError(f"{what} raises {type(error).__name__}: {error}".splitlines()[0]) from error


@contextmanager
def limited(what: str) -> Iterator[None]:
    """Raises ValueError if the code within takes longer than `SECONDS`. In a thread, where no signal comes, nothing ends it."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    except TimeoutError as error:
        raise ValueError(f"{what} takes more than {SECONDS} s") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
