"""Flags by machine code: sites, counts and first positions are those of the reference, and of what an engine fed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference, find_engine
from constructions.istree.__main__ import main
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from constructions.layers import Transformer
from precision.format import FP8_E4M3, Arithmetic, Discipline, Format, fixed_point
from tests.engines.agreement import native_agrees
from tests.engines.cases import NARROW, ROUNDINGS, EngineCase, graph_tokens, reference_trace
from tests.engines.dense_cases import VOCABULARY, one_head, random_linear_model, random_model

ADDED = (
    "embedding",
    "attn.residual",
    "recurrence.residual",
    "ffn.residual",
)  # sums of elements, which are on their grid
ROUNDED = (
    *("attn.query", "attn.key", "attn.value", "attn.score", "attn.sum", "attn.out", "state"),
    *("ffn.gate", "ffn.up", "ffn.product", "ffn.down", "logit"),
)
LOADED = (
    *("words", "position", "attn.query", "attn.key", "attn.value", "attn.out", "recurrence.carry", "recurrence.feed"),
    *("ffn.gate", "ffn.gate_bias", "ffn.up", "ffn.up_bias", "ffn.down", "ffn.down_bias", "unembed"),
)


@pytest.mark.parametrize("discipline", Discipline)
def test_every_kind_of_flag_occurs_at_every_site_and_is_the_same(discipline: Discipline) -> None:
    """A site that is not counted, or called by another name, shows here."""
    seen = set()
    for seed in range(90):
        rng = np.random.default_rng([seed, 5])
        make = random_linear_model if seed % 3 == 0 else random_model
        model = make(rng, int(rng.choice((2, 5, 40))), True)
        fmt = (fixed_point(9), fixed_point(5), *NARROW)[seed // 3 % 5]
        tokens = rng.integers(0, VOCABULARY, size=int(rng.integers(1, 20))).tolist()
        case = EngineCase(model, Arithmetic(fmt, discipline, ROUNDINGS[seed // 15 % 3]), tokens)
        expected = reference_trace(case)
        native_agrees(case, expected)
        assert expected.flags is not None
        seen |= {(site.kind, re.sub(r"\.\d+|\[\d+\]", "", site.site)) for site in expected.flags.counts}
    wanted = {(kind, place) for kind in ("saturation", "rounding tie") for place in ROUNDED}
    wanted |= {("saturation", place) for place in ADDED} | {("logit tie", "logit")}
    wanted |= {("weight rounded", place) for place in LOADED}
    assert wanted - seen == set()


def around_the_largest_score(fmt: Format) -> Transformer:
    """Scores within a few halves of a quantum of the largest element."""
    half = fmt.quantum_exponent - 1  # log2
    query = np.array([[0, 0, 1.0], [0, 0, 2.0 ** (half - half // 2)]])
    model = one_head(query, np.array([[0, 0, float(fmt.max_value)], [2.0 ** (half // 2), 0, 0]]))
    words = np.array([[float(k), 0, 1] for k in range(-3, 4)])
    return replace(model, words=words, unembed=np.eye(7, 3))


@pytest.mark.parametrize("bits", [9, 33, 51, 65, 129, 249])
@pytest.mark.parametrize("discipline", Discipline)
def test_scores_around_the_largest_element(bits: int, discipline: Discipline) -> None:
    fmt = fixed_point(bits)
    for rounding in ROUNDINGS:
        arithmetic = Arithmetic(fmt, discipline, rounding)
        case = EngineCase(around_the_largest_score(fmt), arithmetic, [0, 3, 5, 6, 2, 4, 1, 3] * 2)
        native_agrees(case, reference_trace(case))


def test_a_lead_beyond_the_range_decides_no_column() -> None:
    """Under `sequential` the difference of two scores saturates at 6.5, and e^−6.5 is more than a quantum."""
    fmt = NARROW[-1]
    mark = np.array([[0.0, 0, 1]])
    model = replace(one_head(mark, 13 * mark), words=np.array([[1.0, 0, 1], [1.0, 0, -1]]), unembed=np.eye(2, 3))
    case = EngineCase(model, Arithmetic(fmt, Discipline.SEQUENTIAL), [0, 1, 0, 0, 1, 1])
    native_agrees(case, reference_trace(case))


# Decoding


def test_decoding_flags_what_it_feeds_and_nothing_after() -> None:
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
    fmt=st.sampled_from((fixed_point(9), FP8_E4M3)),
    limit=st.integers(1, 8),
    stop=st.sets(st.integers(0, VOCABULARY - 1), max_size=2),
    every=st.integers(1, 4),
    response=st.lists(st.integers(0, VOCABULARY - 1), max_size=3),
    guess=st.lists(st.integers(0, VOCABULARY - 1), max_size=6),
)
@example(seed=0, fmt=fixed_point(9), limit=2, stop={1}, every=1, response=[1], guess=[])
@example(seed=966, fmt=fixed_point(9), limit=1, stop=set(), every=1, response=[], guess=[])
def test_decoding_with_responses_flags_what_it_feeds(
    seed: int, fmt: Format, limit: int, stop: set[int], every: int, response: list[int], guess: list[int]
) -> None:
    """Floats have no machine code: `reference` counts."""
    rng = np.random.default_rng(seed)
    model, arithmetic = random_model(rng, 5, True), Arithmetic(fmt)
    prompt = rng.integers(0, VOCABULARY, size=3).tolist()

    def respond(sequence: Sequence[int]) -> Sequence[int]:
        return response if len(sequence) % every == 0 else ()

    expected = decode_by_reference(Decoding(model, arithmetic, prompt, stop, limit, respond=respond))
    actual = find_engine("dense")(Decoding(model, arithmetic, prompt, stop, limit, guess=guess, respond=respond))
    assert actual.produced == expected.produced
    assert actual.flags == expected.flags


@pytest.mark.parametrize("printed", [[], ["--printed", "layer-7"]])
def test_the_command_line_shows_the_same_flags(printed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for engine in ("reference", "dense", "native"):
        main([*printed, "--edges", "1-2,3-1,1-6,1-4,5-1", "--engine", engine, "--json"])
        shown.append(json.loads(capsys.readouterr().out)["flags"])
    assert shown[0]
    assert shown[1] == shown[2] == shown[0]
