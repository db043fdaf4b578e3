"""A wired model knows the longest sequence that it is certified for, and no engine reads a longer one unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from constructions import counting, index, ngram, recall
from constructions.engines import ENGINES, Decoding, dense, find_engine, reference
from constructions.engines.incremental import LookupDecoder
from constructions.engines.known import first_mismatch, read_text
from constructions.engines.native import NativeDecoder
from constructions.istree import hybrid, rag, transformer
from constructions.istree.graphs import PAPER
from constructions.layers import BeyondBound, Transformer
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import Question
from constructions.turing import cot
from constructions.turing import hybrid as tape_hybrid
from constructions.turing import rag as tape_rag
from constructions.turing.library import find
from constructions.wiring.wired import UnknownToken, Wired
from precision.format import Arithmetic

MODEL = transformer.TRANSFORMER.build(4)
LONGEST = 3 * 6 + 2 + 7 + 2  # all edges of 4 vertices, a tour, a closing token, the verdict
EDGES = [MODEL.token["<s>"], *[MODEL.token[word] for word in ("1", "~", "2")] * 80]  # 241 tokens
Run = Callable[[Transformer, Arithmetic, list[int], bool], object]


def _by_reference(model: Transformer, arithmetic: Arithmetic, tokens: list[int], beyond: bool) -> object:
    engine = reference.ReferenceEngine(model, arithmetic, beyond=beyond)
    return [engine.append(token).next_token for token in tokens]


def _appended(
    kind: type[LookupDecoder | NativeDecoder],
    model: Transformer,
    arithmetic: Arithmetic,
    tokens: list[int],
    beyond: bool,
) -> object:
    engine = kind(model, arithmetic, len(tokens), beyond=beyond)
    return [engine.append(token) for token in tokens]


READERS: dict[str, Run] = {
    "reference": _by_reference,
    "dense": lambda m, a, tokens, beyond: dense.run(m, a, [tokens[:3], tokens], beyond=beyond),
    "dense.matches": lambda m, a, tokens, beyond: dense.matches(m, a, [tokens[:9]], [[*tokens[9:], 0]], beyond=beyond),
    "read_text": lambda m, a, tokens, beyond: read_text(m, a, tokens, beyond=beyond),
    "first_mismatch": lambda m, a, tokens, beyond: first_mismatch(m, a, tokens, [0], beyond=beyond),
    "native": partial(_appended, NativeDecoder),
    "incremental": partial(_appended, LookupDecoder),
    **{
        f"decode by {name}": lambda m, a, tokens, beyond, name=name: find_engine(name)(
            Decoding(m, a, tokens, set(), 1, beyond=beyond)
        )
        for name in ENGINES
    },
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
def test_no_engine_reads_more_than_is_certified(reader: Run) -> None:
    model, arithmetic = MODEL.model, MODEL.arithmetic
    assert model.longest == LONGEST
    reader(model, arithmetic, EDGES[:LONGEST], False)
    for length in (LONGEST + 1, len(EDGES)):
        with pytest.raises(
            BeyondBound, match=f"a sequence of {length if length < 31 else '[0-9]+'} .*certified for, 29 tokens"
        ):
            reader(model, arithmetic, EDGES[:length], False)
    reader(model, arithmetic, EDGES[: LONGEST + 1], True)
    reader(replace(model, longest=None), arithmetic, EDGES[: LONGEST + 1], False)


@pytest.mark.parametrize("name", ENGINES)
def test_decoding_stops_at_the_bound(name: str) -> None:
    """A model that never stops is decoded as far as it is certified, and not silently cut short; a guess makes no difference."""
    decode, prompt = find_engine(name), [MODEL.token[word] for word in ("<s>", "1", "~", "2")]
    model = replace(MODEL.model, longest=10)
    wide = decode(Decoding(MODEL.model, MODEL.arithmetic, prompt, set(), 7)).produced
    for guess in ((), wide, [*wide, *range(4), *range(4)], [0] * 50):
        assert decode(Decoding(model, MODEL.arithmetic, prompt, set(), 7, guess=guess)).produced == wide
        with pytest.raises(BeyondBound, match="11 tokens is beyond"):
            decode(Decoding(model, MODEL.arithmetic, prompt, set(), 8, guess=guess))
        assert len(decode(Decoding(model, MODEL.arithmetic, prompt, set(), 8, guess=guess, beyond=True)).produced) == 8


def _built() -> Iterator[tuple[str, Wired, int]]:
    """Each construction, and what the setting of its constants says."""
    for n in (1, 4):
        for program in (transformer.TRANSFORMER, rag.RAG, hybrid.HYBRID):
            wired = program.build(n)
            yield f"istree {program.names}", wired, program.setting(n, wired.arithmetic.format).length
        for module in (index, recall, ngram, counting):
            for retriever in module.DOOR.wirings.values():
                wired = retriever.build(n)
                setting = retriever.setting(n, wired.arithmetic.format)
                yield f"{module.__name__} {retriever.model}", wired, setting.length
    for model in (tape_rag.TuringRag(), tape_hybrid.TuringHybrid()):
        wired = model.build(6)
        yield f"turing {model.names}", wired, model.setting(6, wired.arithmetic.format).length


def test_the_bound_is_that_of_the_constants() -> None:
    built = list(_built())
    assert len(built) == 2 * (3 + 12) + 2
    for name, wired, length in built:
        assert wired.model.longest == length, name


def test_a_tape_that_turns_around_knows_a_longer_bound() -> None:
    """Its constants do not depend on the number of steps, so the bound is the most that a task may have."""
    wired = cot.Cot(find("bb2").machine, cells=6).build(2)
    assert wired.model.longest == 7 * (10**7 + 1) + 2


def test_a_question_beyond_the_bound_is_refused_with_it() -> None:
    for retriever, good, bad in (
        (index.TRANSFORMER, Question((4, 3, 2, 1), (4,)), Question((1, 2), (5,))),
        (recall.RAG, Question((4, 3, 2, 1), (4,)), Question((1, 5), (1,))),
        (counting.HYBRID, Question((4, 4, 4, 4), (4, 4)), Question((1, 2), (1, 5))),
    ):
        wired = retriever.build(4)
        assert retriever.request(wired, good).prompt == wired.tokens(good.words())
        with pytest.raises(ValueError, match="5 is above 4, the largest number that this model is certified for"):
            retriever.request(wired, bad)
        with pytest.raises(ValueError, match="the sequence has 5 tokens; this model is certified for 4 at most"):
            retriever.request(wired, Question((1,) * 5, good.query))
    ask: Retriever = ngram.TRANSFORMER
    with pytest.raises(ValueError, match="the query has 1 tokens; this model is wired for 2"):
        ask.request(ask.build(4), Question((1, 2), (1,)))


def test_a_number_without_a_token_is_named() -> None:
    with pytest.raises(UnknownToken, match=r"'5' is none of the 10 tokens of this model, which is wired for n = 4"):
        MODEL.tokens(["1", PAPER.joint, "5"])
