"""Weights of Transformers and RNNs, wired by hand, and the engines and commands that run them.

`constructions.load` wires one in Python. What it needs is imported when it is called: commands start with this package.
"""

from __future__ import annotations

import importlib
import sys
from types import TracebackType

__version__ = "0.1.0"
__all__ = ["LoadedModel", "Result", "load"]  # of api.py, declared in __init__.pyi


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("constructions.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _in_one_line(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """An interrupt that reaches nobody, as while a command is imported, ends it as `show.cli` would: one line, exit code 130."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    command = sys.orig_argv[sys.orig_argv.index("-m") + 1]
    print(f"python -m {command}: interrupted", file=sys.stderr)
    sys.exit(130)


if sys.argv[:1] == ["-m"]:  # so Python calls a command that it is still looking for: ours, not a caller's
    sys.excepthook = _in_one_line
