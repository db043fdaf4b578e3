"""The items of C.6.2: their oracle looks at every register it names, and a wrong one is seen."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.istree import transformer
from constructions.istree.graphs import Graph
from verify.claims.istree_items import different
from verify.oracles.istree_registers import ITEMS, SearchWalk

GRAPH = Graph(5, ((1, 3), (4, 3), (2, 1), (3, 5)))
# 22 positions, 17 of them vertices, 9 of these the tour's. Copies: positions with one so far before, and counts of vertices there.
VALUES = [17, 21 + 16, 20 + 15 + 19 + 14, 5 * 22, 8, 2 * 9, 2 * 9, 9, 8]


@pytest.fixture(scope="module")
def tables() -> list[np.ndarray]:
    wired, walk = transformer.TRANSFORMER.build(GRAPH.n), SearchWalk(GRAPH)
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    found = [engine.append(token).registers for token in walk.tokens]
    return [np.array([step[i] for step in found], dtype=object) for i in range(len(found[0]))]


@pytest.mark.parametrize("number", range(1, 10))
def test_each_named_value_counts(number: int, tables: list[np.ndarray]) -> None:
    wired, walk = transformer.TRANSFORMER.build(GRAPH.n), SearchWalk(GRAPH)
    assert different(number, wired, walk, tables) is None
    values = list(ITEMS[number - 1](walk))
    assert len(values) == VALUES[number - 1]
    for value in {v.register: v for v in values}.values():
        changed = [table.copy() for table in tables]
        changed[2 * value.block][value.position - 1, wired.registers.index(value.register)] += 1
        shown = different(number, wired, walk, changed)
        assert shown is not None
        assert shown.shows["register"] == value.register


def test_the_walk_is_the_tour() -> None:
    walk = SearchWalk(GRAPH)
    assert walk.chain == [1, 3, 4, 3, 5, 3, 1, 2, 1]
    assert walk.fathers == {1: 0, 3: 1, 4: 3, 5: 3, 2: 1}
    assert Counter(number for *_, number in walk.moments()) == {0: 5, 1: 1, 2: 2, 3: 1}
