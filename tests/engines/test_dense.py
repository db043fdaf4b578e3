"""The dense engine against the reference engine, register by register."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference, dense
from constructions.engines.dense import attention as dense_attention
from constructions.engines.dense import engine as dense_engine
from constructions.engines.dense.attention import Attention
from constructions.engines.dense.column import Numbers
from constructions.engines.dense.rounding import Rounder
from constructions.engines.weights import weight_of
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from precision.format import BF16, FP32, FP64, Arithmetic, Discipline, Format, Rounding, fixed_point
from precision.rounding import round_shifted
from tests.engines.agreement import agree
from tests.engines.cases import EngineCase, graph_tokens, random_graph
from tests.engines.dense_cases import (
    FORMATS,
    ROUNDINGS,
    TOKENS,
    VOCABULARY,
    assert_same,
    one_head,
    random_linear_model,
    random_model,
    random_sequences,
)


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# Constructions


def test_istree_agrees_on_larger_graphs_of_unequal_length():
    rng = random.Random(2)
    wired = TRANSFORMER.build(12)
    graphs = [random_graph(12, rng) for _ in range(6)]
    assert_same(wired.model, wired.arithmetic, [graph_tokens(graph, "paper") for graph in graphs])


# No structure


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    make=st.sampled_from((random_model, random_linear_model)),
    fmt=st.sampled_from(FORMATS),
    discipline=st.sampled_from(Discipline),
    rounding=st.sampled_from(ROUNDINGS),
    scale=st.integers(1, 100),
    dyadic=st.booleans(),
    tile=st.integers(1, 16),
)
def test_random_models_agree_under_any_arithmetic(seed, make, fmt, discipline, rounding, scale, dyadic, tile):
    rng = np.random.default_rng(seed)
    assert_same(make(rng, scale, dyadic), Arithmetic(fmt, discipline, rounding), random_sequences(rng, longest=8), tile)


@pytest.mark.parametrize(
    "fmt", [fixed_point(9), fixed_point(17), fixed_point(65), BF16, FP32, FP64], ids=lambda fmt: str(fmt.name)
)
@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ([[0, 1, 0]], [[-(2.0**30), 0, 0]]),  # all but the smallest keys saturate, and tie with each other
        ([[0, 1, 0]], [[-(2.0**30), -(2.0**30), 0]]),  # every score saturates, at the same number
        ([[0, 1, 0], [0, 1, 0]], [[2.0**20, 0, 0], [-(2.0**20), 0, 0]]),  # terms saturate, their sum is 0
        ([[0, 1, 0]], [[8, 0, 0]]),  # leads around the decisive gap
        ([[0, 2.0**-4, 0]], [[1, 2.0**-6, 0]]),  # many keys in between
        (np.zeros((0, 3)), np.zeros((0, 3))),  # all keys tie
    ],
)
def test_ties_saturation_and_gaps_agree(fmt, discipline, query, key):
    for tile in (2, 64):
        assert_same(one_head(query, key), Arithmetic(fmt, discipline), TOKENS, tile)


@pytest.mark.parametrize("fmt", [fixed_point(9), fixed_point(17), fixed_point(65), BF16], ids=lambda fmt: str(fmt.name))
@pytest.mark.parametrize("discipline", Discipline)
def test_leads_around_the_decisive_gap_agree(fmt, discipline):
    """One winner before forty losers with the same lead over each, from far too small to ample."""
    arithmetic = Arithmetic(fmt, discipline)
    ample = math.log(2.0) * (3 - fmt.quantum_exponent + 6)
    for lead in np.arange(0.5, 1.25 * ample, ample / 24):
        lead = math.floor(8 * lead) / 8
        model = one_head(np.array([[0.0, 0, lead]]), np.array([[1.0, 0, 0]]))
        words = np.array([[0.0, 0, 1], [1.0, 0, 1]])  # register 2 holds 1
        model = replace(model, words=words, position=np.zeros(3), unembed=np.eye(2, 3))
        agree(EngineCase(model, arithmetic, [1] + [0] * 40), ("dense", "native"))


def test_scores_that_only_exact_arithmetic_tells_apart():
    """Scores of 2^62 that differ by one quantum of R_129, far below what float64 resolves."""
    model = one_head(np.array([[0, 2.0**31, 0], [0, 1, 0]]), np.array([[0, 2.0**31, 0], [2.0**-60, -(2.0**62), 0]]))
    assert_same(model, Arithmetic(fixed_point(129)), TOKENS)
    assert_same(model, Arithmetic(fixed_point(255), Discipline.SEQUENTIAL), TOKENS)


def test_many_candidates_with_wide_scores_agree(monkeypatch):
    """Keys that repeat, and more nearly tied candidates than tokens, at scores of far more than 62 bits."""
    key = np.array([[2.0**31, 0, 0], [-(2.0**62), 0, 0], [2.0**-60, 0, 0]])
    query = np.array([[0, 2.0**31, 0], [0, 1, 0], [0, 1, 0]])
    monkeypatch.setattr(dense_attention, "_ENTRIES", 7)
    for discipline in Discipline:
        assert_same(one_head(query, key), Arithmetic(fixed_point(255), discipline), [[3, 1, 2, 1, 0, 3, 3, 2] * 5])


def test_every_way_of_deciding_a_column_occurs(monkeypatch):
    """Otherwise the agreement above would say little."""
    seen = {"certified": 0, "exact": 0}
    decide, exact = Attention._decide, Attention._exact_pattern

    def counted_decide(self, *arguments):
        pattern = decide(self, *arguments)
        seen["certified"] += len(pattern.queries)
        return pattern

    def counted_exact(self, pairs, queries, columns):
        seen["exact"] += len(queries)
        return exact(self, pairs, queries, columns)

    monkeypatch.setattr(Attention, "_decide", counted_decide)
    monkeypatch.setattr(Attention, "_exact_pattern", counted_exact)
    dense.run(one_head(np.array([[0.0, 1, 0]]), np.array([[2.0, 0, 0]])), Arithmetic(fixed_point(65)), TOKENS)
    assert seen["certified"] > 5
    assert seen["exact"] > 5
    assert seen["certified"] + seen["exact"] == sum(map(len, TOKENS))


# Independence


def test_results_depend_on_neither_batch_nor_tile_nor_threads():
    rng = np.random.default_rng(5)
    wired = TRANSFORMER.build(6)
    graphs = random.Random(5)
    sequences = [graph_tokens(random_graph(6, graphs), "paper") for _ in range(5)]
    unstructured = random_model(rng, 5, True)
    for model, arithmetic, texts in (
        (wired.model, wired.arithmetic, sequences),
        (unstructured, Arithmetic(fixed_point(33)), random_sequences(rng, 5, 30)),
    ):
        expected = dense.run(model, arithmetic, texts, keep_registers=True)
        assert expected.registers is not None
        for count, tile, order in ((1, 64, [4, 1, 0]), (2, 5, [2]), (2, 1024, [3, 3, 4, 0, 1, 2])):
            with threads(count):
                outcome = dense.run(model, arithmetic, [texts[i] for i in order], tile=tile, keep_registers=True)
                assert torch.get_num_threads() == count
            assert outcome.registers is not None
            for place, number in enumerate(order):
                assert outcome.next_tokens[place].tolist() == expected.next_tokens[number].tolist()
                for ours, theirs in zip(outcome.registers[place], expected.registers[number], strict=True):
                    assert ours.tolist() == theirs.tolist()


def test_registers_are_kept_of_sublayers_that_are_asked_for() -> None:
    rng, arithmetic = np.random.default_rng(6), Arithmetic(fixed_point(33))
    model, texts = random_model(rng, 5, True), [[1, 2, 0], [], [3, 3, 1, 0]]
    whole = dense.run(model, arithmetic, texts, keep_registers=True)
    assert whole.registers is not None
    for kept in ([], [0], [2 * len(model.blocks), 1]):
        some = dense.run(model, arithmetic, texts, keep_registers=kept)
        assert some.logits is None
        assert some.registers is not None
        for ours, theirs in zip(some.registers, whole.registers, strict=True):
            wanted = [table.tolist() if number in kept else [] for number, table in enumerate(theirs)]
            assert [table.tolist() for table in ours] == wanted
        assert [found.tolist() for found in some.next_tokens] == [right.tolist() for right in whole.next_tokens]


def test_next_tokens_are_those_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """From any position on they are what they are without being asked for; logits of other positions are not computed."""
    rng, arithmetic = np.random.default_rng(5), Arithmetic(fixed_point(33))
    model, first_argmax = random_model(rng, 5, True), dense_engine.first_argmax
    texts = [rng.integers(0, VOCABULARY, length).tolist() for length in (7, 1, 0, 12, 7)]
    whole = dense.run(model, arithmetic, texts).next_tokens
    lengths: list[int] = []
    monkeypatch.setattr(dense_engine, "first_argmax", lambda *of: lengths.append(len(of[2][0])) or first_argmax(*of))
    for first in ([0, 0, 0, 0, 0], [6, 0, 0, 3, 7], [7, 1, 0, 12, 7]):
        lengths.clear()
        some = dense.run(model, arithmetic, texts, first=first).next_tokens
        for ours, right, place in zip(some, whole, first, strict=True):
            assert ours.tolist() == [-1] * place + right[place:].tolist()
        assert sum(lengths) == sum(len(text) - place for text, place in zip(texts, first, strict=True))


def test_long_sequences_are_tiled():
    """Longer than the rows that a tile takes at once, so that several tiles share a diagonal."""
    wired = TRANSFORMER.build(70)
    rng = random.Random(7)
    edges = tuple((v, rng.randint(1, v - 1)) for v in range(2, 71))
    tokens = graph_tokens(Graph(70, edges), "paper")
    assert len(tokens) > 256
    whole = dense.run(wired.model, wired.arithmetic, [tokens], keep_registers=True)
    tiled = dense.run(wired.model, wired.arithmetic, [tokens], tile=32, keep_registers=True)
    assert whole.registers is not None
    assert tiled.registers is not None
    for ours, theirs in zip(whole.registers[0], tiled.registers[0], strict=True):
        assert ours.tolist() == theirs.tolist()


def test_results_do_not_depend_on_what_is_run_together(monkeypatch):
    rng = np.random.default_rng(11)
    model, texts = random_model(rng, 2, True), random_sequences(rng, 12)
    expected = dense.run(model, Arithmetic(fixed_point(21)), texts, keep_registers=True)
    monkeypatch.setitem(dense_engine._TOKENS, "cpu", 10)
    portions = dense.run(model, Arithmetic(fixed_point(21)), texts, keep_registers=True)
    assert expected.logits is not None
    assert portions.logits is not None
    for ours, theirs in zip(portions.logits, expected.logits, strict=True):
        assert ours.tolist() == theirs.tolist()


def test_several_long_sequences_in_one_group():
    """Their rows are then visited in turns, not sequence by sequence."""
    model = one_head(np.array([[0.0, 1, 0], [4, 0, 0]]), np.array([[-8.0, 0, 0], [16, 0, 0]]))
    rng = random.Random(0)
    texts = [[rng.randrange(VOCABULARY) for _ in range(length)] for length in (260, 300, 290)]
    together = dense.run(model, Arithmetic(fixed_point(33)), texts, keep_registers=True)
    assert together.registers is not None
    for place, text in enumerate(texts):
        alone = dense.run(model, Arithmetic(fixed_point(33)), [text], keep_registers=True)
        assert alone.registers is not None
        assert [t.tolist() for t in together.registers[place]] == [t.tolist() for t in alone.registers[0]]
    assert_same(model, Arithmetic(fixed_point(33)), [texts[0]])


# Decoding


def test_teacher_forcing_finds_decodings_first_deviation():
    rng = random.Random(3)
    wired = TRANSFORMER.build(5)
    graphs = [random_graph(5, rng) for _ in range(8)]
    prompts = [PAPER.prompt(graph) for graph in graphs]
    answers = [expected_answer(graph, PAPER) for graph in graphs]
    assert dense.matches(wired.model, wired.arithmetic, prompts, answers) == [None] * 8
    stop = {PAPER.token("YES", 5), PAPER.token("NO", 5)}
    broken = TRANSFORMER.build(5, printed=FINDING_IDS)
    actual = dense.matches(broken.model, broken.arithmetic, prompts, answers)
    for prompt, answer, mismatch in zip(prompts, answers, actual, strict=True):
        produced = decode_by_reference(Decoding(broken.model, broken.arithmetic, prompt, stop, len(answer))).produced
        differing = [i for i, token in enumerate(answer) if i >= len(produced) or produced[i] != token]
        assert mismatch == (differing[0] if differing else None)
    assert any(mismatch is not None for mismatch in actual)


def test_sequences_without_tokens_leave_empty_traces():
    wired = TRANSFORMER.build(2)
    for texts in tuple[list[list[int]], ...](([], [[]], [[], [1, 0], []])):
        assert_same(wired.model, wired.arithmetic, texts)


def test_matches_with_an_empty_answer_holds():
    wired = TRANSFORMER.build(2)
    assert dense.matches(wired.model, wired.arithmetic, [[0, 1]], [[]]) == [None]


# Rounding of columns


@settings(max_examples=200, deadline=None)
@given(
    mantissas=st.lists(
        st.integers(0, 70).flatmap(lambda bits: st.integers(-(2**bits), 2**bits)), min_size=1, max_size=6
    ),
    exponent=st.integers(-80, 40),
    fmt=st.sampled_from(FORMATS),
    rounding=st.sampled_from(ROUNDINGS),
)
def test_columns_round_by_the_definition(mantissas: list[int], exponent: int, fmt: Format, rounding: Rounding):
    numbers = Numbers(fmt, torch.device("cpu"))
    column = numbers.from_objects(np.array(mantissas, dtype=object), exponent)
    expected = [
        round_shifted(number << max(0, exponent), max(0, -exponent), fmt, rounding).quanta for number in mantissas
    ]
    assert Rounder(numbers, rounding).round(column).quanta().tolist() == expected


@given(a=st.integers(-(2**130), 2**130), b=st.integers(-(2**130), 2**130), weight=st.integers(-(2**70), 2**70))
def test_columns_add_and_multiply_exactly(a, b, weight):
    numbers = Numbers(fixed_point(255), torch.device("cpu"))
    x, y = numbers.constant(a, 1), numbers.constant(b, 1)
    assert numbers.multiply(x, y).quanta().tolist() == [a * b]
    assert numbers.linear([(weight_of(weight), x), (weight_of(1), y)], weight_of(b), 1).quanta().tolist() == [
        weight * a + b + b
    ]


# Refusals


def test_refusals_are_one_line():
    wired = TRANSFORMER.build(2)
    with pytest.raises(IndexError, match="token 99 is not in the vocabulary"):
        dense.run(wired.model, wired.arithmetic, [[0, 99]])
    with pytest.raises(ValueError, match="tile"):
        dense.run(wired.model, wired.arithmetic, [[0]], tile=0)
    with pytest.raises(ValueError, match="stochastic"):
        dense.run(wired.model, Arithmetic(fixed_point(9), rounding=Rounding.STOCHASTIC), [[0]])
    with pytest.raises(dense.EngineError, match="unknown device"):
        dense.run(wired.model, wired.arithmetic, [[0]], device="abacus")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_missing_cuda_device_is_one_line():
    wired = TRANSFORMER.build(2)
    with pytest.raises(dense.EngineError, match="no such CUDA device") as caught:
        dense.run(wired.model, wired.arithmetic, [[0]], device="cuda")
    assert "\n" not in str(caught.value)


def test_running_out_of_memory_is_one_line(monkeypatch):
    def exhausted(*_: object) -> None:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory\nframe #0")

    monkeypatch.setattr(Attention, "read", exhausted)
    wired = TRANSFORMER.build(3)
    with pytest.raises(dense.EngineError, match="out of memory on cpu") as caught:
        dense.run(wired.model, wired.arithmetic, [[0, 1, 2]])
    assert "\n" not in str(caught.value)
