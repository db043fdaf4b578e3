"""Weights of Transformers and RNNs, wired by hand, and the engines and commands that run them.

`constructions.load` wires one in Python. What it needs is imported when it is called: commands start with this package.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import TracebackType

__version__ = "0.9.0"
__all__ = ["LoadedModel", "Result", "load"]  # of api.py, declared in __init__.pyi


PACKAGES = ("constructions", "circuits", "verify")  # with commands


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("constructions.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _in_one_line(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Ends a command with one line, as `show.cli` would: for an interrupt during import, or a package that is missing."""
    if isinstance(error, KeyboardInterrupt):
        print(f"python -m {_command()}: interrupted", file=sys.stderr)
        sys.exit(130)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] not in (
        *PACKAGES,
        "precision",
        "",
    ):
        text = f"the package {error.name} is missing; `make .venv/ready` sets up .venv, which has it"
        print(f"python -m {_command()}: error: {text}", file=sys.stderr)
        sys.exit(2)
    sys.__excepthook__(kind, error, traceback)


def _command() -> str:
    """Returns the module that Python was asked to run, if any."""
    return next((name for option, name in zip(sys.orig_argv, sys.orig_argv[1:], strict=False) if option == "-m"), "")


def _is_ours() -> bool:
    """Returns whether Python is still looking for a command, which is ours and no caller's."""
    return sys.argv[:1] == ["-m"] and _command().partition(".")[0] in PACKAGES


# numpy's OpenBLAS starts a thread for each core when it is imported, and they spin for longer than a short command takes.
THREADS = "OPENBLAS_NUM_THREADS"
SETS_THREADS = _is_ours() and THREADS not in os.environ  # until its modules are imported: see `show.cli.run_command`
if _is_ours():
    sys.excepthook = _in_one_line
    # `python -m` looks into the user's folder first, where a random.py would take the place of Python's own module.
    if sys.path and sys.path[0] == os.getcwd() and not sys.flags.safe_path:
        sys.path.append(sys.path.pop(0))
if SETS_THREADS:
    os.environ[THREADS] = "1"
