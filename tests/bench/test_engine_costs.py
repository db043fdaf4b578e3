"""What flags cost the dense engine, and what compiling costs the incremental one. Prints figures; asserts nothing about time."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest

from constructions.engines import dense
from constructions.istree.transformer import TRANSFORMER
from precision.format import Discipline
from tests.engines.cases import graph_tokens, random_graph

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("discipline", Discipline)
def test_flags(discipline, capsys):
    wired = TRANSFORMER.build(100, discipline=discipline)
    tokens = graph_tokens(random_graph(100, random.Random(0)), "paper")
    seconds = []
    for flags in (False, True):
        start = time.process_time()
        dense.run(wired.model, wired.arithmetic, [tokens], flags=flags)
        seconds.append(time.process_time() - start)
    with capsys.disabled():
        print(
            f"\nIsTree n = 100, {discipline.value}, {len(tokens)} tokens: {seconds[0]:.2f} s of processor time, "
            f"{seconds[1]:.2f} s with flags"
        )


def test_compiling(tmp_path, capsys):
    """For one number of limbs, into an empty cache."""
    command = [sys.executable, "-m", "constructions.istree", "--edges", "1-2,2-3", "--engine", "incremental"]
    start = time.perf_counter()
    subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, check=True, capture_output=True)
    with capsys.disabled():
        print(f"\nA small run by `incremental` that compiles first: {time.perf_counter() - start:.1f} s")
