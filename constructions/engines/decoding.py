"""Greedy decoding by each engine.

`reference`, `native` and `incremental` decode token by token. `dense` runs a whole sequence at once, so a guess of the answer is
fed after the prompt: up to the first position whose argmax differs from the guess, induction shows that decoding gives the same
tokens, and it goes on from there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from constructions.engines.protocol import Decode, Decoded, Decoding, EngineFailed, GaveUp, NotCovered, Produced

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from constructions.engines.dense import DenseRun
    from constructions.engines.feeding import Feeder
    from constructions.engines.reference import Flags

CODE = {"native": "machine code", "incremental": "lookups"}
"""Engines of machine code that take in one token after another, and what decides there."""


def decode_by_reference(asked: Decoding) -> Decoded:
    """Decodes token by token with the reference engine."""
    from constructions.engines.reference import ReferenceEngine

    asked.model.admit(len(asked.prompt), beyond=asked.beyond)
    engine = ReferenceEngine(asked.model, asked.arithmetic, beyond=asked.beyond)
    sequence = list(asked.prompt)
    while engine.length < len(sequence):
        step = engine.append(sequence[engine.length])
        asked.tick(engine.length)
        if engine.length == len(sequence):
            sequence.append(step.next_token)
            if asked.ends(engine.length - len(asked.prompt), step.next_token):
                break
            sequence.extend(asked.respond(sequence))
            if len(sequence) - len(asked.prompt) >= asked.limit:
                break
    return Decoded(sequence[len(asked.prompt) :], engine.flags, "reference")


def decode_by_incremental(asked: Decoding) -> Decoded:
    """Decodes token by token by lookups; what these do not decide, with the reference engine, after one message."""
    decoded, why = decode_by_code("incremental", asked)
    return replace(_decode_rest(asked, decoded, why), recorded=None)


def decode_by_native(asked: Decoding) -> Decoded:
    """Decodes token by token, by machine code; what that has not with the reference engine, after one message."""
    return _decode_rest(asked, *decode_by_code("native", asked))


def _decode_rest(asked: Decoding, decoded: Decoded, why: str) -> Decoded:
    """Returns what was decoded, and after it, where there is a reason why it is not all, what the reference engine decodes."""
    if not why:
        return decoded
    _say_once(f"{why}; the reference engine decodes the rest, which is slower")
    rest = decode_by_reference(asked.after(decoded.produced))
    return Decoded([*decoded.produced, *rest.produced], rest.recorded, decoded.engine)


def decode_by_code(name: str, asked: Decoding) -> tuple[Decoded, str]:
    """Returns what the machine code of an engine of `CODE` decides, and why this is not all; "" if it is. Where it is all, and the
    guess is an array, so are the tokens.
    """
    about = f"not decided by {CODE[name]}"
    try:
        decoder = load_decoder(name)(
            asked.model, asked.arithmetic, len(asked.prompt) + asked.limit, beyond=asked.beyond
        )
        produced = _produce(decoder, asked)
    except NotCovered as error:
        return Decoded([], None, name), f"{about}: {error}"
    except GaveUp as error:
        return Decoded(error.produced.tolist(), None, name), f"{about}: {error}"
    recorded = partial(find_flags, asked, produced, decoder.length) if name == "native" else None
    return Decoded(produced, recorded, name), ""


def load_decoder(name: str) -> type[Feeder]:
    """Returns what decodes by the machine code of an engine of `CODE`. Only now its code is imported."""
    if name == "native":
        from constructions.engines.native import NativeDecoder

        return NativeDecoder
    from constructions.engines.incremental import LookupDecoder

    return LookupDecoder


def find_flags(asked: Decoding, produced: Produced, fed: int) -> Flags:
    """Returns the flags of so many tokens of the prompt and of what was produced after it. This takes another run over them."""
    from constructions.engines.native import NativeDecoder
    from constructions.engines.reference import ReferenceEngine

    tokens = [int(token) for token in [*asked.prompt, *produced][:fed]]
    try:
        decoder = NativeDecoder(asked.model, asked.arithmetic, fed, beyond=asked.beyond, count_flags=True)
    except NotCovered:
        engine = ReferenceEngine(asked.model, asked.arithmetic, beyond=asked.beyond)
        for token in tokens:
            engine.append(token)
        return engine.flags
    decoder.decode(tokens, set(), 1)
    return decoder.flags()


def _produce(decoder: Feeder, asked: Decoding) -> Produced:
    """Returns the new tokens. Where the guess is an array, so are they."""
    import numpy as np

    wanted = np.asarray(asked.guess) if asked.follow else None
    produced: NDArray[np.integer]
    if asks := getattr(asked.respond, "asks", None):
        produced = _produce_with_responses(decoder, asked, wanted, asks)
    else:
        produced = decoder.produce(
            asked.prompt, asked.stop, asked.limit, respond=asked.respond, tick=asked.tick, wanted=wanted
        )
    return produced if isinstance(asked.guess, np.ndarray) else produced.tolist()


@cache
def _say_once(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _produce_with_responses(
    decoder: Feeder, asked: Decoding, wanted: NDArray[np.integer] | None, asks: Set[int]
) -> NDArray[np.integer]:
    """Returns what `produce` does. The decoder runs alone up to each token of `asks`, the only ones that may get a response."""
    import numpy as np

    sequence, start, given = list(asked.prompt), len(asked.prompt), list(asked.prompt)
    while True:
        done = len(sequence) - start
        rest = None if wanted is None else wanted[done:]
        try:
            new = decoder.produce(given, asked.stop | asks, asked.limit - done, tick=asked.tick, wanted=rest).tolist()
        except GaveUp as error:
            error.produced = np.array([*sequence[start:], *error.produced.tolist()], np.int64)
            raise
        sequence += new
        last, differs = new[-1], rest is not None and new != rest[: len(new)].tolist()
        if differs or last in asked.stop or last not in asks:
            break
        response = asked.respond(sequence)
        sequence.extend(response)
        given = [last, *response]  # the last token of the model's own is not fed yet
        if len(sequence) - start >= asked.limit:
            break
    return np.array(sequence[start:], np.int64)


def decode_by_dense(asked: Decoding, device: str = "cpu") -> Decoded:
    """Decodes by runs over whole sequences. device: cpu or cuda."""
    return next(decode_together([asked], device))


def decode_together(together: Sequence[Decoding], device: str = "cpu") -> Iterator[Decoded]:
    """Yields what is asked of one model in one arithmetic, one after the other. A batch of `dense` runs all guesses, and each
    one that is wrong takes further runs of its own. device: as of decode_by_dense. Raises EngineFailed.
    """
    from constructions.engines import dense

    one = together[0]

    def run(sequences: Sequence[Sequence[int]], first: Sequence[int]) -> DenseRun:
        try:
            return dense.run(one.model, one.arithmetic, sequences, device=device, first=first, beyond=one.beyond)
        except dense.EngineError as error:
            raise EngineFailed(str(error)) from error

    texts = [[*asked.prompt, *asked.draft()] for asked in together]
    ends = [len(asked.prompt) - 1 for asked in together]
    for asked, text, ahead in zip(together, texts, run(texts, ends).next_tokens, strict=True):

        def argmax(
            known: Sequence[int], draft: Sequence[int], text: list[int] = text, ahead: Sequence[int] = ahead.tolist()
        ) -> Sequence[int]:
            sequence = [*known, *draft]
            if sequence == text[: len(sequence)]:  # what follows a position depends on what stands up to it alone
                return ahead
            return run([sequence], [len(known) - 1]).next_tokens[0].tolist()  # type: ignore[no-any-return]

        produced, fed = decode_with_guess(argmax, asked)
        yield Decoded(produced, partial(find_flags, asked, produced, fed), "dense")


def decode_with_guess(
    run: Callable[[Sequence[int], Sequence[int]], Sequence[int]], asked: Decoding
) -> tuple[list[int], int]:
    """Decodes greedily by runs over whole sequences: one run if the guess is right, and one more for each token after a wrong one.

    run: the argmax at each position of a sequence, told which tokens are known to be of it and which are a draft after these.
    Returns the new tokens, and how many tokens decoding has fed: all that stand before the last one that the model wrote.
    """
    prompt, guess = asked.prompt, asked.guess
    sequence, agrees = list(prompt), True  # agrees: what was decoded is what the guess says
    while True:
        draft = asked.draft(len(sequence) - len(prompt)) if agrees else ()
        fed = [*sequence, *draft]
        argmax = run(sequence, draft)
        while len(sequence) <= len(fed):
            start = len(sequence)
            sequence.append(int(argmax[start - 1]))
            ends = asked.ends(start - len(prompt), sequence[-1])
            if not ends:
                sequence.extend(asked.respond(sequence))
            if ends or len(sequence) - len(prompt) >= asked.limit:
                return sequence[len(prompt) :], start
            if sequence[start:] != fed[start : len(sequence)]:
                break
        behind = len(sequence) - len(prompt)
        agrees = agrees and behind < len(guess) and sequence[len(prompt) :] == list(guess[:behind])
        asked.tick(len(sequence))


DECODERS: Mapping[str, Decode] = {
    "reference": decode_by_reference,
    "dense": decode_by_dense,
    "native": decode_by_native,
    "incremental": decode_by_incremental,
}
