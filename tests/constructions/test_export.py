"""Exported weights, read as a stranger reads them: by what their files say, and by nothing of the project.

The stranger (stranger.py) carries out the sidecar's forward rule, and must give the next tokens that its worked examples expect.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from constructions.exports import weights
from constructions.parts.recurrences.running_sum import PART
from constructions.wiring.part import Setting
from constructions.wiring.wire import Embedding, wire
from precision.format import fixed_point
from tests.constructions.commands import command
from tests.constructions.stranger import stranger_of

Tensors = dict[str, np.ndarray[Any, np.dtype[Any]]]


def open_safetensors(path: Path) -> tuple[Tensors, dict[str, Any]]:
    return load_file(path), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def open_npz(path: Path) -> tuple[Tensors, dict[str, Any]]:
    with np.load(path) as archive:
        tensors = {name: archive[name] for name in archive.files if name != "sidecar.json"}
    with zipfile.ZipFile(path) as archive_file:
        return tensors, json.loads(archive_file.read("sidecar.json"))


def dumped(path: Path, module: str, *argv: str) -> tuple[Tensors, dict[str, Any]]:
    """What a command writes there: tensors, and what says how to read them."""
    assert command(module)(("--dump-weights", str(path), *argv)) == 0
    return open_safetensors(path) if path.suffix == ".safetensors" else open_npz(path)


@pytest.mark.parametrize(
    ("module", "argv", "ends"),
    [
        ("istree", "--n 5", {"YES", "NO"}),
        ("istree", "--n 4 --precision 67", {"YES", "NO"}),
        ("istree", "--n 5 --tokens eos", {"TRUE", "FALSE"}),
        ("istree", "--n 4 --discipline sequential", {"YES", "NO"}),
        ("istree", "--n 4 --model rag", {"YES", "NO"}),
        ("istree", "--n 4 --model hybrid", {"YES", "NO"}),
        ("index", "--n 12", {"1", "12"}),
        ("recall", "--n 6 --model hybrid --discipline sequential", {"FAILED", "1", "2"}),
        ("ngram", "--n 5 --model rag", {"FAILED", "2", "1"}),
        ("counting", "--n 6", {"YES", "NO"}),
        ("turing", "--machine bb2 --steps 10 --model hybrid", {"HALT"}),
        ("turing", "--machine bb2 --steps 10 --model cot --cells 6", {"HALT"}),
    ],
)
def test_a_stranger_reproduces_the_worked_examples(tmp_path: Path, module: str, argv: str, ends: set[str]) -> None:
    path = tmp_path / ("weights.npz" if "eos" in argv else "weights.safetensors")
    tensors, sidecar = dumped(path, module, *argv.split())
    stranger, actual = stranger_of(tensors, sidecar), set()
    for example in sidecar["examples"]:
        ids, wanted = example["token_ids"], example["expected_next_ids"]
        assert len(ids) == len(wanted) <= sidecar["longest_sequence"]
        assert [sidecar["vocabulary"][i] for i in ids] == example["tokens"]
        produced = stranger.next_tokens(ids)
        assert [p for p, w in zip(produced, wanted, strict=True) if w is not None] == [
            w for w in wanted if w is not None
        ]
        assert [None if w is None else sidecar["vocabulary"][w] for w in wanted] == example["expected_next"]
        actual.add(example["expected_next"][-1])
    assert actual >= ends


@pytest.mark.parametrize(
    ("argv", "least"),
    [("--n 100", {"YES", "NO"}), ("--n 2000 --model hybrid", {"NO"}), ("--n 2000 --model rag", {"NO"})],
)
def test_worked_examples_search_at_every_n(tmp_path: Path, argv: str, least: set[str]) -> None:
    _, sidecar = dumped(tmp_path / "weights.safetensors", "istree", *argv.split())
    examples = sidecar["examples"]
    assert {example["expected_next"][-1] for example in examples} == least
    for example in examples:
        assert sum(token is not None for token in example["expected_next"]) >= 4, "the model says NO at once"
    written = max(sum(token is not None for token in example["expected_next"]) for example in examples)
    assert written > 100, "no example walks through a tree"


def test_the_bound_travels_with_the_weights(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    _, sidecar = dumped(path, "istree", "--n", "4")
    with safe_open(path, framework="numpy") as file:
        assert file.metadata() == {"longest_sequence": "29"}
    assert (
        sidecar["longest_sequence"] == 29 == 3 * 6 + 2 + 7 + 2
    )  # every simple graph, its tour, a closing token, a verdict


def test_names_and_shapes_are_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weights.safetensors"
    tensors, sidecar = dumped(path, "istree", "--n", "6")
    assert capsys.readouterr() == ("", f"wrote {path} and {path.with_suffix('.json')}\n")
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
    argv = ("--n", "4", "--precision", "61", "--discipline", "sequential", "--printed", "C.3,layer-7")
    _, sidecar = dumped(path, "istree", *argv)
    wanted = {"schema": 1, "construction": "istree", "variant": "repaired", "n": 4, "p": 61, "discipline": "sequential"}
    assert wanted.items() <= sidecar.items()
    assert sidecar["printed"] == ["layer-7", "C.3"]
    assert sorted(sidecar["registers"].values()) == list(range(sidecar["d"]))
    assert sidecar["vocabulary"][:5] == ["1", "2", "3", "4", "<s>"]
    assert set(sidecar["meanings"]) == set(sidecar["registers"])
    assert all(sidecar["meanings"].values())


def test_recurrences_are_exported() -> None:
    setting = Setting(8, 8, fixed_point(41))
    embedding = Embedding(("x",), (dict.fromkeys(PART.contract(setting).requires, 1),), "position")
    model, _ = wire(embedding, PART.plan(setting, False), embedding.words, setting.format)
    for letter in "AB":
        arrays = [array for name, array in weights.tensors(model).items() if name.endswith(f".recurrence.{letter}")]
        assert arrays
        assert all(array.shape == (model.width, model.width) and array.any() for array in arrays), letter


def test_both_formats_hold_the_same(tmp_path: Path) -> None:
    one, left = dumped(tmp_path / "a.safetensors", "istree", "--n", "3")
    two, right = dumped(tmp_path / "a.npz", "istree", "--n", "3")
    assert left == right
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_torch_opens_the_file(tmp_path: Path) -> None:
    from safetensors.torch import load_file as load_torch

    dumped(tmp_path / "a.safetensors", "istree", "--n", "3")
    assert load_torch(tmp_path / "a.safetensors")["embed.words"].shape[0] == 9


def test_a_run_and_a_dump_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.npz"
    _, sidecar = dumped(path, "istree", "--edges", "1-2,2-3", "--json")
    assert json.loads(capsys.readouterr().out)["answer"] == "YES"
    assert sidecar["n"] == 3


Readable = Callable[..., str]


@pytest.fixture
def readable(capsys: pytest.CaptureFixture[str]) -> Readable:
    """What the command prints for people who want to read weights."""

    def text(*argv: str) -> str:
        assert command("istree")(("--dump-weights", *argv)) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return text


def test_the_readable_dump_names_everything(readable: Readable) -> None:
    text = readable("--n", "16")
    sidecar = json.loads(readable("--n", "16", "--json"))
    for name in sidecar["registers"]:
        assert f"  {name} " in text
    for number, block in enumerate(sidecar["blocks"], start=1):
        assert f"\nblock {number}: " in text
        for head in block["heads"]:
            assert f"({head['name']}), Lemma C.1" in text
            assert head["lookup"]["says"] in text
            assert head["lookup"]["refused"] == []
            for component in head["score"]:
                assert component["key"] in text
                assert component["query"] in text
        for unit in block["units"]:
            assert unit["formula"] in text
            assert unit["gadget"] in text
    for constant in sidecar["constants"]:
        assert constant["derivation"] in text


def test_a_dump_says_how_many_blocks_are_as_printed(readable: Readable) -> None:
    text = readable("--n", "4", "--printed", "layer-7")
    assert "That is the repaired model. This one, as printed, has 17 blocks.\n" in text
    assert "as printed, has" not in readable("--n", "4", "--printed", "tied-head")


def test_the_named_constants_are_those_of_the_weights(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    tensors, sidecar = dumped(path, "istree", "--n", "16")
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


@pytest.mark.parametrize("model", ["hybrid", "rag"])
def test_a_turing_machine_of_many_steps_is_dumped(model: str, tmp_path: Path) -> None:
    """A worked example has fewer words than there are steps; the model is wired for all of these all the same."""
    argv = f"--machine bb2 --model {model} --steps 300".split()
    _, sidecar = dumped(tmp_path / "weights.safetensors", "turing", *argv)
    (example,) = sidecar["examples"]
    assert sidecar["n"] == 300
    assert example["expected_next"][-1] == "HALT"
