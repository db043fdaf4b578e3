"""Every engine against the reference engine, which runs once for all of them: registers, next tokens, logits and flags."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from unittest import mock

from constructions.engines import indexed
from constructions.engines.incremental import GaveUp, LookupDecoder, NotCovered
from constructions.engines.indexed import engine as indexed_engine
from constructions.engines.indexed.head import KeysForgotten
from tests.engines import dense_cases
from tests.engines.cases import Case, Registers, Trace, difference, reference_trace

TILES = (3, 16, 64)  # of the dense engine
PARTS = (1, 7)  # positions of a part of a chunk

Columns = indexed.Columns


def dense_agrees(case: Case, expected: Trace) -> indexed.Columns:
    """Beside the first half of the sequence, which a causal model reads alike, and beside none of it. Every column is dense."""
    tokens, tile = list(case.tokens), TILES[sum(case.tokens) % len(TILES)]
    texts = [tokens, tokens[: len(tokens) // 2], []]
    dense_cases.compare(
        case.model, case.arithmetic, texts, [expected, *(expected.until(len(t)) for t in texts[1:])], tile
    )
    return indexed.Columns(dense=sum(len(block.heads) for block in case.model.blocks) * len(tokens))


def indexed_agrees(case: Case, expected: Trace) -> indexed.Columns:
    """The whole sequence at once."""
    registers: Registers = []
    e = case.arithmetic.format.quantum_exponent
    run = indexed.run(
        case.model,
        case.arithmetic,
        case.tokens,
        observe=lambda block, sublayer, columns: registers.append([column.to_quanta(e) for column in columns]),
    )
    assert difference(Trace(registers, run.next_tokens.tolist()), expected) == ""
    return run.columns


def parts_agree(case: Case, expected: Trace) -> indexed.Columns:
    """Part by part; only registers after the last block, as what is observed is in one part."""
    e = case.arithmetic.format.quantum_exponent
    for size in PARTS:
        with mock.patch.object(indexed_engine, "PART", size):
            run = indexed.run(case.model, case.arithmetic, case.tokens)
            registers = [column.to_quanta(e) for column in run.registers]
        assert difference(Trace([registers], run.next_tokens.tolist()), expected) == ""
    return run.columns


def chunked(case: Case, cuts: Sequence[int], *, forget: bool) -> tuple[Trace, indexed.Columns, indexed.State]:
    """What a run over the chunks between `cuts` leaves behind. Raises KeysForgotten if it forgot a key that it needs later."""
    engine = indexed.Indexed(case.model, case.arithmetic)
    e = case.arithmetic.format.quantum_exponent
    registers: Registers = []
    following: list[int] = []
    columns, state = indexed.Columns(), engine.start
    for begin, end in zip([0, *cuts], [*cuts, len(case.tokens)], strict=True):
        part: Registers = []
        state, run = engine.advance(
            state,
            case.tokens[begin:end],
            observe=lambda block, sublayer, now, part=part: part.append([column.to_quanta(e) for column in now]),
            forget=forget,
        )
        before = registers or [[[] for _ in rows] for rows in part]
        registers = [
            [old + new for old, new in zip(old_rows, new_rows, strict=True)]
            for old_rows, new_rows in zip(before, part, strict=True)
        ]
        following += run.next_tokens.tolist()
        columns.add(run.columns)
    assert state.length == len(case.tokens)
    return Trace(registers, following), columns, state


def cuts_of(rng: random.Random, length: int) -> list[int]:
    """Where to cut a sequence: at a few places, or everywhere if it is short."""
    places = range(1, length)
    most = rng.choice((1, 2, 3, len(places) if length <= 12 else 5))
    return sorted(rng.sample(places, min(most, len(places))))


def chunks_agree(case: Case, expected: Trace) -> indexed.Columns:
    """In a few chunks, keeping all keys and forgetting some."""
    cuts = cuts_of(random.Random(repr(case.tokens)), len(case.tokens))
    actual, columns, _ = chunked(case, cuts, forget=False)
    assert difference(actual, expected) == ""
    try:
        actual, _, _ = chunked(case, cuts, forget=True)
    except KeysForgotten:
        return columns
    assert difference(actual, expected) == ""
    return columns


def incremental_agrees(case: Case, expected: Trace) -> indexed.Columns:
    """Token by token, by lookups. Raises NotCovered, GaveUp for what lookups do not decide."""
    sublayers = range(2 * len(case.model.blocks) + 1)
    decoder = LookupDecoder(case.model, case.arithmetic, len(case.tokens) + 1, keep=frozenset(sublayers))
    following = [decoder.append(token) for token in case.tokens]
    assert difference(Trace([decoder.registers(i) for i in sublayers], following), expected) == ""
    assert decoder.length == len(case.tokens)
    if sum(len(block.heads) for block in case.model.blocks) == 1:  # records that nothing reads are taken again
        forgetful = LookupDecoder(case.model, case.arithmetic, len(case.tokens) + 1)
        assert [forgetful.append(token) for token in case.tokens] == expected.next_tokens
    return indexed.Columns(certified=sum(len(block.heads) for block in case.model.blocks) * len(case.tokens))


ENGINES: Mapping[str, Callable[[Case, Trace], Columns]] = {
    "dense": dense_agrees,
    "indexed": indexed_agrees,
    "incremental": incremental_agrees,
    "indexed in parts": parts_agree,
    "indexed in chunks": chunks_agree,
}
QUICK = ("dense", "indexed", "incremental")
PIECEMEAL = ("indexed in parts", "indexed in chunks")


def assert_same(name: str, case: Case, expected: Trace | None = None) -> Columns:
    """That an engine has the reference's bits; how it decided its columns."""
    columns = ENGINES[name](case, expected or reference_trace(case))
    heads = sum(len(block.heads) for block in case.model.blocks)
    assert columns.certified + columns.dense == heads * len(case.tokens)
    return columns


def agree(case: Case, names: Iterable[str] = ENGINES) -> Mapping[str, Columns]:
    """That these engines have the reference's bits; how they decided their columns.

    `incremental` is left out where lookups do not decide: there it is the reference engine.
    """
    expected, found = reference_trace(case), dict[str, Columns]()
    for name in names:
        with suppress(NotCovered, GaveUp):
            found[name] = assert_same(name, case, expected)
    return found
