"""The checkers of proofs are small, and rest on the standard library and each other alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

from verify.trusted import growth, halting, kernel, pigeonhole, sat, states

ALWAYS = {"__future__", "collections.abc", "typing"}
REJECTION = {"verify.trusted.rejection.Rejected", "verify.trusted.rejection.reject"}
SMALL: dict[ModuleType, tuple[int, set[str], set[str]]] = {  # its most lines, what it has of Python, and of this folder
    kernel: (300, {"ast", "fractions", "math"}, REJECTION),
    growth: (
        300,
        {"dataclasses", "fractions", "functools", "itertools", "math"},
        REJECTION,
    ),
    halting: (
        200,
        set(),
        {
            "verify.trusted.kernel",
            "verify.trusted.pigeonhole",
            "verify.trusted.kernel.reject",
            *(f"verify.trusted.pigeonhole.{name}" for name in ("FIELDS", "Statement", "put")),
        },
    ),
    states: (
        150,
        {"ast"},
        {
            "verify.trusted.halting",
            "verify.trusted.pigeonhole",
            *(f"verify.trusted.kernel.{name}" for name in ("Rejected", "reject")),
        },
    ),
    pigeonhole: (
        300,
        {"ast", "dataclasses", "itertools"},
        {"verify.trusted.kernel", *(f"verify.trusted.kernel.{name}" for name in ("Rejected", "parsed", "reject"))},
    ),
    sat: (200, {"sys"}, set()),
}

MOST_OF_ROUNDING = 4100  # lines that a certificate of rounding rests on
OF_ROUNDING = ("abstract_state", "automaton", "cases", "growing", "growth", "heads", "model", "rejection", "rounding")


def test_the_checker_of_rounding_is_small_and_rests_on_these_files_alone() -> None:
    folder = Path(str(kernel.__file__)).parent
    lines = 0
    for name in OF_ROUNDING:
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        lines += len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("verify."):
                modules = (
                    [str(node.module)]
                    if node.module != "verify.trusted"
                    else [f"verify.trusted.{a.name}" for a in node.names]
                )
                assert {*modules} <= {f"verify.trusted.{one}" for one in OF_ROUNDING}
            elif isinstance(node, ast.Import | ast.ImportFrom):
                own = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert str(own).partition(".")[0] in sys.stdlib_module_names
    assert lines <= MOST_OF_ROUNDING


@pytest.mark.parametrize("checker", SMALL, ids=lambda checker: checker.__name__)
def test_it_is_small_and_rests_on_no_more_than_this(checker: ModuleType) -> None:
    most, own, ours = SMALL[checker]
    text = Path(str(checker.__file__)).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= most
    modules, names = set[str](), set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("verify."):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module))
    assert (modules, names) == (ALWAYS | own, ours)
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names
