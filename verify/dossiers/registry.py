"""Finds dossiers by looking into the package: a command also needs a construction of this name.

A dossier stands in the tuple `DOSSIERS` of a module of `verify.dossiers`. One that is asked for by name imports the module of this
name alone, if there is one; else all modules are imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

from precision.format import Discipline
from verify.dossiers.dossier import Dossier, Subject

PACKAGE = __name__.rpartition(".")[0]


@cache
def find_dossiers() -> Mapping[tuple[str, str], Dossier]:
    """Returns all dossiers by construction and model, those of a task together. Raises ValueError if two have the same names."""
    package = importlib.import_module(PACKAGE)
    by_name: dict[tuple[str, str], Dossier] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{PACKAGE}.{info.name}")
        for dossier in getattr(module, "DOSSIERS", ()):
            if by_name.setdefault(key := (dossier.construction, dossier.model), dossier) is not dossier:
                raise ValueError(f"two dossiers are of {key[0]} as {key[1]}; one is in {module.__name__}")
    return by_name


def is_named(name: str) -> bool:
    """Returns whether a module here has this name. Nothing is imported to see it."""
    return name.isidentifier() and importlib.util.find_spec(f"{PACKAGE}.{name}") is not None


def find_dossier(construction: str, model: str) -> Dossier | None:
    """Returns the model with its usual options, or a program by its file; None if the checker does not cover it.

    Raises ValueError for a file that cannot be taken.
    """
    if is_named(construction):
        for dossier in getattr(importlib.import_module(f"{PACKAGE}.{construction}"), "DOSSIERS", ()):
            if (dossier.construction, dossier.model) == (construction, model):
                return cast("Dossier", dossier)
    return find_program(construction, model) or find_dossiers().get((construction, model))


def find_program(name: str, model: str | None = None) -> Dossier | None:
    """Returns the dossier of a program, FILE.py, FILE.py:NAME or one of the gallery, by default in its own architecture; None
    for another name.

    Raises ValueError for a file that cannot be taken, and for an architecture that there is not.

    Its module is imported only now, as those of other dossiers are: it stands above what asks for it.
    """
    written = importlib.import_module(f"{PACKAGE}.written")
    dossier: Dossier | None = written.find_program(name, model)
    return dossier


def find_subject(
    construction: str,
    n: int,
    length: int | None = None,
    precision_bits: int | None = None,
    discipline: Discipline = Discipline.FUSED,
    printed: tuple[str, ...] = (),
    *,
    model: str = "transformer",
    last: int = 0,
    **options: Any,
) -> Subject:
    """Returns the subject of a dossier that is found by its names, with these options of it. Raises ValueError if there is none."""
    dossier = find_dossier(construction, model)
    if dossier is None:
        raise ValueError(f"{construction} as {model} is not covered")
    return Subject(replace(dossier, **options), n, length, precision_bits, discipline, printed, last)


def of_case(case: Mapping[str, Any]) -> Subject:
    """Returns the subject that `Subject.as_case` stored. Raises KeyError, TypeError, ValueError."""
    own = {key: value for key, value in case.items() if key != "options"}
    own |= {"discipline": Discipline(case["discipline"]), "printed": tuple(case["printed"])}
    own |= {key: None if case[key] is None else int(case[key]) for key in ("n", "length", "precision_bits", "last")}
    return find_subject(**own, **case["options"])
