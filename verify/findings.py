"""The findings as a page for readers of the paper: `python -m verify.findings [LEDGER.json] [--into PAGE.md]`.

In the order of the paper: what is printed, what is used instead, why, the smallest witness, the evidence, and how to replay
them. Findings come from the constructions, the parts and the reductions; everything else from the ledger and the stored witnesses.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from constructions.models.registry import find_constructions, find_parts
from constructions.show import cli
from constructions.wiring.finding import Finding
from verify.framework.claim import Row, Verdict, Witness, compact
from verify.framework.ledger import (
    covered,
    load_witnesses,
    natural,
    read,
    require_writable,
    shortened,
    sort_key,
    write_whole,
)
from verify.framework.order import LEDGER, WITNESSES
from verify.oracles.reductions import COLLISION, FIRST_BIT, THRESHOLD

PROG = "python -m verify.findings"
LONGEST_WITNESS = 160
# Places of the paper that a source names in another way. A finding stands where the first of these, or the first number, says.
PLACES = (("C.6.2", "4.7"), ("Algorithm 2", "5.3"))
TITLES: Mapping[str, str] = {
    "3.2": "Section 3.2: the word embedding",
    "4.6": "Theorem 4.6: Transformers solve the retrieval tasks, small RNNs do not",
    "4.7": "Theorem 4.7 and C.6.2: the Transformer that decides IsTree",
    "4.8": "Theorem 4.8: a Transformer that simulates an RNN",
    "5.2": "Theorem 5.2: Linear RNNs with search solve the retrieval tasks",
    "5.3": "Theorem 5.3, Algorithm 2: a Linear RNN with search decides IsTree",
    "5.4": "Theorem 5.4: a Linear RNN with search runs Turing machines",
    "5.6": "Theorem 5.6: hybrid RNNs solve the retrieval tasks",
    "5.7": "Theorem 5.7: a hybrid RNN decides IsTree",
    "5.8": "Theorem 5.8: a hybrid RNN runs Turing machines",
    "A.5": "Appendix A.5: regular expressions",
    "C.1": "Appendix C.1: feed-forward gadgets",
    "C.7": "Appendix C.2: attention heads",
    "C.20": "Appendix C.3: linear units",
    "C.28": "Lemma C.28: the reduction to IsTree",
    "C.31": "Lemma C.31: tape and head from the tokens written",
}
HEAD = """\
# Findings

Where the paper's print does not hold: what it says, what is wired here instead, and the smallest input found that shows the
difference. Each is judged with everything else repaired, unless the row says `printed`: then all of it is as printed.
Smallest means the smallest that the search met and shrank. A command replays each witness; exit status 1: it still refutes.

Written by `python -m verify.findings`, never by hand.
"""


def known_findings() -> dict[str, Finding]:
    """Every finding, by what it prints: two constructions may share one. The first that prints it names its source."""
    lists = [*(part.findings for part in find_parts()), *(item.findings for item in find_constructions())]
    found = [finding for findings in lists for finding in findings]
    return {finding.printed: finding for finding in reversed([*found, COLLISION, THRESHOLD, FIRST_BIT])}


def place_of(source: str) -> str:
    """Where in the paper a source stands: 4.7, C.14. Raises ValueError for a source that names no place."""
    for name, place in PLACES:
        if name in source:
            return place
    number = re.search(r"\b[\dAC]\.\d+", source)
    if number is None:
        raise ValueError(f"{source!r} names no place of the paper")
    return number[0]


def chapter_of(place: str) -> str:
    """The title under which a place stands: the last one that is not behind it in its part of the paper."""
    before = [title for title in TITLES if title[0] == place[0] and natural(title) <= natural(place)]
    return max(before, key=natural) if place[0] == "C" else place


def owners(rows: Sequence[Row], findings: Mapping[str, Finding]) -> dict[str, list[Row]]:
    """The rows that speak of each finding, by what it prints; under "" those of no single one."""
    parts = {part.id: part.findings for part in find_parts()}
    owned: dict[str, list[Row]] = {printed: [] for printed in ("", *findings)}
    for row in rows:
        of_part = parts.get(row.claim.id.removesuffix("/printed"), ())
        named = {row.claim.finding, row.claim.id.rpartition("/")[2]} - {""}
        about = [
            printed
            for printed, finding in findings.items()
            if printed in row.claim.statement or (len(of_part) == 1 and finding.printed == of_part[0].printed)
        ] or [printed for printed, finding in findings.items() if finding.id in named]
        for printed in about[:1] or [""]:
            owned[printed].append(row)
    return owned


def markdown(rows: Sequence[Row], stored: Mapping[str, Witness]) -> str:
    """The page."""
    findings = known_findings()
    refuted = sorted((row for row in rows if row.verdict is Verdict.REFUTED), key=sort_key)
    entries: list[tuple[str, str]] = []
    owned = owners(refuted, findings)
    for printed, finding in findings.items():
        if owned[printed]:
            text = _about(finding) + _table(owned[printed], stored)
            entries.append((place_of(finding.source), text))
    by_place: dict[str, list[Row]] = {}
    for row in owned[""]:
        by_place.setdefault(place_of(row.claim.source), []).append(row)
    entries += [
        (
            place,
            f"### As printed: {'; '.join(dict.fromkeys(r.claim.source for r in of))}\n\n"
            + _table(of, stored, said=True),
        )
        for place, of in by_place.items()
    ]
    lines, chapter = [HEAD], ""
    for place, text in sorted(entries, key=lambda entry: (natural(entry[0]), entry[1].startswith("### As printed"))):
        if chapter_of(place) != chapter:
            chapter = chapter_of(place)
            lines.append(f"## {TITLES[chapter]}\n")
        lines.append(text)
    return "\n".join(lines)


def _about(finding: Finding) -> str:
    return (
        f"### {finding.id}: {finding.source}\n\n"
        f"- **printed**: {_escaped(finding.printed)}\n- **used**: {_escaped(finding.used)}\n- **why**: {_escaped(finding.why)}\n\n"
    )


def _table(rows: Sequence[Row], stored: Mapping[str, Witness], *, said: bool = False) -> str:
    """said: whether the claims' statements stand in it, where nothing above says what is printed."""
    lines = ["| claim | smallest witness | what it shows | evidence | again |", "|---|---|---|---|---|"]
    for row in rows:
        witness = stored.get(row.claim.id, row.witness)
        if witness is None:
            raise TypeError("there is no witness")
        shows = ", ".join(
            f"{name}: {value if isinstance(value, str) else compact(value)}" for name, value in witness.shows.items()
        )
        evidence = "<br>".join(f"{evidence.kind}: {covered(evidence)}" for evidence in row.evidence)
        case = f"`{shortened(compact(witness.case), LONGEST_WITNESS)}`"
        claim = f"{row.claim.id} ({row.claim.variant_text})" + (f": {_escaped(row.claim.statement)}" if said else "")
        cells = (claim, case, _escaped(shortened(shows, LONGEST_WITNESS)), _escaped(evidence, keep="<br>"))
        again = f"`python -m verify.replay {row.claim.id}`"
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (*cells, again)) + " |")
    return "\n".join(lines) + "\n"


def _escaped(text: str, keep: str = "") -> str:
    """Text in which nothing is markup."""
    pieces = text.split(keep) if keep else [text]
    plain = (re.sub(r"([\\`*_\[\]])", r"\\\1", piece).replace("&", "&amp;").replace("<", "&lt;") for piece in pieces)
    return keep.join(plain)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 2 for a file that is no ledger or cannot be written."""
    return cli.run_command(PROG, _command, argv)


def _command(argv: Sequence[str]) -> int:
    parser = cli.Parser(PROG, "The findings as a page in Markdown, in the order of the paper.", "")
    parser.add_argument(
        "ledger", type=Path, nargs="?", default=LEDGER, help="a ledger (default: the one that is known)"
    )
    parser.add_argument("--into", type=Path, metavar="PAGE", help="write the page there (default: standard output)")
    options = parser.parse_args(argv)
    with cli.usage_errors():
        if options.into is not None:
            require_writable(options.into, "--into")
        text = markdown(read(options.ledger), load_witnesses(WITNESSES))
    if options.into is None:
        print(text, end="")
    else:
        write_whole(options.into, text)
    return cli.HOLDS


if __name__ == "__main__":
    sys.exit(main())
