"""A place of a run, at which axioms and lemmas are evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """A place of a run: its name, what each declared symbol is there, and the integers that are looked at."""

    name: str
    symbols: Mapping[str, Any]
    window: Sequence[int]
