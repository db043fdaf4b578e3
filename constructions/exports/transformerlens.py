"""A folder for TransformerLens: its own Transformer with these weights, tokenizer and sidecar beside them.

`TransformerBridge.boot_native`, then `load_state_dict`, load it without this project (docs/exports.md). Four things are not as in
the dump, and none changes a sum by more than the order of its terms:
  coordinate d is 1 at every token, since this library's gated feed-forward has no biases: their values are its column;
  one unit more in each feed-forward is 1, and writes b_down;
  queries are doubled, and scores divided by `attn_scale` = 2, since it refuses 1: powers of two, so nothing is rounded;
  every block has as many heads and units as the largest; what is added is 0, and such a head looks at all keys alike.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from constructions.exports.huggingface import save_tokenizer
from constructions.exports.limits import ExportError
from constructions.exports.shapes import shape_of
from constructions.exports.weights import safetensors_bytes, tensors
from constructions.exports.writing import Export
from constructions.layers import Matrix

SCALE = 2


def weights_of(block: int, head: int, name: str) -> dict[str, object]:
    """Returns the hook that has a pattern (batch, head, query, key), and which head of it this is."""
    return {"hook": f"blocks.{block}.attn.hook_pattern", "index": head}


def write(export: Export, path: Path) -> None:
    """Writes the folder. Raises ExportError for a model with a recurrence, and for tokens that a tokenizer cannot tell apart."""
    wired = export.wired
    if any(block.recurrence is not None for block in wired.model.blocks):
        raise ExportError(
            f"{wired.construction} has a linear recurrence in this model, and TransformerLens has none to carry it"
        )
    save_tokenizer(wired, path)
    state = {name: array.astype(np.dtype(export.float_name)) for name, array in _state(export).items()}
    metadata = {"format": "pt", "longest_sequence": str(export.longest)}
    (path / "model.safetensors").write_bytes(safetensors_bytes(state, metadata))
    (path / "config.json").write_text(json.dumps(_config(export), indent=2) + "\n", encoding="utf-8")
    (path / "sidecar.json").write_text(export.text, encoding="utf-8")


def _config(export: Export) -> dict[str, Any]:
    """Returns the fields of TransformerBridgeConfig."""
    shape = shape_of(export.wired, export.longest)
    return {
        "d_model": shape["d"] + 1,
        "d_head": shape["head_width"],
        "n_heads": max(block["heads"] for block in shape["blocks"]),
        "n_layers": len(shape["blocks"]),
        "n_ctx": export.longest,
        "d_vocab": shape["vocabulary"],
        "d_mlp": max(block["units"] for block in shape["blocks"]) + 1,
        "act_fn": "relu",
        "gated_mlp": True,
        "normalization_type": None,
        "attn_scale": float(SCALE),
        "default_prepend_bos": False,
        "init_weights": False,
        "model_name": export.wired.construction,
    }


def _state(export: Export) -> dict[str, Matrix]:
    """Returns the names and shapes of the bridge's `state_dict`: rows are outputs, heads stand below each other."""
    model, config = export.wired.model, _config(export)
    d, words = config["d_model"], config["d_vocab"]
    heads, width, units = config["n_heads"], config["d_head"], config["d_mlp"]
    arrays = tensors(model)
    place = np.arange(1, export.longest + 1)[:, None]
    state = {
        "embed.weight": np.hstack([arrays["embed.words"], np.ones((words, 1))]),
        "pos_embed.weight": _pad(place * arrays["embed.position"], (export.longest, d)),
        "unembed.weight": _pad(arrays["unembed"], (words, d)),
        "unembed.bias": np.zeros(words),
    }
    for i, block in enumerate(model.blocks):
        attention, ffn = f"blocks.{i}.attn", f"blocks.{i}.ffn"
        for name in "QKVO":
            stacked = np.zeros((heads, d, width) if name == "O" else (heads, width, d))
            for h in range(len(block.heads)):
                matrix = arrays[f"{attention}.{h}.W_{name}"]
                stacked[h] = _pad(SCALE * matrix if name == "Q" else matrix, stacked.shape[1:])
            flat = np.hstack(list(stacked)) if name == "O" else np.vstack(list(stacked))
            state[f"{attention}.{name.lower()}.weight"] = flat
            state[f"{attention}.{name.lower()}.bias"] = np.zeros(len(flat))
        for name, of in (("gate", "gate"), ("in", "up")):
            matrix = _pad(np.column_stack([arrays[f"{ffn}.W_{of}"], arrays[f"{ffn}.b_{of}"]]), (units, d))
            matrix[-1, -1] = 1
            state[f"blocks.{i}.mlp.{name}.weight"] = matrix
        down = _pad(arrays[f"{ffn}.W_down"], (d, units))
        down[:-1, -1] = arrays[f"{ffn}.b_down"]
        state[f"blocks.{i}.mlp.out.weight"] = down
    return {name: np.ascontiguousarray(array) for name, array in state.items()}


def _pad(matrix: Matrix, shape: tuple[int, ...]) -> Matrix:
    result = np.zeros(shape)
    result[: matrix.shape[0], : matrix.shape[1]] = matrix
    return result
