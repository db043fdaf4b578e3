"""Greedy decoding by each engine.

`reference` and `incremental` decode token by token. The others run a whole sequence at once, so a guess of the answer is fed behind
the prompt: up to the first position whose argmax differs from the guess, induction shows that decoding gives the same tokens, and
it goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from constructions.engines.protocol import Decoded, EngineFailed, Respond, Tick, no_response

if TYPE_CHECKING:
    from constructions.engines.dense import DenseRun
    from constructions.engines.reference import Flags
    from constructions.layers import Transformer
    from precision.format import Arithmetic


def by_block_and_head(sites: Mapping[str, int]) -> dict[tuple[int, int], int]:
    """Counts of sites such as `2.attn.0` by block and head."""
    return {(int(block), int(head)): count for site, count in sites.items() for block, _, head in [site.split(".")]}


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
    beyond: bool = False,
) -> Decoded:
    """Token by token."""
    from constructions.engines.reference import ReferenceEngine

    model.admit(len(prompt), beyond=beyond)
    engine = ReferenceEngine(model, arithmetic, beyond=beyond)
    sequence, produced = list(prompt), list[int]()
    while engine.length < len(sequence):
        step = engine.append(sequence[engine.length])
        tick(engine.length)
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
    return Decoded(produced, engine.flags, "reference")


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
    beyond: bool = False,
) -> Decoded:
    """Token by token: with an index over the keys of each head where that is compiled, else by the reference engine."""
    from constructions.engines.incremental import IncrementalDecoder, compiled_machine

    machine = compiled_machine(arithmetic)
    if not prompt:
        raise IndexError("a prompt needs at least one token")
    if machine is None:
        decoded = decode_by_reference(model, arithmetic, prompt, stop, limit, respond=respond, tick=tick, beyond=beyond)
        return replace(decoded, recorded=None, engine="incremental")
    decoder = IncrementalDecoder(model, arithmetic, beyond=beyond)
    produced = decoder.decode(prompt, stop, limit, respond=respond, tick=tick)
    return Decoded(produced, None, "incremental", uncertified=by_block_and_head(decoder.columns.uncertified))


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
    beyond: bool = False,
    device: str = "cpu",
) -> Decoded:
    """By runs over whole sequences, and one more over what decoding feeds if the flags are asked for. device: cpu or cuda."""
    from constructions.engines import dense

    def run(tokens: Sequence[int], *, flags: bool = False) -> DenseRun:
        try:
            return dense.run(model, arithmetic, [tokens], device=device, flags=flags, beyond=beyond)
        except dense.EngineError as error:
            raise EngineFailed(str(error)) from error

    before = behind = 0  # the length of the sequence before and behind the last response

    def follow(sequence: Sequence[int]) -> Sequence[int]:
        nonlocal before, behind
        response = respond(sequence)
        before, behind = len(sequence), len(sequence) + len(response)
        return response

    def flags() -> Flags:
        by_sequence = run(fed, flags=True).flags
        if by_sequence is None:
            raise TypeError("there is no found")
        return by_sequence[0]

    produced = decode_with_guess(
        lambda known, draft: run([*known, *draft]).next_tokens[0].tolist(),
        prompt,
        stop,
        limit,
        readable(guess, model, prompt, beyond),
        follow,
        tick,
    )
    sequence = [*prompt, *produced]
    # The last token that the model wrote is not fed, nor is the response to it. A token of `stop` has none.
    fed = sequence[: before - 1] if len(sequence) == behind else sequence[:-1]
    return Decoded(produced, flags, "dense")


def decode_by_indexed(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    *,
    guess: Sequence[int] = (),
    respond: Respond = no_response,
    tick: Tick = lambda length: None,
    beyond: bool = False,
) -> Decoded:
    """By runs over what is not known of the sequence yet: the engine remembers the rest."""
    runs, draft = IndexedRuns(model, arithmetic, beyond=beyond), readable(guess, model, prompt, beyond)
    produced = decode_with_guess(runs, prompt, stop, limit, draft, respond, tick)
    return Decoded(produced, None, "indexed", uncertified=runs.uncertified)


class IndexedRuns:
    """What `decode_with_guess` runs by `indexed`: the state behind what is known of the sequence is kept."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic, *, beyond: bool = False) -> None:
        from constructions.engines.indexed import Indexed

        self._engine = Indexed(model, arithmetic, beyond=beyond)
        self._state = self._engine.start
        self._argmax: list[int] = []  # at each position that the state has read
        self._dense = Counter[str]()

    def __call__(self, known: Sequence[int], draft: Sequence[int]) -> Sequence[int]:
        """The argmax at each position."""
        fed = [*known[self._state.length :], *draft]
        after, run = self._engine.advance(self._state, fed, remember=not draft)
        self._dense.update(run.columns.dense_by_head)
        following = run.next_tokens.tolist()
        if draft:
            return [*self._argmax, *following]
        self._state = after
        self._argmax.extend(following)
        return self._argmax

    @property
    def uncertified(self) -> dict[tuple[int, int], int]:
        """See Decoded, over all runs so far."""
        return by_block_and_head(self._dense)


def readable(guess: Sequence[int], model: Transformer, prompt: Sequence[int], beyond: bool) -> Sequence[int]:
    """As much of a guess as the model may read: what else it guesses makes no difference, as with a guess that is wrong."""
    return guess if beyond or model.longest is None else guess[: max(0, model.longest - len(prompt))]


def decode_with_guess(
    run: Callable[[Sequence[int], Sequence[int]], Sequence[int]],
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    guess: Sequence[int],
    respond: Respond = no_response,
    tick: Tick = lambda length: None,
) -> list[int]:
    """Greedy decoding by runs over whole sequences: a right guess takes one of them, each token after a wrong one another.

    run: the argmax at each position of a sequence, told which tokens are known to be of it and which are a draft behind these.
    """
    sequence, agrees = list(prompt), True  # agrees: what was decoded is what the guess says
    while True:
        draft = list(guess[len(sequence) - len(prompt) : limit])[:-1] if agrees else []
        fed = [*sequence, *draft]
        argmax = run(sequence, draft)
        while len(sequence) <= len(fed):
            start = len(sequence)
            sequence.append(int(argmax[start - 1]))
            if sequence[-1] in stop:
                return sequence[len(prompt) :]
            sequence.extend(respond(sequence))
            if len(sequence) - len(prompt) >= limit:
                return sequence[len(prompt) :]
            if sequence[start:] != fed[start : len(sequence)]:
                break
        behind = len(sequence) - len(prompt)
        agrees = agrees and behind < len(guess) and sequence[len(prompt) :] == list(guess[:behind])
        tick(len(sequence))
