"""Proofs as they are stored: by claim and part, a theorem a line, so that `verify.replay` can check them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from constructions.exports.files import parse_json, write_text
from verify.framework.claim import Json, compact
from verify.framework.ledger import natural
from verify.trusted import growth, halting, kernel, pigeonhole, states

if TYPE_CHECKING:
    import pytest

SCHEMA = 1
Proofs = Mapping[str, Mapping[str, Sequence[Json]]]
"""Claim → part → objects with a theorem and its proof."""


def file_of(witnesses: Path) -> Path:
    """Returns where proofs stand: in the folder of the witnesses."""
    return witnesses.with_name("proofs.json")


def check(theorem: Json, proof: Json) -> None:
    """Checks a proof with the checker whose language the theorem is in. Raises kernel.Rejected."""
    if isinstance(theorem, dict) and "states" in theorem:
        states.check(theorem, proof)
        return
    task = theorem.get("task") if isinstance(theorem, dict) else None
    of_numbers = growth if isinstance(theorem, dict) and "bits_of_bits" in theorem else kernel
    (of_numbers if task is None else halting if task == "turing" else pigeonhole).check(theorem, proof)


def sentence_of(theorem: Json) -> str:
    """Returns a theorem in one line."""
    if "bits_of_bits" in theorem:
        least = (1 << (theorem["bits_of_bits"] - 1)) - 1
        return f"for all n >= 2**{least}: {len(theorem['inequalities'])} inequalities, each in cases of n"
    if "states" in theorem:
        family = theorem["family"]
        return f"{sentence_of(family).partition(', told apart')[0]}, needs n = {family['bits']} bits of state"
    if "task" in theorem:
        sizes = ", ".join(f"{name} >= {least}" for name, least in theorem["for"].items())
        oracle = f", with an oracle for {theorem['oracle']}" if "oracle" in theorem else ""
        return f"for all {sizes}: {theorem['task']} of size {theorem['size']}{oracle}, told apart by x[k]"
    kinds: dict[str, list[str]] = {}
    for name, kind in theorem["for_all"].items():
        kinds.setdefault(kind, []).append(name)
    variables = ", ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items())
    given = f" with {' and '.join(theorem['given'])}" if theorem["given"] else ""
    return (f"for all {variables}{given}: " if variables else "") + str(theorem["show"])


def digest(objects: Sequence[Json]) -> str:
    """Returns the kernel's document of these theorems and their proofs."""
    return hashlib.sha256(json.dumps(objects, sort_keys=True).encode()).hexdigest()


def load(path: Path) -> dict[str, dict[str, list[Json]]]:
    """Returns the stored proofs; none if there is no file. ValueError if the file is something else."""
    if not path.exists():
        return {}
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']}, want {SCHEMA}")
        by_claim = {}
        for claim, parts in document["proofs"].items():
            by_claim[claim] = {part: list(objects) for part, objects in parts.items()}
            for item in (item for objects in by_claim[claim].values() for item in objects):
                if set(item) != {"theorem", "proof"}:
                    raise ValueError(f"{claim}: want objects of a theorem and its proof")
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a file of proofs: {error}") from error
    return by_claim


def report_proofs(report: pytest.TestReport) -> dict[str, dict[str, list[Json]]]:
    """Returns the proofs that a test report carries, if any."""
    values = [str(value) for name, value in report.user_properties if name == "proofs"]
    return (
        {claim: parts for value in values for claim, parts in json.loads(value).items()}
        if report.when == "call"
        else {}
    )


def update(path: Path, judged: Sequence[str], new_proofs: Proofs) -> None:
    """Stores what this run found; forgets the proofs of claims that it judged and has no proof of."""
    stored: dict[str, Mapping[str, Sequence[Json]]] = {**load(path)}
    for claim in judged:
        stored.pop(claim, None)
    stored |= new_proofs
    if stored or path.exists():
        write_text(path, _text(stored))


def _text(proofs: Proofs) -> str:
    """Returns a theorem a line."""
    claims = []
    for claim in sorted(proofs, key=natural):
        parts = []
        for part, objects in proofs[claim].items():
            items = ",\n".join(f"        {compact(item)}" for item in objects)
            parts.append(f"      {compact(part)}: [\n{items}\n      ]")
        claims.append(f"    {compact(claim)}: {{\n" + ",\n".join(parts) + "\n    }")
    body = "{\n" + ",\n".join(claims) + "\n  }" if claims else "{}"
    return f'{{\n  "schema": {SCHEMA},\n  "proofs": {body}\n}}\n'
