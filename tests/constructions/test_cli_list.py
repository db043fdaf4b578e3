"""`python -m constructions` and the registry after it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import constructions
from constructions.__main__ import main, sizes
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from constructions.models.registry import PART_FOLDERS, find_constructions, find_parts

ROOT = Path(constructions.__file__).parent


def test_every_file_with_a_part_is_found() -> None:
    files = [path for folder in PART_FOLDERS for path in (ROOT / "parts" / folder).glob("*.py")]
    written = [path for path in files if re.search(r"^PART = ", path.read_text(encoding="utf-8"), re.MULTILINE)]
    actual = find_parts()
    assert len(actual) == len(written) > 10
    ids = [part.id for part in actual]
    lemmas = [i for i in ids if i.startswith("C.")]
    assert lemmas == sorted(lemmas, key=lambda i: int(i[2:]))
    assert ids.index("C.6") < ids.index("C.13")


def test_every_file_with_a_construction_is_found() -> None:
    files = [*ROOT.glob("*.py"), *ROOT.glob("*/__init__.py")]
    names_them = re.compile(r'^DOOR = |^    if name != "DOOR"', re.MULTILINE)
    written = [p for p in files if names_them.search(p.read_text(encoding="utf-8"))]
    names = {path.parent.name if path.stem == "__init__" else path.stem for path in written}
    assert {item.construction.name for item in find_constructions()} == names
    assert len(names) > 4


def test_a_new_file_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "from dataclasses import replace",
        "from constructions.istree.transformer import TourTransformer",
        "from constructions.models.door import Door",
        "class Another(TourTransformer):",
        "    construction = replace(TourTransformer.construction, name='another_search')",
        "DOOR = Door('another_search', {'transformer': Another()})",
    )
    (tmp_path / "another_search.py").write_text("\n".join(text))
    monkeypatch.setattr(constructions, "__path__", [*constructions.__path__, str(tmp_path)])
    assert {"istree", "another_search"} <= {item.construction.name for item in find_constructions()}


def test_json_lists_what_the_weights_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("--json",)) == 0
    document = json.loads(capsys.readouterr().out)
    (istree,) = [
        item for item in document["constructions"] if (item["name"], item["model"]) == ("istree", "transformer")
    ]
    model = TRANSFORMER.build(20).model
    assert istree["layers"] == len(model.blocks) == 9
    assert istree["heads"] == max(len(block.heads) for block in model.blocks) == 2
    assert istree["width"] == model.width
    assert istree["variants"] == ["repaired", "printed", "lean"]
    assert istree["source"].startswith("Theorem 4.7")
    assert [finding["id"] for finding in istree["findings"]] == list(FINDING_IDS)
    assert "bits(n)" in istree["precision"]
    assert {part["id"] for part in document["parts"]} >= {"C.1", "C.13", "C.18"}


def test_the_table_fits_and_names_everything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(()) == 0
    text = capsys.readouterr().out
    for part in find_parts():
        assert part.statement in text
    assert "istree" in text


@pytest.mark.parametrize("variant", TRANSFORMER.construction.variants)
def test_sizes_do_not_depend_on_n(variant: str) -> None:
    printed = FINDING_IDS if variant == "printed" else ()
    for n in (10, 100, 1000):
        model = TRANSFORMER.in_variant(variant).build(n, printed=printed).model
        assert (len(model.blocks), model.width, model.parameters) == tuple(
            sizes(TRANSFORMER, variant)[key] for key in ("layers", "width", "parameters")
        )


def test_the_precision_formula_holds() -> None:
    assert TRANSFORMER.construction.precision.startswith("p ≤ 8·bits(n) + 23 for n ≤ 10^6")
    for n in [
        *range(1, 70),
        *(10**k + d for k in (2, 3, 4, 5) for d in (-1, 0, 1)),
        *(2**k for k in range(7, 20)),
        10**6,
    ]:
        assert TRANSFORMER.least_precision(n) <= 8 * n.bit_length() + 23
