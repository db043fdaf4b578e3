"""Folders for TransformerLens, loaded as the page says, away from this project."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import constructions
from constructions.exports.tried import TRIED, ExportError, longest_sequence
from tests.exports.held_out import MANY, asked, entries

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


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries("transformer"))
def test_a_folder_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, tmp_path: Path
) -> None:
    for i, (loaded, cases) in enumerate(asked(name, model, variant, TRIED[name, model, variant][float_name].n, MANY)):
        folder, longest = tmp_path / str(i), longest_sequence(loaded.wired, model, float_name)
        folder.mkdir()
        assert loaded.export("transformerlens", folder / "lens", float_name=float_name) == (folder / "lens",)
        given = [{"text": " ".join(loaded.wired.spelled(case.tokens)), "tokens": case.tokens} for case in cases]
        answer = json.loads(stranger(LOAD + RUN, folder, json.dumps(given)))
        assert all(case.agrees(found) for case, found in zip(cases, answer["found"], strict=True))
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
