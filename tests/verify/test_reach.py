"""The table of the n for which models are certified: no range is wider than the ledger's."""

from __future__ import annotations

import pytest

from verify import reach
from verify.framework.claim import Certified, Claim, Evidence, Exhaustive, Row, Sampled, Sizes, Stored, Verdict
from verify.stored import intervals as stored

HALF = 1 << 63
ALL = {part.claim for model in reach.MODELS for parts in model.parts.values() for part in parts}


def row(id: str, *evidence: Evidence, verdict: Verdict = Verdict.HOLDS) -> Row:
    theorem, _, rest = id.partition("/")
    task, _, aspect = rest.partition("-") if theorem in ("4.6", "5.2", "5.6") else ("", "", rest)
    if id.startswith("5.3/"):
        task, aspect = "istree", rest.removeprefix("istree-")
    return Row(Claim.about(theorem, task, aspect, "here", "so"), verdict, evidence, None, "", 0.1)


def of(name: str, low: int, high: int) -> Stored:
    return Stored("all", "", 3, high, False, name, sizes=((low, high),))


def lines(*rows: Row) -> dict[str, list[str]]:
    table = reach.markdown(rows).partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {model: [rounding, program] for model, rounding, program in cells}


HYBRID = "IsTree: hybrid (5.7)"
ABOVE = Certified("all", "", 1, None, False, sizes=((HALF, None),))


@pytest.mark.parametrize(
    ("evidence", "above", "told"),
    [
        ((of("istree-hybrid-rounding", 4, HALF),), True, "fused: 4 and above"),
        ((of("istree-hybrid-rounding", 4, HALF),), False, "fused: 4 … 2^63"),
        ((of("istree-hybrid-rounding", 4, 1 << 40),), True, "fused: 4 … 2^40, 2^63 and above"),
        ((of("istree-hybrid-rounding", 4, 1 << 40), of("istree-hybrid-rounding", 1 << 41, HALF)), False,
         "fused: 4 … 2^40, 2^41 … 2^63"),
        ((of("istree-rounding", 4, HALF),), False, "fused: no range yet"),  # another model's
        ((Sampled("some", "", 3, 10**4, False, sizes=((4, HALF),)),), False, "fused: no range yet"),
        ((Certified("at one n", "", 1, 10**12, False, sizes=((10**12, 10**12),)),), True, "fused: 2^63 and above"),
    ],
)  # fmt: skip
def test_a_range_is_the_ledgers(evidence: tuple[Evidence, ...], above: bool, told: str) -> None:
    rows = [row("5.7/rounding", *evidence), *([row("5.7/above", ABOVE)] if above else [])]
    assert lines(*rows)[HYBRID] == [told, "no range yet"]


def test_what_does_not_hold_gives_no_range() -> None:
    shown = of("istree-hybrid-rounding", 4, HALF)
    assert lines(row("5.7/rounding", shown, verdict=Verdict.UNKNOWN))[HYBRID] == ["fused: no range yet", "no range yet"]


def test_each_case_of_an_rnn_counts_where_the_claim_has_no_document() -> None:
    looked = Exhaustive("each position", "", 9, 8, False, sizes=((1, 2), (8, 8)))
    rows = row("4.8/rounding", Certified("some", "", 3, 64, False, sizes=((64, 64),))), row("4.8/program", looked)
    rounding, program = lines(*rows)[reach.MODELS[-1].name]
    assert (rounding.rpartition(": ")[2], program.rpartition(": ")[2]) == ("64", "1 … 2, 8")
    assert lines(row("5.7/rounding", looked))[HYBRID][0] == "fused: no range yet"


def test_of_several_tasks_it_is_what_all_have() -> None:
    ends = {"index": 100, "recall": 90, "ngram": 120, "counting": HALF}
    rows = [
        row(
            f"{id}/{task}-rounding",
            *(of(f"{task}{model}{more}-rounding", 4, at) for more, at in (("", end), ("-sequential", HALF))),
        )
        for id, model in (("5.2", "-rag"), ("5.6", "-hybrid"), ("4.6", ""))
        for task, end in ends.items()
    ]
    model = reach.MODELS[0].name
    assert lines(*rows)[model][0] == "fused: 4 … 90; sequential: 4 … 2^63"
    assert lines(*rows[:-1])[model][0] == "fused, sequential: no range yet"


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (((4, 10), (20, None)), ((5, 25),), ((5, 10), (20, 25))),
        (((4, 10),), ((11, None),), ()),
        (((1, None),), ((3, None),), ((3, None),)),
        ((), ((1, None),), ()),
    ],
)
def test_what_is_in_both(one: Sizes, other: Sizes, both: Sizes) -> None:
    assert reach.both(one, other) == reach.both(other, one) == both


def test_each_part_names_a_document_that_is_made_or_a_claim() -> None:
    known = {stored.name_of(*one) for one in stored.subjects()}
    parts = [part for model in reach.MODELS for some in model.parts.values() for part in some]
    assert {part.document for part in parts if part.document} == known
    assert {part.above for part in parts} >= {"4.7/above", "4.7/program-above", "5.7/above", "5.7/program-above"}


def test_each_claim_that_is_named_is_there() -> None:
    from verify.framework import ledger
    from verify.framework.order import LEDGER

    ids = {one.claim.id for one in ledger.read(LEDGER)}
    assert ids >= ALL
    assert ids >= {part.above for model in reach.MODELS for some in model.parts.values() for part in some if part.above}


def test_documents_are_whole() -> None:
    for subject, about in stored.subjects():
        document = stored.read(subject, about, whole=False)
        assert document is not None
        assert document.intervals[-1].high == subject.last
