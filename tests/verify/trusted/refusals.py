"""Finds each place at which a small checker rejects, and which of them a call comes to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

from verify.trusted import kernel
from verify.trusted.kernel import Rejected

FOLDER = Path(kernel.__file__).parent
OTHERS = {"__init__", "growth", "halting", "kernel", "pigeonhole", "rejection", "sat", "states"}  # of other proofs
FILES = tuple(sorted({path.stem for path in FOLDER.glob("*.py")} - OTHERS))


def text_of(node: ast.expr) -> str:
    """Returns the words of a message, with … for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "…"


@cache
def sites(module: str) -> dict[str, range]:
    """Returns the lines of each call of `reject` in a file, by its function and message; a second one of these has a number."""
    found: dict[str, range] = {}
    for function in ast.walk(ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        nested = {
            id(x)
            for f in ast.walk(function)
            if isinstance(f, ast.FunctionDef) and f is not function
            for x in ast.walk(f)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "reject" and id(node) not in nested:
                name = f"{module}.{function.name}: {text_of(node.args[0])}"
                while name in found:
                    name += "'"
                found[name] = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return found


def site_of(call: Callable[[], object]) -> str:
    """Returns the place at which a call is rejected, "" if it is not."""
    try:
        call()
    except Rejected as error:
        frames, trace = [], error.__traceback__
        while trace is not None:
            frames.append((Path(trace.tb_frame.f_code.co_filename), trace.tb_lineno))
            trace = trace.tb_next
        for path, line in reversed(frames):
            if path.parent == FOLDER and path.stem in FILES:
                return next((name for name, lines in sites(path.stem).items() if line in lines), f"elsewhere: {error}")
        return f"elsewhere: {error}"
    return ""
