"""The shape of the project: what may import what, and that the packages are ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import pytest

import circuits
import verify

ROOT = Path(__file__).parents[1]
PACKAGES = ("precision", "constructions", "circuits", "verify")

# The floors. A module belongs to the longest of these names that it begins with, and may import its own floor and those listed.
BELOW = {
    "precision": (),
    "constructions.places": (),
    "constructions.layers": ("precision",),
    "constructions.measures": ("precision", "constructions.layers"),
    "constructions.engines": ("precision", "constructions.places", "constructions.layers"),
    "constructions.wiring": ("precision", "constructions.places", "constructions.layers"),
    "constructions.parts": ("precision", "constructions.places", "constructions.layers", "constructions.wiring"),
}
BELOW["constructions.models"] = tuple(BELOW)
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
    "certificates",
    "programs",
    "stored",
    "patterns",
    "framework",
    "runs",
    "induction",
    "oracles",
    "bits",
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


def upward(graph: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    """The arrows to a floor that is not below."""
    arrows = {(start, end) for start, ends in graph.items() for end in ends}
    return {(start, end) for start, end in arrows if floor(end) not in (floor(start), *BELOW[floor(start)])}


def on_a_circle(graph: Mapping[str, Collection[str]]) -> set[str]:
    """The modules that import themselves by way of others: what is left when those without imports go, then theirs, …"""
    left = {name: set(ends) for name, ends in graph.items()}
    while done := {name for name, ends in left.items() if not ends & left.keys()}:
        left = {name: ends for name, ends in left.items() if name not in done}
    while done := left.keys() - {end for ends in left.values() for end in ends}:  # which only lead to a circle
        left = {name: ends for name, ends in left.items() if name not in done}
    return set(left)


def test_imports_flow_one_way() -> None:
    assert upward(modules()) == UPWARDS


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert on_a_circle(modules()) == set()


def test_the_reference_engine_shares_nothing_with_the_others() -> None:
    """All that it uses, by itself or by way of others, are the layers and the scalar definitions of precision/."""
    used, fresh = set[str](), {"constructions.engines.reference"}
    while fresh:
        fresh = {name for start in fresh for name in modules()[start]} - used
        used |= fresh
    scalar = ("format", "rounding", "enclosure", "exponential", "softmax")
    assert used == {"constructions.layers", *(f"precision.{name}" for name in scalar)}


def test_a_forbidden_import_is_seen() -> None:
    tree = ast.parse("def f():\n    from verify.framework import claim, Claim\nimport constructions.layers, numpy")
    known = {"verify.framework", "verify.framework.claim", "constructions.layers", "constructions"}
    assert imported(tree, known) == {"verify.framework", "verify.framework.claim", "constructions.layers"}
    assert upward({"constructions.engines.dense": {"constructions.layers", "constructions.wiring.part"}}) == {
        ("constructions.engines.dense", "constructions.wiring.part")
    }
    assert upward({"constructions.show.run": {"constructions.index", "constructions.engines"}}) == {
        ("constructions.show.run", "constructions.index")
    }


def test_a_circle_is_seen() -> None:
    assert on_a_circle({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set(), "e": {"a"}}) == {"a", "b", "c"}
    assert on_a_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == set()


def test_the_walks_of_contributing_lead_through_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    places = re.findall(r"`((?:\w+/)+\w+\.py)`(?:: `(\w+)`)?", text)
    assert ("istree/blocks.py", "_block_7") in places
    for path, name in places:
        (found,) = (base / path for base in (ROOT, ROOT / "constructions") if (base / path).exists())
        assert not name or f"\ndef {name}(" in found.read_text(encoding="utf-8"), (path, name)


@pytest.mark.parametrize("package", [circuits, verify])
def test_the_package_is_ours_and_not_its_namesake(package: object) -> None:
    assert Path(str(getattr(package, "__file__", ""))).is_relative_to(ROOT)
