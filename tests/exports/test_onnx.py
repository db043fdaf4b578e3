"""ONNX graphs, run by onnxruntime."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.exports.tried import TRIED, longest_sequence
from tests.exports.held_out import cases, models

onnx = pytest.importorskip("onnx", reason="onnx is not installed: `make export-test` does")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: `make export-test` does")

ENTRIES = [pytest.param(*key, name, 200, marks=pytest.mark.exports) for key, entry in TRIED.items() for name in entry]
FEW = [("istree", "transformer", "lean", "float32", 2), ("ngram", "rag", "repaired", "float64", 2)]
FEW += [("recall", "hybrid", "repaired", "float32", 2)]


def session(path: Path) -> Any:
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    return runtime.InferenceSession(path, options)


@pytest.mark.parametrize(("name", "model", "variant", "float_name", "wanted"), FEW + ENTRIES)
def test_a_graph_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, wanted: int, tmp_path: Path
) -> None:
    path, done = tmp_path / "model.onnx", 0
    for loaded, inputs in models(name, model, TRIED[name, model, variant][float_name].n, variant):
        loaded.export("onnx", path, float_name=float_name, force=True)
        longest, graph = longest_sequence(loaded.wired, model, float_name), session(path)
        for given in islice(inputs, wanted - done):
            case = cases(loaded, given)
            if len(case.tokens) <= longest:
                (logits,) = graph.run(None, {"tokens": np.array([case.tokens])})
                assert case.agrees(logits.argmax(-1)[0].tolist()), given
                done += 1
        with pytest.raises(runtime.capi.onnxruntime_pybind11_state.InvalidArgument, match="out of data bounds"):
            graph.run(None, {"tokens": np.zeros((1, longest + 1), np.int64)})
        if done >= wanted:
            break


def test_a_viewer_shows_names(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    loaded, _ = next(models("istree", "transformer", 4))
    loaded.export("onnx", path)
    found = onnx.load(path)
    names = {node.name for node in found.graph.node}
    assert {"blocks.5.attn.0 father/scores", "blocks.5.attn.0 father/weights", "blocks.0.ffn/ReLU(gate) ⊙ up"} <= names
    properties = {prop.key: prop.value for prop in found.metadata_props}
    assert (properties["n"], properties["longest_sequence"], properties["float"]) == ("4", "29", "float64")
    assert json.loads(properties["sidecar"]) == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
