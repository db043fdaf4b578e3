"""Engines: three ways to run the same weights, bit for bit alike. `reference` is the definition.

An engine is a module of this package with `decode(model, arithmetic, prompt, stop, limit) -> list[int]`, greedy decoding. It may
take two more keywords: `flags`, a Flags to raise what it meets in, and `tick`, to be told the sequence's length now and then.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constructions.engines.reference import Flags, Step
    from constructions.layers import Transformer
    from precision.format import Arithmetic

ENGINES = ("reference", "dense", "indexed")
Decode = Callable[..., list[int]]


class EngineMissing(ValueError):
    """There is no such engine here; the message says which there are."""


def find_engine(name: str) -> Decode:
    """The `decode` of the engine of this name. Imports it only now: engines may need much. Raises EngineMissing."""
    module_name = f"{__name__}.{name}"
    if name not in ENGINES or importlib.util.find_spec(module_name) is None:
        there = [engine for engine in ENGINES if importlib.util.find_spec(f"{__name__}.{engine}")]
        raise EngineMissing(f"engine {name!r} is not installed; available: {', '.join(there)}")
    if name == "reference":
        return decode_by_reference
    try:
        decode: Decode | None = getattr(importlib.import_module(module_name), "decode", None)
    except ImportError as error:
        raise EngineMissing(f"engine {name!r} cannot be loaded: {error}") from error
    if decode is None:
        raise EngineMissing(f"engine {name!r} cannot decode")
    return decode


def decode_with(
    decode: Decode,
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    flags: Flags,
    tick: Callable[[int], None],
) -> list[int]:
    """Runs `decode` with those of its optional keywords that it knows."""
    known = inspect.signature(decode).parameters
    optional = {name: value for name, value in (("flags", flags), ("tick", tick)) if name in known}
    return decode(model, arithmetic, prompt, stop, limit, **optional)


def decode_by_reference(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    *,
    flags: Flags | None = None,
    tick: Callable[[int], None] = lambda length: None,
    steps: list[Step] | None = None,
) -> list[int]:
    """`reference.decode`, telling how far it is and, in `steps`, what each token left behind."""
    from constructions.engines.reference import ReferenceEngine

    engine = ReferenceEngine(model, arithmetic)
    if flags is not None:
        engine.flags = flags
    sequence, produced = list(prompt), list[int]()
    while engine.length < len(sequence):
        step = engine.append(sequence[engine.length])
        tick(engine.length)
        if steps is not None:
            steps.append(step)
        if engine.length == len(sequence):
            produced.append(step.next_token)
            if len(produced) < limit and step.next_token not in stop:
                sequence.append(step.next_token)
    return produced
