"""Heads that matter only where next tokens are asked for: which they are, and that nothing else hangs on what they read."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import dense
from constructions.engines.dense import engine
from constructions.engines.dense.liveness import heads_asked_alone
from constructions.engines.weights import Weights
from constructions.istree import lean, transformer
from constructions.istree.graphs import EOS, PAPER
from constructions.layers import Block, Matrix, Transformer
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.engines.cases import graph_tokens, random_graph, recurrent, unstructured


def alone(wired: Wired) -> frozenset[tuple[int, int]]:
    return heads_asked_alone(Weights(wired.model, wired.arithmetic).blocks)


def test_the_walk_is_read_where_it_is_asked_for() -> None:
    """Blocks 2 to 4 prepare the records of the prompt; from block 5 on heads look up what the next vertex depends on."""
    assert alone(transformer.TourTransformer(EOS).build(4)) == {(block, 0) for block in range(5, 10)}
    assert alone(transformer.TRANSFORMER.build(4)) == {(block, 0) for block in range(5, 10)}
    assert alone(lean.LEAN.build(4)) == {(3, 1), (4, 0), (4, 1), (5, 0)}


@pytest.mark.parametrize("model", [transformer.TRANSFORMER, transformer.TourTransformer(EOS), lean.LEAN])
@pytest.mark.parametrize("n", [3, 9])
def test_istree_says_the_same(model: transformer.TourTransformer, n: int) -> None:
    wired, rng = model.build(n), random.Random(n)
    texts = [graph_tokens(random_graph(n, rng), model.layout.name) for _ in range(6)]
    whole = dense.run(wired.model, wired.arithmetic, texts).next_tokens
    for tile in (None, 3):
        first = [rng.randrange(len(text) + 1) for text in texts]
        some = dense.run(wired.model, wired.arithmetic, texts, first=first, tile=tile).next_tokens
        for ours, right, place in zip(some, whole, first, strict=True):
            assert ours.tolist() == [-1] * place + right[place:].tolist()


def sparser(model: Transformer, rng: random.Random) -> Transformer:
    """Returns the model with most weights 0, so that many registers are live nowhere."""

    def thin(array: Matrix) -> Matrix:
        return array * (np.array([rng.random() for _ in range(array.size)]).reshape(array.shape) < 0.25)

    blocks = []
    for block in model.blocks:
        heads = [
            replace(h, query=thin(h.query), key=thin(h.key), value=thin(h.value), out=thin(h.out)) for h in block.heads
        ]
        ffn = block.feed_forward
        ffn = replace(ffn, gate=thin(ffn.gate), up=thin(ffn.up), down=thin(ffn.down))
        blocks.append(Block(tuple(heads), ffn, block.recurrence))
    return replace(model, blocks=(*blocks, *blocks[::-1]))


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.sampled_from((9, 33, 129)), st.sampled_from(Discipline), st.booleans())
def test_nothing_else_hangs_on_them(rng: random.Random, bits: int, discipline: Discipline, is_recurrent: bool) -> None:
    draw = recurrent if is_recurrent else unstructured
    fmt = fixed_point(bits)
    case = draw(rng, fmt=fmt, rounding=Arithmetic(fmt).rounding, discipline=discipline)
    model = sparser(case.model, rng)
    texts = [[*case.tokens], [*case.tokens[::-1]][: rng.randrange(len(case.tokens) + 1)]]
    first = [rng.randrange(len(text) + 1) for text in texts]
    whole, some = (dense.run(model, case.arithmetic, texts, first=at).next_tokens for at in (None, first))
    for ours, right, place in zip(some, whole, first, strict=True):
        assert ours.tolist() == [-1] * place + right[place:].tolist()


def test_a_head_that_matters_everywhere_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the heads of block 2 did not read in the prompt, the search would go wrong: the comparison sees that."""
    wired = transformer.TRANSFORMER.build(6)
    text = graph_tokens(random_graph(6, random.Random(1)), PAPER.name)
    first = [3 * 5]
    (right,) = dense.run(wired.model, wired.arithmetic, [text], first=first).next_tokens
    monkeypatch.setattr(engine, "heads_asked_alone", lambda layers: frozenset({(2, 0)}))
    (wrong,) = dense.run(wired.model, wired.arithmetic, [text], first=first).next_tokens
    assert wrong.tolist() != right.tolist()
