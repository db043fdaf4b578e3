"""The word `measured`: numbers that neither show a claim nor refute it, wherever rows are counted or shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.verify.conftest import Paper
from tests.verify.test_table import everything, verdicts
from verify import site
from verify.framework import ledger
from verify.framework.claim import Argued, Claim, Evidence, Measured, Reading, Row, Sampled, Verdict
from verify.readme import markdown
from verify.screen import counts

NUMBERS = Measured("accuracy", "", "0.750", "0.500 … 1.000", 3, "python -m make", "ab12", sizes=((8, 8),))
SAMPLE = Sampled("trees", "", 10, 4, False, sizes=((4, 4),))
CLAIM = Claim("V", "Lemma V", "How often it is right.", expected=Verdict.MEASURED)
ROW = Row(CLAIM, Verdict.MEASURED, (NUMBERS,), None, "", 0.0)
TEST = '@claim("V", source="Lemma V", statement="It holds."{more})\ndef test_it(check):\n    '
EXPECTED = TEST.format(more=", expected=Verdict.MEASURED")
THREE = 'check.measured([1.0, 0.5, 0.75], range="accuracy", command="python -m make", settings="ab12", size=8)'


def test_a_measured_claim_has_its_median_its_spread_and_its_command(paper: Paper) -> None:
    paper.write(EXPECTED + THREE)
    row = paper.rows()["V"]
    assert row["verdict"] == "measured"
    assert row["witness"] is None
    [evidence] = row["evidence"]
    told = [evidence[what] for what in ("kind", "value", "spread", "runs", "command", "settings", "sizes")]
    assert told == ["measured", "0.750", "0.500 … 1.000", 3, "python -m make", "ab12", [["8", "8"]]]
    result = paper.run()
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*0 holds, 0 refuted, 0 unknown, 1 measured; 0 not as expected"])


def test_a_claim_that_is_to_hold_does_not_by_numbers(paper: Paper) -> None:
    paper.write(TEST.format(more="") + THREE)
    result = paper.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["V (Lemma V): measured, expected holds.*"])


@pytest.mark.parametrize("more", ["", ", expected=Verdict.MEASURED"])
def test_a_test_that_fails_after_a_number_is_unknown(paper: Paper, more: str) -> None:
    paper.write(TEST.format(more=more) + THREE + '\n    check.unknown("nobody knows")')
    assert paper.rows()["V"]["verdict"] == "unknown"
    assert paper.run().ret == 1


def test_a_measured_claim_needs_a_number(paper: Paper) -> None:
    paper.write(EXPECTED + THREE.replace("[1.0, 0.5, 0.75]", "[]"))
    assert paper.rows()["V"]["verdict"] == "unknown"
    assert paper.run().ret == 1


def test_a_number_beside_a_sample_leaves_the_sample_what_it_is(paper: Paper) -> None:
    search = '\n    check.chosen([4], below_100, range="some", size=lambda number: number)'
    paper.write(TEST.format(more="") + THREE + search)
    assert paper.run().ret == 0
    [row] = [Row.from_json(row) for row in paper.rows().values()]
    assert row.verdict_text == "holds: samples to n = 4"


@pytest.mark.parametrize(
    ("verdict", "evidence"),
    [
        (Verdict.HOLDS, (NUMBERS,)),
        (Verdict.REFUTED, (NUMBERS,)),
        (Verdict.MEASURED, ()),
        (Verdict.MEASURED, (Argued("so", ""),)),
        (Verdict.MEASURED, (NUMBERS, SAMPLE)),
    ],
)
def test_a_row_with_another_verdict_is_refused(verdict: Verdict, evidence: tuple[Evidence, ...]) -> None:
    with pytest.raises(ValueError, match=r"^V: "):
        Row(CLAIM, verdict, evidence, None, "", 0.0)


def test_a_measured_row_survives_json() -> None:
    assert Row.from_json(json.loads(json.dumps(ROW.to_json()))) == ROW


def test_it_is_counted_by_itself() -> None:
    sentence = counts([ROW, replace(ROW, claim=replace(CLAIM, id="W", theorem="W"))], 0)
    assert sentence == "0 of 2 claims hold, 0 are refuted, 0 unknown, 2 measured. No repaired construction is refuted."
    assert ledger.summary([ROW]) == "0 holds, 0 refuted, 0 unknown, 1 measured; 0 not as expected"
    assert "measured" not in ledger.summary([])


def test_no_cell_is_settled_by_it() -> None:
    rows = everything()
    rows["4.6/index"] = replace(rows["4.6/index"], verdict=Verdict.MEASURED, evidence=(NUMBERS,))
    changed = {place for place, outcome in verdicts(rows).items() if outcome != verdicts(everything())[place]}
    assert changed == {("Index", "Transformer")}
    assert verdicts(rows)["Index", "Transformer"] == "not settled"


def test_no_reading_is_shown_by_it() -> None:
    for holds in (True, False):
        reading = Reading("as printed", holds, "V")
        other = replace(ROW, claim=replace(CLAIM, id="W", theorem="W"))
        object.__setattr__(other.claim, "readings", (reading,))
        assert len(ledger.contradictions([ROW, other])) == 1


def test_pages_show_number_spread_and_command() -> None:
    for text in (site.html([ROW]), markdown([ROW]), ledger.text([ROW], 200, False)):
        assert "accuracy: 0.750" in text
        assert "0.500 … 1.000 in 3 runs; again: python -m make" in text
    assert '<strong class="measured">measured</strong>' in site.html([ROW])
    assert '<option value="measured">measured</option>' in site.html([ROW])
