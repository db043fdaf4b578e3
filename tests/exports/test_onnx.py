"""ONNX graphs, run by onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import constructions
from constructions.exports.limits import TRIED, longest_sequence
from constructions.exports.writing import sidecar_of
from tests.exports.conftest import Ask, snippet
from tests.exports.held_out import FEW, MANY, asked, entries, models

onnx = pytest.importorskip("onnx", reason="onnx is not installed: `make export-test` does")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: `make export-test` does")

FEW_ENTRIES = [("istree", "transformer", "lean", "float32"), ("ngram", "rag", "repaired", "float64")]
FEW_ENTRIES += [("recall", "hybrid", "repaired", "float32")]


RUN = """
import numpy as np
import onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
options.intra_op_num_threads = 1
answer = []
for path, longest, asked in given:
    graph = onnxruntime.InferenceSession(path, options)
    found = [graph.run(None, {"tokens": np.array([tokens])})[0][0].argmax(-1).tolist() for tokens in asked]
    try:
        graph.run(None, {"tokens": np.zeros((1, longest + 1), np.int64)})
    except Exception as error:
        refused = str(error)
    try:
        graph.run(None, {"tokens": np.full((1, 1), -1)})
    except Exception as error:
        refused += str(error)
    batch = np.zeros((2, max(map(len, asked[:2]))), np.int64)
    for row, tokens in zip(batch, asked[:2], strict=True):
        row[: len(tokens)] = tokens
    (both,) = graph.run(None, {"tokens": batch})
    answer.append({"found": found + both.argmax(-1).tolist(), "dtype": str(both.dtype), "refused": refused})
"""


def hold_the_table(name: str, model: str, variant: str, float_name: str, count: int, ask: Ask, folder: Path) -> None:
    models = asked(name, model, variant, TRIED[name, model, variant][float_name].n, count)
    given = []
    for i, (loaded, cases) in enumerate(models):
        path = folder / f"{i}.onnx"
        assert loaded.export("onnx", path, float_name=float_name) == (path, sidecar_of(path))
        given.append((str(path), longest_sequence(loaded.wired, model, float_name), [case.tokens for case in cases]))
    for (_, cases), answer in zip(models, ask("onnxruntime", RUN, folder, given), strict=True):
        assert all(case.agrees(actual) for case, actual in zip([*cases, *cases[:2]], answer["found"], strict=True))
        assert answer["dtype"] == float_name
        assert answer["refused"].count("out of data bounds") == 2


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), FEW_ENTRIES)
def test_a_graph_writes_a_few_times_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, ask: Ask, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, FEW, ask, tmp_path)


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries())
def test_a_graph_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, ask: Ask, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, MANY, ask, tmp_path)


def test_the_page_runs_a_graph(ask: Ask, tmp_path: Path) -> None:
    constructions.load("istree", n=4).export("onnx", tmp_path / "program.onnx")
    assert ask("onnxruntime", snippet("InferenceSession") + "answer = said", tmp_path) == "YES"


def test_a_viewer_shows_names(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    loaded, _ = next(models("istree", "transformer", 4))
    loaded.export("onnx", path)
    found = onnx.load(path)
    names = {node.name for node in found.graph.node}
    assert {"blocks.5.attn.0 father/scores", "blocks.5.attn.0 father/weights", "blocks.0.ffn/ReLU(gate) ⊙ up"} <= names
    heads = json.loads(sidecar_of(path).read_text(encoding="utf-8"))["export"]["heads"]
    assert ("block 6, head 1 (father)", "blocks.5.attn.0 father/weights") in [
        (head["place"], head["node"]) for head in heads
    ]
    assert {head["node"] for head in heads} == {name for name in names if name.endswith("/weights")}
    properties = {prop.key: prop.value for prop in found.metadata_props}
    assert (properties["n"], properties["longest_sequence"], properties["float"]) == ("4", "29", "float64")
    assert json.loads(properties["sidecar"]) == json.loads(sidecar_of(path).read_text(encoding="utf-8"))
