"""Copies a ledger into a Markdown file: `python -m verify.readme LEDGER.json [--into docs/ledger.md]`.

The table stands between two marks, and only the text between them is replaced, so the copy is never edited by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from constructions.show import cli
from verify.framework.claim import Row, compact
from verify.framework.ledger import covered, read, require_writable, shortened, sort_key, summary

PROG = "python -m verify.readme"
BEGIN, END = "<!-- ledger: begin -->", "<!-- ledger: end -->"
LONGEST_WITNESS = 90


def markdown(rows: Sequence[Row]) -> str:
    """The ledger as a Markdown table, one line a claim, verdict and evidence in columns of their own."""
    lines = ["| claim | statement | variant | verdict | evidence | witness |", "|---|---|---|---|---|---|"]
    for row in sorted(rows, key=sort_key):
        evidence = "<br>".join(f"**{evidence.kind}**: {covered(evidence)}" for evidence in row.evidence)
        witness = "" if row.witness is None else f"`{shortened(compact(row.witness.case), LONGEST_WITNESS)}`"
        cells = (
            row.claim.id,
            row.claim.statement,
            row.claim.variant_text,
            f"**{row.verdict_text}**",
            evidence,
            witness,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + f"\n\n{summary(rows)}\n"


def replaced(text: str, table: str) -> str:
    """`text` with everything between the marks replaced. Raises ValueError if the marks are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}{END}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 2 for a file that is no ledger, has no marks or cannot be written."""
    return cli.run_command(PROG, _command, argv)


def _command(argv: Sequence[str]) -> int:
    parser = cli.Parser(PROG, "Copies a ledger into a Markdown file, between two marks.", "")
    parser.add_argument("ledger", type=Path, help="what `python -m verify --ledger PATH` wrote")
    parser.add_argument("--into", type=Path, default=Path("docs/ledger.md"), help="default: docs/ledger.md")
    options = parser.parse_args(argv)
    with cli.usage_errors():
        table = markdown(read(options.ledger))
        require_writable(options.into, "--into")
    with cli.usage_errors(f"{options.into}: "):
        text = replaced(options.into.read_text(encoding="utf-8"), table)
    options.into.write_text(text, encoding="utf-8")
    return cli.HOLDS


if __name__ == "__main__":
    sys.exit(main())
