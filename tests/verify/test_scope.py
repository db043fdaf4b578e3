"""What holds says no more than what was looked at: each limit that evidence tells of stands in the claim's statement.

Models tell their limits from their options, as `scope`. Beside it this file reads what evidence says for people: a machine of
the library, a c, some p, bits beyond the least p, machines of so many states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from constructions.turing.library import LIBRARY
from verify.dossiers.registry import find_subject
from verify.framework.claim import Argued, Certified, Claim, Evidence, Exhaustive, Row, Sampled, Verdict, unsaid_of
from verify.framework.ledger import read
from verify.framework.order import LEDGER

MACHINES = "|".join(sorted((named.name for named in LIBRARY), key=len, reverse=True))
TOLD = {  # what limits a claim, as the evidence of these kinds says it: the group, or all of the match, stands in the statement
    rf"\b({MACHINES})\b": ("certified", "stored"),
    r"\bc = \d+\b": ("certified", "stored"),
    r"\bp = \d+(?:, \d+)*\b(?!·)": ("certified", "exhaustive", "sampled"),
    r"p = least p \+ (\S.*bits.*)": ("sampled", "exhaustive"),
    r"p = least p \+ (\d+)$": ("sampled", "exhaustive"),
    r"\bodd p (?:from|in) (\d+)": ("exhaustive", "sampled", "proved"),
    r"\bodd p (?:from|in) \d+ (?:to|…) (\d+)": ("exhaustive", "sampled", "proved"),
    r"(?:; |bits of exponent, )p = the least odd number (?:above|from) (.+?)(?: on)?$": ("sampled", "exhaustive"),
    r"\b(\d+ bits of exponent)": ("sampled", "exhaustive"),
    r"\b(the least at which .*)": ("sampled", "exhaustive"),
    r"\bp with (room for .*)": ("sampled", "exhaustive", "certified"),
    r"\bp = (\d+·bits\(n\) \+ \d+)": ("sampled", "exhaustive"),
    r"\bp = (\d+ … \d+)": ("sampled", "exhaustive"),
    r"\bp ≤ (\d+)": ("sampled", "exhaustive", "proved"),
    r"\b(\d+) ≤ p ≤": ("sampled", "exhaustive", "proved"),
}
NAMED = {  # part of a claim's id, and what its statement says where the claim is about nothing else
    r"sequential$": "sequential",
    r"eos": "eos",
    r"-floating$": "floating point",
    r"^(?!4.8).*\d/(.*-)?program(-above)?$": "exact arithmetic",
    r"^4\.7/(program-)?above$|^4\.7/(program|rounding)$|^4\.1/(cells-)?(program|rounding)$|^5\.7/(rounding|above)$": "invariant",
}
ALONE = r"every machine of (\d+ states? and \d+ symbols?)"  # a limit where nothing else is looked at


def limits(part: Evidence, alone: bool) -> Iterator[str]:
    """What one part of the evidence is limited to. alone: whether no other part was checked."""
    yield from part.scope
    if alone:
        yield from re.findall(ALONE, part.range)
    for pattern, kinds in TOLD.items():
        if part.kind in kinds:
            for match in re.finditer(pattern, f"{part.range}; {part.precision}"):
                yield match[1] if match.lastindex else match[0]


def wider(row: Row) -> list[str]:
    """The limits that the statement of a row leaves out; none of a row that does not hold, or that all cases of a kind prove."""
    if row.verdict is not Verdict.HOLDS:
        return []
    alone = sum(part.checked for part in row.evidence) == 1
    told = [replace(part, scope=tuple(limits(part, alone))) for part in row.evidence]
    named = [text for part, text in NAMED.items() if re.search(part, row.claim.id) and text not in row.claim.statement]
    if {part.precision for part in row.evidence if part.checked} == {"exact"} and "exact" not in row.claim.statement:
        named.append("exact arithmetic")
    return [*unsaid_of(row.claim.statement, told), *dict.fromkeys(named)]


@pytest.mark.parametrize("row", read(LEDGER), ids=lambda row: row.claim.id)
def test_no_statement_is_wider_than_its_evidence(row: Row) -> None:
    assert wider(row) == []


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("C.13/printed", "10·log2 n"),
        ("C.14/printed-score", "At p = the least odd number above 10·log2 n"),
        ("C.16/printed", "the least at which every entry of the printed matrices fits"),
        ("4.7/score-range-roomy", "30·log2 n + 20"),
        ("C.18/printed-floating", "8 bits of exponent"),
        ("C.17/printed-floating", "floating point"),
        ("C.3/written-out-dyadic", "13 … 105"),
        ("C.13/sequential", "6 bits more"),
        ("C.20/sequential", "sequential"),
        ("5.2/index-circuit", "p = 31"),
        ("A.2/circuits", "random ones at p from 13 to 27"),
        ("4.7/lean-small-eos", "eos"),
        ("4.7/layer-7-side", "in exact arithmetic"),
        ("5.8/program-above", "In exact arithmetic"),
        ("5.8/rounding", "bb2"),
        ("4.6/ngram-above", "c = 3"),
        ("4.7/lean-least-bits", "256"),
        ("4.7/above", "Given the invariant of 4.7/invariant-counts"),
    ],
)
def test_a_statement_without_its_limit_is_wider(claim: str, text: str) -> None:
    row = next(row for row in read(LEDGER) if row.claim.id == claim)
    statement = row.claim.statement
    assert statement.count(text) >= 1
    try:
        assert wider(replace(row, claim=replace(row.claim, statement=statement.replace(text, ""))))
    except ValueError as error:
        assert "its statement does not say so" in str(error)  # noqa: PT017


CLAIM = Claim("V", "Lemma V", "It halts on every input, for p = 5, 7.")
ANY = Exhaustive("inputs", "", 3, 3, False)


@pytest.mark.parametrize(
    ("part", "unsaid"),
    [
        (ANY, []),
        (replace(ANY, precision="p = 5, 7"), []),
        (replace(ANY, precision="p = 5"), []),
        (replace(ANY, precision="p = 7"), ["p = 7"]),
        (replace(ANY, range="every machine of 3 states and 2 symbols"), ["3 states and 2 symbols"]),
        (replace(ANY, precision="p = 8·bits(n) + 1"), ["8·bits(n) + 1"]),
        (Sampled("columns", "p = least p + 3·bits(n) + 1", 3, 3, False), ["3·bits(n) + 1"]),
        (Certified("texts of counter on 4 cells", "", 1, 3, False), ["counter"]),
        (Certified("c = 6, every query", "", 1, 3, False), ["c = 6"]),
        (Argued("the same for bb4", ""), []),
    ],
)
def test_what_is_limited_is_seen(part: Evidence, unsaid: Sequence[str]) -> None:
    known = (ANY,) if not part.checked else ()
    assert wider(Row(CLAIM, Verdict.HOLDS, (part, *known), None, "", 0.0)) == unsaid


def test_a_row_cannot_hold_beyond_its_scope() -> None:
    with pytest.raises(ValueError, match="V: is shown for bb4 alone, and its statement does not say so"):
        Row(CLAIM, Verdict.HOLDS, (replace(ANY, scope=("p = 5, 7", "bb4")),), None, "", 0.0)
    row = Row(CLAIM, Verdict.HOLDS, (replace(ANY, scope=("p = 5, 7",)),), None, "", 0.0)
    assert Row.from_json(row.to_json()) == row


def test_c_of_three_is_not_named_by_c_of_thirty() -> None:
    assert unsaid_of("For c = 30 and sub5.", [replace(ANY, scope=("c = 3", "b5"))]) == ["c = 3", "b5"]


def test_models_tell_their_limits() -> None:
    assert find_subject("ngram", 4).dossier.scope == ("c = 3",)
    assert find_subject("ngram", 4).with_options(query_length=5).dossier.scope == ("c = 6",)
    assert find_subject("recall", 4).dossier.scope == ()
    assert find_subject("turing", 4, model="rag").dossier.scope == ("bb2",)
    rules = "1RB1RZ_1LA0RB"
    assert find_subject("turing", 4, model="cot", machine=rules, cells=3).dossier.scope == (rules,)
