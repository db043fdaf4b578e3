"""The checkers of proofs are small, and rest on the standard library and each other alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from verify.trusted import kernel

SMALL: dict[str, tuple[int, set[str]]] = {  # its most lines, and what it has of this folder
    "kernel": (300, {"rejection"}),
    "growth": (310, {"rejection"}),
    "halting": (200, {"kernel", "pigeonhole", "rejection"}),
    "states": (150, {"halting", "kernel", "pigeonhole", "rejection"}),
    "pigeonhole": (300, {"kernel", "rejection"}),
    "sat": (200, set()),
}
FOLDER = Path(str(kernel.__file__)).parent
STATEMENT, DEFINITION = "../certificates/statement", "../certificates/definition"  # what writes the question
ROUNDING, PROGRAM, CASES = ("rounding", STATEMENT), ("program", STATEMENT, DEFINITION), ("cases", STATEMENT)
RULE = (
    "numbers",
    "polynomials",
    "abstract_state",
    "candidates",
    "keys",
    "positions",
    "heads",
)  # what a new one is like


def imports(name: str) -> set[str]:
    """Returns the files of this folder that a checker imports. It may import nothing else but the standard library."""
    found = set[str]()
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("verify.trusted"):
            own = str(node.module).removeprefix("verify.trusted").removeprefix(".")
            found |= {own} if own else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            other = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            assert str(other).partition(".")[0] in sys.stdlib_module_names
    return found


def closure(*names: str) -> set[str]:
    """Returns these files, and those that they import, themselves or by way of others."""
    found, todo = set[str](), [*names]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += () if name.startswith("..") else imports(name)
    return found


def lines(names: Iterable[str]) -> int:
    return sum(len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) for name in names)


def test_checkers_of_certificates_are_small() -> None:
    """Counts what writes the question with its checker, and what is about all large n apart."""
    rounding = closure(*ROUNDING)
    assert lines(rounding) <= 3380
    assert lines(closure(*CASES) - rounding) <= 900
    assert lines(closure(*PROGRAM)) <= 4300
    assert not {"growing", "growth"} & closure(*PROGRAM)


def test_a_rule_for_a_head_takes_little_reading() -> None:
    assert lines(RULE) <= 1350


@pytest.mark.parametrize("checker", SMALL)
def test_it_is_small_and_rests_on_no_more_than_this(checker: str) -> None:
    most, ours = SMALL[checker]
    assert lines([checker]) <= most
    assert closure(checker) == ours | {checker}
