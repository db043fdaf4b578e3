"""The incremental decoder from its source, not compiled, so that one line of it can be changed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest

from constructions.engines import incremental

if TYPE_CHECKING:
    from constructions.engines.incremental.machine import CompiledMachine

MODULES = (
    "limbs",
    "addresses",
    "reals",
    "program",
    "sums",
    "fields",
    "index",
    "insertion",
    "certificate",
    "readout",
    "float_filter",
    "bends",
    "vocabulary",
    "kernel",
    "entries",
    "structure",
    "machine",
)
FEW_TOKENS = 4  # after which memory grows


class Careless(NamedTuple):
    """killer: the case that tells. module: which file; its text `old` becomes `new`."""

    killer: str
    module: str
    old: str
    new: str


def interpreted(
    monkeypatch: pytest.MonkeyPatch, mutant: Careless | None = None, *, floats: bool = True
) -> type[CompiledMachine]:
    """The decoder from its source, changed by the mutant, and not compiled. floats: whether they may decide."""

    def leave(*arguments: object, **options: object) -> Callable[[object], object]:
        return lambda function: function

    monkeypatch.setattr("numba.njit", leave)
    for module in MODULES:
        name = f"{incremental.__name__}.{module}"
        path = Path(incremental.__file__).parent / f"{module}.py"
        text = path.read_text(encoding="utf-8")
        if mutant is not None and mutant.module == module:
            assert text.count(mutant.old) == 1, "the mutant no longer fits the source"
            text = text.replace(mutant.old, mutant.new)
        if module == "kernel" and not floats:
            text = text.replace("certain = decided_by_floats(", "certain = False and decided_by_floats(")
        loaded = ModuleType(name)
        loaded.__file__ = str(path)
        monkeypatch.setitem(sys.modules, name, loaded)
        monkeypatch.setattr(incremental, module, loaded, raising=False)
        exec(compile(text, path, "exec"), loaded.__dict__)
        if module == "entries":  # nothing is compiled, so there is nothing to wait for
            loaded.__dict__["alone"] = contextlib.nullcontext
    loaded.__dict__["FIRST_CAPACITY"] = FEW_TOKENS
    return cast("type[CompiledMachine]", loaded.__dict__["CompiledMachine"])
