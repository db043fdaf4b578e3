"""The kinds of export, as the options of commands name them: who exports nothing need not wait for what writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FLOATS = ("float64", "float32")
NOT_CARRIED = "the regular-expression search that responds to this model; `search` in the sidecar says what it does"


@dataclass(frozen=True)
class ExportKind:
    """One kind of export. module: has `write(export, path)`. needs: the packages that it imports. suffix: "" for a folder."""

    module: str
    needs: tuple[str, ...]
    suffix: str
    what: str


KINDS: Mapping[str, ExportKind] = {
    "torch": ExportKind("program", ("torch",), ".pt2", "a torch.export program"),
    "onnx": ExportKind("onnx", ("onnx",), ".onnx", "an ONNX graph"),
    "transformerlens": ExportKind(
        "transformerlens", ("transformers", "tokenizers"), "", "a folder for TransformerLens"
    ),
    "hf": ExportKind("huggingface", ("transformers", "tokenizers"), "", "a folder for Hugging Face transformers"),
}
