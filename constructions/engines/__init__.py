"""Engines: four ways to run the same weights, bit for bit alike. `reference` is the definition.

`find_engine` gives greedy decoding by any of them (see protocol.py), or by `auto`, which picks the fastest (see auto.py).
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import partial
from typing import cast

from constructions.engines.decoding import (
    DECODERS,
    decode_by_dense,
    decode_by_reference,
    decode_together,
)
from constructions.engines.protocol import Decode, Decoded, Decoding, EngineFailed, Respond, Tick, no_response

__all__ = [
    "DEVICES",
    "ENGINES",
    "Decode",
    "Decoded",
    "Decoding",
    "EngineFailed",
    "EngineMissing",
    "Respond",
    "Tick",
    "current_name",
    "decode_by_reference",
    "decode_together",
    "find_engine",
    "no_response",
]

ENGINES = ("auto", *DECODERS)
FORMER_NAMES = {"indexed": "incremental"}  # which commands and callers may still say
DEVICES = ("cpu", "cuda")


class EngineMissing(ValueError):
    """There is no such engine here, or what it needs is not there; the message is one line."""


def current_name(name: str) -> str:
    """Returns the name that an engine of this name, or former name, has now; any other name as it is."""
    return FORMER_NAMES.get(name, name)


def find_engine(name: str, device: str | None = None) -> Decode:
    """Returns the engine of this name, or former name, as a function that decodes. Only now its code is imported.

    device: what `dense` computes on, by default the CPU. Raises EngineMissing, also for a device that is not there.
    """
    name = current_name(name)
    if device is not None and name != "dense":
        raise EngineMissing(f"device {device} does not apply to the engine {name}; dense alone has a choice")
    module_name = f"{__name__}.{name}"
    if name not in ENGINES or importlib.util.find_spec(module_name) is None:
        there = [engine for engine in ENGINES if importlib.util.find_spec(f"{__name__}.{engine}")]
        raise EngineMissing(f"engine {name!r} is not installed; available: {', '.join(there)}")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise EngineMissing(f"engine {name!r} cannot be loaded: {error}") from error
    if name == "auto":
        return cast(Decode, module.decode_by_auto)
    if name == "dense" and device is not None:
        try:
            module.find_device(device)
        except module.EngineError as error:
            raise EngineMissing(str(error)) from error
        return partial(decode_by_dense, device=device)
    return DECODERS[name]
