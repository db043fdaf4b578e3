"""What flags cost the dense engine. Prints figures; asserts nothing about time."""

from __future__ import annotations

import random
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
