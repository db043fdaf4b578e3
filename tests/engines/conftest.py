"""What several processes compile, they share: each begins with other widths, so that none waits for another."""

from __future__ import annotations

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Under xdist alone, and where all widths will be asked for."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or not any("test_incremental.py" in item.nodeid for item in session.items):
        return
    from constructions.engines.incremental.entries import load
    from constructions.engines.incremental.program import COMPILED_LIMBS
    from constructions.engines.incremental.sources import is_cached

    own = slice(int(worker["workerid"].removeprefix("gw")), None, worker["workercount"])
    for limbs in COMPILED_LIMBS[::-1][own]:  # the longest take longest
        if not is_cached(limbs):
            load(limbs)
