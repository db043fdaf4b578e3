"""The Markdown copy of the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify import readme
from verify.framework import ledger
from verify.framework.claim import Claim, Exhaustive, Row, Sampled, Verdict, Witness
from verify.framework.options import Options

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
    target.write_text(f"above\n{readme.BEGIN}\nstale\n{readme.END}\nbelow\n", encoding="utf-8")
    assert readme.main([str(source), "--into", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert "stale" not in text
    lines = [line for line in text.splitlines() if line.startswith("| C.")]
    assert [line.split(" | ")[0] for line in lines] == ["| C.2", "| C.10"]
    assert "**refuted**" in lines[0]
    assert "`[1,2]`" in lines[0]
    assert "a \\| b" in lines[1]
    assert "**sampled**" in lines[1]
    assert readme.main([str(source), "--into", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("content", ["no marks", None])
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
