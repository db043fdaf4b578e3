"""Folders for Hugging Face transformers: loaded by its Auto classes, generated from, away from this project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import constructions
from constructions.api import LoadedModel
from constructions.exports.tried import TRIED, longest_sequence
from tests.exports.conftest import Ask, snippet
from tests.exports.held_out import FEW, MANY, Case, asked, entries

pytest.importorskip("transformers", reason="transformers is not installed: `make export-test` does")

RUN = """
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
torch.set_grad_enabled(False)
answer = []
for folder, asked in given:
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    found, said = [], []
    for case in asked:
        ids = tokenizer(case["text"], return_tensors="pt")
        assert ids.input_ids.tolist() == [list(case["tokens"])]
        found.append(model(**ids).logits.argmax(-1)[0].tolist())
        if case["prompt"]:
            prompt = tokenizer(case["prompt"], return_tensors="pt")
            said.append(tokenizer.decode(model.generate(**prompt)[0]))
    longest = model.config.max_position_embeddings
    try:
        model(torch.zeros(1, longest + 1, dtype=torch.int64))
    except ValueError as error:
        refused = str(error)
    model.save_pretrained(folder + "-again")
    again = AutoModelForCausalLM.from_pretrained(folder + "-again", trust_remote_code=True)
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))
    answer.append({"found": found, "said": said, "dtype": str(model.dtype), "refused": refused})
"""
GENERATED = 2  # of each model, from the prompt on


def question(loaded: LoadedModel, case: Case, prompted: bool) -> dict[str, Any]:
    prompt = case.tokens[: min(case.written) + 1] if prompted else ()
    text, words = (" ".join(loaded.wired.spelled(tokens)) for tokens in (case.tokens, prompt))
    return {"text": text, "tokens": case.tokens, "prompt": words}


def would_end(config: dict[str, Any], case: Case) -> bool:
    """Whether `generate`, if it writes these tokens, ends behind the last of them, and not before."""
    *others, last = case.written.values()
    stop, left = set(config.get("eos_token_id", [])), config["max_new_tokens"] - len(case.written)
    return stop.isdisjoint(others) and (left == 0 or (left > 0 and last in stop))


def hold_the_table(name: str, model: str, variant: str, float_name: str, count: int, ask: Ask, path: Path) -> None:
    models = asked(name, model, variant, TRIED[name, model, variant][float_name].n, count)
    given: list[tuple[str, list[dict[str, Any]]]] = []
    for i, (loaded, cases) in enumerate(models):
        folder, generated = path / f"model{i}", 0 if model == "rag" else GENERATED  # nobody searches for it there
        assert loaded.export("hf", folder, float_name=float_name) == (folder,)
        given.append((str(folder), [question(loaded, case, j < generated) for j, case in enumerate(cases)]))
        config = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
        assert model == "rag" or all(would_end(config, case) for case in cases)
    for (folder, _), (loaded, cases), answer in zip(given, models, ask("transformers", RUN, path, given), strict=True):
        assert all(case.agrees(found) for case, found in zip(cases, answer["found"], strict=True))
        assert answer["dtype"] == f"torch.{float_name}"
        longest = longest_sequence(loaded.wired, model, float_name)
        assert answer["refused"] == f"{longest + 1} tokens; these weights were tried on {longest} at most"
        for case, said in zip(cases, answer["said"], strict=False):
            last = case.written[len(case.tokens) - 1]
            assert said == " ".join(loaded.wired.spelled([*case.tokens, last]))
        sidecar = json.loads((Path(folder) / "sidecar.json").read_text(encoding="utf-8"))
        assert sidecar["export"]["float"] == float_name


def test_the_page_generates(ask: Ask, tmp_path: Path) -> None:
    constructions.load("istree", n=4).export("hf", tmp_path / "folder")
    assert ask("transformers", snippet("AutoModelForCausalLM") + "answer = said", tmp_path).endswith(
        " 1 2 3 4 3 2 1 YES"
    )


def test_a_folder_writes_a_few_times_what_reference_writes(ask: Ask, tmp_path: Path) -> None:
    hold_the_table("recall", "hybrid", "repaired", "float32", FEW, ask, tmp_path)
    assert (
        len({file.stat().st_mode for file in (tmp_path / "model0").iterdir()}) == 1
    )  # whoever may read one may read all


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries())
def test_a_folder_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, ask: Ask, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, MANY, ask, tmp_path)
