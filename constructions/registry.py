"""Finds constructions and parts by looking into the package: adding one is adding one file.

A construction is a module of `constructions` with a `CONSTRUCTION`; a part is a module of `constructions.gadgets`,
`constructions.heads` or `constructions.recurrences` with a `PART`. Nothing registers itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

import constructions
from constructions.construction import Construction
from constructions.part import Part

PART_FOLDERS = ("gadgets", "heads", "recurrences")


def find_constructions() -> tuple[Construction, ...]:
    """Every construction, by name. Raises ValueError if two share one."""
    found: dict[str, Construction] = {}
    for module in _modules(constructions):
        item = getattr(module, "CONSTRUCTION", None)
        if isinstance(item, Construction):
            if item.name in found:
                raise ValueError(f"two constructions are called {item.name!r}; one is in {module.__name__}")
            found[item.name] = item
    return tuple(found[name] for name in sorted(found))


def find_parts() -> tuple[Part, ...]:
    """Every gadget, head and recurrence, in the order of the paper's lemmas. Raises ValueError if two share an id."""
    found: dict[str, Part] = {}
    for folder in PART_FOLDERS:
        if importlib.util.find_spec(f"constructions.{folder}") is None:
            continue
        for module in _modules(importlib.import_module(f"constructions.{folder}")):
            item = getattr(module, "PART", None)
            if isinstance(item, Part):
                if item.id in found:
                    raise ValueError(f"two parts have the id {item.id!r}; one is in {module.__name__}")
                found[item.id] = item
    return tuple(sorted(found.values(), key=lambda part: _natural(part.id)))


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(package.__path__):
        if not info.ispkg and not info.name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{info.name}")


def _natural(text: str) -> list[tuple[int, str]]:
    """Sorts C.9 before C.13."""
    return [(int(piece), "") if piece.isdecimal() else (0, piece) for piece in re.split(r"(\d+)", text)]
