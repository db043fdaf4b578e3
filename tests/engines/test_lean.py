"""The lean variant of IsTree: its lookups decide every column."""

from __future__ import annotations

import random

import pytest

from constructions.istree import lean
from constructions.istree.graphs import PAPER, Graph, expected_answer
from precision.format import Discipline
from tests.engines.agreement import agree, follow_by_lookups
from tests.engines.cases import EngineCase, graph_tokens
from verify.inputs.large_graphs import SHAPES, LargeGraph


@pytest.mark.parametrize("n", [100, 1000])
def test_large_graphs(n: int) -> None:
    wired = lean.LEAN.build(n)
    for shape in SHAPES:
        graph = LargeGraph(shape, n, 3).graph()
        answer = expected_answer(graph, PAPER)
        assert follow_by_lookups(wired.model, wired.arithmetic, PAPER.prompt(graph), answer) is None, shape


def test_a_prompt_longer_than_all_places() -> None:
    """Twice n edges and more: after K all positions are one place, and the answer is NO."""
    n = 12
    wired = lean.LEAN.build(n)
    edges = [(u, v) for u in range(1, n + 1) for v in range(u + 1, n + 1)]
    for m in (n - 2, n, n + 1, 20, 25, 40, len(edges)):
        graph = Graph(n, tuple(random.Random(m).sample(edges, m)))
        answer = expected_answer(graph, PAPER)
        assert follow_by_lookups(wired.model, wired.arithmetic, PAPER.prompt(graph), answer) is None, m


@pytest.mark.parametrize("discipline", Discipline)
def test_places_that_are_one_agree(discipline: Discipline) -> None:
    n = 5
    wired = lean.LEAN.build(n, discipline=discipline)
    complete = Graph(n, tuple((u, v) for u in range(1, n + 1) for v in range(u + 1, n + 1)))
    tokens = graph_tokens(complete, "paper")
    assert len(tokens) > lean.most_places(n, PAPER)
    agree(EngineCase(wired.model, wired.arithmetic, tokens))
