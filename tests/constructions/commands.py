"""The commands, in this process."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial

from constructions.retrieval.cli import main as retrieval_main
from constructions.retrieval.task import Task


def command(name: str) -> Callable[[Sequence[str]], int]:
    """Returns what `python -m constructions.NAME` calls with its arguments."""
    return main_of(f"constructions.{name}")


def main_of(name: str) -> Callable[[Sequence[str]], int]:
    """Returns what `python -m NAME` calls with its arguments."""
    module = importlib.import_module(name)
    if isinstance(getattr(module, "TASK", None), Task):
        return partial(retrieval_main, module.DOOR)
    main: Callable[[Sequence[str]], int]
    main = importlib.import_module(f"{name}.__main__").main if hasattr(module, "__path__") else module.main
    return main
