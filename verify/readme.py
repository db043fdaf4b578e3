"""Copies a ledger into a Markdown file: `python -m verify.readme LEDGER.json [--into docs/ledger.md]`.

The table stands between two marks, and only the text between them is replaced, so the copy is never edited by hand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from verify.claim import Row, compact
from verify.ledger import covered, read, shortened, sort_key, summary

BEGIN, END = "<!-- ledger: begin -->", "<!-- ledger: end -->"
LONGEST_WITNESS = 90


def markdown(rows: Sequence[Row]) -> str:
    """The ledger as a Markdown table, one line a claim, verdict and evidence in columns of their own."""
    lines = ["| claim | statement | variant | verdict | evidence | witness |", "|---|---|---|---|---|---|"]
    for row in sorted(rows, key=sort_key):
        evidence = "<br>".join(f"**{evidence.kind}**: {covered(evidence)}" for evidence in row.evidence)
        witness = "" if row.witness is None else f"`{shortened(compact(row.witness.case), LONGEST_WITNESS)}`"
        cells = (row.claim.id, row.claim.statement, row.claim.variant_text, f"**{row.verdict}**", evidence, witness)
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
    """0 if the file was written, 2 for a file that is no ledger or has no marks."""
    parser = argparse.ArgumentParser(prog="python -m verify.readme", description=__doc__)
    parser.add_argument("ledger", type=Path, help="what `pytest verify/ --ledger PATH` wrote")
    parser.add_argument("--into", type=Path, default=Path("docs/ledger.md"), help="default: docs/ledger.md")
    options = parser.parse_args(argv)
    try:
        text = options.into.read_text(encoding="utf-8")
        options.into.write_text(replaced(text, markdown(read(options.ledger))), encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"python -m verify.readme: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
