"""Exported weights, read as a stranger reads them: nothing of the project is imported here but its command.

The interpreter below knows the file's tensor names, the meaning of a block, and R_p with one rounding per operator. It uses Python
integers (numbers of quanta) and mpmath's exponential; it must give the next tokens that the sidecar's worked examples expect.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from safetensors.numpy import load_file

Tensors = dict[str, np.ndarray[Any, np.dtype[Any]]]


def dump(path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "constructions.istree", "--dump-weights", str(path), *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done


def open_safetensors(path: Path) -> tuple[Tensors, dict[str, Any]]:
    return load_file(path), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def open_npz(path: Path) -> tuple[Tensors, dict[str, Any]]:
    with np.load(path) as archive:
        tensors = {name: archive[name] for name in archive.files if name != "sidecar.json"}
    with zipfile.ZipFile(path) as archive_file:
        return tensors, json.loads(archive_file.read("sidecar.json"))


class Interpreter:
    """Runs a dump: every number is an integer count of quanta."""

    def __init__(self, tensors: Tensors, sidecar: dict[str, Any]) -> None:
        self.bits = -sidecar["format"]["quantum_exponent"]
        self.top = int(sidecar["format"]["max_quanta"])
        self.weights = {name: self.exact(tensor) for name, tensor in tensors.items()}
        self.blocks = len({name.split(".")[1] for name in tensors if name.startswith("blocks.")})
        self.heads = [
            len({n.split(".")[3] for n in tensors if n.startswith(f"blocks.{i}.attn.")}) for i in range(self.blocks)
        ]

    def exact(self, tensor: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        scaled = np.array([Fraction(float(x)) * 2**self.bits for x in tensor.ravel()], dtype=object)
        assert all(x.denominator == 1 for x in scaled)
        return np.array([int(x) for x in scaled] or [0], dtype=object)[: tensor.size].reshape(tensor.shape)

    def rounded(self, values: np.ndarray[Any, Any], shift: int) -> np.ndarray[Any, Any]:
        """values / 2^shift to the nearest integer, ties to even, at most ±top."""

        def one(value: int) -> int:
            nearest = round(Fraction(value, 2**shift))
            return max(-self.top, min(self.top, nearest))

        return np.array([one(int(v)) for v in values.ravel()], dtype=object).reshape(values.shape)

    def rows(self, matrix: np.ndarray[Any, Any], x: np.ndarray[Any, Any], bias: Any = 0) -> np.ndarray[Any, Any]:
        return self.rounded(matrix.dot(x) + bias * 2**self.bits, self.bits)

    def softmax(self, scores: Sequence[int]) -> np.ndarray[Any, Any]:
        with mpmath.workprec(4 * self.bits + 200):
            best = max(scores)
            powers = [mpmath.exp(mpmath.mpf(s - best) / 2**self.bits) for s in scores]
            total = mpmath.fsum(powers)
            return np.array([int(mpmath.nint(p / total * 2**self.bits)) for p in powers], dtype=object)

    def next_tokens(self, tokens: Sequence[int]) -> list[int]:
        w = self.weights
        keys: dict[tuple[int, int], list[Any]] = {}
        result = []
        for position, token in enumerate(tokens, start=1):
            x = self.rounded(w["embed.words"][token] + position * w["embed.position"], 0)
            for i in range(self.blocks):
                change = np.zeros(len(x), dtype=object)
                for h in range(self.heads[i]):
                    at = f"blocks.{i}.attn.{h}"
                    query, key, value = (self.rows(w[f"{at}.{name}"], x) for name in ("W_Q", "W_K", "W_V"))
                    seen = keys.setdefault((i, h), [])
                    seen.append((key, value))
                    scores = self.rounded(np.array([k.dot(query) for k, _ in seen], dtype=object), self.bits)
                    column = self.softmax([int(s) for s in scores])
                    read = self.rounded(sum(a * v for a, (_, v) in zip(column, seen, strict=True)), self.bits)
                    change = change + w[f"{at}.W_O"].dot(read)
                if self.heads[i]:
                    x = self.rounded(x + self.rounded(change, self.bits), 0)
                at = f"blocks.{i}.ffn"
                gate = np.maximum(self.rows(w[f"{at}.W_gate"], x, w[f"{at}.b_gate"]), 0)
                hidden = self.rounded(gate * self.rows(w[f"{at}.W_up"], x, w[f"{at}.b_up"]), self.bits)
                x = self.rounded(x + self.rows(w[f"{at}.W_down"], hidden, w[f"{at}.b_down"]), 0)
            logits = list(self.rows(w["unembed"], x))
            result.append(logits.index(max(logits)))
        return result


@pytest.mark.parametrize("tokens", ["paper", "eos"])
@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_a_stranger_reproduces_the_worked_examples(tmp_path: Path, tokens: str, suffix: str) -> None:
    path = tmp_path / f"weights.{suffix}"
    dump(path, "--n", "5", "--tokens", tokens)
    tensors, sidecar = open_safetensors(path) if suffix == "safetensors" else open_npz(path)
    assert len(sidecar["examples"]) == 2
    verdicts = set()
    for example in sidecar["examples"]:
        ids, wanted = example["token_ids"], example["expected_next_ids"]
        assert len(ids) == len(wanted)
        assert [sidecar["vocabulary"][i] for i in ids] == example["tokens"]
        produced = Interpreter(tensors, sidecar).next_tokens(ids)
        assert [p for p, w in zip(produced, wanted, strict=True) if w is not None] == [
            w for w in wanted if w is not None
        ]
        assert [None if w is None else sidecar["vocabulary"][w] for w in wanted] == example["expected_next"]
        verdicts.add(example["expected_next"][-1])
    assert verdicts == ({"YES", "NO"} if tokens == "paper" else {"TRUE", "FALSE"})


def test_names_and_shapes_are_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    done = dump(path, "--n", "6")
    assert done.stderr == f"wrote {path} and {path.with_suffix('.json')}\n"
    tensors, sidecar = open_safetensors(path)
    d, vocabulary, width = sidecar["d"], len(sidecar["vocabulary"]), sidecar["head_width"]
    expected = {"embed.words": (vocabulary, d), "embed.position": (d,), "unembed": (vocabulary, d)}
    for i, block in enumerate(sidecar["blocks"]):
        units = len(block["units"])
        for h in range(len(block["heads"])):
            at = f"blocks.{i}.attn.{h}"
            expected |= {
                f"{at}.W_Q": (width, d),
                f"{at}.W_K": (width, d),
                f"{at}.W_V": (width, d),
                f"{at}.W_O": (d, width),
            }
        at = f"blocks.{i}.ffn"
        expected |= {
            f"{at}.W_gate": (units, d),
            f"{at}.b_gate": (units,),
            f"{at}.W_up": (units, d),
            f"{at}.b_up": (units,),
        }
        expected |= {f"{at}.W_down": (d, units), f"{at}.b_down": (d,)}
    assert {name: tensor.shape for name, tensor in tensors.items()} == expected
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype("float64")}
    assert len(sidecar["blocks"]) == 9


def test_the_sidecar_names_every_coordinate(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    dump(path, "--n", "4", "--precision", "61", "--discipline", "sequential", "--printed", "C.3,layer-7")
    _, sidecar = open_safetensors(path)
    wanted = {"schema": 1, "construction": "istree", "variant": "repaired", "n": 4, "p": 61, "discipline": "sequential"}
    assert wanted.items() <= sidecar.items()
    assert sidecar["printed"] == ["layer-7", "C.3"]
    assert sorted(sidecar["registers"].values()) == list(range(sidecar["d"]))
    assert sidecar["vocabulary"][:5] == ["1", "2", "3", "4", "<s>"]
    assert set(sidecar["meanings"]) == set(sidecar["registers"])
    assert all(sidecar["meanings"].values())


def test_recurrences_are_exported() -> None:
    command = """if True:
        import numpy as np
        from constructions.show.export import tensors
        from constructions.recurrences.running_sum import PART
        from constructions.part import Setting
        from constructions.wiring import Embedding, wire
        from precision.format import fixed_point
        setting = Setting(8, 8, fixed_point(41))
        names = PART.contract(setting).requires
        embedding = Embedding(("x",), (dict.fromkeys(names, 1),), "position")
        model, registers = wire(embedding, PART.plan(setting, False), embedding.words, setting.format)
        arrays = tensors(model)
        for letter in "AB":
            found = [a for name, a in arrays.items() if name.endswith(f".recurrence.{letter}")]
            assert found and all(a.shape == (model.width, model.width) and a.any() for a in found), letter
    """
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_both_formats_hold_the_same(tmp_path: Path) -> None:
    dump(tmp_path / "a.safetensors", "--n", "3")
    dump(tmp_path / "a.npz", "--n", "3")
    (one, left), (two, right) = open_safetensors(tmp_path / "a.safetensors"), open_npz(tmp_path / "a.npz")
    assert left == right
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_torch_opens_the_file(tmp_path: Path) -> None:
    from safetensors.torch import load_file as load_torch

    dump(tmp_path / "a.safetensors", "--n", "3")
    assert load_torch(tmp_path / "a.safetensors")["embed.words"].shape[0] == 9


def test_a_run_and_a_dump_go_together(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    command = [
        sys.executable,
        "-m",
        "constructions.istree",
        "--edges",
        "1-2,2-3",
        "--json",
        "--dump-weights",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert json.load(io.StringIO(done.stdout))["answer"] == "YES"
    assert open_npz(path)[1]["n"] == 3


def readable(*argv: str) -> str:
    command = [sys.executable, "-m", "constructions.istree", "--dump-weights", *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_readable_dump_names_everything() -> None:
    text = readable("--n", "16")
    sidecar = json.loads(readable("--n", "16", "--json"))
    for name in sidecar["registers"]:
        assert f"  {name} " in text
    for number, block in enumerate(sidecar["blocks"], start=1):
        assert f"\nblock {number}: " in text
        for head in block["heads"]:
            assert f", {head['name']} (Lemma C.1" in text
            for component in head["score"]:
                assert component["meaning"] in text
                assert component["key"] in text
                assert component["query"] in text
        for unit in block["units"]:
            assert unit["formula"] in text
            assert unit["gadget"] in text
    for constant in sidecar["constants"]:
        assert constant["derivation"] in text


def test_the_named_constants_are_those_of_the_weights(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    dump(path, "--n", "16")
    tensors, sidecar = open_safetensors(path)
    constants = {item["symbol"]: float(Fraction(item["value"])) for item in sidecar["constants"]}
    first, one = sidecar["registers"]["first"], sidecar["registers"]["one"]
    heads = {h["name"]: (i, j) for i, b in enumerate(sidecar["blocks"]) for j, h in enumerate(b["heads"])}

    def default_of(name: str) -> float:
        i, h = heads[name]
        keys, queries = (tensors[f"blocks.{i}.attn.{h}.W_{m}"] for m in "KQ")
        row = next(r for r in range(len(keys)) if keys[r, first] == 1 and not np.delete(keys[r], first).any())
        return -float(queries[row, one])

    assert default_of("father") == constants["D"] == constants["S"] / 2
    assert default_of("next edge") == constants["T"] / 2
    gates = {float(g) for g in np.abs(tensors["blocks.6.ffn.W_gate"]).ravel()}
    assert constants["R"] in gates
    assert constants["override"] in np.abs(tensors["blocks.8.ffn.W_down"])
    assert constants["span"] in np.abs(tensors["blocks.8.ffn.W_gate"])
