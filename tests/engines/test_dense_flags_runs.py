"""Flags of whole runs by the dense engine: of batches, decoding and the command line."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, EngineFailed, decode_by_reference, dense, find_engine
from constructions.engines.dense import engine as dense_engine
from constructions.engines.dense.operators import Operators
from constructions.engines.reference import FlagSite
from constructions.istree.__main__ import main
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from precision.format import (
    BF16,
    Arithmetic,
    Discipline,
    fixed_point,
)
from tests.engines.cases import graph_tokens
from tests.engines.dense_cases import (
    VOCABULARY,
    one_head,
    random_linear_model,
    random_model,
    random_sequences,
)
from tests.engines.test_dense_flags import same_flags

# Batches


def test_flags_depend_on_neither_batch_nor_tile_nor_portion(monkeypatch):
    rng = np.random.default_rng(8)
    for model in (random_model(rng, 5, True), random_linear_model(rng, 5, True)):
        arithmetic = Arithmetic(fixed_point(9), Discipline.SEQUENTIAL)
        texts = [*random_sequences(rng, 7, 30), [], [1], [1]]
        expected = same_flags(model, arithmetic, texts)
        monkeypatch.setitem(dense_engine._TOKENS, "cpu", 10)
        for tile, order in ((64, [4, 1, 0]), (5, [2]), (1024, [3, 3, 4, 0, 7, 9, 1, 2])):
            actual = dense.run(model, arithmetic, [texts[i] for i in order], tile=tile, flags=True).flags
            assert actual == tuple(expected[i] for i in order)
        monkeypatch.undo()


def test_asking_for_flags_changes_nothing_else():
    rng = np.random.default_rng(4)
    model, texts, arithmetic = random_model(rng, 5, True), random_sequences(rng, 5), Arithmetic(fixed_point(9))
    plain = dense.run(model, arithmetic, texts, keep_registers=True)
    asked = dense.run(model, arithmetic, texts, keep_registers=True, flags=True)
    assert plain.flags is None
    assert asked.flags == dense.run(model, arithmetic, texts, flags=True).flags  # kept logits are not flagged again
    assert plain.registers is not None
    assert asked.registers is not None
    for ours, theirs in zip(asked.registers, plain.registers, strict=True):
        assert [table.tolist() for table in ours] == [table.tolist() for table in theirs]
    for own, plainly in zip(asked.next_tokens, plain.next_tokens, strict=True):
        assert own.tolist() == plainly.tolist()


@pytest.mark.parametrize("keys", [[[0.0, 0, 0]], [[0.0, 0, 0], [0, 0, 1]]])
@pytest.mark.parametrize("discipline", Discipline)
def test_scores_that_are_zero_are_exact(keys, discipline):
    """0 has no last digit: neither do its digits get lost, nor those of the products beside it."""
    queries = [[0.5, 0, 0], [0, 0, 2]][: len(keys)]
    model = one_head(queries, keys)
    arithmetic = Arithmetic(fixed_point(17), discipline)
    same_flags(model, arithmetic, random_sequences(np.random.default_rng(2), 7))
    operators = Operators(arithmetic, torch.device("cpu"))
    zero, half = operators.numbers.zero(3), operators.numbers.constant(1 << 7, 3)
    assert operators.dot_exactness([(zero, zero)]) == (True, True)
    assert operators.dot_exactness([(half, zero), (half.times_power(1), half.times_power(1))]) == (True, True)
    assert operators.dot_exactness([(half, half.times_power(-1))]) == (True, True)
    assert operators.dot_exactness([(half.times_power(-4), half.times_power(-5))]) == (False, False)


def test_long_sequences_have_the_same_flags():
    """Of several tiles."""
    model = one_head([[0.0, 1, 0], [0.5, 0, 0]], [[-8.0, 0, 0], [16, 2.0**-8, 0]])
    rng = random.Random(0)
    texts = [[rng.randrange(VOCABULARY) for _ in range(length)] for length in (260, 290)]
    (flags, _) = same_flags(model, Arithmetic(fixed_point(17)), texts, tile=32)
    assert FlagSite("rounding tie", 1, "attn.0.score") in flags.counts
    assert FlagSite("saturation", 1, "attn.0.score") in flags.counts


# Decoding


def test_decoding_flags_what_it_feeds_and_nothing_behind():
    broken = TRANSFORMER.build(5, printed=FINDING_IDS)
    graph = Graph(5, ((1, 2), (4, 2), (2, 3), (5, 1)))
    tokens = graph_tokens(graph, "paper")
    prompt, stop = PAPER.prompt(graph), {PAPER.token("YES", 5), PAPER.token("NO", 5)}
    guesses = ((), tokens[len(prompt) :], tokens[len(prompt) :] * 3, [0] * 12)
    for limit in (1, 2, 9, 20):
        expected = decode_by_reference(Decoding(broken.model, broken.arithmetic, prompt, stop, limit))
        for guess in guesses:
            actual = find_engine("dense")(Decoding(broken.model, broken.arithmetic, prompt, stop, limit, guess=guess))
            assert actual.produced == expected.produced
            assert actual.flags == expected.flags
            assert actual.flags is actual.flags  # found once


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    limit=st.integers(1, 8),
    stop=st.sets(st.integers(0, VOCABULARY - 1), max_size=2),
    every=st.integers(1, 4),
    response=st.lists(st.integers(0, VOCABULARY - 1), max_size=3),
    guess=st.lists(st.integers(0, VOCABULARY - 1), max_size=6),
)
@example(seed=0, limit=2, stop={1}, every=1, response=[1], guess=[])
@example(seed=966, limit=1, stop=set(), every=1, response=[], guess=[])
def test_decoding_with_responses_flags_what_it_feeds(seed, limit, stop, every, response, guess):
    rng = np.random.default_rng(seed)
    model, arithmetic = random_model(rng, 5, True), Arithmetic(fixed_point(9))
    prompt = rng.integers(0, VOCABULARY, size=3).tolist()

    def respond(sequence: Sequence[int]) -> Sequence[int]:
        return response if len(sequence) % every == 0 else ()

    expected = decode_by_reference(Decoding(model, arithmetic, prompt, stop, limit, respond=respond))
    actual = find_engine("dense")(Decoding(model, arithmetic, prompt, stop, limit, guess=guess, respond=respond))
    assert actual.produced == expected.produced
    assert actual.flags == expected.flags


def test_flags_that_cannot_be_found_are_one_line(monkeypatch):
    wired = TRANSFORMER.build(2)
    decoded = find_engine("dense")(Decoding(wired.model, wired.arithmetic, [0, 1], set(), 1))

    def exhausted(*_: object, **__: object) -> None:
        raise dense.EngineError("out of memory on cpu")

    monkeypatch.setattr(dense, "run", exhausted)
    with pytest.raises(EngineFailed, match="out of memory on cpu"):
        _ = decoded.flags


@pytest.mark.parametrize("printed", [[], ["--printed", "layer-7"]])
def test_the_command_line_shows_the_same_flags(printed, capsys):
    shown = []
    for engine in ("reference", "dense"):
        main([*printed, "--edges", "1-2,3-1,1-6,1-4,5-1", "--engine", engine, "--json"])
        shown.append(json.loads(capsys.readouterr().out)["flags"])
    assert shown[0]
    assert shown[1] == shown[0]


# CUDA


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_cuda_gives_the_same_flags():
    rng = np.random.default_rng(9)
    for make in (random_model, random_linear_model):
        for fmt in (fixed_point(9), fixed_point(129), BF16):
            model, texts, arithmetic = make(rng, 40, True), random_sequences(rng), Arithmetic(fmt)
            ours = dense.run(model, arithmetic, texts, device="cuda", flags=True).flags
            assert ours == dense.run(model, arithmetic, texts, flags=True).flags
