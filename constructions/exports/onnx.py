"""An ONNX graph with a node for each step of the formulas, named by block and head: `tokens` (batch, length) → `logits`.

Written node by node, so that a viewer shows what the sidecar says. Positions come from a table with as many rows as the model may
read: one more is an index out of bounds. So is a token number that is negative, which a graph would count from the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from constructions.exports.shapes import state_of
from constructions.exports.writing import Export
from constructions.layers import Block, Matrix

OPSET, IR = 18, 9


def weights_of(block: int, head: int, name: str) -> dict[str, object]:
    """Returns the name of a node, and of what it computes."""
    return {"node": f"{_head(block, head, name)}/weights"}


def write(export: Export, path: Path) -> None:
    """Writes the graph, the sidecar among its metadata."""
    onnx.save(_Graph(export).model(), str(path))


def _head(block: int, head: int, name: str) -> str:
    """Returns what the names of a head's nodes begin with."""
    return f"blocks.{block}.attn.{head} {name}"


class _Graph:
    """Nodes as they are added; each `add` returns the name of what the node computes."""

    def __init__(self, export: Export) -> None:
        self.export, self.type = export, np.dtype(export.float_name)
        self.weights = state_of(export.wired)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def weight(self, name: str, *, transposed: bool = False) -> str:
        """Returns a parameter; transposed where rows are multiplied by it from the left."""
        array = self.weights[name].astype(self.type)
        return self.constant(f"{name}.T" if transposed else name, np.swapaxes(array, -1, -2) if transposed else array)

    def model(self) -> Any:
        wired, kind = self.export.wired, helper.np_dtype_to_tensor_dtype(self.type)
        x = self._embedding()
        for i, block in enumerate(wired.model.blocks):
            x = self._block(i, block, x)
        self.add("MatMul", "logits", x, self.weight("unembed", transposed=True))
        graph = helper.make_graph(
            self.nodes,
            f"{wired.construction}, n = {wired.n}",
            [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "length"])],
            [helper.make_tensor_value_info("logits", kind, ["batch", "length", len(wired.vocabulary)])],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
        model.producer_name = "rnn-transformer-constructions"
        about = {"n": wired.n, "longest_sequence": self.export.longest, "float": self.export.float_name}
        helper.set_model_props(
            model, {**{name: str(value) for name, value in about.items()}, "sidecar": self.export.text}
        )
        onnx.checker.check_model(model, full_check=True)
        return model

    def _embedding(self) -> str:
        table: Matrix = np.arange(1, self.export.longest + 1)[:, None] * self.weights["position"]
        self.constant("0", np.array(0, np.int64))
        self.constant("1", np.array(1, np.int64))
        length = self.add("Gather", "length", self.add("Shape", "tokens.shape", "tokens"), "1")
        self.add("Range", "place", "0", length, "1")
        self.add("Unsqueeze", "place.query", "place", self.constant("axis 1", np.array([1], np.int64)))
        self.add("Greater", "in the future", "place", "place.query")
        beyond = self.constant("beyond the vocabulary", np.array(len(self.export.wired.vocabulary), np.int64))
        negative = self.add("Less", "tokens < 0", "tokens", "0")
        valid_tokens = self.add("Where", "tokens.known", negative, beyond, "tokens")
        words = self.add("Gather", "embed.words", self.weight("words"), valid_tokens)
        slope = self.add("Gather", "embed.position", self.constant("position table", table.astype(self.type)), "place")
        return self.add("Add", "embed", words, slope)

    def _block(self, i: int, block: Block, x: str) -> str:
        mixed = ""
        if block.heads:
            mixed = self._attention(i, [head.name for head in self.export.wired.blocks[i].heads], x)
        elif block.recurrence is not None:
            mixed = self._recurrence(f"blocks.{i}", x)
        if mixed:
            x = self.add("Add", f"blocks.{i}.mixed", x, mixed)
        return self.add("Add", f"blocks.{i}", x, self._feed_forward(f"blocks.{i}.ffn", x))

    def _attention(self, block: int, names: list[str], x: str) -> str:
        at, sums = f"blocks.{block}", []
        for h, name in enumerate(names):
            head, rows = _head(block, h, name), {}
            for letter in "QKV":
                weight = self.constant(
                    f"{at}.attn.{h}.W_{letter}.T", self.weights[f"{at}.mixer.W_{letter}"][h].T.astype(self.type)
                )
                rows[letter] = self.add("MatMul", f"{head}/{letter.lower()}", x, weight)
            keys = self.add("Transpose", f"{head}/k.T", rows["K"], perm=[0, 2, 1])
            # In float64, as in network.py.
            queries, keys = (self.cast(value, "wide", np.float64) for value in (rows["Q"], keys))
            scores = self.add("MatMul", f"{head}/scores", queries, keys)
            never = self.constant(f"{head}/never", np.array(-np.inf, np.float64))
            causal = self.add("Where", f"{head}/causal scores", "in the future", never, scores)
            weights = self.cast(self.add("Softmax", f"{head}/weights", causal, axis=-1), "narrow", self.type)
            read = self.add("MatMul", f"{head}/read", weights, rows["V"])
            out = self.constant(f"{at}.attn.{h}.W_O.T", self.weights[f"{at}.mixer.W_O"][h].T.astype(self.type))
            sums.append(self.add("MatMul", f"{head}/out", read, out))
        return sums[0] if len(sums) == 1 else self.add("Sum", f"{at}.attn", *sums)

    def cast(self, value: str, name: str, kind: Any) -> str:
        """Returns the same numbers as floats of this kind; nothing is added where all are."""
        if self.type == np.float64:
            return value
        return self.add("Cast", f"{value}, {name}", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def _recurrence(self, at: str, x: str) -> str:
        """Scans h ← A h + (B x_l) over the positions."""
        d, kind = self.export.wired.model.width, helper.np_dtype_to_tensor_dtype(self.type)
        fed = self.add("MatMul", f"{at}.recurrence/B x", x, self.weight(f"{at}.mixer.B", transposed=True))
        first = self.add("Gather", f"{at}.recurrence/first", fed, "0", axis=1)
        start = self.add("Sub", f"{at}.recurrence/h_0", first, first)
        carry = numpy_helper.from_array(np.ascontiguousarray(self.weights[f"{at}.mixer.A"].T.astype(self.type)), "A.T")
        body = helper.make_graph(
            [
                helper.make_node("MatMul", ["h", "A.T"], ["A h"], name="A h"),
                helper.make_node("Add", ["A h", "B x"], ["h next"], name="h next"),
                helper.make_node("Identity", ["h next"], ["h out"], name="h out"),
            ],
            f"{at}.recurrence",
            [helper.make_tensor_value_info(name, kind, ["batch", d]) for name in ("h", "B x")],
            [helper.make_tensor_value_info(name, kind, ["batch", d]) for name in ("h next", "h out")],
            [carry],
        )
        outputs = [f"{at}.recurrence/last h", f"{at}.recurrence"]
        axes = {"scan_input_axes": [1], "scan_output_axes": [1], "num_scan_inputs": 1}
        self.nodes.append(helper.make_node("Scan", [start, fed], outputs, name=outputs[1], body=body, **axes))
        return outputs[1]

    def _feed_forward(self, at: str, x: str) -> str:
        def affine(name: str, value: str) -> str:
            product = self.add("MatMul", f"{at}/W_{name} x", value, self.weight(f"{at}.W_{name}", transposed=True))
            return self.add("Add", f"{at}/{name}", product, self.weight(f"{at}.b_{name}"))

        gate = self.add("Relu", f"{at}/ReLU(gate)", affine("gate", x))
        return affine("down", self.add("Mul", f"{at}/ReLU(gate) ⊙ up", gate, affine("up", x)))
