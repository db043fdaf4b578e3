"""The IsTree Transformer as a whole: answers, sizes, refusals, and that every weight counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import istree
from constructions.engines.reference import decode
from constructions.graphs import LAYOUTS, PAPER, Graph, TokenLayout, expected_answer
from constructions.layers import block_arrays
from constructions.wired import Wired
from precision.format import Discipline
from verify.strategies import graphs

layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)


def answer(wired: Wired, graph: Graph, layout: TokenLayout) -> list[int]:
    stop = {layout.token(layout.yes, graph.n), layout.token(layout.no, graph.n)}
    return decode(wired.model, wired.arithmetic, layout.prompt(graph), stop, 2 * graph.n + 3)


@settings(max_examples=25, deadline=None)
@given(graphs(range(1, 9)), st.sampled_from(list(LAYOUTS.values())), st.sampled_from(Discipline))
def test_answers_as_algorithm_1(graph: Graph, layout: TokenLayout, discipline: Discipline) -> None:
    wired = istree.build(graph.n, layout=layout.name, discipline=discipline)
    assert answer(wired, graph, layout) == expected_answer(graph, layout)


@settings(max_examples=8, deadline=None)
@given(graphs(range(2, 7)), st.sampled_from((2, 10, 40)))
def test_more_bits_change_nothing(graph: Graph, more: int) -> None:
    wired = istree.build(graph.n, istree.least_precision(graph.n) + more)
    assert answer(wired, graph, PAPER) == expected_answer(graph, PAPER)


@layouts
def test_the_size_does_not_depend_on_n(layout: TokenLayout) -> None:
    models = [istree.build(n, layout=layout.name).model for n in (1, 10, 100)]
    shapes = [[a.shape for block in m.blocks for a in block_arrays(block)] for m in models]
    assert shapes[0] == shapes[1] == shapes[2]
    assert all(len(m.blocks) == 9 and max(len(block.heads) for block in m.blocks) <= 2 for m in models)
    assert [len(m.words) - n for m, n in zip(models, (1, 10, 100), strict=True)] == [len(layout.specials)] * 3


@layouts
def test_every_weight_is_an_element_of_the_format(layout: TokenLayout) -> None:
    for n in (1, 7, 40):
        wired = istree.build(n, layout=layout.name)
        quantum, largest = float(wired.arithmetic.format.quantum), float(wired.arithmetic.format.max_value)
        for array in (wired.model.words, *(a for block in wired.model.blocks for a in block_arrays(block))):
            assert np.all(np.floor(array / quantum) == array / quantum)
            assert np.all(np.abs(array) <= largest)


def test_too_few_bits_are_refused_with_the_least() -> None:
    for discipline in Discipline:
        least = istree.least_precision(5, discipline)
        istree.build(5, least, discipline=discipline)
        with pytest.raises(ValueError, match=f"p = {least - 2} is too small for n = 5 .*least certified p is {least}"):
            istree.build(5, least - 2, discipline=discipline)


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="odd number of bits"):
        istree.build(3, 60)
    with pytest.raises(ValueError, match="at least 1 vertex"):
        istree.build(0)
    with pytest.raises(ValueError, match="unknown finding 'layer-8'"):
        istree.build(3, printed=["layer-8"])


def test_variants_are_named() -> None:
    assert istree.build(3).variant == "repaired"
    alone = istree.build(3, printed=["layer-7"])
    assert (alone.variant, alone.printed) == ("repaired", ("layer-7",))
    assert istree.build(3, printed=istree.FINDING_IDS).variant == "printed"


# A wrong weight is noticed. Inputs that use every rule of the search: a path, a star, a cycle, a way back past the father.
INPUTS = (
    Graph(4, ((1, 2), (2, 3), (3, 4))),
    Graph(4, ((2, 1), (4, 1), (1, 3))),
    Graph(4, ((2, 3), (4, 2), (2, 1))),
    Graph(4, ((1, 2), (2, 3), (3, 1))),
    Graph(4, ((3, 2), (2, 4), (4, 3))),
)
# block, array of the feed-forward or of a head, the way of choosing an entry: the largest magnitude.
MUTANTS = [(0, "down_bias"), (3, "up"), (5, "down"), (6, "gate"), (7, "up"), (8, "gate_bias")]


def all_right(wired: Wired) -> bool:
    return all(answer(wired, graph, PAPER) == expected_answer(graph, PAPER) for graph in INPUTS)


def test_one_unit_in_the_last_place_is_noticed() -> None:
    """One quantum on a weight that carries a count, a position or a vertex: some answer comes out wrong."""
    wired = istree.build(4)
    assert all_right(wired)
    quantum = float(wired.arithmetic.format.quantum)
    noticed = []
    for number, block in enumerate(wired.model.blocks):
        for name in ("gate_bias", "up_bias", "down_bias"):
            array = np.array(getattr(block.feed_forward, name))
            if not array.any():
                continue
            array[np.abs(array).argmax()] += quantum
            changed = replace(block, feed_forward=replace(block.feed_forward, **{name: array}))
            blocks = [*wired.model.blocks[:number], changed, *wired.model.blocks[number + 1 :]]
            if not all_right(replace(wired, model=replace(wired.model, blocks=tuple(blocks)))):
                noticed.append((number + 1, name))
    print(noticed)
    assert len(noticed) >= 3
