"""A place of a run, at which axioms and lemmas are evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Place:
    """A place of a run: its name, what each declared symbol is there, and the integers that are looked at.

    table: integers of each of which every symbol can be asked. recursive: definitions in SMT-LIB, as functions of x1, of symbols
    that do not go on in a straight line beyond the table.
    """

    name: str
    symbols: Mapping[str, Any]
    window: Sequence[int]
    table: range
    recursive: Mapping[str, str] = field(default_factory=dict)
