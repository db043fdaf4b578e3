"""Folders for Hugging Face transformers: loaded by its Auto classes, generated from, away from this project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from constructions.exports.tried import TRIED, longest_sequence
from tests.exports.held_out import cases, models

pytest.importorskip("transformers", reason="transformers is not installed: `make export-test` does")

STRANGER = """
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, generates = sys.argv[1], int(sys.argv[2])
model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
assert not any(name.partition(".")[0] in ("constructions", "precision") for name in sys.modules)
answer = {"found": [], "said": [], "dtype": str(model.dtype)}
torch.set_grad_enabled(False)
for case in json.load(sys.stdin):
    ids = tokenizer(case["text"], return_tensors="pt")
    assert ids.input_ids.tolist() == [case["tokens"]]
    answer["found"].append(model(**ids).logits.argmax(-1)[0].tolist())
    if len(answer["said"]) < generates:
        prompt = tokenizer(case["prompt"], return_tensors="pt")
        answer["said"].append(tokenizer.decode(model.generate(**prompt)[0]))
longest = model.config.max_position_embeddings
try:
    model(torch.zeros(1, longest + 1, dtype=torch.int64))
except ValueError as error:
    answer["refused"] = str(error)
model.save_pretrained(folder + "-again")
again = AutoModelForCausalLM.from_pretrained(folder + "-again", trust_remote_code=True)
assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))
print(json.dumps(answer))
"""
REPAIRED = [("istree", "transformer", "float64"), ("istree", "transformer", "float32"), ("istree", "hybrid", "float64")]
REPAIRED += [(task, model, "float32") for task in ("recall", "index") for model in ("transformer", "hybrid")]
REPAIRED += [("counting", "hybrid", "float64"), ("ngram", "rag", "float64"), ("turing", "hybrid", "float64")]
ENTRIES = [(task, model, "repaired", float_name) for task, model, float_name in REPAIRED]
ENTRIES += [("istree", "transformer", "lean", "float32"), ("simulate", "transformer", "repaired", "float64")]
MANY = [pytest.param(*entry, 200, marks=pytest.mark.exports) for entry in ENTRIES]


@pytest.mark.parametrize(
    ("name", "model", "variant", "float_name", "count"), [("recall", "hybrid", "repaired", "float32", 4), *MANY]
)
def test_a_folder_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, count: int, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    loaded, inputs = next(models(name, model, TRIED[name, model, variant][float_name].n, variant))
    longest = longest_sequence(loaded.wired, model, float_name)
    assert loaded.export("hf", folder, float_name=float_name) == (folder,)
    spelled = loaded.wired.spelled
    asked = [case for given in islice(inputs, count) if len((case := cases(loaded, given)).tokens) <= longest]
    given = [
        {
            "text": " ".join(spelled(case.tokens)),
            "tokens": case.tokens,
            "prompt": " ".join(spelled(case.tokens[: min(case.written) + 1])),
        }
        for case in asked
    ]
    command = [sys.executable, "-I", "-c", STRANGER, str(folder), "0" if model == "rag" else "3"]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "home"),
        "HF_MODULES_CACHE": str(tmp_path / "code"),
    }
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, timeout=3000, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert all(case.agrees(found) for case, found in zip(asked, answer["found"], strict=True))
    assert answer["dtype"] == f"torch.{float_name}"
    assert answer["refused"] == f"{longest + 1} tokens; these weights were tried on {longest} at most"
    for case, said in zip(asked, answer["said"], strict=False):
        last = case.written[len(case.tokens) - 1]
        assert said == " ".join(spelled([*case.tokens, last]))
    assert json.loads((folder / "sidecar.json").read_text(encoding="utf-8"))["export"]["float"] == float_name
