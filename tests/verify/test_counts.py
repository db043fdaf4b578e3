"""The closed formulas that make an enumeration exhaustive, against lists that are made in another way; and what a gap leads to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from constructions.parts.gadgets import product
from constructions.parts.heads import copy
from constructions.turing.machine import LETTERS, Rule
from tests.verify.conftest import Paper
from tests.verify.test_verdicts import CLAIM
from verify.claims.turing import SMALL_STEPS
from verify.inputs.turing_machines import RULES, every_run
from verify.oracles.counts import (
    RUNS,
    all_columns,
    columns,
    labelled_graphs,
    labelled_trees,
    ordered_graphs,
    questions,
    sequences,
)


def edge_sets(n: int) -> Iterator[frozenset[frozenset[int]]]:
    """By adjacency matrices, not by numbers of edges."""
    pairs = [frozenset((u, v)) for u in range(n) for v in range(u)]
    for bits in itertools.product((False, True), repeat=len(pairs)):
        yield frozenset(pair for pair, bit in zip(pairs, bits, strict=True) if bit)


def is_connected(n: int, edges: frozenset[frozenset[int]]) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {v for edge in edges if edge & reached for v in edge}
    return len(reached) == n


def edge_lists(n: int) -> set[tuple[tuple[int, int], ...]]:
    """Grown edge by edge."""
    result: set[tuple[tuple[int, int], ...]] = {()}
    waiting = [()]
    while waiting:
        edges: tuple[tuple[int, int], ...] = waiting.pop()
        for u, v in itertools.permutations(range(n), 2):
            if (u, v) not in edges and (v, u) not in edges:
                result.add((*edges, (u, v)))
                waiting.append((*edges, (u, v)))
    return result


def test_graphs() -> None:
    for n in (1, 2, 3, 4):
        every = set(edge_sets(n))
        assert labelled_graphs([n]) == len(every)
        assert labelled_trees(n) == sum(len(edges) == n - 1 and is_connected(n, edges) for edges in every)
    assert labelled_graphs((1, 2, 3)) == 1 + 2 + 8
    for n in (1, 2, 3):
        lists = edge_lists(n)
        assert ordered_graphs(n) == len(lists)
        for m in range(4):
            assert ordered_graphs(n, [m]) == sum(len(edges) == m for edges in lists)


def test_questions() -> None:
    words = {word for length in range(4) for word in itertools.product("ab", repeat=length)}
    assert sequences(3, 2) == len(words)
    assert questions("index", 3, 2, 9, 1) == sum(len(word) for word in words)
    assert questions("recall", 3, 2, 9, 1) == len(words) * 2
    assert questions("ngram", 3, 2, 9, 2) == len(words) * 4
    assert questions("counting", 3, 2, 9, 0) == len(words) * 2 * 10


def test_columns() -> None:
    assert columns(product.PART, 2, 1, None) == 5 * 5  # x and y from −2 to 2
    assert columns(product.PART, 1, 2, None) == 3 * 3 + (3 * 3) ** 2
    assert columns(product.PART, 1, 2, None, ["y"]) == 3 + 3**2
    assert columns(copy.PART, 1, 3, None) == 1 + 3 + 3 * 3  # position 1 holds 0
    assert all_columns(copy.PART, [(1, 2), (2, 1)], None) == 1 + 3 + 1


def test_runs_of_small_machines() -> None:
    """All tables of rules, each run by a simulator of its own; runs are told apart by the rules that they use."""
    used = set()
    for table in itertools.product(RULES, repeat=4):
        tape: dict[int, int] = {}
        head, state, seen = 0, 0, set()
        for _ in range(SMALL_STEPS):
            cell = 2 * state + tape.get(head, 0)
            seen.add(cell)
            rule: Rule = table[cell]
            tape[head], head = rule.write, head + rule.move
            if rule.state == "Z":
                break
            state = LETTERS.index(rule.state)
        used.add(frozenset((cell, table[cell]) for cell in seen))
    assert len(used) == RUNS == len(set(every_run(SMALL_STEPS)))
    assert sum(len(RULES) ** (4 - len(rules)) for rules in used) == len(RULES) ** 4  # each table has one run


@pytest.mark.parametrize(
    "cases", ["range(9)", "range(11)", "[*range(9), 8]", "[*range(10), 9]", "[[k] for k in range(9)]"]
)
def test_what_is_short_of_the_formula_is_not_exhaustive(paper: Paper, cases: str) -> None:
    paper.write(f'{CLAIM}check.exhaustive({cases}, lambda case: None, count=10, range="ten")')
    row = paper.rows()["V"]
    assert row["verdict"] == "unknown"
    assert row["note"].endswith("are not all 10: ten")
    assert row["evidence"] == []


def test_cases_that_have_no_hash_are_counted_too(paper: Paper) -> None:
    paper.write(f'{CLAIM}check.exhaustive([[k] for k in range(10)], lambda case: None, count=10, range="ten")')
    assert paper.rows()["V"]["verdict"] == "holds"
