"""Weights in files that other tools open: `.safetensors` with a `.json` sidecar, or one `.npz`.

Tensors, all float64, blocks and heads counted from 0:
  embed.words (vocabulary × d), embed.position (d), unembed (vocabulary × d)
  blocks.{i}.attn.{h}.W_Q, W_K, W_V (head width × d) and W_O (d × head width)
  blocks.{i}.recurrence.A, B (d × d)
  blocks.{i}.ffn.W_gate, W_up (units × d), b_gate, b_up (units), W_down (d × units), b_down (d)
Every head is padded with zero rows to one common width, so that they can be stacked.
The sidecar of FILE.safetensors is FILE.json. The metadata holds the longest sequence that the weights are certified for, and no
name: the bytes do not depend on that of the file, so that a certificate can tell their SHA-256.
An `.npz` holds the sidecar as its member `sidecar.json`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from constructions.exports.files import replacing
from constructions.layers import AttentionHead, Matrix, Transformer, named_arrays

SUFFIXES = (".safetensors", ".npz")


def head_width(model: Transformer) -> int:
    """Returns the common width: the widest query or value of any head."""
    widths = [len(matrix) for block in model.blocks for head in block.heads for matrix in (head.query, head.value)]
    return max(widths, default=0)


def tensors(model: Transformer) -> dict[str, Matrix]:
    """Returns every array by its exported name."""
    width = head_width(model)
    result = {"embed.words": model.words, "embed.position": model.position}
    for i, block in enumerate(model.blocks):
        padded = replace(block, heads=tuple(_pad(head, width) for head in block.heads))
        result |= {f"blocks.{i}.{name}": array for name, array in named_arrays(padded).items()}
    result["unembed"] = model.unembed
    return {name: np.ascontiguousarray(array, dtype=np.float64) for name, array in result.items()}


def save(model: Transformer, sidecar: Mapping[str, object], path: Path) -> tuple[Path, ...]:
    """Writes the model and its sidecar; returns the files written. Raises ValueError for another suffix, OSError."""
    text = json.dumps(sidecar, ensure_ascii=False, indent=2) + "\n"
    if path.suffix == ".npz":
        with replacing(path) as fresh:
            with fresh.open("wb") as file:
                np.savez_compressed(file, **tensors(model))  # type: ignore[arg-type]  # no array is called "file"
            with zipfile.ZipFile(fresh, "a", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("sidecar.json", text)
        return (path,)
    if path.suffix == ".safetensors":
        beside = path.with_suffix(".json")
        with replacing(path) as fresh, replacing(beside) as fresh_beside:  # both or neither
            fresh.write_bytes(file_bytes(model))
            fresh_beside.write_text(text, encoding="utf-8")
        return (path, beside)
    raise ValueError(f"{path}: the name must end in {' or '.join(SUFFIXES)}")


def file_bytes(model: Transformer) -> bytes:
    """Returns the content of the model's `.safetensors` file."""
    return safetensors_bytes(tensors(model), {} if model.longest is None else {"longest_sequence": str(model.longest)})


def safetensors_bytes(arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
    """Returns the content of a `.safetensors` file, the same for the same arrays; the library orders metadata at random."""
    from safetensors.numpy import save as to_bytes

    content = bytes(to_bytes(dict(arrays), metadata=dict(metadata) or None))
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    if metadata:
        header = {"__metadata__": dict(sorted(metadata.items())), **{k: v for k, v in header.items() if k[0] != "_"}}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return content[:8] + text.ljust(end - 8) + content[end:]


def _pad(head: AttentionHead, width: int) -> AttentionHead:
    """Pads a head with rows of zeros up to this width."""

    def rows(matrix: Matrix) -> Matrix:
        return np.pad(matrix, ((0, width - len(matrix)), (0, 0)))

    return AttentionHead(rows(head.query), rows(head.key), rows(head.value), rows(head.out.T).T)
