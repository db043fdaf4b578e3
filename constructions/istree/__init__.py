"""IsTree: is an undirected graph a tree? Theorems 4.7, 5.3 and 5.7."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Makes `CONSTRUCTIONS` and `DOOR` when somebody asks for them: who wants a graph need not wait for weights."""
    if name == "DOOR":
        from constructions.istree.door import DOOR

        return DOOR
    if name != "CONSTRUCTIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from constructions.istree.models import MODELS

    return tuple(model for (_, layout), model in MODELS.items() if layout == "paper")
