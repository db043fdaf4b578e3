"""Functions of somebody's file: where one fails or takes too long, one line says so."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 10  # that code of a file may take at a time


class FunctionError(ValueError):
    """A function of somebody's file fails or takes too long; the message is one line."""


MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)


@contextmanager
def told(what: str, only: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """Raises FunctionError, with one line, where somebody's function fails or takes too long. only: other errors pass."""
    try:
        with limited(what):
            yield
    except only as error:  # somebody's code may raise anything
        if isinstance(error, ValueError) and what in str(error):
            message = str(error)
        else:
            message = f"{what} raises {type(error).__name__}: {error}".splitlines()[0] + _place(error)
        raise FunctionError(message.splitlines()[0]) from error


def _place(error: Exception) -> str:
    """Where in the function's file: the innermost line of the file whose function was called first."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__][1:]
    lines = [frame.lineno for frame in frames if frame.filename == frames[0].filename]
    return f" ({frames[0].filename}:{lines[-1]})" if frames else ""


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
