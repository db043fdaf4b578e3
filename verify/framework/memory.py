"""How often Python looks for objects in cycles."""

from __future__ import annotations

import gc

MANY_OBJECTS = 500_000  # made between two looks; Python's own 700 cost a quarter of the time


def look_rarely() -> None:
    """Makes the garbage collector look rarely: for work that makes many objects and no cycles, as polynomials and terms do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(MANY_OBJECTS)
