"""Decoding by the engine that is likely to be the fastest. All engines give the same bits, so this is a choice of time alone.

Each engine's time is estimated from what is known before a run: how many numbers `reference` multiplies (the weights that are not
0 at each token, and at each head the keys so far), and how many runs over the sequence `dense` needs: one where a guess of the
answer is right, without a guess one for each token. The least estimate wins:

- a short run goes to `reference`, which needs no preparation and records flags;
- a long one goes to `incremental`, if it is said what the heads look up, in fixed point;
- else a long one goes to `dense` if there is a guess, or a floating-point format;
- in a process that runs many models, as the verifier does (`native_at_hand`), short runs go to `native`.

What machine code does not decide, and a run whose guess turns out to be wrong, the fastest of the others decodes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from constructions.engines.decoding import CODE, DECODERS, decode_by_code
from constructions.engines.protocol import Decoded, Decoding
from constructions.layers import Transformer, block_arrays
from precision.format import Arithmetic, Rounding

# Seconds on one core, rounded: only their ratios matter, and only where two engines differ much.
PER_PRODUCT = 1e-6  # of `reference`: two integers multiplied, with its part of what surrounds it
WITH_TORCH, PER_PAIR = 2.5, 1e-7  # of `dense`: each run, as the first one imports torch; each query and key
# of `incremental`: once, a quarter of it where the code is kept; each weight at each token
WRITING, PER_LOOKUP = 0.2, 3e-9
LISTING, PER_NATIVE = 1e-3, 3e-9  # of `native`: once; each product, as of `reference`
SHORT = 0.25  # no other engine is noticed to be faster than that
AT_HAND = set[str]()  # engines whose code this process has loaded beforehand


@contextmanager
def native_at_hand() -> Iterator[None]:
    """Loads the machine code of `native`, so that short runs go to it: in a process that runs many, this pays."""
    from constructions.engines import native

    native.prepare()
    AT_HAND.add("native")
    try:
        yield
    finally:
        AT_HAND.discard("native")


def decode_by_auto(asked: Decoding, without: Collection[str] = ()) -> Decoded:
    """Decodes with the engine that `choose` names. The result names the engine that decoded: the last one, if what lookups did not
    decide, or a wrong guess, changed it. without: engines that are left out.
    """
    name = choose(asked.model, asked.arithmetic, len(asked.prompt), asked.limit, len(asked.guess), without)
    if name in CODE:
        decoded, why = decode_by_code(name, asked)
        if not why:
            return decoded
        rest = decode_by_auto(asked.after(decoded.produced), {*without, name})
        return replace(rest, produced=[*decoded.produced, *rest.produced])
    if name == "dense" and len(asked.guess):
        decoded = DECODERS[name](replace(asked, follow=True))  # one run, as far as the guess is right
        is_right = decoded.produced == [int(token) for token in asked.guess[: len(decoded.produced)]]
        if asked.follow or is_right or decoded.produced[-1] in asked.stop:
            return decoded
        return decode_by_auto(replace(asked, guess=()), without)
    return DECODERS[name](asked)


def choose(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: int,
    limit: int,
    guess: int,
    without: Collection[str] = (),
) -> str:
    """Returns the engine of the least estimate. prompt, guess: how many tokens; guess: 0 for none. limit: the most new tokens.
    without: engines that are left out.
    """
    fmt = arithmetic.format
    length = prompt + min(guess or limit, limit)
    heads = [head for block in model.blocks for head in block.heads]
    weights = sum(int(np.count_nonzero(array)) for block in model.blocks for array in block_arrays(block))
    at_each_token = model.width + weights + int(np.count_nonzero(model.unembed))
    at_each_key = sum(len(head.query) + 1 for head in heads)
    seconds = {"reference": PER_PRODUCT * length * (at_each_token + at_each_key * length / 2)}
    if "native" in AT_HAND - {*without} and _native_covers(arithmetic):
        seconds["native"] = LISTING + PER_NATIVE / PER_PRODUCT * seconds["reference"]
    elif seconds["reference"] < SHORT or arithmetic.rounding is Rounding.STOCHASTIC:
        return "reference"
    if fmt.quantum_exponent > 0 or fmt.max_value < 1:
        return "reference"  # which alone runs a model without heads in a format that does not hold 1
    is_nearest = fmt.is_fixed_point and arithmetic.rounding is Rounding.NEAREST_EVEN
    if model.said is not None and is_nearest and "incremental" not in without:
        seconds["incremental"] = WRITING + PER_LOOKUP * weights * length
    if min(seconds.values()) > WITH_TORCH and importlib.util.find_spec("torch"):
        runs = 1 if guess else limit
        seconds["dense"] = runs * (WITH_TORCH + PER_PAIR * len(heads) * length**2)
    return min(seconds, key=lambda name: seconds[name])


def _native_covers(arithmetic: Arithmetic) -> bool:
    from constructions.engines.native import covers

    return covers(arithmetic)
