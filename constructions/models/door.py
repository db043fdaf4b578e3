"""How callers come to a construction, the command and Python alike: from options to a model.

Each `python -m constructions.NAME` has a door, `DOOR` in that module or package.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from constructions.models.model import Model
from precision.format import Discipline

LONGEST_BITS = 128  # of a number that a message writes in digits
COMMON_OPTIONS = "model, variant, findings, p, sequential"
LARGEST_N = 1 << 20  # of a model that is wired: it has a row of weights for each number


class NoConstruction(ValueError):
    """No construction has this name, or no model; the message is one line that lists those that there are."""


@dataclass(frozen=True)
class Door:
    """One construction: how callers open its models.

    models: their names, the usual one first. model_of(model, discipline, **options): the model, and the n that it is to be wired
    for, None if that is left to the input. It raises ValueError, with one line, for what it cannot take. options: the keywords
    that it takes, each with the largest number that fits into memory, None where it takes a text.
    """

    name: str
    models: tuple[str, ...]
    model_of: Callable[..., tuple[Model[Any, Any], int | None]]
    options: Mapping[str, int | None]

    def model(self, name: str | None) -> str:
        """Returns the usual model where none is named. Raises NoConstruction."""
        model_name = self.models[0] if name is None else name
        if model_name not in self.models:
            raise NoConstruction(f"{self.name} has no model {model_name!r}; it has {', '.join(self.models)}")
        return model_name

    def open(
        self, model: str | None, discipline: Discipline, options: Mapping[str, object]
    ) -> tuple[Model[Any, Any], int | None]:
        """Returns the model with these options, and its n or None. Raises ValueError for a model or an option that there is none
        of.
        """
        model_name = self.model(model)
        if unknown := [name for name in options if name not in self.options]:
            raise ValueError(
                f"{self.name} has no option {unknown[0]!r}; it has {', '.join(self.options)}, and all have {COMMON_OPTIONS}"
            )
        for name, value in options.items():
            self.require(name, value)
        return self.model_of(model_name, discipline, **options)

    def require(self, name: str, value: object) -> None:
        """Raises ValueError for a number beyond what fits into memory."""
        most = self.options.get(name)
        if isinstance(value, int) and most is not None and abs(value) > most:
            beyond = f"above {most:,}, the largest that is wired here" if value > 0 else "below 0"
            raise ValueError(f"{name} = {show_number(value)} is {beyond}")


def show_number(number: int) -> str:
    """Returns a number as messages show it; a very long one by its bit length, since Python refuses to print it."""
    bits = number.bit_length()
    return f"{number:,}" if bits <= LONGEST_BITS else f"a number of {bits:,} bits"


def find_door(name: str) -> Door:
    """Returns the door of a construction, which is imported only now. Raises NoConstruction."""
    package = __name__.partition(".")[0]
    module = f"{package}.{name}"
    if name.isidentifier() and importlib.util.find_spec(module) is not None:
        door = getattr(importlib.import_module(module), "DOOR", None)
        if door is not None:
            return cast("Door", door)
    from constructions.models.registry import find_constructions

    names = dict.fromkeys(item.construction.name for item in find_constructions())
    file = " (a construction is named, not its file)" if "." in name or "/" in name else ""
    raise NoConstruction(f"there is no construction {name[:40]!r}{file}; there are {', '.join(names)}")
