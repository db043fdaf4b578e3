"""The findings as a page for readers of the paper: `python -m verify.findings [LEDGER.json] [--into PAGE.md]`.

First what is false as printed, with nothing changed, then slips, then what the print leaves open, then what fails at small sizes
alone; each in the order of the paper: what is printed, what is used instead, why, which readings were tried, and the smallest
witnesses.
Findings come from the constructions, the parts and the reductions; everything else from the ledger and the stored witnesses.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from constructions.exports.files import write_text
from constructions.models.registry import find_constructions, find_parts
from constructions.show import cli
from constructions.show.markdown import table
from constructions.wiring.finding import Finding
from verify.framework.claim import Below, Claim, Kind, Reading, Row, Verdict, Witness, compact
from verify.framework.ledger import load_witnesses, natural, read, require_kind, require_writable, shorten, sort_key
from verify.framework.order import LEDGER, WITNESSES
from verify.oracles.reductions import COLLISION, FIRST_BIT, THRESHOLD
from verify.transcription import link, places_of

PROG = "python -m verify.findings"
LONGEST_WITNESS = 160
TITLES: Mapping[Kind, tuple[str, str]] = {
    Kind.FALSE: ("False", "The sentence as printed fails, with nothing changed. What works with a change is listed."),
    Kind.SLIP: ("Slips", "One line or one sign. The right form stands beside it in print, or is the obvious one."),
    Kind.OPEN: (
        "Left open",
        "The print does not say, or our transcription lost it, as the blanks of patterns. One way to fill it in fails, and another"
        " works.",
    ),
}
FROM_SIZE = "Right from some n on"
SMALL = (
    "These fail at the size in the last column. From the next size on no failure was found. "
    "The verdict says how far was looked."
)
MADE = "Written by `python -m verify.findings`, never by hand."
HEAD = f"""\
# Findings

This page lists where a reader who wires the paper's print as it stands gets a wrong answer, and says what to wire instead. With
these repairs no theorem of the paper is refuted: each construction is built here with them, and the [ledger](ledger.md) says how
far each is checked. With number i embedded as i·w1 and the embedding as output head, no output makes a number in the middle alone
the likeliest. So each proof whose model writes numbers needs a small change: another embedding of numbers, or a rule for ties. We
judge the printed head in the models of Theorems 4.6, 4.7 and 5.6. The theorems themselves stand. We read the print as a referee who
wants it to be right. So a finding has a kind, and it lists the readings of the print that were tried.

A witness is a small input that refutes a claim; the search shrank it. In brackets stands what was judged: `printed`, the print;
or `repaired, X as printed`, everything repaired except X. The claim's statement says what else differs. Each command replays a
witness; exit status 1 says that it still refutes. The formulas are [our transcription](transcription.md) of the paper's.

{MADE}
"""


def known_findings() -> dict[str, Finding]:
    """Returns every finding by its printed text. Two constructions may share one; the first names its source."""
    lists = [*(part.findings for part in find_parts()), *(item.construction.findings for item in find_constructions())]
    found = [finding for findings in lists for finding in findings]
    return {finding.printed: finding for finding in reversed([*found, COLLISION, THRESHOLD, FIRST_BIT])}


def finding_of(claim: Claim, findings: Mapping[str, Finding]) -> Finding | None:
    """Returns the finding that a claim speaks of, by its words or its name."""
    by_words = [finding for printed, finding in findings.items() if printed in claim.statement]
    named = {claim.slip, claim.finding, claim.id.rpartition("/")[2]} - {""}
    return next(iter(by_words or [finding for finding in findings.values() if finding.id in named]), None)


def entries(rows: Sequence[Row], kind: Kind | None) -> list[list[Row]]:
    """Returns the refuted rows of a kind, those of one slip or one finding together, in the order of the paper."""
    findings, together = known_findings(), dict[str, list[Row]]()
    for row in sorted(rows, key=sort_key):
        if row.verdict is Verdict.REFUTED and row.claim.kind is kind:
            finding = finding_of(row.claim, findings)
            name = row.claim.slip or (row.claim.id if finding is None else finding.id)
            together.setdefault(name, []).append(row)
    return sorted(together.values(), key=lambda of: natural(places_of(of[0].claim.source)[0]))


def markdown(rows: Sequence[Row], stored: Mapping[str, Witness]) -> str:
    """Returns the page."""
    findings = known_findings()
    lines = [HEAD]
    for kind, (title, words) in TITLES.items():
        of_kind = entries(rows, kind)
        lines.append(f"## {title}\n\n{words}\n")
        lines += [_entry(of, findings, stored) for of in of_kind] or ["None.\n"]
    if others := entries(rows, None):
        lines.append("## Not judged by a referee yet\n")
        lines += [_entry(of, findings, stored) for of in others]
    small = [row for row in sorted(rows, key=sort_key) if _holds_from_some_n(row)]
    if small:
        lines.append(f"## {FROM_SIZE}\n\n{SMALL}\n")
        lines.append(_small(small))
    return "\n".join(lines)


def _entry(rows: Sequence[Row], findings: Mapping[str, Finding], stored: Mapping[str, Witness]) -> str:
    """Returns one finding, with the claims that show it."""
    first = rows[0].claim
    finding = next((known for row in rows if (known := finding_of(row.claim, findings)) is not None), None)
    name = finding.id if finding is not None else first.id
    place = places_of(first.source)[0]
    lines = [f"### {name}\n" if name.startswith(place) else f"### {place}, {name}\n"]
    sources = dict.fromkeys(row.claim.source for row in rows)
    lines.append("- **transcribed**: " + "; ".join(f"[{escaped(source)}]({link(source)})" for source in sources))
    if finding is None:
        lines.append(f"- **claim**: {escaped(first.statement)}")
    else:
        parts = ("printed", finding.printed), ("used", finding.used), ("why", finding.why)
        lines += [f"- **{part}**: {escaped(text)}" for part, text in parts]
    lines += [f"- **{_outcome(reading)}**: {escaped(reading.text)}{_show(reading)}" for reading in _readings(rows)]
    return "\n".join(lines) + "\n\n" + _table(rows, stored)


def _readings(rows: Sequence[Row]) -> list[Reading]:
    """Returns the readings of all rows, each sentence once: also one that begins with what it is about in some rows alone."""
    readings = list({reading.text: reading for row in rows for reading in row.claim.readings}.values())
    return [one for one in readings if not any(_says_more(one, other) for other in readings)]


def _says_more(one: Reading, other: Reading) -> bool:
    """Returns whether a reading is another one with words and a colon before it, as "the head alone: …"."""
    return one.text.endswith(f": {other.text}") and replace(one, text=other.text) == other


def _outcome(reading: Reading) -> str:
    return "this reading works" if reading.holds else "this reading fails"


def _show(reading: Reading) -> str:
    changes = f"changes {escaped(reading.changes)}" if reading.changes else ""
    parts = [escaped(reading.stands), changes, f"`{reading.shown}`" if reading.shown else ""]
    return f" ({', '.join(part for part in parts if part)})" if any(parts) else ""


def _table(rows: Sequence[Row], stored: Mapping[str, Witness]) -> str:
    lines = []
    for row in rows:
        witness = stored.get(row.claim.id, row.witness)
        if witness is None:
            raise ValueError(f"{row.claim.id}: a refuted claim without a witness")
        shows = ", ".join(
            f"{name}: {value if isinstance(value, str) else compact(value)}" for name, value in witness.shows.items()
        )
        cells = (
            f"{_name(row.claim)} ({row.claim.variant_text})",
            f"`{shorten(compact(witness.case), LONGEST_WITNESS)}`",
            escaped(shorten(shows, LONGEST_WITNESS)),
            f"`python -m verify.replay {row.claim.id}`",
        )
        lines.append(cells)
    return "\n".join([*table(("claim", "smallest witness", "what it shows", "again"), lines), ""])


def _small(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        (below,) = (part for part in row.evidence if isinstance(part, Below))
        example = f"`{shorten(below.example, LONGEST_WITNESS)}`"
        lines.append((_name(row.claim), f"{escaped(row.claim.statement)} **{row.verdict_text}**", example))
    return "\n".join([*table(("claim", "what holds", "fails below at"), lines), ""])


def is_among_findings(row: Row) -> bool:
    """Returns whether the page has a line on this claim, with its name as the anchor."""
    return row.verdict is Verdict.REFUTED or _holds_from_some_n(row)


def _holds_from_some_n(row: Row) -> bool:
    return row.verdict is Verdict.HOLDS and row.holds_from is not None


def _name(claim: Claim) -> str:
    """Returns a claim's name, which links to its line in the ledger and is the anchor of this one."""
    return f'<a id="{claim.id}"></a>[{claim.id}](ledger.md#{claim.id})'


def escaped(text: str) -> str:
    """Escapes a text, so that nothing in it is markup."""
    return re.sub(r"([\\`*_\[\]])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")


def is_page(path: Path) -> bool:
    """Returns whether this command wrote the file."""
    with path.open("rb") as file:
        return MADE.encode() in file.read(2 * len(HEAD.encode()))


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status: 2 for a file that is no ledger or cannot be written."""
    parser = cli.Parser(PROG, "The findings as a page in Markdown, in the order of the paper.", "")
    parser.add_argument(
        "ledger", type=Path, nargs="?", default=LEDGER, help="a ledger (default: the one that is known)"
    )
    parser.add_argument("--into", type=Path, metavar="PAGE", help="write the page there (default: standard output)")
    cli.add_force(parser)
    options = parser.parse_args(argv)
    with cli.usage_errors():
        if options.into is not None:
            require_writable(options.into, "--into")
            require_kind(options.into, "--into", "page of findings", is_page, force=options.force)
        text = markdown(read(options.ledger), load_witnesses(WITNESSES))
    if options.into is None:
        print(text, end="")
    else:
        write_text(options.into, text)
    return cli.HOLDS


if __name__ == "__main__":
    sys.exit(main())
