"""Folders for Hugging Face transformers: loaded by its Auto classes, generated from, away from this project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from constructions.exports.tried import TRIED, longest_sequence
from tests.exports.held_out import FEW, MANY, asked, entries

pytest.importorskip("transformers", reason="transformers is not installed: `make export-test` does")

STRANGER = """
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
torch.set_grad_enabled(False)
answers = []
for folder, asked in json.load(sys.stdin).items():
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    assert not any(name.partition(".")[0] in ("constructions", "precision") for name in sys.modules)
    answer = {"found": [], "said": [], "dtype": str(model.dtype)}
    for case in asked:
        ids = tokenizer(case["text"], return_tensors="pt")
        assert ids.input_ids.tolist() == [case["tokens"]]
        answer["found"].append(model(**ids).logits.argmax(-1)[0].tolist())
        if case["prompt"]:
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
    answers.append(answer)
print(json.dumps(answers))
"""
GENERATED = 2  # of each model, from the prompt on


def hold_the_table(name: str, model: str, variant: str, float_name: str, count: int, path: Path) -> None:
    models = asked(name, model, variant, TRIED[name, model, variant][float_name].n, count)
    folders, given = [path / f"model{i}" for i in range(len(models))], {}
    for folder, (loaded, cases) in zip(folders, models, strict=True):
        assert loaded.export("hf", folder, float_name=float_name) == (folder,)
        spelled, generated = loaded.wired.spelled, 0 if model == "rag" else GENERATED  # nobody searches for it there
        given[str(folder)] = [
            {
                "text": " ".join(spelled(case.tokens)),
                "tokens": case.tokens,
                "prompt": " ".join(spelled(case.tokens[: min(case.written) + 1])) if i < generated else "",
            }
            for i, case in enumerate(cases)
        ]
    places = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(path / "home"), "HF_MODULES_CACHE": str(path / "code")}
    done = subprocess.run(
        [sys.executable, "-I", "-c", STRANGER],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=3000,
        cwd=path,
        env={**os.environ, **places},
    )
    assert done.returncode == 0, done.stderr
    for folder, (loaded, cases), answer in zip(folders, models, json.loads(done.stdout), strict=True):
        assert all(case.agrees(found) for case, found in zip(cases, answer["found"], strict=True))
        assert answer["dtype"] == f"torch.{float_name}"
        longest = longest_sequence(loaded.wired, model, float_name)
        assert answer["refused"] == f"{longest + 1} tokens; these weights were tried on {longest} at most"
        for case, said in zip(cases, answer["said"], strict=False):
            last = case.written[len(case.tokens) - 1]
            assert said == " ".join(loaded.wired.spelled([*case.tokens, last]))
        assert json.loads((folder / "sidecar.json").read_text(encoding="utf-8"))["export"]["float"] == float_name


def test_a_folder_writes_a_few_times_what_reference_writes(tmp_path: Path) -> None:
    hold_the_table("recall", "hybrid", "repaired", "float32", FEW, tmp_path)


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries())
def test_a_folder_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, MANY, tmp_path)
