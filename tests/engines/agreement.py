"""Every engine against the reference engine, which runs once for all of them: registers, next tokens, logits and flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from constructions.engines.incremental import LookupDecoder
from constructions.engines.native import NativeDecoder
from constructions.engines.protocol import GaveUp, NotCovered
from constructions.layers import Transformer
from precision.format import Arithmetic
from tests.engines import dense_cases
from tests.engines.cases import EngineCase, Trace, difference, reference_trace

TILES = (3, 16, 64)  # of the dense engine


def dense_agrees(case: EngineCase, expected: Trace) -> None:
    """Beside the first half of the sequence, which a causal model reads alike, and beside none of it."""
    tokens, tile = list(case.tokens), TILES[sum(case.tokens) % len(TILES)]
    texts = [tokens, tokens[: len(tokens) // 2], []]
    dense_cases.compare(
        case.model, case.arithmetic, texts, [expected, *(expected.until(len(t)) for t in texts[1:])], tile
    )


def incremental_agrees(case: EngineCase, expected: Trace) -> None:
    """Token by token, by lookups. Raises NotCovered, GaveUp for what lookups do not decide."""
    sublayers = range(2 * len(case.model.blocks) + 1)
    decoder = LookupDecoder(case.model, case.arithmetic, len(case.tokens), keep=frozenset(sublayers))
    following = [decoder.append(token) for token in case.tokens]
    assert difference(Trace([decoder.registers(i) for i in sublayers], following), expected) == ""
    assert decoder.length == len(case.tokens)
    if sum(len(block.heads) for block in case.model.blocks) == 1:  # records that nothing reads are taken again
        forgetful = LookupDecoder(case.model, case.arithmetic, len(case.tokens))
        assert [forgetful.append(token) for token in case.tokens] == expected.next_tokens


def native_agrees(case: EngineCase, expected: Trace) -> None:
    """Token by token; and the first half before the rest, with flags. Raises NotCovered."""
    sublayers, half = range(2 * len(case.model.blocks) + 1), len(case.tokens) // 2
    decoder = NativeDecoder(case.model, case.arithmetic, len(case.tokens), keep=frozenset(sublayers))
    following = [decoder.append(token) for token in case.tokens]
    assert difference(Trace([decoder.registers(i) for i in sublayers], following), expected) == ""
    at_once = NativeDecoder(case.model, case.arithmetic, len(case.tokens), count_flags=True)
    for part, place in ((case.tokens[:half], half), (case.tokens[half:], len(case.tokens))):
        if part:
            assert at_once.decode(part, set(), 1) == [expected.next_tokens[place - 1]]
    assert expected.flags is not None
    assert at_once.flags().counts.items() ^ expected.flags.counts.items() == set()  # easily read
    assert at_once.flags() == expected.flags


ENGINES: Mapping[str, Callable[[EngineCase, Trace], None]] = {
    "dense": dense_agrees,
    "native": native_agrees,
    "incremental": incremental_agrees,
}
UNDECIDED = (NotCovered, GaveUp)
"""What an engine raises that leaves a model, or a text, to another one."""


def assert_same(name: str, case: EngineCase, expected: Trace | None = None) -> None:
    """That an engine has the reference's bits. Raises what UNDECIDED lists."""
    ENGINES[name](case, expected or reference_trace(case))


def agree(case: EngineCase, names: Iterable[str] = ENGINES) -> set[str]:
    """That these engines have the reference's bits. Returns those that decided it: lookups may not."""
    expected, decided = reference_trace(case), set[str]()
    for name in names:
        with suppress(*UNDECIDED):
            assert_same(name, case, expected)
            decided.add(name)
    return decided


def follow_by_lookups(
    model: Transformer, arithmetic: Arithmetic, prompt: Sequence[int], answer: Sequence[int]
) -> int | None:
    """The index of the first token of the answer that the model writes otherwise. Raises NotCovered, GaveUp."""
    decoder = LookupDecoder(model, arithmetic, len(prompt) + len(answer))
    produced = decoder.produce(prompt, set(), len(answer), wanted=np.asarray(answer))
    return next((i for i, (a, b) in enumerate(zip(produced.tolist(), answer, strict=False)) if a != b), None)
