"""Sidecars that are tampered with, field by field: each is refused in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constructions.exports.weights import save
from constructions.show.dump import dump_document
from constructions.show.run import worked_examples
from verify.certify import main
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject


def exported(subject: Subject, path: Path) -> dict[str, Any]:
    """Writes what `--dump-weights` does, and returns the sidecar."""
    solver = subject.dossier.solver
    wired = solver.build(subject.n)
    examples = list(worked_examples(solver.examples(wired)))
    assert examples
    save(wired.model, dump_document(solver, wired, examples, solver.described(wired)), path)
    result: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return result


def others(value: Any) -> list[Any]:
    """Values of the same kind that are not this one; of lists and objects with one part changed, left out or doubled."""
    match value:
        case bool() | None:
            return [not value, "x"]
        case int():
            return [value + 1, value - 1, str(value), float(value), 10**30]
        case str():
            return [value + "x", value[1:] + value[:1], 1] if value else ["x", 1]
        case list() if value:
            return [[others(value[-1])[0], *value[1:]], {}, value[1:], [*value, value[0]]]
        case dict() if value:
            key = next(iter(value))
            return [
                {k: x for k, x in value.items() if k != key},
                value | {key: others(value[key])[0]},
                {**value, "x": 1},
            ]
    return [[1], {"x": 1}]


SUBJECTS = (
    find_subject("recall", 8),
    find_subject("ngram", 5, model="rag", query_length=2),
    find_subject("turing", 4, model="cot", machine="1RB1LB_1LA1RZ", cells=5),
)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.construction}-{subject.model}")
def test_each_field_is_checked(subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    sidecar, beside = exported(subject, path), path.with_suffix(".json")
    assert main([str(path)]) == 0
    capsys.readouterr()
    tampered = [
        (field, sidecar | {field: other})
        for field, value in sidecar.items()
        for other in others(value)[: 2 if field == "examples" else None]  # fewer examples, or more of them, are right
    ]
    tampered += [(field, {k: v for k, v in sidecar.items() if k != field}) for field in sidecar if field != "domain"]
    tampered.append(("one more", {**sidecar, "one more": 1}))
    # So many cells have the same weights for any number of steps, and their file is the same.
    if subject.dossier.fields.get("cells"):
        tampered = [(field, other) for field, other in tampered if field != "n" or type(other.get("n")) is not int]
    for field, document in tampered:
        beside.write_text(json.dumps(document), encoding="utf-8")
        code, said = main([str(path)]), capsys.readouterr()
        assert code in (1, 2), (field, document.get(field), said)
        text = said.out + said.err
        assert len(text.splitlines()) == (2 if code == 1 else 1), (field, text)


def idle(sidecar: dict[str, Any]) -> dict[str, Any]:
    """Returns it with examples in which no word is due."""
    nothing = [
        {**one, **dict.fromkeys(("expected_next", "expected_next_ids"), [None] * len(one["tokens"]))}
        for one in sidecar["examples"]
    ]
    return {**sidecar, "examples": nothing}


def swapped(sidecar: dict[str, Any]) -> dict[str, Any]:
    """Returns it with two words of the vocabulary in each other's place."""
    one, other, *words = sidecar["vocabulary"]
    return {**sidecar, "vocabulary": [other, one, *words]}


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        # From before there were domains.
        (lambda sidecar: {field: x for field, x in sidecar.items() if field != "domain"}, 0, "certified"),
        (swapped, 1, "the sidecar: 'vocabulary' is not what recall at n = 8 has"),
        (lambda sidecar: {**sidecar, "examples": []}, 1, "the sidecar: 'examples' is no list of 1 to 64"),
        (idle, 1, "the sidecar: example 1 expects nothing"),
    ],
)
def test_another_sidecar(
    change: Callable[[dict[str, Any]], dict[str, Any]],
    code: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "model.safetensors"
    sidecar = exported(find_subject("recall", 8), path)
    path.with_suffix(".json").write_text(json.dumps(change(sidecar)), encoding="utf-8")
    assert main([str(path)]) == code
    assert says in capsys.readouterr().out


def test_a_file_from_before_heads_had_lookups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    sidecar = exported(find_subject("recall", 8), path)
    for lookups, query, code in ((False, "−number", 1), (True, "", 1), (False, "", 0)):
        changed = json.loads(json.dumps(sidecar))
        (head,) = changed["blocks"][-1]["heads"]
        head["score"][0]["query"] = query or head["score"][0]["query"]
        for component in head["score"]:
            component["meaning"] = "what it is for"
        for of in [one for block in changed["blocks"] for one in block["heads"]] if not lookups else []:
            del of["lookup"]
        path.with_suffix(".json").write_text(json.dumps(changed), encoding="utf-8")
        assert main([str(path)]) == code, (lookups, query)
    capsys.readouterr()


def test_an_example_that_expects_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    sidecar = exported(find_subject("istree", 4), path)
    for example in sidecar["examples"]:
        place = max(i for i, token in enumerate(example["expected_next_ids"]) if token is not None)
        for word in range(2):
            changed = json.loads(json.dumps(example))
            if changed["expected_next_ids"][place] != word:
                changed["expected_next_ids"][place], changed["expected_next"][place] = word, sidecar["vocabulary"][word]
                path.with_suffix(".json").write_text(json.dumps({**sidecar, "examples": [changed]}), encoding="utf-8")
                assert main([str(path)]) == 1
                assert "the sidecar: example 1 expects what the construction does not say" in capsys.readouterr().out


def test_a_tensor_that_stands_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One reader takes the first of two tensors with one name, another the last, so the file is refused."""
    path = tmp_path / "w.safetensors"
    exported(find_subject("recall", 8), path)
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + size].rstrip()
    name = '"embed.position":'
    (entry,) = re.findall(rf"{name}({{[^}}]*}})", header.decode())
    twice = header.replace(b"{", f"{{{name}{entry},".encode(), 1)
    twice += b" " * (-len(twice) % 8)
    path.write_bytes(len(twice).to_bytes(8, "little") + twice + content[8 + size :])
    assert main([str(path)]) == 2
    assert "'embed.position' stands twice in one object" in capsys.readouterr().err


def test_metadata_of_another_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from safetensors.numpy import load_file, save_file

    path = tmp_path / "model.safetensors"
    exported(find_subject("recall", 8), path)
    save_file(load_file(path), path, metadata={"longest_sequence": "99"})
    assert main([str(path)]) == 1
    assert "its metadata has longest_sequence 99, the sidecar 11" in capsys.readouterr().out
