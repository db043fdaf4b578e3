"""The machine code that all models share: the reference's flags, exact memory, columns that it asks for, and what it refuses."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference, find_engine, native
from constructions.engines.native import NativeDecoder, decoder, listing
from constructions.engines.protocol import NotCovered
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.transformer import TRANSFORMER
from constructions.layers import AttentionHead, Block, FeedForward, Recurrence, Transformer
from precision.format import FP32, Arithmetic, Discipline, Format, Rounding, fixed_point
from tests.engines.agreement import dense_agrees, native_agrees
from tests.engines.cases import (
    FIXED,
    ROUNDINGS,
    EngineCase,
    Trace,
    difference,
    no_units,
    recurrent,
    reference_trace,
    unstructured,
)
from tests.engines.test_decoding import responding
from verify.claims import three_tokens
from verify.inputs.turing_machines import every_run
from verify.runs.turing_runs import COT, HYBRID, RAG, About, SpaceCase


@settings(max_examples=100)
@given(
    rng=st.randoms(use_true_random=False),
    discipline=st.sampled_from(Discipline),
    limit=st.integers(0, 8),
    every=st.integers(1, 3),
    response=st.booleans(),
)
def test_it_decodes_as_the_reference_does(rng, discipline, limit, every, response):
    """With what its surroundings respond; and whoever asks for the flags gets the reference's, of the tokens that were fed."""
    fmt, rounding = rng.choice(FIXED[:-2]), rng.choice(ROUNDINGS)
    case = rng.choice((unstructured, recurrent))(rng, fmt=fmt, rounding=rounding, discipline=discipline)
    size = len(case.model.words)
    stop, words = {rng.randrange(size)}, [rng.randrange(size)] if response else []
    respond, expected_told = responding(every, words)
    expected = decode_by_reference(Decoding(case.model, case.arithmetic, case.tokens, stop, limit, respond=respond))
    respond, told = responding(every, words)
    asked = Decoding(case.model, case.arithmetic, case.tokens, stop, limit, respond=respond)
    actual = find_engine("native")(asked)
    assert (actual.produced, told) == (expected.produced, expected_told)
    assert actual.flags == expected.flags


@settings(max_examples=60)
@given(rng=st.randoms(use_true_random=False), discipline=st.sampled_from(Discipline))
def test_more_positions_than_it_made_room_for(rng, discipline):
    """Room for one position, which doubles: keys, values, shares and registers move."""
    case = unstructured(rng, fmt=rng.choice(FIXED[:-2]), rounding=rng.choice(ROUNDINGS), discipline=discipline)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder, "FIRST_ROOM", 1)
        native_agrees(case, reference_trace(case))


@pytest.mark.parametrize(
    ("digits", "count", "bits"), [(61, 1, 64), (61, 4, 64), (61, 5, 128), (125, 4, 128), (125, 5, 256), (253, 4, 256)]
)
def test_numbers_at_the_end_of_a_width(digits: int, count: int, bits: int) -> None:
    """The largest elements times each other, added up with one sign: as many as just fit, and one more than that."""
    fmt = Format("wide", digits, -20, 2**digits - 1)
    words = np.full((2, count), float(2**digits - 2 ** (digits - 53)) * 2.0**-20)
    words[1] *= -1
    model = Transformer(words, np.zeros(count), (Block((), no_units(count)),), words)
    assert listing.list_operations(model, Arithmetic(fmt), (), 8).bits == bits
    for discipline in Discipline:
        case = EngineCase(model, Arithmetic(fmt, discipline), [0, 1, 1, 0])
        native_agrees(case, reference_trace(case))


@pytest.mark.parametrize("discipline", Discipline)
def test_a_score_may_take_longer_numbers(discipline: Discipline) -> None:
    """Forty coordinates, each a product of the largest numbers: the sum has more than 127 bits, though no row has."""
    fmt, width = Format("wide", 61, 0, 2**61 - 1), 40
    words, eye = np.full((2, width), float(2**61 - 2**8)), np.eye(width)
    words[1] *= -1
    model = Transformer(
        words, words[0], (Block((AttentionHead(eye, eye, eye, eye),), no_units(width)),), np.zeros((2, width))
    )
    assert listing.list_operations(model, Arithmetic(fmt), (), 4).bits == 128
    case = EngineCase(model, Arithmetic(fmt, discipline), [0, 1, 1, 0])
    native_agrees(case, reference_trace(case))


@pytest.mark.parametrize(("longest", "bits"), [(7, 64), (8, 128)])
def test_what_a_head_reads_may_take_longer_numbers(longest: int, bits: int) -> None:
    """A number of 61 bits at each position, with a weight of up to 1, which is 2^60 quanta."""
    fmt, one = Format("wide", 61, -60, 2**61 - 1), np.ones((1, 1))
    model = Transformer(one, one[0], (Block((AttentionHead(one, one, one, one),), no_units(1)),), one)
    assert listing.list_operations(model, Arithmetic(fmt), (), longest).bits == bits


def test_a_state_that_no_row_fills_is_0() -> None:
    """A carries on a register that has no row of its own, and so no state."""
    carry = np.array([[0.0, 3.0], [0.0, 0.0]])
    feed = np.array([[1.0, 0.0], [0.0, 0.0]])
    words = np.array([[1.0, 2.0], [2.0, 1.0]])
    model = Transformer(words, np.zeros(2), (Block((), no_units(2), Recurrence(carry, feed)),), words)
    case = EngineCase(model, Arithmetic(fixed_point(17)), [0, 1, 1, 0])
    native_agrees(case, reference_trace(case))


def test_a_sum_beyond_all_widths_is_refused() -> None:
    fmt = Format("wide", 253, -20, 2**253 - 1)
    words = np.full((2, 5), float(2**253 - 2**200) * 2.0**-20)
    model = Transformer(words, np.zeros(5), (Block((), no_units(5)),), words)
    with pytest.raises(NotCovered, match="sums of more than 512 bits"):
        NativeDecoder(model, Arithmetic(fmt), 8)


@pytest.mark.parametrize("model", [COT, RAG, HYBRID], ids=lambda about: about.theorem)
def test_small_machines(model: About) -> None:
    """One in sixty of the machines whose runs claims try."""
    for code in itertools.islice(every_run(50), 0, None, 60):
        solver = model.solver_of(model.case(code, "", 50, 5))
        wired = solver.build(50)
        request = solver.request(wired, 50)
        tokens = [*request.prompt, *map(int, request.guess[:40])]
        native_agrees(
            EngineCase(wired.model, wired.arithmetic, tokens),
            reference_trace(EngineCase(wired.model, wired.arithmetic, tokens)),
        )


def test_small_machines_by_three_tokens() -> None:
    for code in itertools.islice(every_run(50), 0, None, 60):
        case = SpaceCase(code, "10", 50, 3)
        wired, (before, behind) = three_tokens.model_of(case), three_tokens.words_of(case)
        run = EngineCase(wired.model, wired.arithmetic, wired.tokens([*before, *behind][:60]))
        native_agrees(run, reference_trace(run))


def test_a_narrow_model_takes_short_numbers() -> None:
    wired = TRANSFORMER.build(2, 33)
    assert listing.list_operations(wired.model, wired.arithmetic, (), 9).bits == 64


@pytest.mark.parametrize(
    "fmt", [Format("no fraction", 8, 0, 255), Format("some", 8, -3, 255)], ids=lambda fmt: fmt.name
)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("discipline", Discipline)
def test_all_that_is_between_two_elements(fmt: Format, rounding: Rounding, discipline: Discipline) -> None:
    """Products with all fractions of a quantum, the ties among them, of either sign; and what saturates."""
    quantum = float(fmt.quantum)
    words = np.array([[i * quantum, 0.0] for i in range(-20, 21)] + [[255 * quantum, 0.0], [-255 * quantum, 0.0]])
    gate = np.zeros((3, 2))
    up = np.array([[quantum, 0.0], [3 * quantum, 0.0], [5 * quantum, 0.0]])
    down = np.array([[0.0] * 3, [1.0, 1.0, -1.0]])
    units = FeedForward(gate, np.ones(3), up, np.zeros(3), down, np.zeros(2))
    model = Transformer(words, np.zeros(2), (Block((), units),), words)
    case = EngineCase(model, Arithmetic(fmt, discipline, rounding), range(len(words)))
    native_agrees(case, reference_trace(case))


@pytest.mark.parametrize("discipline", Discipline)
def test_columns_without_a_clear_winner_are_asked_for(discipline: Discipline) -> None:
    """Scores one, and half of one, apart: each key has a share, which no lead decides."""
    calls = list[int]()
    answer = decoder._Columns.answer

    def note(self: decoder._Columns, keys: int, winners: int, losers: int) -> int:
        calls.append(winners)
        return answer(self, keys, winners, losers)

    one = np.array([[1.0, 0.0]])
    head = AttentionHead(np.array([[0.0, 1.0]]), one, one, np.array([[0.0], [1.0]]))
    words = np.array([[0.5, 1.0], [1.5, 1.0], [1.0, 1.0]])
    model = Transformer(words, np.zeros(2), (Block((head,), no_units(2)),), words)
    case = EngineCase(model, Arithmetic(fixed_point(33), discipline), [0, 1, 2, 1, 0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder._Columns, "answer", note)
        native_agrees(case, reference_trace(case))
    assert 0 in calls


@pytest.mark.parametrize(
    ("key", "tokens", "expected"),
    [
        ([[0.0, 0.0]], [0, 1, 1, 0, 1], [(keys, keys, 0) for keys in range(1, 6)]),  # all score 0: no losers
        ([[0.0, 20.0]], [0, 1] * 3, [(1, 1, 0), (2, 1, 1), (4, 2, 1), (6, 3, 1)]),  # every second one scores 20 more
    ],
)
def test_each_share_is_asked_for_once(key: object, tokens: list[int], expected: list[tuple[int, int, int]]) -> None:
    """Expects one question for each number of tied winners, with losers or without."""
    calls = list[tuple[int, int, int]]()
    answer, one = decoder._Columns.answer, np.array([[1.0, 0.0]])
    head = AttentionHead(one, np.array(key), one, np.zeros((2, 1)))
    words = np.array([[1.0, 0.0], [1.0, 1.0]])
    model = Transformer(words, np.zeros(2), (Block((head, head), no_units(2)),), words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder._Columns, "answer", lambda self, *asked: calls.append(asked) or answer(self, *asked))
        NativeDecoder(model, Arithmetic(fixed_point(33)), len(tokens)).decode(tokens, set(), 1)
    assert calls == expected


@pytest.mark.parametrize("discipline", Discipline)
def test_a_lead_beyond_the_range_decides_nothing_where_differences_saturate(discipline: Discipline) -> None:
    """Lets a score trail by 10 where the largest number is 5. Its weight is e^−5 under `sequential`, and e^−10 under `fused`."""
    one = np.eye(4)
    head = AttentionHead(one[2:3], one[0:1], one[1:2], one[:, 3:])
    words = np.array([[-5.0, 4.0, 0.0, 0.0], [5.0, 0.0, 1.0, 0.0]])
    model = Transformer(words, np.zeros(4), (Block((head,), no_units(4)),), words)
    case = EngineCase(model, Arithmetic(Format("narrow", 11, -8, 1280), discipline), [0, 1])
    expected = reference_trace(case)
    assert bool(expected.registers[-1][3][1]) == (discipline is Discipline.SEQUENTIAL)
    native_agrees(case, expected)
    dense_agrees(case, expected)


def test_an_error_in_a_column_is_raised() -> None:
    def fail(*given: object, losers: bool) -> None:
        raise KeyboardInterrupt

    wired = TRANSFORMER.build(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder, "winners_share", fail)
        run = NativeDecoder(wired.model, wired.arithmetic, 20)
        with pytest.raises(KeyboardInterrupt):
            run.decode(PAPER.prompt(Graph(2, ((1, 2),))), set(), 3)


@pytest.mark.parametrize(
    "arithmetic",
    [
        Arithmetic(FP32),
        Arithmetic(fixed_point(65), rounding=Rounding.STOCHASTIC),
        Arithmetic(Format("coarse", 9, 1, 511)),
        Arithmetic(Format("below one", 9, -12, 511)),
        Arithmetic(fixed_point(257)),
    ],
)
def test_an_arithmetic_that_it_has_not_goes_to_the_reference(arithmetic: Arithmetic) -> None:
    wired = TRANSFORMER.build(2)
    assert not native.covers(arithmetic)
    with pytest.raises(NotCovered, match="has not"):
        NativeDecoder(wired.model, arithmetic, 20)
    if arithmetic.format in (FP32, fixed_point(257)):
        asked = Decoding(wired.model, arithmetic, PAPER.prompt(Graph(2, ((1, 2),))), set(), 3)
        assert find_engine("native")(asked).produced == decode_by_reference(asked).produced


def test_a_text_that_is_too_long_is_refused() -> None:
    wired = TRANSFORMER.build(2)
    with pytest.raises(NotCovered, match="more than 1,048,576 tokens"):
        NativeDecoder(wired.model, wired.arithmetic, decoder.LONGEST + 1, beyond=True)


def test_a_token_outside_the_vocabulary_is_refused() -> None:
    wired = TRANSFORMER.build(2)
    run = NativeDecoder(wired.model, wired.arithmetic, 20)
    for token in (-1, len(wired.vocabulary)):
        with pytest.raises(IndexError, match=f"token {token} is not"):
            run.append(token)


def test_a_digit_more_or_less_is_seen() -> None:
    """The comparison can fail: another rounding of the same model has other registers."""
    rng, seen = random.Random(5), 0
    for _ in range(20):
        case = unstructured(rng, fmt=fixed_point(9), rounding=Rounding.NEAREST_EVEN, discipline=Discipline.FUSED)
        other = case._replace(arithmetic=Arithmetic(fixed_point(9), rounding=Rounding.TOWARD_ZERO))
        sublayers = range(2 * len(case.model.blocks) + 1)
        run = NativeDecoder(other.model, other.arithmetic, len(case.tokens), keep=frozenset(sublayers))
        following = [run.append(token) for token in case.tokens]
        seen += difference(Trace([run.registers(i) for i in sublayers], following), reference_trace(case)) != ""
    assert seen
