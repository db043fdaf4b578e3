"""A place of a run, at which axioms and lemmas are evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Place:
    """A place of a run: its name, what each declared symbol is there, and the integers that are looked at.

    table: integers of each of which every symbol can be asked. recursive: symbols of one integer that do not go on in a straight
    line beyond the table, each as what it is up to 0, and what it is at i > 0 in SMT-LIB, with `before` for its value at i - 1.
    """

    name: str
    symbols: Mapping[str, Any]
    window: Sequence[int]
    table: range
    recursive: Mapping[str, tuple[int, str]] = field(default_factory=dict)
