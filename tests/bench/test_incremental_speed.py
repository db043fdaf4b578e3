"""Speed of incremental decoding: greedy, token by token, the prompt included. Prints figures only."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping

import pytest

from constructions.engines.incremental import IncrementalDecoder
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.transformer import TRANSFORMER

pytestmark = pytest.mark.benchmark

PARENTS: Mapping[str, Callable[[random.Random, int], int]] = {
    "star": lambda rng, v: 1,
    "path": lambda rng, v: v - 1,
    "random tree": lambda rng, v: rng.randint(1, v - 1),
}


def tree(shape: str, n: int) -> Graph:
    """Edges in random order and orientation."""
    rng = random.Random(n)
    edges = [(v, PARENTS[shape](rng, v)) for v in range(2, n + 1)]
    rng.shuffle(edges)
    return Graph(n, tuple(edge if rng.random() < 0.5 else edge[::-1] for edge in edges))


@pytest.mark.parametrize("n", [1000, 10_000])
def test_istree_repaired_fused(n, capsys, request):
    if n > 1000 and "benchmark" not in request.config.option.markexpr:
        pytest.skip("ten seconds; run with -m benchmark")
    start = time.perf_counter()
    small = TRANSFORMER.build(4)
    IncrementalDecoder(small.model, small.arithmetic).decode(PAPER.prompt(tree("star", 4)), set(), 8)
    lines = [f"compiled code ready after {time.perf_counter() - start:.1f} s (20 s without a cache)"]
    wired = TRANSFORMER.build(n)
    stop = {PAPER.token("YES", n), PAPER.token("NO", n)}
    for shape in PARENTS:
        graph = tree(shape, n)
        prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
        start = time.perf_counter()
        decoder = IncrementalDecoder(wired.model, wired.arithmetic)
        loading = time.perf_counter() - start
        start, used = time.perf_counter(), time.process_time()
        assert decoder.decode(prompt, stop, 3 * n) == answer
        seconds, busy = time.perf_counter() - start, time.process_time() - used
        columns = decoder.columns
        lines.append(
            f"{shape}: {decoder.length / seconds:,.0f} tokens/s, {decoder.length / busy:,.0f} in processor time; "
            f"{columns.certified:,} columns certified, {columns.dense:,} dense; {loading:.2f} s to load the model"
        )
    with capsys.disabled():
        print(f"\nIncremental decoding, IsTree n = {n:,}, {wired.arithmetic.format.name}, {5 * n - 3:,} tokens")
        print("\n".join(f"  {line}" for line in lines))
