"""Decoding by lookups: the same registers as `reference`, after every sublayer; and what lies about its lookups is refused."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import constructions
from constructions.engines import Decoding, find_engine, reference
from constructions.engines.incremental import LookupDecoder
from constructions.engines.protocol import GaveUp, NotCovered
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.models import MODELS
from constructions.language.files import load_model
from constructions.layers import Transformer
from constructions.wiring.affine import reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import ONE, is_square
from constructions.wiring.wire import BlockPlan, Component, Embedding, Head, wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.engines import agreement
from tests.engines.cases import EngineCase, graph_tokens, random_graph
from verify.inputs.hard_graphs import HardGraph
from verify.inputs.large_graphs import LargeGraph

SIDES = ("down", "gate", "up")


def istree(n: int, variant: str = "repaired", model: str = "transformer") -> Wired:
    return constructions.load("istree", model=model, n=n, variant=variant).wired


def assert_same(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> None:
    agreement.assert_same("incremental", EngineCase(model, arithmetic, tokens))


@pytest.mark.parametrize(
    ("model", "variant"),
    [("transformer", "repaired"), ("transformer", "lean"), ("hybrid", "repaired"), ("rag", "repaired")],
)
@pytest.mark.parametrize("n", [4, 9])
def test_every_register_of_istree(model, variant, n):
    wired, rng = istree(n, variant, model), random.Random(n)
    for _ in range(2):
        assert_same(wired.model, wired.arithmetic, graph_tokens(random_graph(n, rng), "paper"))


@pytest.mark.parametrize("variant", ["repaired", "lean"])
@pytest.mark.parametrize("shape", ["star", "path", "random recursive tree"])
def test_decoding_while_memory_grows(variant, shape, monkeypatch):
    monkeypatch.setattr("constructions.engines.incremental.decoder.FIRST_ROOM", 50)
    monkeypatch.setattr("constructions.engines.incremental.decoder.FIRST_RECORDS", 40_000)
    monkeypatch.setattr("constructions.engines.incremental.decoder.PIECE", 100)
    n = 300
    wired, graph = istree(n, variant), LargeGraph(shape, n, 11).graph()
    prompt = PAPER.prompt(graph)
    decoder = LookupDecoder(wired.model, wired.arithmetic, len(prompt) + 3 * n)
    stop = {PAPER.token("YES", n), PAPER.token("NO", n)}
    assert decoder.decode(prompt, stop, 3 * n) == expected_answer(graph, PAPER)


def test_a_lookup_that_lies_is_refused():
    wired = istree(4)
    for number, block in enumerate(wired.model.blocks):
        for i, head in enumerate(block.heads):
            for side in ("query", "key"):
                matrix = getattr(head, side).copy()
                row, column = (int(places[0]) for places in np.nonzero(matrix))
                matrix[row, column] *= 2
                heads = (*block.heads[:i], replace(head, **{side: matrix}), *block.heads[i + 1 :])
                blocks = list(wired.model.blocks)
                blocks[number] = replace(block, heads=heads)
                with pytest.raises(NotCovered, match="look up something else"):
                    LookupDecoder(replace(wired.model, blocks=tuple(blocks)), wired.arithmetic, 40)
    with pytest.raises(NotCovered):
        LookupDecoder(replace(wired.model, said=None), wired.arithmetic, 40)


def test_a_square_that_is_none_ends_the_run():
    wired = istree(4)
    words = wired.model.words.copy()
    square = wired.registers.index("vertex_squared")
    words[2, square] += 1
    decoder = LookupDecoder(replace(wired.model, words=words), wired.arithmetic, 40)
    tokens = graph_tokens(Graph(4, ((1, 2), (2, 3), (3, 4))), "paper")
    with pytest.raises(GaveUp, match="that vertex_squared = "):
        decoder.decode(tokens, set(), 1)


def test_what_lookups_do_not_decide_the_definition_does():
    """From the token on at which a check fails, and from the first one where nothing is said."""
    wired = istree(4)
    words = wired.model.words.copy()
    words[2, wired.registers.index("vertex_squared")] += 1
    tokens = graph_tokens(Graph(4, ((1, 3), (3, 4), (2, 4))), "paper")
    for model in (replace(wired.model, words=words), replace(wired.model, said=None)):
        asked = Decoding(model, wired.arithmetic, tokens, set(), 5)
        assert find_engine("incremental")(asked).produced == find_engine("reference")(asked).produced


@pytest.mark.parametrize("name", ["majority", "histogram", "sorting", "trigram", "dyck_bounded", "more_than"])
def test_programs_are_decided(name):
    model = constructions.load(name)
    example = load_model(name).program.examples[0]
    with mock.patch.object(reference.ReferenceEngine, "append", side_effect=AssertionError("not decided by lookups")):
        run = model.run(example, engine="incremental")
    assert run.answer == model.run(example, engine="reference").answer


def test_a_machine_is_decided():
    model = constructions.load("turing", machine="bb5", steps=500)
    with mock.patch.object(reference.ReferenceEngine, "append", side_effect=AssertionError("not decided by lookups")):
        run = model.run(500, engine="incremental")
    assert run.chain_of_thought == model.run(500, engine="dense").chain_of_thought


def test_a_machine_takes_a_record_for_each_cell_that_it_visits():
    """The head reads the latest position of a cell, so no other needs a record; position 1 and the token at hand have one each."""
    steps = 300
    model = constructions.load("turing", machine="bb5", steps=steps)
    wired, run = model.wired, model.run(steps, engine="dense")
    decoder = LookupDecoder(wired.model, wired.arithmetic, len(run.chain_of_thought) + 2)
    produced = decoder.decode(wired.tokens(["<s>"]), set(), len(run.chain_of_thought))
    assert [wired.vocabulary[token] for token in produced] == list(run.chain_of_thought)
    cells = {word for word in run.chain_of_thought if word.startswith("@")}
    assert len(cells) < decoder.records <= len(cells) + 2


def test_earlier_matches_are_kept_where_the_one_before_could_count():
    """With 127 bits after the point, e^−64 is more than half a quantum: the weight of a match one position earlier."""
    model = constructions.load("turing", machine="bb4", steps=20)
    wired, chain = model.wired, model.run(20, engine="reference").chain_of_thought
    for bits, reused in ((wired.arithmetic.format.significand_bits + 1, True), (255, False)):
        arithmetic = Arithmetic(fixed_point(bits))
        tokens = wired.tokens(["<s>", *chain[:-1]])
        decoder = LookupDecoder(wired.model, arithmetic, len(tokens) + 1)
        asked = Decoding(wired.model, arithmetic, tokens, set(), 1)
        assert decoder.decode(tokens, set(), 1) == find_engine("reference")(asked).produced
        assert (decoder.records < len(tokens) / 2) == reused


def test_states_beyond_31_bits():
    """The counts of a large star, in steps of what goes into the recurrence."""
    graph = HardGraph("star seen from a leaf", 10_000).graph()
    hybrid = MODELS["hybrid"]
    request = hybrid.request(hybrid.build(graph.n), graph)
    wired = request.wired
    decoder = LookupDecoder(wired.model, wired.arithmetic, len(request.prompt) + request.limit)
    produced = decoder.produce(request.prompt, request.stop, request.limit)
    assert wired.vocabulary[produced[-1]] == "YES"
    assert len(produced) == 736_202


def changed(model: Transformer, rng: random.Random) -> Transformer:
    """Another number for a weight of the words or of a feed-forward: registers then hold what no lookup was made for."""
    place, side = rng.randrange(-1, len(model.blocks)), rng.choice(SIDES)
    matrix = (model.words if place < 0 else getattr(model.blocks[place].feed_forward, side)).copy()
    if not (where := np.argwhere(matrix)).size:
        return model
    at = tuple(where[rng.randrange(len(where))])
    matrix[at] = rng.choice((0, -1, 2, matrix[at] + 1, matrix[at] / 2, 3 * matrix[at]))
    if place < 0:
        return replace(model, words=matrix)
    block = model.blocks[place]
    blocks = list(model.blocks)
    blocks[place] = replace(block, feed_forward=replace(block.feed_forward, **{side: matrix}))
    return replace(model, blocks=tuple(blocks))


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("variant", ["repaired", "lean"])
def test_changed_weights_are_run_rightly_or_given_up(variant, sequential):
    decided, wired = 0, constructions.load("istree", n=4, variant=variant, sequential=sequential).wired
    for seed in range(25):
        rng = random.Random(seed)
        tokens = graph_tokens(random_graph(4, rng), "paper")
        try:
            assert_same(changed(wired.model, rng), wired.arithmetic, tokens)
        except (NotCovered, GaveUp):
            continue
        decided += 1
    assert 0 < decided < 25


def equal_keys(ups: Sequence[int], discipline: Discipline) -> EngineCase:
    """A head that reads the key nearest to a wish: two words have this key, with squares that are rounded up by so many quanta."""
    fmt, scale = fixed_point(33), 2**10
    wish, far, quantum = Fraction(3, 2**11), Fraction(3, 2**11) + Fraction(1, 2), fmt.quantum
    words = [
        {"one": 1, "x": x, "x_squared": (x * x // quantum + up) * quantum, "wish": wish, "payload": i + 1 + quantum}
        for i, (x, up) in enumerate(zip((wish, wish, far), (*ups, 0), strict=True))
    ]
    components = (Component(scale * reg("x_squared"), -reg("one")), Component(scale * reg("x"), 2 * reg("wish")))
    lookup = Lookup((), 0, nearest_to(reg("x"), reg("wish"), scale), exempt=False)
    needs = (ONE, is_square(reg("x_squared"), reg("x")))
    head = Head("the nearest", components, {"found": reg("payload")}, "", needs, lookup)
    embedding = Embedding(("a", "b", "c"), tuple(words), "position")
    model, _ = wire(embedding, (BlockPlan((head,), ()),), embedding.words, fmt)
    return EngineCase(model, Arithmetic(fmt, discipline), [0, 1, 1, 0, 1, 2, 2])


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("ups", [(0, 0), (0, 1), (1, 0)])
def test_equal_keys_of_unequal_squares_share_nothing(ups, discipline):
    """Their scores differ by many quanta. Under `sequential`, shares of what they hold are rounded one by one, too."""
    case = equal_keys(ups, discipline)
    if ups == (0, 0) and discipline is Discipline.FUSED:
        assert_same(*case)
    else:
        with pytest.raises(GaveUp):
            assert_same(*case)
