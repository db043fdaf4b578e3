"""The extreme inputs are what their names say."""

from __future__ import annotations

import itertools

import pytest

from constructions import counting, index, ngram, recall
from constructions.istree.graphs import LAYOUTS, depth_first_tour, expected_answer, is_tree
from constructions.retrieval.task import FAILED, NO, YES, Question
from verify.inputs.hard_graphs import FAMILIES, LEAST, MOST_EDGES, HardGraph, hard_graphs
from verify.inputs.hard_questions import LEAST as LEAST_TOKENS
from verify.inputs.hard_questions import QUESTIONS, hard_questions

TREES = {
    "star",
    "star seen from a leaf",
    "path backwards",
    "path in two passes",
    "double star",
    "caterpillar",
    "hub whose edges come last",
    "broom with its handle last",
}


@pytest.mark.parametrize("n", [*range(LEAST, 40), 500])
def test_families_are_trees_or_have_as_many_edges(n: int) -> None:
    for case in hard_graphs(n):
        graph = case.graph()
        assert is_tree(graph) == (case.family in TREES), case
        assert case.family == "longest prompt" or len(graph.edges) == n - 1, case


def degrees(case: HardGraph) -> list[int]:
    ends = [v for edge in case.graph().edges for v in edge]
    return [ends.count(v) for v in range(1, case.n + 1)]


def test_hubs() -> None:
    n = 20
    assert degrees(HardGraph("star", n))[0] == n - 1
    assert degrees(HardGraph("star seen from a leaf", n))[-1] == n - 1
    assert degrees(HardGraph("double star", n))[-2:] == [n // 2, n // 2]
    hub = HardGraph("hub whose edges come last", n)
    assert all(n // 2 in edge for edge in hub.graph().edges[-(n // 2) :])


def test_the_longest_prompt_is_a_complete_graph_while_that_fits() -> None:
    assert len(set(map(frozenset, HardGraph("longest prompt", 40).graph().edges))) == 40 * 39 // 2
    assert len(HardGraph("longest prompt", 500).graph().edges) == MOST_EDGES
    deep = HardGraph("longest prompt", 40).graph()
    assert len(expected_answer(deep, LAYOUTS["eos"])) >= 39
    assert max(len(FAMILIES[family](30_000)) for family in FAMILIES) == 30_000 - 1


def test_a_path_is_the_deepest_search() -> None:
    for family in ("path backwards", "path in two passes"):
        tour = list(depth_first_tour(HardGraph(family, 30).graph()))
        assert tour == [*range(1, 31), *range(29, 0, -1)]


TASKS = {task.TASK.name: task.TASK for task in (index, recall, ngram, counting)}
ANSWERS = {
    "the first place": "1",
    "the last place": "9",
    "the last place but one": "2",
    "the largest tokens in turn": "8",
    "one place after": "9",
    "the key last, nothing after it": FAILED,
    "the key last but one": "1",
    "the key after <s>": "8",
    "the key absent": FAILED,
    "the key everywhere": "9",
    "the key twice, at both ends": "1",
    "every token once, the key 2 at the end": "1",
    "one token off, then the c-gram": "1",
    "one token off, the c-gram cut off": FAILED,
    "one token off everywhere": FAILED,
    "the c-gram after <s>": "9",
    "overlapping c-grams": "9",
    "as often as can be": YES,
    "as often as can be, one too few": NO,
    "every other token": YES,
    "every other token, one too few": NO,
    "once, at the end": YES,
    "never": NO,
}


def test_questions_have_the_answers_that_their_names_say() -> None:
    actual = {
        q.name: task.answer(Question(*q.prompt(name))) for name, task in TASKS.items() for q in hard_questions(name, 9)
    }
    assert actual == ANSWERS


@pytest.mark.parametrize(("name", "n"), list(itertools.product(QUESTIONS, (LEAST_TOKENS, 5, 6, 7, 64))))
def test_questions_are_of_their_size(name: str, n: int) -> None:
    for question in hard_questions(name, n):
        sequence, query = question.prompt(name)
        asked = Question(sequence, query)
        assert len(sequence) == n, question
        assert asked.least_n <= n, question
        TASKS[name].answer(asked)
