"""Turing machines: the machines themselves, what they do, and the weights that run them. Theorems 4.1, 5.4 and 5.8."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Imports the models when `DOOR` is first read, so that machines can be used without loading weights."""
    if name != "DOOR":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from constructions.turing import door

    return getattr(door, name)
