"""The sidecar of an exported model: every field must be what `--dump-weights` writes for the construction that it names.

The worked examples depend on what was asked for when the file was written: they are run with the construction's own weights.
Nothing of a sidecar is ignored. A field that `--dump-weights` does not write is refused. One that it did not always write may be
missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from constructions.language.files import names_of_gallery
from constructions.layers import LARGEST_PRECISION
from constructions.models.registry import find_constructions
from constructions.show.dump import dump_document
from constructions.show.forward import SCHEMA
from constructions.wiring.wired import Wired
from precision.format import Discipline, Rounding
from verify.algebra.domains import Refuted, Undecided
from verify.certificates.building import families_of
from verify.certificates.document import OF_EVERY
from verify.certificates.hard_inputs import first_wrong
from verify.dossiers.dossier import LARGEST_N, TRANSFORMER, HardInput, Json, Subject
from verify.dossiers.registry import find_dossier

EXAMPLES = "examples"
LATER = frozenset({"domain"})  # fields that files of before do not have
MOST_EXAMPLES = 64  # that are run


def subject_of(path: Path, sidecar: Mapping[str, Any], rows: int) -> tuple[Subject, tuple[str, ...]]:
    """Returns the model that a sidecar names, repaired or lean, and what of it is as printed. rows: of the file's embedding.

    Raises ValueError for what is no sidecar, Undecided for a construction that is not covered.
    """
    name, built_as, n, p = sidecar["construction"], sidecar.get("model", TRANSFORMER), sidecar["n"], sidecar["p"]
    if sidecar["schema"] != SCHEMA:
        raise ValueError(f"{path}: schema {sidecar['schema']!r} is not {SCHEMA}, the one that is read here")
    if Rounding(sidecar["rounding"]) is not Rounding.NEAREST_EVEN:
        raise ValueError(f"{path}: certificates are about rounding to nearest even, not {sidecar['rounding']}")
    if (name, built_as) not in {item.names for item in find_constructions()} and name not in names_of_gallery():
        raise ValueError(f"{path}: no construction {name!r} has a model {built_as!r}")
    if (dossier := find_dossier(name, built_as)) is None:
        raise Undecided("the construction", f"{name} as {built_as} is not covered")
    for what, value, most in (("n", n, LARGEST_N), ("p", p, LARGEST_PRECISION)):
        if type(value) is not int or not 0 < value <= most:
            raise ValueError(f"{path}: {what} must be a whole number from 1 to {most}, not {str(value)[:40]}")
    try:
        dossier = dossier.read(sidecar)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if sidecar["variant"] not in dossier.variants:
        raise ValueError(f"{path}: {name} as {built_as} has no variant {str(sidecar['variant'])[:40]}")
    own = {**OF_EVERY, **dossier.fields}
    if odd := [key for key, value in own.items() if sidecar.get(key, value) != value]:
        raise ValueError(f"{path}: {name} as {built_as} has no {odd[0]} {str(sidecar[odd[0]])[:40]!r}")
    subject = Subject(dossier, n, None, p, Discipline(sidecar["discipline"]))
    if (numbers := sum(family.high - family.low + 1 for family in families_of(subject))) > rows:
        raise ValueError(f"{path}: the embedding has {rows} rows, and a vocabulary for n = {n} has {numbers} numbers")
    return subject, tuple(map(str, sidecar["printed"]))


def named_by(subject: Subject, printed: Sequence[str]) -> tuple[Wired, dict[str, Any]]:
    """Returns the weights that `--dump-weights` writes, and their sidecar without examples. Raises ValueError where there are
    none.
    """
    solver = subject.dossier.solver
    wired: Wired = solver.build(subject.n, subject.precision_bits, printed=printed, discipline=subject.discipline)
    document = dump_document(solver, wired, (), solver.described(wired))
    own: dict[str, Any] = json.loads(json.dumps(document))
    return wired, own


def require_same(sidecar: Json, own: Mapping[str, Any], wired: Wired) -> None:
    """Raises Refuted at the first field that is not the construction's own, and at the first example that goes wrong."""
    sidecar, own = _without_lookups(sidecar, own)
    for field in (*own, *sidecar):
        if field not in sidecar and field in LATER:
            continue
        if field not in sidecar:
            raise Refuted("the sidecar", f"the field {field!r} is missing")
        if field not in own:
            raise Refuted("the sidecar", f"{field!r} is no field that --dump-weights writes")
        if field != EXAMPLES and _strict(sidecar[field]) != _strict(own[field]):
            raise Refuted("the sidecar", f"{field!r} is not what {own['construction']} at n = {own['n']} has")
    _require_examples(sidecar[EXAMPLES], wired)


def _without_lookups(sidecar: Json, own: Mapping[str, Any]) -> tuple[Json, Mapping[str, Any]]:
    """Takes lookups away if the file is from before heads had any, and the texts that stood beside their scores instead."""
    blocks = sidecar.get("blocks")
    if "lookup" in json.dumps(blocks) or not isinstance(blocks, list):
        return sidecar, own
    plain = json.loads(json.dumps(blocks), object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k != "meaning"})
    due = json.loads(
        json.dumps(own["blocks"]), object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k != "lookup"}
    )
    return {**sidecar, "blocks": plain}, {**own, "blocks": due}


def _strict(value: object) -> str:
    """Writes a value so that 1, 1.0 and true differ, and entries in another order."""
    return json.dumps(value)


def _require_examples(examples: Any, wired: Wired) -> None:
    """Raises an error unless each example is spelled as its token numbers are, and the construction says what it expects."""
    if not isinstance(examples, list) or not 1 <= len(examples) <= MOST_EXAMPLES:
        raise Refuted("the sidecar", f"{EXAMPLES!r} is no list of 1 to {MOST_EXAMPLES}, as --dump-weights writes")
    pieces: list[HardInput] = []
    for number, example in enumerate(examples, start=1):
        try:
            ids, expected = example["token_ids"], example["expected_next_ids"]
            right = [wired.vocabulary[i] for i in _tokens(ids, wired)] == example["tokens"]
            next_words = [None if i is None else wired.vocabulary[i] for i in expected]
            right &= len(example) == 4 and next_words == example["expected_next"] and len(ids) == len(expected)
            _tokens([i for i in expected if i is not None], wired)
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise Refuted("the sidecar", f"example {number} is no example: {str(error)[:80]}") from error
        if not right:
            raise Refuted("the sidecar", f"example {number} has other words than tokens")
        if not (due := _pieces(f"example {number}", ids, expected)):
            raise Refuted("the sidecar", f"example {number} expects nothing, so that nothing is compared")
        pieces += due
    if (wrong := first_wrong(wired, wired.model, pieces)) is not None:
        raise Refuted("the sidecar", f"{wrong[0].text} expects what the construction does not say")


def _tokens(ids: Sequence[Any], wired: Wired) -> list[int]:
    if not all(type(i) is int and 0 <= i < len(wired.vocabulary) for i in ids):
        raise ValueError("a token number is none of the vocabulary")
    return list(ids)


def _pieces(text: str, ids: Sequence[int], expected: Sequence[int | None]) -> list[HardInput]:
    """Returns what the model itself must say in it, word by word between what it is given."""
    pieces: list[HardInput] = []
    place = 0
    while place < len(ids):
        said: list[int] = []
        start = place
        while place < len(ids) and (token := expected[place]) is not None:
            said.append(token)
            place += 1
            if place < len(ids) and ids[place] != token:
                break
        if said:
            pieces.append(HardInput(text, tuple(ids[: start + 1]), tuple(said)))
        else:
            place += 1
    return pieces
