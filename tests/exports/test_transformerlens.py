"""Folders for TransformerLens, loaded as the page says, away from this project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import constructions
from constructions.exports.limits import TRIED, ExportError, longest_sequence
from tests.exports.conftest import Ask, snippet
from tests.exports.held_out import MANY, asked, entries

pytest.importorskip("transformer_lens", reason="transformer_lens is not installed: `make export-test` does")

LOAD, HEAT_MAP = snippet("TransformerBridge.boot_native"), snippet("run_with_cache")
RUN = """
torch.set_grad_enabled(False)
found = []
for case in given:
    assert tokenizer(case["text"]).input_ids == list(case["tokens"])
    found.append(model(torch.tensor([case["tokens"]])).argmax(-1)[0].tolist())
longest = config["n_ctx"]
try:
    model(torch.zeros(1, longest + 1, dtype=torch.int64))
except ValueError as error:
    refused = str(error)
answer = {"found": found, "dtype": str(model(torch.tensor([[0]])).dtype), "refused": refused}
"""
SHOW = """
father = cache["resid_post", 5][0, :, sidecar["registers"]["father"]]
heads = [
    (head["block"], head["name"], head["place"], cache[head["hook"]][0, head["index"]].tolist())
    for head in sidecar["export"]["heads"]
]
answer = {"pattern": pattern.tolist(), "father": father.tolist(), "heads": heads}
"""


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries("transformer"))
def test_a_folder_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, ask: Ask, tmp_path: Path
) -> None:
    for i, (loaded, cases) in enumerate(asked(name, model, variant, TRIED[name, model, variant][float_name].n, MANY)):
        folder, longest = tmp_path / str(i), longest_sequence(loaded.wired, model, float_name)
        folder.mkdir()
        assert loaded.export("transformerlens", folder / "lens", float_name=float_name) == (folder / "lens",)
        given = [{"text": " ".join(loaded.wired.spelled(case.tokens)), "tokens": case.tokens} for case in cases]
        answer = ask("lens", LOAD + RUN, folder, given)
        assert all(case.agrees(actual) for case, actual in zip(cases, answer["found"], strict=True))
        assert answer["dtype"] == f"torch.{float_name}"
        assert f"input length {longest + 1} exceeds n_ctx={longest}" in answer["refused"]


def test_the_page_draws_a_head(ask: Ask, tmp_path: Path) -> None:
    loaded = constructions.load("istree", n=4)
    loaded.export("transformerlens", tmp_path / "lens")
    assert (
        len({file.stat().st_mode for file in (tmp_path / "lens").iterdir()}) == 1
    )  # whoever may read one may read all
    shown = ask("lens", LOAD + HEAT_MAP + SHOW, tmp_path)
    assert (tmp_path / "father.png").stat().st_size > 1000
    result = loaded.run([(1, 2), (2, 3), (3, 4)])
    assert shown["pattern"] == pytest.approx(result.attention(6, "father"), abs=1e-9)
    assert shown["father"] == pytest.approx(list(result.array("father", 6)))
    plans = enumerate(loaded.wired.blocks, start=1)
    wanted = [
        (block, head.name, f"block {block}, head {number} ({head.name})")
        for block, plan in plans
        for number, head in enumerate(plan.heads, start=1)
    ]
    assert [(block, name, place) for block, name, place, _ in shown["heads"]] == wanted
    step = float(loaded.wired.arithmetic.format.quantum)  # the engine rounds weights to one
    for number, name, _, actual in shown["heads"]:
        assert np.abs(np.array(actual) - result.attention(number, name)).max() <= step / 2 + 1e-9, (number, name)


@pytest.mark.parametrize(("name", "model"), [("recall", "hybrid"), ("index", "rag")])
def test_a_recurrence_is_refused(name: str, model: str, tmp_path: Path) -> None:
    with pytest.raises(
        ExportError, match=f"{name} has a linear recurrence in this model, and TransformerLens has none"
    ):
        constructions.load(name, model, n=4).export("transformerlens", tmp_path / "lens")
    assert not (tmp_path / "lens").exists()
