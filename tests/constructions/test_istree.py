"""The IsTree Transformer as a whole: answers, sizes, refusals, and that every weight counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.reference import decode
from constructions.istree import transformer as istree
from constructions.istree.graphs import LAYOUTS, PAPER, Graph, TokenLayout, expected_answer
from constructions.layers import Block, Transformer, block_arrays
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.inputs.strategies import graphs

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
        with pytest.raises(ValueError, match=f"p = {least - 2} is too small for n = 5 .*p it is wired for is {least}"):
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


# Every gadget and every head is needed. Inputs that use every rule of the search.
INPUTS = (
    Graph(1, ()),
    Graph(4, ((2, 3), (4, 2), (2, 1))),
    Graph(4, ((2, 1), (4, 1), (1, 3))),
    Graph(4, ((3, 2), (2, 1), (1, 4))),
    Graph(4, ((1, 2), (2, 3), (3, 1))),
    Graph(4, ((1, 2), (2, 3), (3, 4), (4, 1))),
    Graph(4, ((3, 2), (2, 4), (4, 3))),
    Graph(6, ((1, 2), (3, 1), (1, 4), (1, 5), (6, 1))),
    Graph(4, ((2, 3), (1, 2), (4, 2))),
    Graph(6, ((2, 3), (5, 2), (1, 2), (4, 2), (2, 6))),
    Graph(2, ((2, 1),)),
)


def without_head(model: Transformer, block: int, head: int) -> Transformer:
    old = model.blocks[block]
    silent = replace(old.heads[head], out=np.zeros_like(old.heads[head].out))
    return with_block(model, block, replace(old, heads=(*old.heads[:head], silent, *old.heads[head + 1 :])))


def without_units(model: Transformer, block: int, units: range, constants: list[int]) -> Transformer:
    ffn = model.blocks[block].feed_forward
    down, bias = ffn.down.copy(), ffn.down_bias.copy()
    down[:, list(units)] = 0
    bias[constants] = 0
    return with_block(model, block, replace(model.blocks[block], feed_forward=replace(ffn, down=down, down_bias=bias)))


def with_block(model: Transformer, number: int, block: Block) -> Transformer:
    blocks = (*model.blocks[:number], block, *model.blocks[number + 1 :])
    return replace(model, blocks=blocks, longest=None)  # what is cut may go on for ever


def cuts(wired: Wired) -> Iterator[tuple[str, Transformer]]:
    """The model without each of its heads and without each of its gadgets."""
    for number, block in enumerate(wired.blocks):
        for index, head in enumerate(block.heads):
            yield f"block {number + 1}, head {head.name}", without_head(wired.model, number, index)
        first = 0
        for gadget in block.gadgets:
            units = range(first, first + len(gadget.units))
            first = units.stop
            constants = [wired.registers.index(name) for name in gadget.constants]
            yield f"block {number + 1}, {gadget.name}", without_units(wired.model, number, units, constants)


@layouts
def test_every_head_and_every_gadget_is_needed(layout: TokenLayout) -> None:
    wired = {n: istree.build(n, layout=layout.name) for n in {graph.n for graph in INPUTS}}
    cut = {n: list(cuts(w)) for n, w in wired.items()}
    idle = []
    for place, (name, _) in enumerate(cut[4]):
        models = {n: replace(w, model=cut[n][place][1]) for n, w in wired.items()}
        if all(answer(models[g.n], g, layout) == expected_answer(g, layout) for g in INPUTS):
            idle.append(name)
    # On the way back the head "seen before" is not listened to, so its query may be anything.
    assert idle == ["block 8, father_squared, if no edge is left"]
