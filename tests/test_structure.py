"""The shape of the project: what may import what, and that the packages are ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import circuits
import verify

ROOT = Path(__file__).parents[1]
ORDER = ("precision", "constructions", "circuits", "verify")  # each may import only what stands before it, and itself
DOORS = {"constructions/simulate.py": {"circuits"}}  # a command whose construction stands further up
FILES = sorted(path for package in ORDER for path in (ROOT / package).rglob("*.py"))


def imported(tree: ast.AST) -> set[str]:
    """The top-level names of every import, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_flow_one_way(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    allowed = set(ORDER[: ORDER.index(package) + 1]) | DOORS.get(str(path.relative_to(ROOT)), set())
    found = imported(ast.parse(path.read_text(encoding="utf-8"))) & set(ORDER)
    assert found <= allowed


def test_a_forbidden_import_is_seen() -> None:
    assert imported(ast.parse("def f():\n    from verify.claim import Claim\nimport constructions.part")) == {
        "verify",
        "constructions",
    }


@pytest.mark.parametrize("package", [circuits, verify])
def test_the_package_is_ours_and_not_its_namesake(package: object) -> None:
    assert Path(str(getattr(package, "__file__", ""))).is_relative_to(ROOT)


@pytest.mark.parametrize("path", sorted((ROOT / "constructions" / "engines").rglob("*.py")), ids=lambda path: path.stem)
def test_engines_see_matrices_only(path: Path) -> None:
    """No engine reaches what has names or oracles."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    inside = {module for module in modules if module.startswith("constructions.")}
    assert all(module.startswith("constructions.engines") or module == "constructions.layers" for module in inside)
