"""What a model makes of a text that is known beforehand: the registers at each position, or the first token that differs.

By default the engine is the one that `auto` would decode with; all of them have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from constructions.engines.auto import choose, decode_by_auto
from constructions.engines.decoding import CODE, load_decoder
from constructions.engines.protocol import Decoded, Decoding, GaveUp, NotCovered, Tick
from constructions.layers import Transformer
from precision.format import Arithmetic

Stream = Sequence[Sequence[int]]
"""Each register at all positions, in quanta."""


@dataclass(frozen=True, eq=False)
class KnownRun:
    """streams: after the sublayers that were asked for, in order. next_tokens: the argmax at each position. engine: that ran."""

    streams: Sequence[Stream]
    next_tokens: Sequence[int]
    engine: str


def read_text(
    model: Transformer,
    arithmetic: Arithmetic,
    tokens: Sequence[int],
    sublayers: Sequence[int] | None = None,
    *,
    engine: str = "auto",
    beyond: bool = False,
) -> KnownRun:
    """Returns what the tokens leave behind. sublayers: counted from 0, the embedding; by default all. engine: that reads, where it
    can; what lookups do not decide, another one reads.

    Raises IndexError for no tokens, or for one outside the vocabulary; BeyondBound.
    """
    if not len(tokens):
        raise IndexError("a sequence needs at least one token")
    tokens = [int(token) for token in tokens]
    sublayers = range(2 * len(model.blocks) + 1) if sublayers is None else sublayers
    model.admit(len(tokens), beyond=beyond)
    name = choose(model, arithmetic, len(tokens), 1, 0) if engine == "auto" else engine
    without = set[str]()
    while name in CODE:
        with suppress(NotCovered, GaveUp):
            return _read_by_code(name, model, arithmetic, tokens, sublayers, beyond)
        without.add(name)
        name = choose(model, arithmetic, len(tokens), 1, 0, without)
    return (_read_by_dense if name == "dense" else _read_by_reference)(model, arithmetic, tokens, sublayers, beyond)


def _read_by_code(
    name: str,
    model: Transformer,
    arithmetic: Arithmetic,
    tokens: Sequence[int],
    sublayers: Sequence[int],
    beyond: bool,
) -> KnownRun:
    decoder = load_decoder(name)(model, arithmetic, len(tokens), beyond=beyond, keep=frozenset(sublayers))
    following = [decoder.append(token) for token in tokens]
    return KnownRun([decoder.registers(i) for i in sublayers], following, name)


def _read_by_reference(
    model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int], sublayers: Sequence[int], beyond: bool
) -> KnownRun:
    from constructions.engines.reference import ReferenceEngine

    engine = ReferenceEngine(model, arithmetic, beyond=beyond)
    steps = [engine.append(token) for token in tokens]
    streams = [list(zip(*(step.registers[i] for step in steps), strict=True)) for i in sublayers]
    return KnownRun(streams, [step.next_token for step in steps], "reference")


def _read_by_dense(
    model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int], sublayers: Sequence[int], beyond: bool
) -> KnownRun:
    from constructions.engines import dense

    run = dense.run(model, arithmetic, [tokens], keep_registers=list(sublayers), beyond=beyond)
    kept = run.registers[0] if run.registers else ()
    streams = [list(zip(*([int(x) for x in row] for row in kept[i]), strict=True)) for i in sublayers]
    return KnownRun(streams, run.next_tokens[0].tolist(), "dense")


def first_mismatch(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    answer: Sequence[int] | Any,
    *,
    decode: Callable[[Decoding], Decoded] = decode_by_auto,
    tick: Tick = lambda length: None,
    beyond: bool = False,
) -> tuple[int | None, Decoded]:
    """Returns the index of the first token of the answer that greedy decoding writes otherwise, None if there is none; and what was
    decoded, up to that token.

    Raises IndexError for an empty prompt, or a token of it outside the vocabulary; BeyondBound.
    """
    answer = np.asarray(answer, np.int64)
    asked = Decoding(model, arithmetic, prompt, set(), len(answer), answer, tick=tick, beyond=beyond, follow=True)
    decoded = decode(asked)
    produced = np.asarray(decoded.produced, np.int64)
    wrong = np.flatnonzero(produced != answer[: len(produced)])
    return (int(wrong[0]) if len(wrong) else None), decoded
