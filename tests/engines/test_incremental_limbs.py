"""The arithmetic of compiled code against Python's integers."""

from __future__ import annotations

import importlib.util
import random
import sys

import numpy as np
import pytest

from constructions.engines import incremental
from tests.engines.interpreted import interpreted

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


def test_multiples_of_wide_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three limbs times up to 62 bits, added to four, against Python's integers; the last case carries from a product."""
    interpreted(monkeypatch)
    limbs = sys.modules[f"{incremental.__name__}.limbs"]
    rng = random.Random(0)
    cases = [(rng.choice((1, -1, 3, -(2**61))), rng.randint(-(2**190), 2**190)) for _ in range(20)]
    for factor, number in [*cases, (2**62 - 1, 2**190 - 1), (-(2**62 - 1), -(2**190)), (3, (1 << 130) - (1 << 64))]:
        before = rng.randint(-(2**250), 2**250)
        total = np.frombuffer(before.to_bytes(32, "little", signed=True), np.uint64).copy()
        x = np.frombuffer(number.to_bytes(24, "little", signed=True), np.uint64)
        with np.errstate(over="ignore"):
            limbs.add_multiple(total, 0, 4, x, 0, 3, factor)
        expected = (before + factor * number) % 2**256
        assert int.from_bytes(total.tobytes(), "little") == expected, (factor, number)
