"""The IsTree Transformer as a whole: answers, and that every head and gadget counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference
from constructions.istree.base import TourModel
from constructions.istree.graphs import LAYOUTS, Graph, TokenLayout, expected_answer
from constructions.istree.lean import Lean
from constructions.istree.transformer import TourTransformer
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.constructions.cutting import idle
from verify.inputs.strategies import graphs

wirings = pytest.mark.parametrize("wiring", [TourTransformer, Lean], ids=["repaired", "lean"])
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)


def answer(wired: Wired, graph: Graph, layout: TokenLayout) -> list[int]:
    stop = {layout.token(layout.yes, graph.n), layout.token(layout.no, graph.n)}
    return decode_by_reference(
        Decoding(wired.model, wired.arithmetic, layout.prompt(graph), stop, 2 * graph.n + 3)
    ).produced


@wirings
@settings(max_examples=25)
@given(graphs(range(1, 9)), st.sampled_from(list(LAYOUTS.values())), st.sampled_from(Discipline))
def test_answers_as_algorithm_1(
    wiring: type[TourModel], graph: Graph, layout: TokenLayout, discipline: Discipline
) -> None:
    wired = wiring(layout).build(graph.n, discipline=discipline)
    assert answer(wired, graph, layout) == expected_answer(graph, layout)


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


@layouts
def test_every_head_and_every_gadget_is_needed(layout: TokenLayout) -> None:
    solver = TourTransformer(layout)
    wired = {n: solver.build(n) for n in {graph.n for graph in INPUTS}}
    # On the way back the head "seen before" is not listened to, so its query may be anything.
    actual = idle([solver.request(wired[graph.n], graph) for graph in INPUTS])
    assert actual == ["block 8, father_squared, if no edge is left"]
