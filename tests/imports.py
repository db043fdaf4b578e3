"""Which module imports which, and which may: the floors that test_structure.py holds and architecture.py draws."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("precision", "constructions", "circuits", "verify")

# The floors. A module belongs to the longest of these names that it begins with, and may import its own floor and those listed.
BELOW = {
    "precision": (),
    "constructions.places": (),
    "constructions.layers": ("precision",),
    "constructions.rows": ("constructions.layers",),
    "constructions.walk": ("constructions.layers", "constructions.rows"),
    "constructions.measures": ("precision", "constructions.layers"),
    "constructions.engines": (
        "precision",
        "constructions.places",
        "constructions.layers",
        "constructions.rows",
        "constructions.walk",
        "constructions.wiring",  # of it, what heads look up, as data: names of registers label coordinates there
    ),
    "constructions.wiring": ("precision", "constructions.places", "constructions.layers", "constructions.rows"),
    "constructions.parts": ("precision", "constructions.places", "constructions.layers", "constructions.wiring"),
}
BELOW["constructions.models"] = tuple(BELOW)
BELOW["constructions.language"] = tuple(BELOW)
BELOW["constructions.exports"] = tuple(BELOW)
BELOW["constructions.show"] = tuple(BELOW)
BELOW["constructions"] = tuple(BELOW)  # the tasks, and the package itself
BELOW["circuits"] = tuple(BELOW)
OURS = tuple(BELOW)
ROOMS = (
    "trusted",  # checkers of proofs; the standard library alone
    "algebra",
    "automata",
    "inputs",
    "rounding",
    "dossiers.dossier",  # what verification asks of a model, and what finds one by its names
    "dossiers.registry",
    "certificates",
    "programs",
    "stored",
    "patterns",
    "framework",
    "oracles",
    "runs",
    "induction",
    "bits",
    "dossiers",
    "training",  # measured figures; claims read what is stored
    "claims",
)
"""Of verify/, the lowest first: each may import those before it, and all other packages."""
for number, room in enumerate(ROOMS):
    BELOW[f"verify.{room}"] = (*OURS, *(f"verify.{below}" for below in ROOMS[:number])) if number else ()
BELOW["verify"] = tuple(BELOW)  # the commands

# Arrows that point upwards: from, to.
UPWARDS = {
    # Every import of a module below `constructions` loads this package, which imports nothing; looking for tasks starts there.
    ("constructions.models.registry", "constructions"),
    # What this package sets for a command that Python is still looking for, the command takes back.
    ("constructions.show.cli", "constructions"),
    # A door: the command is `python -m constructions.simulate`, what it builds are circuits.
    ("constructions.simulate", "circuits.simulate"),
    # It runs an RNN; with --certify it asks the checker about the weights of this run.
    ("circuits.simulate", "verify.dossiers.simulation"),
    # Another one: the command is `python -m constructions zoo`, and what it writes has verdicts.
    ("constructions.__main__", "verify.zoo"),
    # What a claim asks of lemmas is imported when it asks; their runs are judged as claims are.
    ("verify.framework.check", "verify.induction.along"),
    ("verify.framework.check", "verify.induction.theory"),
}


@cache
def modules() -> Mapping[str, frozenset[str]]:
    """Each module of ours, and the modules of ours that it imports, inside of functions too."""
    paths = {dotted(path): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    return {name: imported(ast.parse(path.read_text(encoding="utf-8")), paths) for name, path in paths.items()}


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST, known: Collection[str]) -> frozenset[str]:
    """The known modules that some import names, itself or by a name in it; not the packages around these."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in inner}
    return frozenset(found & set(known))


def floor(module: str) -> str:
    return max((name for name in BELOW if f"{module}.".startswith(f"{name}.")), key=len)
