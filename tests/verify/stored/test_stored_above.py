"""Stored cases of all n from 2^63 on: held against weights and theorem, with forgeries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.verify.faults import change_scale, define_failure, leave_out_a_number
from verify.dossiers.dossier import ENDLESS, LARGEST_N
from verify.dossiers.registry import find_subject
from verify.framework.proofs import load
from verify.framework.weights import PROOFS
from verify.stored import above as stored_above
from verify.stored.above import CasesDocument
from verify.stored.intervals import Stale

RECALL = find_subject("recall", LARGEST_N, last=ENDLESS)


@cache
def made() -> tuple[CasesDocument, Any]:
    above, theorem = stored_above.make(RECALL, "program")
    return above, json.loads(json.dumps(theorem))


def test_each_case_can_be_judged_anew() -> None:
    above, theorem = made()
    stored_above.require(above, theorem)
    for case in above.cases:
        stored_above.renew(above, case, theorem)
    assert len({stored_above.chosen(above, seed) for seed in range(20)}) > 3


def test_proofs_have_the_theorem_of_each_stored_document() -> None:
    proofs = load(PROOFS)
    known = {
        stored_above.fingerprint(one["theorem"])
        for parts in proofs.values()
        for objects in parts.values()
        for one in objects
        if "bits_of_bits" in one["theorem"]
    }
    documents = [stored_above.read(*one) for one in stored_above.subjects()]
    assert documents
    assert [one.name for one in documents if one is not None and one.theorem not in known] == []
    assert None not in documents


def test_the_order_of_inequalities_is_none_of_a_theorems() -> None:
    _, theorem = made()
    count = len(theorem["inequalities"])

    def turned(part: Any) -> Any:
        shown = [count - 1 - one if isinstance(one, int) else [count - 1 - one[0], *one[1:]] for one in part["shown"]]
        return {**part, "shown": shown[::-1], **({"parts": [*map(turned, part["parts"])]} if "parts" in part else {})}

    other = {**theorem, "inequalities": theorem["inequalities"][::-1], "cases": [*map(turned, theorem["cases"])]}
    assert stored_above.fingerprint(other) == stored_above.fingerprint(theorem)
    other["inequalities"] = [["1*n", ">"], *other["inequalities"][1:]]
    assert stored_above.fingerprint(other) != stored_above.fingerprint(theorem)


def hinted(part: Any) -> Any:
    """Each inequality with how it is seen beside it."""
    shown = [[one, 0, "1"] if isinstance(one, int) else one for one in part["shown"]]
    return {**part, "shown": shown, **({"parts": [*map(hinted, part["parts"])]} if "parts" in part else {})}


def test_how_an_inequality_is_seen_is_not_taken_for_its_number() -> None:
    above, theorem = made()
    beside = {**theorem, "cases": [*map(hinted, theorem["cases"])]}
    for case in above.cases:
        stored_above.renew(above, case, beside)
    changed = {**beside, "inequalities": [["1*n", ">"], *beside["inequalities"][1:]]}
    last = {**beside, "inequalities": [*beside["inequalities"][:-1], ["1*n", ">"]]}
    assert len({*map(stored_above.fingerprint, (beside, changed, last))}) == 3


def test_forged_documents_are_refused() -> None:
    above, theorem = made()
    with pytest.raises(Stale, match="other cases"):
        stored_above.require(replace(above, cases=above.cases[1:]), theorem)
    with pytest.raises(Stale, match="other weights"):
        stored_above.require(replace(above, weights=("0" * 16, *above.weights[1:])), theorem)
    with pytest.raises(Stale, match="another one"):
        stored_above.require(above, {**theorem, "inequalities": theorem["inequalities"][::-1]})
    case = above.cases[0]
    with pytest.raises(Stale, match="a case is not as"):
        stored_above.renew(above, replace(case, found="0" * 16), theorem)
    without = json.loads(json.dumps(theorem))
    without["cases"][case.root]["shown"] = []
    with pytest.raises(Stale, match="are not in the theorem"):
        stored_above.renew(above, case, without)


@pytest.mark.parametrize("fault", [change_scale, define_failure, leave_out_a_number])
def test_what_is_another_is_seen(fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    above, theorem = made()
    fault(monkeypatch, lambda n: bool(n > 3 * 2 ** (n.bit_length() - 2)))
    with pytest.raises(Stale, match="other weights, texts or definitions"):
        stored_above.require(above, theorem)
