"""Engines: four ways to run the same weights, bit for bit alike. `reference` is the definition.

`find_engine` gives greedy decoding by any of them. `reference` and `incremental` decode token by token. The others run a whole
sequence at once, so a guess of the answer is fed behind the prompt: up to the first position whose argmax differs from the guess,
induction shows that decoding gives the same tokens, and it goes on from there.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from constructions.engines.dense import DenseRun
    from constructions.engines.reference import Flags, Step
    from constructions.layers import Transformer
    from precision.format import Arithmetic

ENGINES = ("reference", "dense", "indexed", "incremental")
Tick = Callable[[int], None]
Respond = Callable[[Sequence[int]], Sequence[int]]
"""Told the sequence after each token that the model wrote: what its surroundings append, such as a search result; often nothing."""
Forward = Callable[["Transformer", "Arithmetic", Sequence[int]], Sequence[int]]
"""A model, how it rounds, and a sequence: the argmax at each position."""


class EngineMissing(ValueError):
    """There is no such engine here, or what it needs is not there; the message is one line."""


class EngineFailed(RuntimeError):
    """An engine could not finish, for want of memory say; the message is one line."""


@dataclass(frozen=True)
class Decoded:
    """Greedy decoding. produced: the tokens after the prompt, responses included.

    recorded: the flags of the positions that were fed, or what finds them; None if the engine records none.
    """

    produced: list[int]
    recorded: Flags | Callable[[], Flags] | None
    steps: list[Step] = field(default_factory=list)

    @cached_property
    def flags(self) -> Flags | None:
        """What was recorded. May raise EngineFailed, as finding it may take another run."""
        return self.recorded() if callable(self.recorded) else self.recorded


class Decode(Protocol):
    """Feeds the prompt, then each argmax and the response to it, until an argmax is in `stop` or there are `limit` new tokens.

    guess: what the answer may be, which changes only how long it takes. tick: told the length of the sequence now and then.
    """

    def __call__(
        self,
        model: Transformer,
        arithmetic: Arithmetic,
        prompt: Sequence[int],
        stop: set[int],
        limit: int,
        *,
        guess: Sequence[int] = (),
        respond: Respond = ...,
        tick: Tick = ...,
    ) -> Decoded: ...


def no_response(sequence: Sequence[int]) -> Sequence[int]:
    """For a model that is alone."""
    return ()


def find_engine(name: str) -> Decode:
    """Decoding by the engine of this name, which is imported only now: engines may need much. Raises EngineMissing."""
    if name == "reference":
        return decode_by_reference
    module_name = f"{__name__}.{name}"
    if name not in ENGINES or importlib.util.find_spec(module_name) is None:
        there = [engine for engine in ENGINES if importlib.util.find_spec(f"{__name__}.{engine}")]
        raise EngineMissing(f"engine {name!r} is not installed; available: {', '.join(there)}")
    try:
        importlib.import_module(module_name)
    except ImportError as error:
        raise EngineMissing(f"engine {name!r} cannot be loaded: {error}") from error
    if name == "incremental":
        return decode_by_incremental
    if name == "dense":
        return decode_by_dense
    forward = _indexed

    def decode(
        model: Transformer,
        arithmetic: Arithmetic,
        prompt: Sequence[int],
        stop: set[int],
        limit: int,
        *,
        guess: Sequence[int] = (),
        respond: Respond = no_response,
        tick: Tick = lambda length: None,
    ) -> Decoded:
        produced = decode_by_forward(forward, model, arithmetic, prompt, stop, limit, guess, respond, tick)
        return Decoded(produced, None)

    return decode


def decode_by_reference(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    *,
    guess: Sequence[int] = (),
    respond: Respond = no_response,
    tick: Tick = lambda length: None,
    keep_steps: bool = False,
) -> Decoded:
    """Token by token; keep_steps: what each token left behind is kept."""
    from constructions.engines.reference import ReferenceEngine

    engine = ReferenceEngine(model, arithmetic)
    sequence, produced, steps = list(prompt), list[int](), []
    while engine.length < len(sequence):
        step = engine.append(sequence[engine.length])
        tick(engine.length)
        if keep_steps:
            steps.append(step)
        if engine.length == len(sequence):
            produced.append(step.next_token)
            sequence.append(step.next_token)
            if step.next_token in stop:
                break
            response = respond(sequence)
            produced.extend(response)
            sequence.extend(response)
            if len(produced) >= limit:
                break
    return Decoded(produced, engine.flags, steps)


def decode_by_incremental(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    *,
    guess: Sequence[int] = (),
    respond: Respond = no_response,
    tick: Tick = lambda length: None,
) -> Decoded:
    """Token by token, with an index over the keys of each head."""
    from constructions.engines.incremental import IncrementalDecoder

    decoder = IncrementalDecoder(model, arithmetic)
    return Decoded(decoder.decode(prompt, stop, limit, respond=respond, tick=tick), None)


def decode_by_dense(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    *,
    guess: Sequence[int] = (),
    respond: Respond = no_response,
    tick: Tick = lambda length: None,
) -> Decoded:
    """By runs over whole sequences, and one more over what decoding feeds if the flags are asked for."""
    before = behind = 0  # the length of the sequence before and behind the last response

    def follow(sequence: Sequence[int]) -> Sequence[int]:
        nonlocal before, behind
        response = respond(sequence)
        before, behind = len(sequence), len(sequence) + len(response)
        return response

    produced = decode_by_forward(_dense, model, arithmetic, prompt, stop, limit, guess, follow, tick)
    sequence = [*prompt, *produced]
    # The last token that the model wrote is not fed, nor is the response to it. A token of `stop` has none.
    fed = sequence[: before - 1] if len(sequence) == behind else sequence[:-1]

    def flags() -> Flags:
        found = _run_dense(model, arithmetic, fed, flags=True).flags
        assert found is not None
        return found[0]

    return Decoded(produced, flags)


def decode_by_forward(
    forward: Forward,
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    guess: Sequence[int],
    respond: Respond = no_response,
    tick: Tick = lambda length: None,
) -> list[int]:
    """Greedy decoding by runs over whole sequences: a right guess takes one of them, each token after a wrong one another."""
    sequence = list(prompt)
    while True:
        behind = len(sequence) - len(prompt)
        draft = list(guess[behind:limit]) if list(guess[:behind]) == sequence[len(prompt) :] else []
        fed = [*sequence, *draft[:-1]]
        argmax = forward(model, arithmetic, fed)
        right = True  # the sequence so far is the one that was fed
        while right and len(sequence) <= len(fed):
            start = len(sequence)
            sequence.append(int(argmax[start - 1]))
            if sequence[-1] in stop:
                return sequence[len(prompt) :]
            sequence.extend(respond(sequence))
            if len(sequence) - len(prompt) >= limit:
                return sequence[len(prompt) :]
            right = sequence[start:] == fed[start : len(sequence)]
        tick(len(sequence))


def _dense(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> Sequence[int]:
    return [int(token) for token in _run_dense(model, arithmetic, tokens).next_tokens[0]]


def _run_dense(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int], *, flags: bool = False) -> DenseRun:
    from constructions.engines import dense

    try:
        return dense.run(model, arithmetic, [tokens], flags=flags)
    except dense.EngineError as error:
        raise EngineFailed(str(error)) from error


def _indexed(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> Sequence[int]:
    from constructions.engines import indexed

    return [int(token) for token in indexed.run(model, arithmetic, tokens).next_tokens]
