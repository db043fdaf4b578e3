"""Decoding by the engine that is likely to be the fastest. All engines give the same bits, so this is a choice of time alone.

Each engine's time is estimated from what is known before a run: how many numbers `reference` multiplies (the weights that are not
0 at each token, and at each head the keys so far), and how many runs over the sequence `indexed` and `dense` need: one where a
guess of the answer is right, without a guess one for each token. The least estimate wins:

- a short run goes to `reference`, which needs no preparation and records flags;
- a long one after a guess goes to `indexed`, or to `dense` in floating point, where `indexed` has no certificates;
- a long one without a guess goes to `incremental`, if it is said what the heads look up, under fused fixed point;
- so does a very long one after a guess: then decoding is faster than any check of a guess.

A guess may turn out to be wrong, and lookups may not decide a run: what follows is decoded by the fastest of the others. A
recurrence takes each engine the same time at each token, as one more matrix does.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from constructions.engines.decoding import DECODERS, IndexedRuns, decode_by_lookups, decode_with_guess
from constructions.engines.protocol import Asked, Decoded
from constructions.layers import Transformer, block_arrays
from precision.format import Arithmetic, Discipline, Rounding

# Seconds on one core, rounded: only their ratios matter, and only where two engines differ much.
PER_PRODUCT = 1e-6  # of `reference`: two integers multiplied, with its part of what surrounds it
PER_RUN, PER_PLACE = 0.04, 4e-7  # of `indexed`: each run; each position at each head
WITH_TORCH, PER_PAIR = 2.5, 1e-7  # of `dense`: each run, as the first one imports torch; each query and key
# of `incremental`: once, a quarter of it where the code is kept; each weight at each token
WRITING, PER_LOOKUP = 0.2, 3e-9
SHORT = 0.25  # no other engine is noticed to be faster than that


def decode_by_auto(asked: Asked) -> Decoded:
    """Decodes with the engine that `choose` names. The result names the engine that decoded: the last one, if a wrong guess
    changed it.
    """
    name = choose(asked.model, asked.arithmetic, len(asked.prompt), asked.limit, len(asked.guess))
    if name == "incremental":
        produced, why = decode_by_lookups(asked)
        if not why:
            return Decoded(produced, None, name)
        unsaid = replace(asked.model, said=None)
        if not len(asked.guess):
            rest = asked.after(produced)
            decoded = DECODERS[choose(unsaid, asked.arithmetic, len(rest.prompt), rest.limit, 0)](rest)
            return replace(decoded, produced=[*produced, *decoded.produced])
        name = choose(unsaid, asked.arithmetic, len(asked.prompt), asked.limit, len(asked.guess))
    if name != "indexed" or not len(asked.guess):
        return DECODERS[name](asked)
    runs, begun = IndexedRuns(asked), False
    append: Callable[[int], int] | None = None
    argmax: list[int] = []  # at each position that was fed to `append`

    def run(known: Sequence[int], draft: Sequence[int]) -> Sequence[int]:
        nonlocal name, begun, append
        if append is None and begun and not draft:
            name = choose(asked.model, asked.arithmetic, len(known), asked.limit - (len(known) - len(asked.prompt)), 0)
            append = _token_by_token(name, asked)
        begun = True
        if append is None or draft:
            return runs(known, draft)
        for token in known[len(argmax) :]:
            argmax.append(append(token))
            asked.tick(len(argmax))
        return argmax

    produced, _ = decode_with_guess(run, asked)
    return Decoded(produced, None, name, uncertified=runs.uncertified)


def _token_by_token(name: str, asked: Asked) -> Callable[[int], int] | None:
    """Returns what takes a token in and returns the argmax; None for an engine that runs over whole sequences."""
    if name not in ("reference", "incremental"):
        return None
    from constructions.engines.reference import ReferenceEngine

    engine = ReferenceEngine(asked.model, asked.arithmetic, beyond=asked.beyond)
    if name == "reference":
        return lambda token: engine.append(token).next_token
    from constructions.engines.incremental import GaveUp, LookupDecoder, NotCovered

    read: list[int] = []
    decoder: LookupDecoder | None = None
    with suppress(NotCovered):
        decoder = LookupDecoder(asked.model, asked.arithmetic, len(asked.prompt) + asked.limit, beyond=asked.beyond)

    def append(token: int) -> int:
        nonlocal decoder
        read.append(token)
        if decoder is not None:
            try:
                return decoder.append(token)
            except GaveUp:
                decoder = None
        return [engine.append(one).next_token for one in read[engine.length :]][-1]

    return append


def choose(model: Transformer, arithmetic: Arithmetic, prompt: int, limit: int, guess: int) -> str:
    """Returns the engine of the least estimate. prompt, guess: how many tokens; guess: 0 for none. limit: the most new tokens."""
    fmt = arithmetic.format
    length = prompt + min(guess or limit, limit)
    runs = 1 if guess else limit
    heads = [head for block in model.blocks for head in block.heads]
    weights = sum(int(np.count_nonzero(array)) for block in model.blocks for array in block_arrays(block))
    at_each_token = model.width + weights + int(np.count_nonzero(model.unembed))
    at_each_key = sum(len(head.query) + 1 for head in heads)
    seconds = {"reference": PER_PRODUCT * length * (at_each_token + at_each_key * length / 2)}
    if seconds["reference"] < SHORT or arithmetic.rounding is Rounding.STOCHASTIC:
        return "reference"
    if fmt.quantum_exponent > 0 or fmt.max_value < 1:
        return "reference"  # which alone runs a model without heads in a format that does not hold 1
    if fmt.is_fixed_point:
        seconds["indexed"] = runs * (PER_RUN + PER_PLACE * (len(heads) + 1) * length)
    elif importlib.util.find_spec("torch"):
        seconds["dense"] = runs * (WITH_TORCH + PER_PAIR * len(heads) * length**2)
    if (
        model.said is not None
        and fmt.is_fixed_point
        and arithmetic.discipline is Discipline.FUSED
        and arithmetic.rounding is Rounding.NEAREST_EVEN
    ):
        seconds["incremental"] = WRITING + PER_LOOKUP * weights * length
    return min(seconds, key=lambda name: seconds[name])
