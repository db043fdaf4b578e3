"""The zoo of models, read as somebody would who has only its files: nothing of the project is imported to judge them."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from verify.certify import main as certify
from verify.zoo import main

NAMES = ("recall", "induction")
SENTENCE = re.compile(
    r"reads (.*) at the (first|last) position where `(.*)` (?:equals|is) `?(.*?)`?, else at position 1"
)
NEAREST = re.compile(r"reads (.*) at the position nearest to `position(?: − (\d+))?`")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zoo") / "models"
    assert main([str(folder), "--names", ",".join(NAMES), "--n", "6"]) == 0
    return folder


def records(folder: Path, *splits: str) -> list[dict[str, Any]]:
    return [json.loads(line) for split in splits for line in (folder / f"{split}.jsonl").read_text().splitlines()]


def heads_of(card: str) -> list[tuple[int, int, str]]:
    """Block, head and what it looks up, off the card's table."""
    rows = re.findall(r"^\| (\d+) \| (\d+) \| .*? \| (reads .*) \|$", card, re.M)
    return [(int(block), int(head), says) for block, head, says in rows]


def forward(
    weights: dict[str, np.ndarray], tokens: list[int], without: tuple[int, int] | None = None
) -> tuple[np.ndarray, dict[tuple[int, int], np.ndarray], list[np.ndarray]]:
    """Logits, attention of each head, and the stream before each block, in float64. without: a head that writes nothing."""
    x = weights["embed.words"][tokens] + np.arange(1, len(tokens) + 1)[:, None] * weights["embed.position"]
    attention, before, block = {}, [], 0
    while f"blocks.{block}.ffn.W_gate" in weights:
        before.append(x)
        added, head = np.zeros_like(x), 0
        while f"blocks.{block}.attn.{head}.W_Q" in weights:
            q, k, v, o = (weights[f"blocks.{block}.attn.{head}.W_{name}"] for name in "QKVO")
            scores = (x @ q.T) @ (x @ k.T).T
            scores[np.triu_indices(len(tokens), 1)] = -np.inf
            e = np.exp(scores - scores.max(1, keepdims=True))
            attention[block + 1, head + 1] = e / e.sum(1, keepdims=True)
            if (block + 1, head + 1) != without:
                added += attention[block + 1, head + 1] @ (x @ v.T) @ o.T
            head += 1
        x = x + added
        gate, up, down = (weights[f"blocks.{block}.ffn.W_{name}"] for name in ("gate", "up", "down"))
        bias = [weights[f"blocks.{block}.ffn.b_{name}"] for name in ("gate", "up", "down")]
        x = x + (np.maximum(x @ gate.T + bias[0], 0) * (x @ up.T + bias[1])) @ down.T + bias[2]
        block += 1
    return x @ weights["unembed"].T, attention, before


def value(form: str, stream: np.ndarray, registers: dict[str, int]) -> np.ndarray:
    """A form of registers such as `2·position − 3`, at each position."""
    total = np.zeros(len(stream))
    for sign, factor, name in re.findall(r"(−|\+)? ?(?:([\d/]+)·)?([^\s·]+)", form):
        term = stream[:, registers[name]] if name in registers else np.full(len(stream), float(Fraction(name)))
        total += (-1 if sign == "−" else 1) * float(Fraction(factor or 1)) * term
    return total


def looked_up(says: str, stream: np.ndarray, registers: dict[str, int], k: int) -> int:
    """The position from 0 that the sentence of a card names for the query at k."""
    if nearest := NEAREST.fullmatch(says):
        return max(0, k - int(nearest[2] or 0))
    match = SENTENCE.fullmatch(says)
    assert match, says
    keys, queries = (value(match[i], stream, registers) for i in (3, 4))
    found = [j for j in range(k + 1) if abs(keys[j] - queries[k]) < 1e-3]  # floats leak
    return (found[0] if match[2] == "first" else found[-1]) if found else 0


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_what_each_head_does(zoo: Path, name: str) -> None:
    """Each head reads where its card says, at each position of each prompt at which it asks; without it answers are wrong."""
    folder = zoo / name
    card, weights = (folder / "card.md").read_text(encoding="utf-8"), load_file(folder / "model.safetensors")
    sidecar = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    registers = {
        register: i
        for i, register in enumerate(re.findall(r"^\| \d+ \| (\S+) \|", card.partition("## Registers")[2], re.M))
    }
    assert len(heads_of(card)) == sum(len(block["heads"]) for block in sidecar["blocks"]) > 1
    all_records, wrong = records(folder, "test", "hard"), dict.fromkeys(heads_of(card), 0)
    for entry in all_records:
        tokens, prompt = entry["token_ids"][:-1], entry["prompt_tokens"]
        logits, attention, before = forward(weights, tokens)
        assert logits.argmax(1)[prompt - 1 :].tolist() == entry["token_ids"][prompt:]
        for block, head, says in heads_of(card):
            pattern = attention[block, head]
            for k, reads in enumerate(entry["attention"][f"{block}.{head}"]):
                assert [(j, Fraction(w)) for j, w in reads] == [(int(pattern[k].argmax()) + 1, 1)]
            k = prompt - 1
            assert pattern[k].argmax() == looked_up(says, before[block - 1], registers, k), (says, entry["tokens"])
            patched, _, _ = forward(weights, tokens, without=(block, head))
            wrong[block, head, says] += patched[k].argmax() != logits[k].argmax()
    assert all(count > len(all_records) // 3 for count in wrong.values()), wrong


def test_values_are_those_of_the_registers(zoo: Path) -> None:
    for entry in records(zoo / "recall", "train", "test", "hard"):
        numbers = [int(token) if token.isdecimal() else 0 for token in entry["tokens"]][:-1]
        assert [Fraction(v) for v in entry["values"]["position"]] == list(range(1, len(numbers) + 1))
        assert [Fraction(v) for v in entry["values"]["number@1"]] == [0, *numbers[:-1]]
        mark = entry["tokens"].index("?")
        sequence, key = entry["tokens"][1:mark], entry["tokens"][mark + 1]
        due = sequence[sequence.index(key) + 1] if key in sequence[:-1] else "FAILED"
        assert entry["answer"] == [due]


def test_prompts_are_different_and_the_bytes_are_the_same(zoo: Path, tmp_path: Path) -> None:
    assert main([str(tmp_path / "again"), "--names", ",".join(NAMES), "--n", "6"]) == 0
    index = json.loads((zoo / "index.json").read_text())
    assert json.loads((tmp_path / "again" / "index.json").read_text()) == index
    for model in index["models"]:
        folder = zoo / model["name"]
        assert model["theorem_holds"]
        for file, digest in model["sha256"].items():
            assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
        prompts = [tuple(e["token_ids"][: e["prompt_tokens"]]) for e in records(folder, "train", "test", "hard")]
        assert len(prompts) == len(set(prompts)) > 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--names", "recal"), "--names: there is no model 'recal'; there are counting, index"),
        (("--n", "1"), "--n"),
        ((), "is there already, and not empty; --force writes into it"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    assert main([str(tmp_path), *options]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("basis", ["permuted", "hadamard", "FILE.json"])
def test_another_basis(basis: str, zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same prompts, answers, values and attention as over registers; the stream in float64 is matrix · values."""
    if basis == "FILE.json":
        width = 12
        matrix = [[int(i == j) + 2 * int(j == i + 1) for j in range(width)] for i in range(width)]
        inverse = [[(-2) ** (j - i) if j >= i else 0 for j in range(width)] for i in range(width)]
        basis = str(tmp_path / "basis.json")
        Path(basis).write_text(json.dumps({"matrix": matrix, "inverse": inverse}))
    assert main([str(tmp_path / "one"), "--names", "induction", "--n", "6", "--basis", basis]) == 0
    index = json.loads((tmp_path / "one" / "index.json").read_text())
    if basis == "permuted":  # the same bytes again
        assert main([str(tmp_path / "two"), "--names", "induction", "--n", "6", "--basis", basis]) == 0
        assert json.loads((tmp_path / "two" / "index.json").read_text()) == index
    assert index["basis"] == basis
    folder = tmp_path / "one" / "induction"
    sidecar = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    rows = np.array(sidecar["basis"]["matrix"], float)
    weights, names = load_file(folder / "model.safetensors"), list(sidecar["registers"])
    assert not np.array_equal(weights["embed.words"], load_file(zoo / "induction" / "model.safetensors")["embed.words"])
    mine, its = (records(one, "train", "test", "hard") for one in (folder, zoo / "induction"))
    assert mine == its
    for entry in mine[:20]:
        logits, _, _ = forward(weights, entry["token_ids"][:-1])
        assert logits[-1].argmax() == entry["token_ids"][-1]
    inverse_rows = np.linalg.inv(rows)
    tokens = mine[0]["token_ids"][:-1]
    _, _, before = forward(weights, tokens)
    position = (before[1] @ inverse_rows.T)[:, names.index("position")]
    assert np.allclose(position, np.arange(1, len(tokens) + 1))
    for kind, package in (("huggingface", "transformers"), ("transformerlens", "transformer_lens")):
        if importlib.util.find_spec(package):
            assert json.loads((folder / kind / "sidecar.json").read_text(encoding="utf-8"))["basis"] == sidecar["basis"]
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert re.search(r"^\| basis \| certified \| .*rounded, the stream is exactly matrix · registers", card, re.M)
    assert certify([str(folder / "model.safetensors")]) == 0


def test_a_basis_that_needs_more_bits(tmp_path: Path) -> None:
    assert main([str(tmp_path), "--names", "lookup", "--n", "6", "--basis", "hadamard"]) == 0
    (entry,) = json.loads((tmp_path / "index.json").read_text())["models"]
    p = entry["precision_bits"]
    assert f"| basis | certified | at p = {p}, rounded, " in (tmp_path / "lookup" / "card.md").read_text(
        encoding="utf-8"
    )
    assert certify([str(tmp_path / "lookup" / "model.safetensors")]) == 0


def test_a_basis_that_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "basis.json"
    for text, says in (
        ('{"matrix": [[1]], "inverse": [[1]]}', "the matrix has 1 rows, and the model has 12 coordinates"),
        ('{"matrix": [[1]], "inverse": [[2]]}', "matrix · inverse has 2 in row 0, column 0, and 1 is due"),
        ("[]", "a basis has a matrix and its inverse"),
        ("{", "basis.json"),
    ):
        file.write_text(text)
        assert main([str(tmp_path / "zoo"), "--names", "induction", "--n", "6", "--basis", str(file)]) == 2
        said = capsys.readouterr().err
        assert says in said
        assert len(said.splitlines()) == 1
    assert main([str(tmp_path / "zoo"), "--basis", "rotated"]) == 2
    assert "--basis: 'rotated' is none of identity, permuted, hadamard and no FILE.json" in capsys.readouterr().err
