"""Texts of IsTree that models are trained on: right verdicts, and enough in them for a reader with constant memory."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from constructions.istree.graphs import Graph
from verify.training.texts import ASK, NO, NOTHING, YES, Mode, TreeTask, results


def graphs(n: int) -> Iterator[tuple[Graph, bool]]:
    """All graphs of the lower bound, and whether they are trees, by union of sets."""
    for hubs in itertools.product((n - 1, n), repeat=n - 2):
        for k in range(2, n - 1):
            edges = (*((i, hub) for i, hub in enumerate(hubs, start=1)), (k - 1, k))
            sets = {v: {v} for v in range(1, n + 1)}
            for u, v in edges:
                joint = sets[u] | sets[v]
                sets |= dict.fromkeys(joint, joint)
            yield Graph(n, edges), len(sets[1]) == n  # n − 1 edges


def said_with_constant_memory(n: int, reply: list[str]) -> str:
    """What a reader says that sees one step of a text with searches, and knows only whether it came down, and how many steps."""
    came_down = False
    for steps, place in enumerate(range(0, len(reply) - 1, 5), start=1):
        ask, v, u, father, following = reply[place : place + 5]
        assert ask == ASK
        if came_down and father != u:
            return NO
        came_down = following != NOTHING
        if not came_down and father == NOTHING:
            return YES if steps == 2 * n - 1 else NO
        goes_to = following if came_down else father
        assert reply[place + 6 : place + 8] == [goes_to, v]  # else the next step does not follow from this one
    raise AssertionError(reply)


@pytest.mark.parametrize("n", [4, 5, 6, 7])
@pytest.mark.parametrize("mode", Mode)
def test_each_text_ends_in_the_right_verdict(n: int, mode: Mode) -> None:
    task = TreeTask(n, mode)
    for graph, is_tree in graphs(n):
        reply = task.reply(graph)
        assert reply[-1] == (YES if is_tree else NO)
        assert {*reply[:-1]} & {YES, NO} == set()
        assert len(reply) <= task.longest
        assert {*task.prompt(graph), *reply} <= {*task.vocabulary}
    assert max(len(task.reply(graph)) for graph, _ in graphs(n)) == task.longest


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_constant_memory_follows_a_text_with_searches(n: int) -> None:
    for graph, is_tree in graphs(n):
        reply = TreeTask(n, Mode.SEARCH).reply(graph)
        assert said_with_constant_memory(n, reply) == (YES if is_tree else NO)


def test_models_write_queries_and_read_results() -> None:
    task = TreeTask(4, Mode.SEARCH)
    graph = Graph(4, ((1, 3), (2, 4), (1, 2)))
    reply = task.reply(graph)
    assert " ".join(reply[:15]) == "? 1 - - 3 ? 3 1 1 - ? 1 3 - 2"
    assert task.is_written(reply) == [*[True, True, True, False, False] * 7, True]
    assert task.prompt(graph) == ["<s>", "1", "~", "3", "2", "~", "4", "1", "~", "2"]
    assert all(TreeTask(4, Mode.CHAIN).is_written(["1", "3"]))


def test_a_query_that_names_no_edge_has_no_results() -> None:
    assert results([(1, 3), (2, 3)], ["?", "1", "-", "-", "3", "?", "1", "2"]) == [NOTHING, NOTHING]
    assert results([(1, 3), (2, 3)], ["?", "1", "-", "-", "3", "?", "3", "1"]) == ["1", "2"]


def test_half_of_the_drawn_graphs_are_trees() -> None:
    generator, task = random.Random(1), TreeTask(8, Mode.PLAIN)
    trees = sum(task.draw(generator).search[1] for _ in range(2000))
    assert 900 < trees < 1100
