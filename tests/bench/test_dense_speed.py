"""Speed of the dense engine against the reference engine on the same graphs, in one run. Prints figures only."""

from __future__ import annotations

import random
import time

import pytest
import torch

from constructions.engines import dense
from constructions.engines.reference import ReferenceEngine
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.transformer import build

pytestmark = pytest.mark.benchmark


def random_tree(n: int, seed: int) -> Graph:
    """A tree whose edges come in random order and orientation."""
    rng = random.Random(seed)
    edges = [(v, rng.randint(max(1, v - 8), v - 1)) for v in range(2, n + 1)]
    rng.shuffle(edges)
    return Graph(n, tuple(edge if rng.random() < 0.5 else edge[::-1] for edge in edges))


@pytest.mark.parametrize("n", [30, 100, 300])
def test_istree_repaired_fused(n, capsys, request):
    if n > 100 and "benchmark" not in request.config.option.markexpr:
        pytest.skip("the reference engine takes half a minute; run with -m benchmark")
    wired = build(n)
    graphs = [random_tree(n, seed) for seed in range(8)]
    prompts = [PAPER.prompt(graph) for graph in graphs]
    answers = [expected_answer(graph, PAPER) for graph in graphs]

    seconds, busy = [], []
    for _ in range(3):
        start, used = time.perf_counter(), time.process_time()
        found = dense.matches(wired.model, wired.arithmetic, prompts, answers)
        seconds.append((time.perf_counter() - start) / len(graphs))
        busy.append((time.process_time() - used) / len(graphs))
        assert found == [None] * len(graphs)

    start, used = time.perf_counter(), time.process_time()
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    produced = [engine.append(token).next_token for token in [*prompts[0], *answers[0][:-1]]]
    reference, reference_busy = time.perf_counter() - start, time.process_time() - used
    assert produced[len(prompts[0]) - 1 :] == answers[0]

    with capsys.disabled():
        print(
            f"\nIsTree n = {n}, {wired.arithmetic.format.name}, {len(produced)} tokens; seconds per graph: "
            f"reference {reference:.2f}, dense {min(seconds):.4f} (batch {len(graphs)}, {torch.get_num_threads()} threads); "
            f"ratio {reference / min(seconds):.0f}, in processor time {reference_busy / min(busy):.0f}"
        )
