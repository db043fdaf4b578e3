"""Whether a file has replaced code of this project, or of fractions, while it was executed.

A file is trusted like code, and this is no wall: it can change code later, when one of its functions is called.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType

from constructions.language.functions import OURS

PACKAGES = (*OURS, "circuits", "fractions", "builtins")


@contextmanager
def require_same_code(what: str) -> Iterator[None]:
    """Raises ValueError if a function, a class or a module that was there before is another one afterwards."""
    before = dict(_code())
    yield
    after = dict(_code())
    for name, part in before.items():
        if after.get(name) is not part:
            raise ValueError(f"{what} replaces {name}, which is not its own")


def _code() -> Iterator[tuple[str, object]]:
    """Yields the modules, functions and classes by name, with the code of functions and the methods of classes."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in PACKAGES and isinstance(module, ModuleType):
            yield name, module
            for key, value in [*vars(module).items()]:
                yield from _parts(f"{name}.{key}", value)
                if isinstance(value, type) and value.__module__ == name:
                    for inner, method in [*vars(value).items()]:
                        yield from _parts(f"{name}.{key}.{inner}", method)


def _parts(name: str, value: object) -> Iterator[tuple[str, object]]:
    if callable(value) or hasattr(type(value), "__get__"):
        yield name, value
        if isinstance(value, FunctionType):
            yield f"{name}.__code__", value.__code__
