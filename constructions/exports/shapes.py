"""A wired model as a network.py network: its shape as plain data, and its weights by the names of that network's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.exports.weights import head_width, tensors
from constructions.layers import Matrix
from constructions.wiring.wired import Wired


def shape_of(wired: Wired, longest: int) -> dict[str, Any]:
    """Returns the fields of `Network` that shape it."""
    model = wired.model
    return {
        "vocabulary": len(wired.vocabulary),
        "d": model.width,
        "head_width": head_width(model),
        "longest": longest,
        "blocks": [
            {
                "heads": len(block.heads),
                "recurrence": block.recurrence is not None,
                "units": len(block.feed_forward.gate),
            }
            for block in model.blocks
        ],
    }


def state_of(wired: Wired) -> dict[str, Matrix]:
    """Returns parameter → its values, named as in the dump; `mixer` has the stacked heads of attn, or the recurrence."""
    arrays = tensors(wired.model)
    state = {"words": arrays["embed.words"], "position": arrays["embed.position"], "unembed": arrays["unembed"]}
    for i, block in enumerate(wired.model.blocks):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            if block.heads:
                heads = [arrays[f"blocks.{i}.attn.{h}.{name}"] for h in range(len(block.heads))]
                state[f"blocks.{i}.mixer.{name}"] = np.stack(heads)
        for name in ("A", "B"):
            if block.recurrence is not None:
                state[f"blocks.{i}.mixer.{name}"] = arrays[f"blocks.{i}.recurrence.{name}"]
        prefix = f"blocks.{i}.ffn."
        state |= {name: array for name, array in arrays.items() if name.startswith(prefix)}
    return state
