"""What Markdown files copy from a ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from verify import findings, readme
from verify.framework import ledger
from verify.framework.claim import Claim, Exhaustive, Kind, Reading, Row, Sampled, Verdict, Witness
from verify.framework.options import Options
from verify.framework.order import LEDGER, WITNESSES

ROOT = Path(__file__).parents[2]

HOLDS = Row(
    Claim("C.10", "Lemma C.10", "a | b"),
    Verdict.HOLDS,
    (Sampled("trees", "p = 33", 7, 5, False),),
    None,
    "reference",
    0.1,
)
REFUTED = Row(
    Claim("C.2", "Lemma C.2", "so", "printed", expected=Verdict.REFUTED),
    Verdict.REFUTED,
    (Exhaustive("all", "", 3, None, True),),
    Witness([1, 2], {"expected": 1}, "all", 4, None, "reference", 0),
    "reference",
    0.1,
)


def test_a_ledger_replaces_the_text_between_the_marks(tmp_path: Path) -> None:
    source, target = tmp_path / "ledger.json", tmp_path / "page.md"
    ledger.write(source, [HOLDS, REFUTED], Options())
    target.write_text("above\n<!-- ledger: begin -->\nstale\n<!-- ledger: end -->\nbelow\n", encoding="utf-8")
    assert readme.main([str(source), "--into", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert "stale" not in text
    lines = text.splitlines()[4:6]
    assert lines[0].startswith('| <a id="C.2"></a>C.2<br>[Lemma C.2](transcription.md#c2) | so | printed |')
    assert lines[1].startswith('| <a id="C.10"></a>C.10<br>[Lemma C.10](transcription.md#c10) | ')
    assert " | [**refuted**](findings.md#C.2) | " in lines[0]
    assert "`[1,2]`" in lines[0]
    assert "a \\| b" in lines[1]
    assert "**sampled**" in lines[1]
    assert readme.main([str(source), "--into", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == text


def test_a_claim_about_another_paper_has_no_link() -> None:
    row = replace(HOLDS, claim=Claim("X.2", "Lemma X.2", "so"))
    assert '| <a id="X.2"></a>X.2<br>Lemma X.2 | so |' in readme.markdown([row])


OTHER = "<!-- other: begin -->\n<!-- other: end -->"
CROSSED = "<!-- false: begin -->\n<!-- ledger: end -->"


@pytest.mark.parametrize("content", ["no marks", OTHER, CROSSED, None])
def test_a_page_without_marks_is_refused(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "ledger.json", tmp_path / "page.md"
    ledger.write(source, [HOLDS], Options())
    if content is not None:
        target.write_text(content, encoding="utf-8")
    assert readme.main([str(source), "--into", str(target)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("place", ["/dev/full", ".", "nowhere/page.md"])
def test_what_cannot_be_written_is_named(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ledger.json"
    ledger.write(source, [HOLDS], Options())
    assert readme.main([str(source), "--into", place]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"python -m verify.readme: error: --into {place}: ")


def test_what_is_false_is_told_with_its_witness() -> None:
    about = replace(REFUTED.claim, kind=Kind.FALSE, readings=(Reading("as printed", False),))
    text = readme.false([HOLDS, replace(REFUTED, claim=about)])
    assert "The findings are 1 false, 0 slips, 0 left open." in text
    told = "| [C.2](transcription.md#c2): so | as printed | {} | `python -m verify.replay C.2` |"
    assert told.format("nothing that we tried") in text
    changed = Reading("another head", True, "C.2/other", changes="the head")
    about = replace(about, readings=(*about.readings, changed))
    assert told.format("another head") in readme.false([HOLDS, replace(REFUTED, claim=about)])


@pytest.mark.parametrize("page", ["docs/results.md", "docs/ledger.md"])
def test_the_committed_pages_say_what_the_ledger_says(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert readme.replaced(text, ledger.read(LEDGER)) == text


def test_the_committed_findings_are_those_of_the_ledger() -> None:
    assert (ROOT / "docs" / "findings.md").read_text(encoding="utf-8") == findings.markdown(
        ledger.read(LEDGER), ledger.load_witnesses(WITNESSES)
    )
