"""Whether stored theorems are the claim's: those that its own test makes, and those that its row in the ledger is about.

A stored proof may be any that the checker accepts. A stored theorem may not: a weaker one has a proof too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from verify.framework.claim import Json, Proved, Row, compact
from verify.framework.proofs import digest, sentence_of

Parts = Mapping[str, Sequence[Json]]
"""Part → objects with a theorem and its proof; or with a "part" of a theorem, which is what of it is made in seconds."""


def line_of(theorem: Json) -> str:
    """Returns a theorem in one line, also one that is none."""
    try:
        return sentence_of(theorem)
    except (KeyError, TypeError, AttributeError, ValueError):
        return compact(theorem)


def differences(stored: Parts, made: Parts) -> Iterator[str]:
    """Yields a line for each stored theorem that the claim's test does not make, and for each of its theorems not stored."""
    for part in dict.fromkeys([*stored, *made]):
        have = [item["theorem"] for item in stored.get(part, ())]
        new = made.get(part, ())
        if any("part" in item for item in new):
            yield from _missing_parts(have, [item["part"] for item in new])
            continue
        texts = [Counter(map(_text, theorems)) for theorems in (have, [item["theorem"] for item in new])]
        for theorem in (texts[0] - texts[1]).elements():
            yield f"{line_of(json.loads(theorem))}: the claim's test makes no such theorem"
        for theorem in (texts[1] - texts[0]).elements():
            yield f"{line_of(json.loads(theorem))}: the claim's test makes this theorem, and it is not stored"


def _missing_parts(stored: Sequence[Json], made: Sequence[Json]) -> Iterator[str]:
    """Yields what is missing: stored theorems about every n above a size must have each inequality that the builder asks."""
    if len(stored) != len(made):
        yield f"{line_of((stored or made)[0])}: {len(stored)} theorems are stored, and the claim's test makes {len(made)}"
    for theorem, part in zip(stored, made, strict=False):
        have = theorem.get("inequalities", ()) if isinstance(theorem, dict) else ()
        missing = {_text(one) for one in part["inequalities"]} - {_text(one) for one in have}
        if missing:
            count = len(part["inequalities"])
            yield f"{line_of(theorem)}: it lacks {len(missing)} of the {count} inequalities that the builder asks"
        elif theorem["bits_of_bits"] != part["bits_of_bits"]:
            yield f"{line_of(theorem)}: the claim's test makes a theorem of other n"


def unlike(stored: Parts, row: Row | None) -> Iterator[str]:
    """Yields one line for each part whose digest is not that of the ledger's row. row: None where the ledger has none."""
    proof_of = {item.range: item for item in row.evidence if isinstance(item, Proved) and item.sha256} if row else {}
    for part in dict.fromkeys([*stored, *proof_of]):
        objects = stored.get(part, ())
        if not objects:
            yield f"{proof_of[part].theorem}: the ledger's row is about this theorem, and it is not stored"
        elif part not in proof_of:
            yield f"{line_of(objects[0]['theorem'])}: the ledger has no proof of this part"
        elif digest(objects) != proof_of[part].sha256:
            yield f"{line_of(objects[0]['theorem'])}: the ledger's row is about other theorems or proofs, by their digest"


def _text(theorem: Json) -> str:
    return json.dumps(theorem, sort_keys=True)
