"""The files that compiled code is made from: numba's cache is only good for the very same ones."""

from __future__ import annotations

from pathlib import Path

COMPILED = ("certificate", "index", "kernel", "limbs", "program", "vocabulary")


def sources() -> list[Path]:
    """All modules of this package. Raises RuntimeError if those that are compiled are not where they should be."""
    found = sorted(Path(__file__).parent.glob("*.py"))
    if missing := {f"{name}.py" for name in COMPILED} - {path.name for path in found}:
        raise RuntimeError(f"the sources of the compiled decoder are not beside {__file__}: no {min(missing)}")
    return found


def is_cached() -> bool:
    """Whether numba has compiled these sources before, as far as its folder beside them tells."""
    youngest = max(path.stat().st_mtime for path in sources())
    index = Path(__file__).parent / "__pycache__"
    return any(path.stat().st_mtime >= youngest for path in index.glob("entries.*advance*.nbi"))
