"""The engine that is picked: by facts of the run, and whichever it is, the answer is that of the reference engine."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, auto, decode_by_reference, find_engine
from constructions.engines.auto import choose
from constructions.istree import transformer
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.layers import Block, Transformer
from precision.format import FP32, Arithmetic, Discipline, Format, Rounding, fixed_point
from tests.engines.cases import FIXED, ROUNDINGS, match_like, no_units, unstructured
from tests.engines.test_decoding import guesses, responding

MODEL = transformer.TRANSFORMER.build(20).model
FUSED = Arithmetic(fixed_point(65))
SEQUENTIAL = Arithmetic(fixed_point(65), Discipline.SEQUENTIAL)


@pytest.mark.parametrize(
    ("arithmetic", "prompt", "limit", "guess", "name"),
    [
        (FUSED, 10, 5, 0, "reference"),
        (FUSED, 10, 5, 5, "reference"),
        (FUSED, 1000, 500, 500, "incremental"),
        (SEQUENTIAL, 1000, 500, 500, "incremental"),
        (FUSED, 10_000, 5000, 0, "incremental"),
        (SEQUENTIAL, 1000, 500, 0, "incremental"),
        (Arithmetic(FP32), 1000, 500, 500, "dense"),
        (Arithmetic(FP32), 10, 5, 5, "reference"),
        (Arithmetic(fixed_point(65), rounding=Rounding.STOCHASTIC), 1000, 500, 500, "reference"),
    ],
)
def test_what_is_chosen(arithmetic, prompt, limit, guess, name):
    assert choose(MODEL, arithmetic, prompt, limit, guess) == name


@pytest.mark.parametrize(
    ("arithmetic", "limit", "name"),
    [
        (FUSED, 5, "native"),
        (SEQUENTIAL, 500, "native"),
        (Arithmetic(fixed_point(65), rounding=Rounding.TOWARD_ZERO), 5, "native"),
        (FUSED, 20_000, "incremental"),
        (Arithmetic(FP32), 5, "reference"),
        (Arithmetic(fixed_point(255)), 5, "native"),
        (Arithmetic(fixed_point(257)), 5, "reference"),
        (Arithmetic(fixed_point(65), rounding=Rounding.STOCHASTIC), 5, "reference"),
    ],
)
def test_where_the_machine_code_is_loaded_it_takes_short_runs(arithmetic, limit, name):
    with auto.native_at_hand():
        assert choose(MODEL, arithmetic, 10, limit, 0) == name


def test_who_runs_many_models_has_it_loaded():
    graph = Graph(2, ((1, 2),))
    prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
    wired = transformer.TRANSFORMER.build(2)
    asked = Decoding(wired.model, wired.arithmetic, prompt, {answer[-1]}, len(answer))
    before = find_engine("auto")(asked)
    with auto.native_at_hand():
        after = find_engine("auto")(asked)
    assert (before.engine, after.engine, find_engine("auto")(asked).engine) == ("reference", "native", "reference")
    assert before.produced == after.produced == answer
    assert before.flags == after.flags


def test_a_model_too_wide_for_it_goes_to_another_engine(monkeypatch):
    """Its weights add up to more than 512 bits, which nobody knows before they are read."""
    words = np.array([[2.0**228] * 40, [0.0] * 40])
    model = Transformer(words, np.zeros(40), (Block((), no_units(40)),), words)
    arithmetic = Arithmetic(Format("wide", 255, 0, 2**255 - 1))
    asked = Decoding(model, arithmetic, [0, 1], set(), 3)
    expected = decode_by_reference(asked)
    monkeypatch.setattr(auto, "LISTING", 0.0)
    with auto.native_at_hand():
        assert choose(model, arithmetic, 2, 3, 0) == "native"
        assert find_engine("auto")(asked).engine == "reference"
        for name in ("auto", "native"):
            assert find_engine(name)(asked).produced == expected.produced


def test_what_nobody_said_is_not_looked_up():
    unsaid = replace(MODEL, said=None)
    assert choose(unsaid, FUSED, 300, 100, 0) == "reference"
    assert choose(unsaid, FUSED, 1000, 500, 500) == "dense"
    assert choose(MODEL, FUSED, 300, 100, 0) == "incremental"


def test_a_guess_is_checked_where_lookups_do_not_decide():
    """A long text of a model that says something else of its heads than its matrices do."""
    graph = Graph(20, tuple((v, v + 1) for v in range(1, 20)))
    prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
    arithmetic = transformer.TRANSFORMER.build(20).arithmetic
    said = MODEL.said
    assert said is not None
    lies = replace(MODEL, said=replace(said, heads=said.heads[::-1]))
    for model, engine in ((MODEL, "incremental"), (lies, "dense")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(auto, "WRITING", -100.0)
            patch.setattr(auto, "WITH_TORCH", -50.0)
            patch.setattr(auto, "SHORT", 0.0)
            actual = find_engine("auto")(Decoding(model, arithmetic, prompt, {answer[-1]}, 41, guess=answer))
        assert (actual.produced, actual.engine) == (answer, engine)


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ([(10 * 2**i, 5 * 2**i, 5 * 2**i) for i in range(16)], ["reference", "incremental"]),
        ([(10 * 2**i, 5 * 2**i, 0) for i in range(16)], ["reference", "incremental"]),
        ([(10 * 2**i, 1, 0) for i in range(16)], ["reference", "incremental"]),
    ],
)
def test_the_choice_changes_once_from_one_engine_to_the_next(runs, names):
    """As the whole grows, with a guess and without, as the prompt grows, or what is written."""
    chosen = [choose(MODEL, FUSED, *run) for run in runs]
    assert [name for name, _ in itertools.groupby(chosen)] == names


def test_the_result_names_the_engine_that_decoded():
    graph = Graph(20, tuple((v, v + 1) for v in range(1, 20)))
    prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
    arithmetic = transformer.TRANSFORMER.build(20).arithmetic
    actual = find_engine("auto")(Decoding(MODEL, arithmetic, prompt, {answer[-1]}, 41, guess=answer))
    assert (actual.produced, actual.engine) == (answer, "incremental")
    unsaid, wrong = replace(MODEL, said=None), [*answer[:30], answer[0], *answer[31:]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto, "WITH_TORCH", -50.0)
        for guess, engine in ((answer, "dense"), (wrong, choose(unsaid, arithmetic, len(prompt), 41, 0))):
            actual = find_engine("auto")(Decoding(unsaid, arithmetic, prompt, {answer[-1]}, 41, guess=guess))
            assert (actual.produced, actual.engine) == (answer, engine)
    small = PAPER.prompt(Graph(2, ((1, 2),)))
    actual = find_engine("auto")(Decoding(MODEL, arithmetic, small, set(), 3, guess=answer))
    assert actual.engine == "reference"
    assert actual.flags is not None


@given(
    rng=st.randoms(use_true_random=False),
    limit=st.integers(0, 8),
    every=st.integers(1, 3),
    response=st.booleans(),
    place=st.integers(0, 8),
    later=st.sampled_from(("reference", "dense")),
)
@settings(max_examples=40, deadline=None)
def test_after_a_guess_all_decode_what_the_reference_does(rng, limit, every, response, place, later):
    """`dense` by itself, and `auto`, after whose wrong guess any engine goes on; also where it ends after that."""
    if rng.random() < 0.3:
        case = match_like(rng, longest=5)
    else:
        fmt, rounding = rng.choice(FIXED), rng.choice(ROUNDINGS)
        case = unstructured(rng, fmt=fmt, rounding=rounding, discipline=rng.choice(tuple(Discipline)))
    size = len(case.model.words)
    stop, words = {rng.randrange(size)}, [rng.randrange(size)] if response else []
    respond, expected_told = responding(every, words)
    answer = decode_by_reference(
        Decoding(case.model, case.arithmetic, case.tokens, stop, limit, respond=respond)
    ).produced
    for guess in guesses(answer, [rng.randrange(size) for _ in range(4)], place):
        if max(guess, default=0) >= size:
            continue
        for name, engines in (("dense", {"dense"}), ("auto", {"dense", later})):
            respond, told = responding(every, words)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(auto, "choose", lambda *about: "dense" if about[4] else later)
                actual = find_engine(name)(
                    Decoding(case.model, case.arithmetic, case.tokens, stop, limit, guess=guess, respond=respond)
                )
            assert actual.produced == answer
            assert told[-len(expected_told) :] == expected_told  # after a wrong guess `auto` begins anew
            assert name == "auto" or told == expected_told
            assert actual.engine in engines
