"""The files that compiled code is made from: numba's cache is only good for the very same ones."""

from __future__ import annotations

from pathlib import Path

COMPILED = (
    "addresses",
    "certificate",
    "fields",
    "float_filter",
    "index",
    "insertion",
    "kernel",
    "limbs",
    "parts",
    "program",
    "readout",
    "reals",
    "sums",
    "vocabulary",
)


def sources() -> list[Path]:
    """All modules of this package. Raises RuntimeError if those that are compiled are not where they should be."""
    paths = sorted(Path(__file__).parent.glob("*.py"))
    if missing := {f"{name}.py" for name in COMPILED} - {path.name for path in paths}:
        raise RuntimeError(f"the sources of the compiled decoder are not beside {__file__}: no {min(missing)}")
    return paths


def cache_folder() -> Path:
    """Where numba keeps what it has compiled, if it may write there."""
    return Path(__file__).parent / "__pycache__"


def is_cached(limbs: int) -> bool:
    """Whether numba has compiled these sources for so many limbs before, as far as its folder beside them tells."""
    youngest = max(path.stat().st_mtime for path in sources())
    return any(path.stat().st_mtime >= youngest for path in cache_folder().glob(f"entries.*advance_{limbs}-*.nbi"))
