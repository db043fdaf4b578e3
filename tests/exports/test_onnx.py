"""ONNX graphs, run by onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.exports.tried import TRIED, longest_sequence
from tests.exports.held_out import FEW, MANY, asked, entries, models

onnx = pytest.importorskip("onnx", reason="onnx is not installed: `make export-test` does")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: `make export-test` does")

FEW_ENTRIES = [("istree", "transformer", "lean", "float32"), ("ngram", "rag", "repaired", "float64")]
FEW_ENTRIES += [("recall", "hybrid", "repaired", "float32")]


def session(path: Path) -> Any:
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    return runtime.InferenceSession(path, options)


def hold_the_table(name: str, model: str, variant: str, float_name: str, count: int, path: Path) -> None:
    for loaded, cases in asked(name, model, variant, TRIED[name, model, variant][float_name].n, count):
        loaded.export("onnx", path, float_name=float_name, force=True)
        longest, graph = longest_sequence(loaded.wired, model, float_name), session(path)
        for case in cases:
            (logits,) = graph.run(None, {"tokens": np.array([case.tokens])})
            assert logits.dtype == float_name
            assert case.agrees(logits.argmax(-1)[0].tolist()), case
        with pytest.raises(runtime.capi.onnxruntime_pybind11_state.InvalidArgument, match="out of data bounds"):
            graph.run(None, {"tokens": np.zeros((1, longest + 1), np.int64)})


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), FEW_ENTRIES)
def test_a_graph_writes_a_few_times_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, FEW, tmp_path / "model.onnx")


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries())
def test_a_graph_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, MANY, tmp_path / "model.onnx")


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
