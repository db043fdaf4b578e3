"""The reference engine against a stranger's interpreter, and what it must not look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference
from constructions.engines.reference import FlagSite, ReferenceEngine, TokenStep
from constructions.exports.weights import tensors
from constructions.istree import transformer as istree
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, Graph
from constructions.layers import Block, FeedForward, Transformer
from constructions.wiring.wire import BlockPlan, Embedding, wire
from precision.format import BF16, FP8_E4M3, Arithmetic, Discipline, Format, Rounding, fixed_point
from tests.constructions.stranger import Stranger
from tests.engines.cases import EngineCase, graph_tokens, recurrent, unstructured

FORMATS = (fixed_point(5), fixed_point(9), fixed_point(17), fixed_point(33), BF16, FP8_E4M3)


def assert_agrees(case: EngineCase) -> None:
    """On each residual vector, all logits and the next tokens."""
    fmt = case.arithmetic.format
    stranger = Stranger(
        tensors(case.model),
        bits=-fmt.quantum_exponent,
        digits=fmt.significand_bits,
        top=fmt.max_quanta,
        sequential=case.arithmetic.discipline is Discipline.SEQUENTIAL,
    )
    engine = ReferenceEngine(case.model, case.arithmetic)
    for token, vectors in zip(case.tokens, stranger.vectors(case.tokens), strict=True):
        step = engine.append(token)
        assert [*map(list, step.registers), list(step.logits)] == vectors
        assert step.next_token == vectors[-1].index(max(vectors[-1]))


@settings(max_examples=80)
@given(
    st.randoms(use_true_random=False),
    st.sampled_from(FORMATS),
    st.sampled_from(Discipline),
    st.sampled_from((unstructured, recurrent)),
)
def test_agrees_with_the_stranger(
    rng: Random, fmt: Format, discipline: Discipline, draw: Callable[..., EngineCase]
) -> None:
    assert_agrees(draw(rng, fmt=fmt, rounding=Rounding.NEAREST_EVEN, discipline=discipline))


def test_agrees_with_the_stranger_on_istree() -> None:
    for name, layout in LAYOUTS.items():
        for discipline in Discipline:
            wired = istree.TourTransformer(layout).build(2, discipline=discipline)
            assert_agrees(EngineCase(wired.model, wired.arithmetic, graph_tokens(Graph(2, ((2, 1),)), name)))


def test_names_do_not_matter() -> None:
    """Two heads that swap names, gadgets that lose theirs: the same matrices, hence the same bits."""
    wired = istree.TourTransformer(EOS).build(4)
    renamed = []
    for block in wired.blocks:
        names = [head.name for head in block.heads][::-1]
        heads = tuple(replace(head, name=name, source="") for head, name in zip(block.heads, names, strict=True))
        gadgets = tuple(replace(gadget, name="", source="") for gadget in block.gadgets)
        renamed.append(BlockPlan(heads, gadgets))
    assert any(
        len(block.heads) == 2 and renamed[i].heads[0].name != block.heads[0].name
        for i, block in enumerate(wired.blocks)
    )
    words = [{r: Fraction(float(x)) for r, x in zip(wired.registers, row, strict=True)} for row in wired.model.words]
    model, registers = wire(
        Embedding(wired.vocabulary, tuple(words), "position"), renamed, words, wired.arithmetic.format
    )
    layout = LAYOUTS["eos"]
    tokens = [*layout.prompt(Graph(4, ((1, 2), (4, 2), (2, 3)))), 0, 1, 3]
    runs = []
    for some, order in ((wired.model, wired.registers), (model, registers)):
        engine = ReferenceEngine(some, wired.arithmetic)
        steps = [engine.append(token) for token in tokens]
        places = [order.index(name) for name in wired.registers]
        runs.append([[[r[i] for i in places] for r in step.registers] + [list(step.logits)] for step in steps])
    assert runs[0] == runs[1]


def test_the_order_of_heads_does_not_matter_under_fused() -> None:
    """Heads of one block are added up exactly before the one rounding."""
    wired = istree.TRANSFORMER.build(4)
    blocks = tuple(replace(block, heads=block.heads[::-1]) for block in wired.model.blocks)
    assert max(len(block.heads) for block in blocks) == 2
    tokens = [*PAPER.prompt(Graph(4, ((1, 2), (4, 2), (2, 3)))), 0, 1, 3]
    results = []
    for model in (wired.model, replace(wired.model, blocks=blocks)):
        engine = ReferenceEngine(model, wired.arithmetic)
        results.append([engine.append(token).registers for token in tokens])
    assert results[0] == results[1]


def test_flags_say_where() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    ffn = FeedForward(2 * one, zero[0], 2 * one, zero[0], one, zero[0])
    model = Transformer(one, zero[0], (Block((), ffn),), np.array([[0.3]]))
    engine = ReferenceEngine(model, Arithmetic(fixed_point(5)))  # largest: 3.75
    engine.append(0)
    assert engine.flags.counts[FlagSite("saturation", 1, "ffn.product[0]")] == 1
    assert engine.flags.first_position[FlagSite("saturation", 1, "ffn.product[0]")] == 1
    assert engine.flags.counts[FlagSite("weight rounded", 2, "unembed")] == 1


def test_a_tie_of_logits_goes_to_the_first_and_is_reported() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    ffn = FeedForward(one, zero[0], one, zero[0], zero, zero[0])
    model = Transformer(np.ones((2, 1)), zero[0], (Block((), ffn),), np.ones((2, 1)))
    engine = ReferenceEngine(model, Arithmetic(fixed_point(9)))
    assert engine.append(1).next_token == 0
    assert engine.flags.counts == {FlagSite("logit tie", 2, "logit"): 1}


def test_tokens_must_be_in_the_vocabulary() -> None:
    wired = istree.TRANSFORMER.build(2)
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    for token in (-1, len(wired.vocabulary)):
        with pytest.raises(IndexError, match="not in the vocabulary"):
            engine.append(token)


def test_decoding_stops_at_its_limit() -> None:
    wired = istree.TRANSFORMER.build(2)
    prompt = PAPER.prompt(Graph(2, ((1, 2),)))
    assert decode_by_reference(Decoding(wired.model, wired.arithmetic, prompt, set(), 3)).produced == [0, 1, 0]


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from((unstructured, recurrent)), st.data())
def test_a_fork_goes_on_by_itself(rng: Random, draw: Callable[..., EngineCase], data: st.DataObject) -> None:
    """Both runs give what a run from the start gives, flags included, whichever of them reads first."""
    case = draw(rng, fmt=fixed_point(9), rounding=Rounding.NEAREST_EVEN, discipline=Discipline.FUSED)
    tokens, at = case.tokens, data.draw(st.integers(0, len(case.tokens)))

    def read(
        engine: ReferenceEngine, some: Sequence[int]
    ) -> tuple[list[TokenStep], dict[FlagSite, int], dict[FlagSite, int]]:
        return [engine.append(token) for token in some], engine.flags.counts, engine.flags.first_position

    def from_the_start(some: Sequence[int]) -> tuple[list[TokenStep], dict[FlagSite, int], dict[FlagSite, int]]:
        steps, counts, first = read(ReferenceEngine(case.model, case.arithmetic), [*tokens[:at], *some])
        return steps[at:], counts, first

    run = ReferenceEngine(case.model, case.arithmetic)
    read(run, tokens[:at])
    other, backwards = run.fork(), tokens[::-1]
    runs = [(run, tokens[at:]), (other, backwards)]
    for engine, some in runs if data.draw(st.booleans()) else runs[::-1]:
        assert read(engine, some) == from_the_start(some)
