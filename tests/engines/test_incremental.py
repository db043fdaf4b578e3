"""Incremental decoding: what its certificate rests on, one thing after the other; large graphs; decoding; refusals."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

import pytest

from constructions.engines import Asked, Decoded, decode_by_reference, find_engine
from constructions.engines.incremental import IncrementalDecoder, compiled_machine, is_compiled
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.models import MODELS
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from constructions.wiring.affine import Number, reg
from precision.format import FP16, Arithmetic, Discipline, Format, Rounding, fixed_point
from tests.engines import agreement
from tests.engines.cases import (
    ROUNDINGS,
    Case,
    fused,
    graph_tokens,
    match_like,
    random_graph,
    searching,
)
from verify.inputs.large_graphs import LargeGraph

CORPUS_SIZE = 120
assert_same = partial(agreement.assert_same, "incremental")


# Constructions


@pytest.mark.parametrize("layout", ["paper", "eos"])
def test_repaired_istree_is_certified_from_the_third_token_on(layout):
    wired = MODELS["transformer", layout].build(12)
    tokens = graph_tokens(Graph(12, tuple((v, v // 2) for v in range(2, 13))), layout)
    columns = assert_same(Case(wired.model, wired.arithmetic, tokens))
    heads = sum(len(block.heads) for block in wired.model.blocks)
    assert columns.dense <= 2 * heads
    assert columns.certified >= (len(tokens) - 2) * heads
    assert columns.screened > 0.9 * columns.certified
    assert columns.dense_logits == 0


@pytest.mark.parametrize("shape", ["star", "path", "random recursive tree"])
def test_decoding_a_thousand_vertices(shape):
    n = 1000
    wired, graph = TRANSFORMER.build(n), LargeGraph(shape, n, 11).graph()
    answer = expected_answer(graph, PAPER)
    decoder = IncrementalDecoder(wired.model, wired.arithmetic)
    stop = {PAPER.token("YES", n), PAPER.token("NO", n)}
    assert decoder.decode(PAPER.prompt(graph), stop, 3 * n) == answer
    assert decoder.columns.certified > 400 * decoder.columns.dense
    assert decoder.columns.dense_logits == 0


def test_a_cycle_and_too_many_edges_are_told_apart():
    n = 300
    wired = TRANSFORMER.build(n)
    stop = {PAPER.token("YES", n), PAPER.token("NO", n)}
    edges = LargeGraph("path", n, 12).graph().edges
    ends = [v for v in range(1, n + 1) if sum(v in edge for edge in edges) == 1]
    for graph in (
        LargeGraph("tree with a cycle, and one vertex apart", n, 12).graph(),
        Graph(n, (*edges, tuple(ends))),
    ):
        decoder = IncrementalDecoder(wired.model, wired.arithmetic)
        assert decoder.decode(PAPER.prompt(graph), stop, 3 * n) == expected_answer(graph, PAPER)


# Random models


def test_a_corpus_takes_all_ways():
    screened = certified = dense = 0
    for seed in range(CORPUS_SIZE):
        columns = assert_same(fused(match_like(random.Random(seed))))
        screened, certified, dense = (
            screened + columns.screened,
            certified + columns.certified - columns.screened,
            dense + columns.dense,
        )
    assert min(screened, certified, dense) > 100


# Hypotheses that break, one after the other


def nearest_case(
    rows: Sequence[Mapping[str, Number]], tokens: Sequence[int], fmt: Format, scale: int = 2**12, wish: str = "w"
) -> Case:
    """Reads the payload of the key x nearest to the wish; a tie reads the mean."""
    components = [(reg("x_squared"), -scale), (reg("x"), 2 * scale * reg(wish))]
    return searching(Arithmetic(fmt), rows, components, tokens, "payload")


def squares(values: Sequence[Number], wish: Number = 0) -> list[dict[str, Number]]:
    return [{"x": v, "x_squared": Fraction(v) ** 2, "w": wish, "payload": i + 1} for i, v in enumerate(values)]


FMT = fixed_point(65)


def test_a_square_that_breaks_late_is_noticed():
    rows = squares([0, 1, 2, 3, 4], wish=2)
    rows.append({"x": 2, "x_squared": 3, "w": 2, "payload": 9})  # better than the true 2
    columns = assert_same(nearest_case(rows, [*[0, 1, 2, 3, 4] * 8, 5, *[1, 2, 3, 4] * 8], FMT))
    assert columns.certified > 30
    assert columns.searches > 1


def test_keys_in_any_order_within_a_group():
    rng = random.Random(3)
    rows = squares(range(40), wish=17)
    columns = assert_same(nearest_case(rows, [rng.randrange(40) for _ in range(150)], FMT))
    assert columns.certified > 100


def test_near_ties_and_ties_of_two_sides():
    rows = squares([1, 3, 5, 7], wish=4)  # 3 and 5 tie
    assert assert_same(nearest_case(rows, [0, 1, 2, 3] * 12, FMT)).certified > 20
    for offset in (0, 1, 2, 3):  # and differ in score by a few units of rounding only
        near = squares([1, 3, 5, 7], wish=4 + offset * Fraction(1, 2**16))
        assert_same(nearest_case(near, [0, 1, 2, 3] * 12, fixed_point(49)))


def test_a_flat_register_that_starts_to_vary():
    rows = [{**row, "tag": tag} for row in squares([0, 1, 2, 3], wish=2) for tag in (0, 0, 1, 5)]
    components = [(reg("x_squared"), -(2**12)), (reg("x"), 2**13 * reg("w")), (reg("tag"), 2**9)]
    tokens = [*[0, 4, 8, 12] * 6, *[2, 3, 6, 7, 10, 11] * 8]
    assert assert_same(searching(Arithmetic(FMT), rows, components, tokens, "payload")).certified > 10


@pytest.mark.parametrize("scale", [1, 2, 3, 5, 2**20 - 1, 3**21, 5**15])
def test_scales_that_are_no_power_of_two(scale):
    for p in (65, 129):
        assert_same(nearest_case(squares([0, 1, 2, 3], wish=2), [0, 1, 2, 3] * 6, fixed_point(p), scale))


def test_wishes_out_of_range():
    for wish in (2**25, -(2**25), Fraction(-1, 2)):
        assert_same(nearest_case(squares([0, 1, 2, 3], wish=wish), [0, 1, 2, 3] * 6, FMT))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("precision_bits", [9, 17, 63, 65, 131])
def test_many_winners(precision_bits, rounding):
    rows: list[Mapping[str, Number]] = [{"payload": 3}, {"payload": 0}, {"payload": -1}]
    arithmetic = Arithmetic(fixed_point(precision_bits), rounding=rounding)
    columns = assert_same(searching(arithmetic, rows, [(0, 0)], [0, 1, 2, 2, 0] * 30, "payload"))
    assert columns.dense <= 2


# Decoding, what is not compiled, refusals


def test_decoding_is_that_of_the_reference_engine():
    rng = random.Random(4)
    stop = {PAPER.token("YES", 6), PAPER.token("NO", 6)}
    for printed in ((), FINDING_IDS):
        wired = TRANSFORMER.build(6, printed=printed)
        for limit in (1, 3, 30):
            prompt = PAPER.prompt(random_graph(6, rng))
            decoder = IncrementalDecoder(wired.model, wired.arithmetic)
            expected = decode_by_reference(Asked(wired.model, wired.arithmetic, prompt, stop, limit)).produced
            assert decoder.decode(prompt, stop, limit) == expected


def test_surroundings_respond_as_they_do_to_the_reference_engine():
    """Up to three tokens after each even one; the first that has none ends nothing."""
    case = match_like(random.Random(8), longest=6)
    vocabulary, told = len(case.model.words), list[list[int]]()

    def respond(sequence: Sequence[int]) -> list[int]:
        told.append(list(sequence))
        return [(sequence[-1] + i) % vocabulary for i in range(len(sequence) % 4)]

    model, arithmetic = case.model, Arithmetic(fixed_point(33))
    for stop in (set[int](), {1}, set(range(vocabulary))):
        for limit in (1, 2, 40):
            expected = decode_by_reference(Asked(model, arithmetic, case.tokens, stop, limit, respond=respond)).produced
            wanted, lengths = told[:], list[int]()
            told.clear()
            decoder = IncrementalDecoder(model, arithmetic)
            actual = decoder.decode(case.tokens, stop, limit, respond=respond, tick=lengths.append)
            assert (actual, told) == (expected, wanted)
            assert lengths == sorted(set(lengths))
            assert lengths[-1] == decoder.length < len(case.tokens) + len(actual)
            told.clear()


def test_a_long_prompt_goes_in_by_pieces():
    wired = TRANSFORMER.build(400)
    prompt = PAPER.prompt(LargeGraph("random recursive tree", 400, 2).graph())
    lengths: list[int] = []
    IncrementalDecoder(wired.model, wired.arithmetic).decode(prompt, set(), 1, tick=lengths.append)
    assert lengths == [1000, len(prompt)]


def test_found_by_name():
    wired = TRANSFORMER.build(5)
    graph = Graph(5, ((1, 2), (3, 2), (4, 3), (5, 1)))
    answer = expected_answer(graph, PAPER)
    assert (
        find_engine("incremental")(Asked(wired.model, wired.arithmetic, PAPER.prompt(graph), {answer[-1]}, 20)).produced
        == answer
    )


def test_growing_keeps_everything():
    """Longer than the first allocation, with ties, fed in pieces."""
    wired = TRANSFORMER.build(60)
    tokens = graph_tokens(LargeGraph("star", 60, 5).graph(), "paper")
    assert len(tokens) > 256
    assert assert_same(Case(wired.model, wired.arithmetic, tokens)).certified > 2000


@pytest.mark.parametrize("arithmetic", [Arithmetic(fixed_point(41), Discipline.SEQUENTIAL), Arithmetic(FP16)])
def test_what_is_not_compiled_is_decoded_by_the_reference_engine(arithmetic):
    assert not is_compiled(arithmetic)
    assert compiled_machine(arithmetic) is None
    model, prompt, lengths = TRANSFORMER.build(3).model, PAPER.prompt(Graph(3, ((1, 2), (2, 3)))), list[int]()
    told: list[list[int]] = []

    def respond(sequence: Sequence[int]) -> list[int]:
        told.append(list(sequence))
        return [2] if len(told) == 1 else []

    expected = decode_by_reference(Asked(model, arithmetic, prompt, {3}, 6, respond=respond)).produced
    wanted = told[:]
    told.clear()
    actual = find_engine("incremental")(Asked(model, arithmetic, prompt, {3}, 6, respond=respond, tick=lengths.append))
    assert actual == Decoded(expected, None, "incremental")
    assert told == wanted
    assert len(prompt) < lengths[-1] < len(prompt) + len(expected)
    with pytest.raises(ValueError, match="compiled for fused fixed point alone"):
        IncrementalDecoder(model, arithmetic)


def test_refusals_are_one_line():
    wired = TRANSFORMER.build(2)
    decoder = IncrementalDecoder(wired.model, wired.arithmetic)
    with pytest.raises(IndexError, match="a prompt"):
        decoder.decode([], set(), 1)
    with pytest.raises(IndexError, match="token 8 is not in the vocabulary of 8"):
        decoder.append(8)
    with pytest.raises(IndexError, match="token -1"):
        decoder.decode([0, -1], set(), 1)
    with pytest.raises(IndexError, match="token 9 is not"):
        decoder.decode([0], set(), 3, respond=lambda sequence: [9])
    assert decoder.length == 1
    decode_incrementally = find_engine("incremental")
    for arithmetic in (wired.arithmetic, Arithmetic(FP16)):  # compiled, and not
        with pytest.raises(IndexError, match="a prompt"):
            decode_incrementally(Asked(wired.model, arithmetic, [], set(), 1))
        with pytest.raises(IndexError, match="token -1"):
            decode_incrementally(Asked(wired.model, arithmetic, [0, -1], set(), 1))
        with pytest.raises(IndexError, match="token 9 is not"):
            decode_incrementally(Asked(wired.model, arithmetic, [0], set(), 3, respond=lambda sequence: [9]))
    refused = (
        (Arithmetic(fixed_point(9), rounding=Rounding.STOCHASTIC), "stochastically"),
        (Arithmetic(FP16, rounding=Rounding.STOCHASTIC), "stochastically"),
        (Arithmetic(Format("coarse", 4, 1, 15)), "needs 1 to be an element"),
    )
    for arithmetic, why in refused:
        with pytest.raises(ValueError, match=why):
            IncrementalDecoder(wired.model, arithmetic)
        with pytest.raises(ValueError, match=why):
            decode_incrementally(Asked(wired.model, arithmetic, [0], set(), 1))
