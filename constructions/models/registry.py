"""Finds constructions and parts by looking into the package: adding one is adding one file.

A construction stands behind the `DOOR` of a module or package here; a part is a module of `constructions.parts.gadgets`,
`constructions.parts.heads` or `constructions.parts.recurrences` with a `PART`. Nothing registers itself.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import constructions
from constructions.models.model import Model
from constructions.wiring.part import Part

PART_FOLDERS = ("gadgets", "heads", "recurrences")


def find_constructions() -> tuple[Model[Any, Any], ...]:
    """Returns every construction, by name, the usual model first. Raises ValueError if two share name and model."""
    by_name: dict[tuple[str, str], Model[Any, Any]] = {}
    for module in _modules(constructions, packages=True):
        for item in module.DOOR.wirings.values() if hasattr(module, "DOOR") else ():
            name, model = item.names
            if item.names in by_name:
                raise ValueError(f"two constructions are called {name!r}, {model}; one is in {module.__name__}")
            by_name[item.names] = item
    return tuple(by_name[names] for names in sorted(by_name, key=lambda names: names[0]))


def find_parts() -> tuple[Part, ...]:
    """Returns every gadget, head and recurrence, in the order of the paper's lemmas. Raises ValueError if two share an id."""
    by_id: dict[str, Part] = {}
    for folder in PART_FOLDERS:
        for module in _modules(importlib.import_module(f"constructions.parts.{folder}")):
            item = getattr(module, "PART", None)
            if isinstance(item, Part):
                if item.id in by_id:
                    raise ValueError(f"two parts have the id {item.id!r}; one is in {module.__name__}")
                by_id[item.id] = item
    return tuple(sorted(by_id.values(), key=lambda part: _natural(part.id)))


def _modules(package: ModuleType, *, packages: bool = False) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(package.__path__):
        if info.ispkg <= packages and not info.name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{info.name}")


def _natural(text: str) -> list[tuple[int, str]]:
    """Sorts C.9 before C.13."""
    return [(int(piece), "") if piece.isdecimal() else (0, piece) for piece in re.split(r"(\d+)", text)]
