"""Copies what a ledger says into Markdown files: `python -m verify.readme LEDGER.json [--into docs/ledger.md]`.

A part stands between two marks, and only the text between them is replaced, so that no copy is edited by hand. Parts: `ledger` is
the whole table; `false` is what is false as printed, and what works with a change; `certified` says for which n the models are
certified.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from constructions.exports.files import write_text
from constructions.show import cli
from constructions.show.markdown import table
from verify import reach
from verify.findings import entries, escaped, finding_of, is_among_findings, known_findings
from verify.framework.claim import Kind, Row, compact
from verify.framework.ledger import range_text, read, reading_text, require_writable, shorten, sort_key, summary
from verify.transcription import link, places_of

PROG = "python -m verify.readme"
MARK = re.compile(r"<!-- (\w+): begin -->\n(.*?)<!-- (\w+): end -->", re.DOTALL)
LONGEST_WITNESS = 90


def markdown(rows: Sequence[Row]) -> str:
    """Returns the ledger as a Markdown table, one line a claim, verdict and evidence in columns of their own."""
    lines = []
    for row in sorted(rows, key=sort_key):
        evidence = "<br>".join(f"**{evidence.kind}**: {range_text(evidence)}" for evidence in row.evidence)
        witness = "" if row.witness is None else f"`{shorten(compact(row.witness.case), LONGEST_WITNESS)}`"
        verdict = f"**{row.verdict_text}**"
        cells = (
            f'<a id="{row.claim.id}"></a>{row.claim.id}<br>{_link(row.claim.source, transcribed(row.claim.source))}',
            "<br>".join([row.claim.statement, *map(reading_text, row.claim.readings)]),
            row.claim.variant_text,
            _link(verdict, f"findings.md#{row.claim.id}" if is_among_findings(row) else ""),
            evidence,
            witness,
        )
        lines.append(cells)
    header = ("claim", "statement", "variant", "verdict", "evidence", "witness")
    return "\n".join([*table(header, lines), "", summary(rows), ""])


def transcribed(source: str) -> str:
    """Returns the link from a page of docs/ to our transcription; "" for a source that names no place of this paper."""
    try:
        return link(source)
    except ValueError:
        return ""


def _link(text: str, target: str) -> str:
    return f"[{text}]({target})" if target else text


def false(rows: Sequence[Row]) -> str:
    """Returns how many findings there are of each kind, and those that are false, as a Markdown table."""
    numbers = {kind: len(entries(rows, kind)) for kind in Kind}
    words = {Kind.FALSE: "false", Kind.SLIP: "slips", Kind.OPEN: "left open"}
    counts = ", ".join(f"{numbers[kind]} {words[kind]}" for kind in Kind)
    lines, findings = [], known_findings()
    for first, *_ in entries(rows, Kind.FALSE):
        finding, place = finding_of(first.claim, findings), places_of(first.claim.source)[0]
        printed = first.claim.statement if finding is None else finding.printed
        where = f"[{place}]({link(first.claim.source)})"
        failed = [one for one in first.claim.readings if not one.holds]
        why = next((one.text for one in failed if one.shown == first.claim.id), failed[0].text if failed else "")
        works = "; ".join(escaped(one.text) for one in first.claim.readings if one.holds) or "nothing that we tried"
        lines.append(
            (f"{where}: {escaped(printed)}", escaped(why), works, f"`python -m verify.replay {first.claim.id}`")
        )
    header = ("printed", "why it is false", "what works", "to see it")
    return "\n".join([f"The findings are {counts}. The false ones:", "", *table(header, lines), ""])


PARTS: Mapping[str, Callable[[Sequence[Row]], str]] = {"ledger": markdown, "false": false, "certified": reach.markdown}


def replaced(text: str, rows: Sequence[Row]) -> str:
    """Replaces all text between marks. Raises ValueError if `text` has no marks, or if a mark names no part."""
    if not MARK.search(text):
        raise ValueError(f"no marks <!-- NAME: begin --> and <!-- NAME: end -->, NAME one of {', '.join(PARTS)}")

    def part(match: re.Match[str]) -> str:
        name = match[1]
        if name not in PARTS or match[3] != name:
            raise ValueError(f"the marks {name} … {match[3]} name no part; parts are {', '.join(PARTS)}")
        return f"<!-- {name}: begin -->\n{PARTS[name](rows)}<!-- {name}: end -->"

    return MARK.sub(part, text)


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status: 2 for a file that is no ledger, has no marks or cannot be written."""
    parser = cli.Parser(PROG, "Copies what a ledger says into a Markdown file, between marks.", "")
    parser.add_argument("ledger", type=Path, help="what `python -m verify --ledger PATH` wrote")
    parser.add_argument("--into", type=Path, default=Path("docs/ledger.md"), help="default: docs/ledger.md")
    options = parser.parse_args(argv)
    with cli.usage_errors():
        rows = read(options.ledger)
        require_writable(options.into, "--into")
    with cli.usage_errors(f"{options.into}: "):
        text = replaced(options.into.read_text(encoding="utf-8"), rows)
    write_text(options.into, text)
    return cli.HOLDS


if __name__ == "__main__":
    sys.exit(main())
