"""A `torch.export` program: token numbers (batch, length), int64 → logits (batch, length, vocabulary).

`torch.export.load(PATH).module()` runs it without this project. It refuses more tokens than it was tried on.
"""

from __future__ import annotations

import io
from pathlib import Path

import torch

from constructions.exports.network import Network
from constructions.exports.shapes import shape_of, state_of
from constructions.exports.writing import Export


def network(export: Export) -> Network:
    dtype = getattr(torch, export.float_name)
    module = Network(shape_of(export.wired, export.longest), dtype)
    module.load_state_dict({name: torch.tensor(array, dtype=dtype) for name, array in state_of(export.wired).items()})
    return module.eval()


def weights_of(block: int, head: int, name: str) -> dict[str, object]:
    """Returns nothing: a program gives its logits alone."""
    return {}


def write(export: Export, path: Path) -> None:
    """Writes the program, the sidecar inside of it as `sidecar.json`."""
    batch, length = torch.export.Dim("batch", min=1), torch.export.Dim("length", min=1, max=export.longest)
    tokens = torch.zeros(2, min(7, export.longest), dtype=torch.int64)
    program = torch.export.export(network(export), (tokens,), dynamic_shapes={"tokens": {0: batch, 1: length}})
    file = io.BytesIO()  # torch's own writer ends the process where the disk is full
    torch.export.save(program, file, extra_files={"sidecar.json": export.text})
    path.write_bytes(file.getvalue())
