"""Values that are made when they are asked for: who runs one model need not wait until the others are imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Lazily(Mapping[Key, Value]):
    """Values by key, each made when somebody first asks for it; the keys are there at once."""

    def __init__(self, makers: Mapping[Key, Callable[[], Value]]) -> None:
        self._makers = makers
        self._made: dict[Key, Value] = {}

    def __getitem__(self, key: Key) -> Value:
        if key not in self._made:
            self._made[key] = self._makers[key]()
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[Key]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
