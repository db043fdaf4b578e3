"""How callers come to a construction, the command and Python alike: from options to a model.

Each `python -m constructions.NAME` has a door, `DOOR` in that module or package.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar, cast

from constructions.models.model import Model
from constructions.models.options import ModelOptions, require_size
from precision.format import Discipline

AnyModel = TypeVar("AnyModel", bound=Model[Any, Any])
COMMON_OPTIONS = "model, variant, findings, p, sequential"
LARGEST_N = 1 << 20  # of a model that is wired: it has a row of weights for each number


class NoConstruction(ValueError):
    """No construction has this name, or no model; the message is one line that lists those that there are."""


@dataclass(frozen=True)
class Door(Generic[AnyModel]):
    """One construction: how callers open its models.

    wirings: its models by name, the usual one first, each with its usual options. options: what can be chosen of them, as usual.
    most: the largest size that fits into memory. usual_size: where callers name none; None if that is left to the input.
    """

    name: str
    wirings: Mapping[str, AnyModel]
    options: ModelOptions = ModelOptions()
    most: int = LARGEST_N
    usual_size: int | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of its models."""
        return tuple(self.wirings)

    @property
    def variants(self) -> tuple[str, ...]:
        """Returns those of all models; a model that lacks one says so."""
        return tuple(dict.fromkeys(name for one in self.wirings.values() for name in one.construction.variants))

    @property
    def size(self) -> str:
        """Returns what callers call the n of its models."""
        return self.wirings[self.models[0]].size

    def model(self, name: str | None) -> str:
        """Returns the usual model where none is named. Raises NoConstruction."""
        model_name = self.models[0] if name is None else name
        if model_name not in self.models:
            raise NoConstruction(f"{self.name} has no model {model_name!r}; it has {', '.join(self.models)}")
        return model_name

    def open(
        self, model: str | None, discipline: Discipline, options: Mapping[str, object]
    ) -> tuple[AnyModel, int | None]:
        """Returns the model with these options, and its n or None. Raises ValueError for an unknown model, option or value."""
        model_name = self.model(model)
        values = {key: value for key, value in options.items() if key != self.size and value is not None}
        size = options.get(self.size, self.usual_size)
        n = None if size is None else require_size(self.size, size, self.most)
        keywords = {one.keyword: one for one in self.options.items().values() if not one.is_variant}
        own = self.options.items(model_name)
        for key in values:
            if key not in keywords:
                has = ", ".join((self.size, *keywords))
                raise ValueError(f"{self.name} has no option {key!r}; it has {has}, and all have {COMMON_OPTIONS}")
            if keywords[key].name not in own and values[key] != keywords[key].usual:
                raise ValueError(f"{self.name} as {model_name} has no option {key!r}")
        if lacking := [key for key, one in keywords.items() if one.is_required and key not in values]:
            raise ValueError(f"{self.name} needs a {lacking[0]}: {keywords[lacking[0]].help}")
        chosen = {keywords[key].name: keywords[key].checked(value) for key, value in values.items()}
        return cast("AnyModel", self.wirings[model_name].with_options(self.options.take(chosen), discipline)), n


@cache
def find_door(name: str) -> Door[Any]:
    """Returns the door of a construction, which is imported only now. Raises NoConstruction."""
    package = __name__.partition(".")[0]
    module = f"{package}.{name}"
    if name.isidentifier() and importlib.util.find_spec(module) is not None:
        door = getattr(importlib.import_module(module), "DOOR", None)
        if door is not None:
            return cast("Door[Any]", door)
    from constructions.models.registry import find_constructions

    names = dict.fromkeys(item.construction.name for item in find_constructions())
    file = " (a construction is named, not its file)" if "." in name or "/" in name else ""
    raise NoConstruction(f"there is no construction {name[:40]!r}{file}; there are {', '.join(names)}")
