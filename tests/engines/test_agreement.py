"""All engines have the reference engine's bits: on constructions, on models that are hard to search, and on any models."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.istree.graphs import LAYOUTS, Graph
from constructions.istree.lean import Lean
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from constructions.layers import AttentionHead, Block, Transformer
from constructions.turing import hybrid
from constructions.turing.library import find
from precision.format import FLOAT_FORMATS, FP32, Arithmetic, Discipline, fixed_point
from tests.engines.agreement import agree
from tests.engines.cases import (
    CRAFTED,
    FIXED,
    FLOATS,
    NARROW,
    ROUNDINGS,
    EngineCase,
    fused,
    graph_tokens,
    in_order,
    match_like,
    no_units,
    random_graph,
    recurrent,
    unstructured,
)

layouts = pytest.mark.parametrize("layout", LAYOUTS)
disciplines = pytest.mark.parametrize("discipline", Discipline)
slow = st.sampled_from(((), (), (), ("dense",)))  # which takes ten times as long

# Constructions


@layouts
@disciplines
def test_istree_repaired_and_with_every_printed_finding(layout, discipline):
    rng = random.Random(1)
    for n in (1, 2, 5):
        for printed in ((), *((finding,) for finding in FINDING_IDS), FINDING_IDS):
            wired = replace(TRANSFORMER, layout=LAYOUTS[layout]).build(n, printed=printed, discipline=discipline)
            case = EngineCase(wired.model, wired.arithmetic, graph_tokens(random_graph(n, rng), layout))
            decided = agree(case)
            assert printed or "incremental" in decided


@disciplines
@pytest.mark.parametrize("precision_bits", [129, 255])
def test_istree_at_more_precision_than_it_needs(precision_bits, discipline):
    wired = TRANSFORMER.build(4, precision_bits, discipline=discipline)
    agree(EngineCase(wired.model, wired.arithmetic, graph_tokens(Graph(4, ((1, 2), (4, 2), (2, 3))), "paper")))


@pytest.mark.parametrize("fmt", [*map(fixed_point, (9, 21, 63, 129, 255)), *FLOAT_FORMATS], ids=lambda fmt: fmt.name)
@disciplines
def test_istree_weights_under_formats_they_were_not_made_for(fmt, discipline):
    wired = TRANSFORMER.build(4)
    tokens = graph_tokens(Graph(4, ((1, 2), (4, 2), (2, 3))), "paper")
    for rounding in ROUNDINGS if fmt.is_fixed_point else ROUNDINGS[:1]:
        decided = agree(EngineCase(wired.model, Arithmetic(fmt, discipline, rounding), tokens))
        assert "incremental" not in decided or (fmt.significand_bits > 60 and rounding is ROUNDINGS[0])


@layouts
@disciplines
@pytest.mark.parametrize("fewer", [0, 2, 8])
def test_istree_lean(layout, discipline, fewer):
    """fewer: so many bits below the least p, where entries saturate and columns have no certificate."""
    rng = random.Random(7)
    for n in (1, 2, 4, 7, 12):
        bits = max(5, Lean(LAYOUTS[layout]).least_precision(n, discipline) - fewer)
        wired = Lean(LAYOUTS[layout]).build(n, bits, discipline=discipline, forced=True)
        decided = agree(EngineCase(wired.model, wired.arithmetic, graph_tokens(random_graph(n, rng), layout)))
        assert "incremental" in decided or fewer or n < 4


@pytest.mark.parametrize("tape", ["", "0110"])
def test_a_machine(tape):
    model = hybrid.TuringHybrid(find("bb4").machine, tape)
    wired = model.build(20)
    tokens = wired.tokens([*model.prompt(20), *model.expected(20)])
    assert agree(EngineCase(wired.model, wired.arithmetic, tokens)) == {"dense", "native", "incremental"}


# What is hard to search


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_cases(name):
    """Under `fused` too."""
    case = CRAFTED[name]()
    agree(case)
    if fused(case) != case:
        agree(fused(case))


@settings(max_examples=250)
@given(rng=st.randoms(use_true_random=False), slow=slow)
def test_models_that_look_for_their_nearest_key(rng, slow):
    agree(match_like(rng, longest=16), ("native", "incremental", *slow))


@settings(max_examples=50)
@given(rng=st.randoms(use_true_random=False))
def test_models_that_look_for_their_nearest_key_in_longer_sequences(rng):
    agree(match_like(rng), ("native", "incremental"))


class OneOfAKind(random.Random):
    """Two heads a block, and every other choice is the first one."""

    def choice(self, seq):
        return 2 if seq == (1, 1, 2) else seq[0]

    def random(self):
        return 0.5


def test_a_model_that_is_drawn_has_no_head_twice():
    agree(match_like(OneOfAKind(0), longest=16))


@settings(max_examples=12)
@given(rng=st.randoms(use_true_random=False))
def test_match_like_models_under_float_formats(rng):
    assert agree(match_like(rng, longest=10, formats=FLOATS)) == {"dense"}


@settings(max_examples=100)
@given(rng=st.randoms(use_true_random=False), slow=slow)
def test_rounded_squares_of_rising_keys(rng, slow):
    agree(in_order(rng), ("native", "incremental", *slow))


# Any models


@settings(max_examples=100)
@given(
    rng=st.randoms(use_true_random=False),
    fmt=st.sampled_from((*FIXED, *NARROW, *FLOATS)),
    discipline=st.sampled_from(Discipline),
    rounding=st.sampled_from(ROUNDINGS),
    draw=st.sampled_from((unstructured, unstructured, recurrent)),
)
def test_models_without_structure(rng, fmt, discipline, rounding, draw):
    agree(draw(rng, fmt=fmt, discipline=discipline, rounding=rounding), ("dense", "native"))


@disciplines
@pytest.mark.parametrize("score_width", [0, 2])
def test_heads_and_vocabularies_without_weights(discipline, score_width):
    """No coordinate at all, or key weights that are all 0: every visible key has the same score, and the first token wins."""
    scores = np.zeros((score_width, 2))
    head = AttentionHead(scores + 1, scores, np.array([[1.0, 0.0]]), np.array([[0.0], [1.0]]))
    nothing = AttentionHead(scores, scores, np.zeros((0, 2)), np.zeros((2, 0)))
    words = np.array([[1.0, 0.0], [0.0, 0.0]])
    model = Transformer(words, np.zeros(2), (Block((head, nothing), no_units(2)),), np.zeros((2, 2)))
    for fmt in (fixed_point(17), FP32):
        agree(EngineCase(model, Arithmetic(fmt, discipline), [0, 1, 1, 0, 1]))
