"""Functions of somebody's file: where one fails or takes too long, one line says so."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from constructions.models.search import alarm

SECONDS = 10  # that code of a file may take at a time


class FunctionError(ValueError):
    """A function of somebody's file fails or takes too long; the message is one line."""


OURS = ("constructions", "precision", "verify")  # packages whose own refusals a person's file may let pass


@contextmanager
def report_failures(what: str, *, ours_pass: bool = False) -> Iterator[None]:
    """Raises FunctionError, with one line, where somebody's function fails, ends the program or takes too long.

    ours_pass: exceptions that this project's packages define pass, as a builder's do that is given n as a symbol.
    """
    try:
        with limit_time(what):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # somebody's code may raise anything
        if ours_pass and not isinstance(error, FunctionError) and type(error).__module__.partition(".")[0] in OURS:
            raise
        if isinstance(error, ValueError) and what in str(error):
            message = str(error)
        else:
            message = f"{what} raises {type(error).__name__}: {_text(error)}{_place(error)}"
        raise FunctionError(" ".join(message.split())) from error


def text_in_message(value: object) -> str:
    """Returns a value as text for a message, whatever its class does."""
    try:
        return str.__str__(repr(value))[:100]
    except Exception:  # its own text may fail as well
        return "what has no text"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # its own text may fail as well
        return "what it says is no text"


def _place(error: BaseException) -> str:
    """Returns where in the function's file it failed: the innermost line of the file whose function was called first."""
    here = Path(__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent != here]
    lines = [frame.lineno for frame in frames if frame.filename == frames[0].filename]
    return f" ({frames[0].filename}:{lines[-1]})" if frames else ""


@contextmanager
def limit_time(what: str) -> Iterator[None]:
    """Raises ValueError if the code within takes longer than `SECONDS`. In a thread, where no signal comes, nothing ends it."""
    with redirect_stdout(sys.stderr):  # data alone goes to stdout
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            yield
            return
        try:
            with alarm(SECONDS):
                yield
        except TimeoutError as error:
            raise ValueError(f"{what} takes more than {SECONDS} s") from error
