"""Speed of the dense engine: against the reference engine on the same graphs, at larger n, on recurrences. Prints figures only."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
import torch

from constructions.engines import dense
from constructions.engines.reference import ReferenceEngine
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.transformer import TRANSFORMER
from constructions.layers import Block, FeedForward, Recurrence, Transformer
from precision.format import Arithmetic, fixed_point

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
    wired = TRANSFORMER.build(n)
    graphs = [random_tree(n, seed) for seed in range(8)]
    prompts = [PAPER.prompt(graph) for graph in graphs]
    answers = [expected_answer(graph, PAPER) for graph in graphs]

    seconds, busy = [], []
    for _ in range(3):
        start, used = time.perf_counter(), time.process_time()
        actual = dense.matches(wired.model, wired.arithmetic, prompts, answers)
        seconds.append((time.perf_counter() - start) / len(graphs))
        busy.append((time.process_time() - used) / len(graphs))
        assert actual == [None] * len(graphs)

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


@pytest.mark.parametrize("n", [1000, 3000])
def test_istree_where_terms_of_scores_are_large(n, capsys):
    wired = TRANSFORMER.build(n)
    graph = random_tree(n, 0)
    start, used = time.perf_counter(), time.process_time()
    actual = dense.matches(wired.model, wired.arithmetic, [PAPER.prompt(graph)], [expected_answer(graph, PAPER)])
    seconds, busy = time.perf_counter() - start, time.process_time() - used
    assert actual == [None]
    with capsys.disabled():
        print(
            f"\nIsTree n = {n}, {wired.arithmetic.format.name}: dense {seconds:.2f} s, {busy:.2f} s of processor time"
        )


@pytest.mark.parametrize(("name", "own"), [("running sum", 1.0), ("decay", 0.5)])
def test_linear_recurrences(name, own, capsys):
    width, length, count = 8, 2000, 16
    carry, feed, words = np.diag([own, *[0.0] * 7]), np.zeros((width, width)), np.zeros((3, width))
    feed[0, 7], words[:, 7] = 1.0, (0.0, 1.0, -1.0)
    silent = FeedForward(
        np.zeros((0, width)), np.zeros(0), np.zeros((0, width)), np.zeros(0), np.zeros((width, 0)), np.zeros(width)
    )
    model = Transformer(words, np.zeros(width), (Block((), silent, Recurrence(carry, feed)),), words)
    rng = random.Random(0)
    texts = [[rng.randrange(3) for _ in range(length)] for _ in range(count)]
    start = time.perf_counter()
    dense.run(model, Arithmetic(fixed_point(33)), texts)
    seconds = time.perf_counter() - start
    with capsys.disabled():
        print(f"\n{name}: {count} sequences of {length} tokens: {count * length / seconds:,.0f} tokens per second")
