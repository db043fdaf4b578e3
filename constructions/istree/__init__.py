"""IsTree: is an undirected graph a tree? Theorems 4.7, 5.3 and 5.7."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Imports the models when `DOOR` is first read, so that graphs can be used without loading weights."""
    if name != "DOOR":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from constructions.istree import models

    return getattr(models, name)
