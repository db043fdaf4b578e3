"""Folders for TransformerLens, loaded as the page says, away from this project."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

import constructions
from constructions.exports.tried import TRIED, ExportError, longest_sequence
from tests.exports.held_out import cases, models

pytest.importorskip("transformer_lens", reason="transformer_lens is not installed: `make export-test` does")

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"
LOAD, HEAT_MAP = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
RUN = """
import sys
assert not any(name.partition(".")[0] in ("constructions", "precision") for name in sys.modules)
found = []
torch.set_grad_enabled(False)
for case in json.load(sys.stdin):
    assert tokenizer(case["text"]).input_ids == case["tokens"]
    found.append(model(torch.tensor([case["tokens"]])).argmax(-1)[0].tolist())
longest = config["n_ctx"]
try:
    model(torch.zeros(1, longest + 1, dtype=torch.int64))
except ValueError as error:
    refused = str(error)
print(json.dumps({"found": found, "dtype": str(model(torch.tensor([[0]])).dtype), "refused": refused}))
"""
SHOW = """
pattern = cache["pattern", 5][0, 0]
registers = json.load(open("lens/sidecar.json"))["registers"]
father = cache["resid_post", 5][0, :, registers["father"]]
print(json.dumps({"pattern": pattern.tolist(), "father": father.tolist()}))
"""


def stranger(code: str, folder: Path, given: str = "") -> str:
    command = [sys.executable, "-I", "-W", "ignore", "-c", code]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=3000, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


ENTRIES = [
    ("istree", "repaired", "float64"),
    ("istree", "lean", "float32"),
    ("recall", "repaired", "float32"),
    ("counting", "repaired", "float64"),
    ("simulate", "repaired", "float32"),
]
MANY = [pytest.param(*entry, 200, marks=pytest.mark.exports) for entry in ENTRIES]


@pytest.mark.parametrize(("name", "variant", "float_name", "count"), MANY)
def test_a_folder_writes_what_reference_writes(
    name: str, variant: str, float_name: str, count: int, tmp_path: Path
) -> None:
    tried = TRIED[name, "transformer", variant][float_name]
    loaded, inputs = next(models(name, "transformer", tried.n, variant))
    longest = longest_sequence(loaded.wired, "transformer", float_name)
    assert loaded.export("transformerlens", tmp_path / "lens", float_name=float_name) == (tmp_path / "lens",)
    asked = [case for given in islice(inputs, count) if len((case := cases(loaded, given)).tokens) <= longest]
    given = [{"text": " ".join(loaded.wired.spelled(case.tokens)), "tokens": case.tokens} for case in asked]
    answer = json.loads(stranger(LOAD + RUN, tmp_path, json.dumps(given)))
    assert all(case.agrees(found) for case, found in zip(asked, answer["found"], strict=True))
    assert answer["dtype"] == f"torch.{float_name}"
    assert f"input length {longest + 1} exceeds n_ctx={longest}" in answer["refused"]


def test_the_page_draws_a_head(tmp_path: Path) -> None:
    loaded = constructions.load("istree", n=4)
    loaded.export("transformerlens", tmp_path / "lens")
    shown = json.loads(stranger(LOAD + HEAT_MAP + SHOW, tmp_path))
    assert (tmp_path / "father.png").stat().st_size > 1000
    result = loaded.run([(1, 2), (2, 3), (3, 4)])
    assert shown["pattern"] == pytest.approx(result.attention(6, "father"), abs=1e-9)
    assert shown["father"] == pytest.approx(list(result.array("father", 6)))


@pytest.mark.parametrize(("name", "model"), [("recall", "hybrid"), ("index", "rag")])
def test_a_recurrence_is_refused(name: str, model: str, tmp_path: Path) -> None:
    with pytest.raises(
        ExportError, match=f"{name} has a linear recurrence in this model, and TransformerLens has none"
    ):
        constructions.load(name, model, n=4).export("transformerlens", tmp_path / "lens")
    assert not (tmp_path / "lens").exists()
