"""The ledger: every claim that a run judged, as a table for people, and as JSON or Parquet for programs."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from constructions.exports.files import open_input, parse_json, replacing, write_text
from verify.framework import parquet
from verify.framework.claim import (
    Below,
    Evidence,
    Json,
    Measured,
    Proved,
    Reading,
    Row,
    Searched,
    Stored,
    Verdict,
    Witness,
    compact,
)
from verify.framework.options import STORED, Options, where

if TYPE_CHECKING:
    import pytest
    from rich.table import Table

SCHEMA = 1
STYLES = {Verdict.HOLDS: "green", Verdict.REFUTED: "red", Verdict.UNKNOWN: "yellow", Verdict.MEASURED: "cyan"}
NOT_JUDGED = "not judged"  # the property of a report
JOURNAL = b'{"journal"'  # its first characters
MOST_BYTES = 1 << 28  # of a file
LEAST_WIDTH = 110
LONGEST_CASE = 160


def natural(text: str) -> list[tuple[int, str]]:
    """Returns a key that sorts C.9 before C.10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def sort_key(row: Row) -> tuple[list[tuple[int, str]], str]:
    """Sorts rows by claim, then by engine: the order of the run leaves no trace."""
    return natural(row.claim.id), row.engine


def rows_of(report: pytest.TestReport) -> list[Row]:
    """Returns the row that a test report carries, if any. The report of the teardown repeats it."""
    values = [str(value) for name, value in report.user_properties if name == "claim"]
    return [Row.from_json(json.loads(value)) for value in values] if report.when == "call" else []


@dataclass(frozen=True)
class NotJudged:
    """A claim that this run left out: --n-max is below its sizes, say. That is no verdict, not even `unknown`."""

    id: str
    engine: str
    reason: str


def not_judged_of(report: pytest.TestReport) -> list[NotJudged]:
    """Returns what a test report carries instead of a row, if so."""
    values = [str(value) for name, value in report.user_properties if name == NOT_JUDGED]
    return [NotJudged(**json.loads(value)) for value in values] if report.when == "call" else []


def to_json(rows: Sequence[Row], options: Options, not_judged: Sequence[NotJudged] = ()) -> dict[str, Json]:
    """Returns the ledger as one JSON document."""
    left_out = sorted(not_judged, key=lambda claim: (natural(claim.id), claim.engine))
    return {
        "schema": SCHEMA,
        "options": asdict(options),
        "rows": [row.to_json() for row in sorted(rows, key=sort_key)],
        "not_judged": [asdict(claim) for claim in left_out],
    }


def write(path: Path, rows: Sequence[Row], options: Options, not_judged: Sequence[NotJudged] = ()) -> None:
    """Writes the ledger to a file: JSON, or Parquet for a name that ends so."""
    document = to_json(rows, options, not_judged)
    if path.suffix == parquet.SUFFIX:
        with replacing(path) as fresh:
            parquet.write(fresh, document)
    else:
        write_text(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def require_writable(path: Path, option: str) -> None:
    """Raises ValueError, before an hour is spent, if no file can be written there."""
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{option} {path}: there is no such folder")
    if path.is_dir():
        raise ValueError(f"{option} {path}: is a folder, not a file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} {path}: is a device or a pipe, not a file")
    if path.is_symlink() and (end := Path(os.path.realpath(path))) and (end.is_symlink() or not end.parent.is_dir()):
        raise ValueError(f"{option} {path}: is a link to no place")
    if not all(os.access(place, os.W_OK) for place in (path, path.absolute().parent) if place.exists()):
        raise ValueError(f"{option} {path}: may not be written")


def require_kind(path: Path, option: str, what: str, is_one: Callable[[Path], bool], *, force: bool) -> None:
    """Raises ValueError if another kind of file is there: unasked, a command overwrites only its own kind.

    what: the kind. An empty file holds nothing to lose.
    """
    if not force and path.is_file() and path.stat().st_size and not is_one(path):
        raise ValueError(f"{option}: {path} exists and is no {what}; --force overwrites it")


class Journal:
    """A ledger in the making, PATH.part: a line of options, then a line a row, so that a run that dies loses nothing."""

    def __init__(self, path: Path, options: Options, rows: Sequence[Row] = ()) -> None:
        self.path = part_of(path)
        header = {"journal": True, "schema": SCHEMA, "options": asdict(options)}
        # The rows that are known go in with the header: the journal that they were taken over from may be this file.
        write_text(self.path, json.dumps(header) + "\n" + "".join(map(_line, rows)))

    def add(self, rows: Sequence[Row]) -> None:
        """Writes them at once."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write("".join(map(_line, rows)))


def _line(row: Row) -> str:
    return json.dumps(row.to_json(), ensure_ascii=False) + "\n"


def is_ledger(path: Path) -> bool:
    """Returns whether a ledger or a journal stands there, of this schema. Its rows are not looked at. Raises OSError."""
    try:
        return {"schema", "options", "rows"} <= document_of(path).keys()
    except ValueError:
        return False


def part_of(path: Path) -> Path:
    """Returns where the journal of this ledger stands."""
    return path.with_name(path.name + ".part")


def document_of(path: Path) -> dict[str, Json]:
    """Returns a ledger or a journal, as JSON, without a journal's last line if that is cut off. ValueError if it is neither."""
    with open_input(path) as stream:
        text = stream.read(MOST_BYTES + 1)
    if text.startswith(parquet.MAGIC):
        parquet.require(str(path))
    try:
        if len(text) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
        first, newline, rest = text.partition(b"\n")
        if newline and first.startswith(JOURNAL):
            lines = rest[: rest.rfind(b"\n") + 1].splitlines()
            document = {**parse_json(first), "rows": [parse_json(line) for line in lines]}
        elif text.startswith(parquet.MAGIC):
            document = parquet.read(path)
        else:
            document = parse_json(text)
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']}, want {SCHEMA}")
        return dict(document)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        what = f"there is no {error} in it" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: not a ledger: {what}") from error


def read_run(path: Path) -> tuple[list[Row], dict[str, Json]]:
    """Returns the rows of a ledger or a journal, and the options of the run that wrote it; ValueError if it is neither.

    The file is read once, so that it may be a pipe.
    """
    try:
        document = document_of(path)
        return [Row.from_json(row) for row in document["rows"]], dict(document["options"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        has_path = str(error).startswith(f"{path}: ")
        what = f"there is no {error} in it" if isinstance(error, KeyError) else error
        raise ValueError(str(error) if has_path else f"{path}: not a ledger: {what}") from error


def read(path: Path) -> list[Row]:
    """Returns the rows alone."""
    return read_run(path)[0]


def contradictions(rows: Sequence[Row]) -> list[str]:
    """Lists readings whose claim has another verdict in these rows than they say. A claim that was not judged says nothing."""
    verdicts: dict[str, set[Verdict]] = {}
    for row in rows:
        verdicts.setdefault(row.claim.id, set()).add(row.verdict)
    lines = []
    for row in rows:
        for reading in row.claim.readings:
            want = Verdict.HOLDS if reading.holds else Verdict.REFUTED
            judged = verdicts.get(reading.shown, {want})
            if judged != {want}:
                have = ", ".join(sorted(judged))
                lines.append(f"{row.claim.id}: {reading.text}: {reading.shown} is to be {want}, and is {have}")
    return lines


def reading_text(reading: Reading) -> str:
    """Returns a reading in one line: what it is, whether the claim holds under it, and what shows so."""
    stands = f" ({reading.stands})" if reading.stands else ""
    stands += f" (changes {reading.changes})" if reading.changes else ""
    by = f": {reading.shown}" if reading.shown else ""
    return f"reading: {reading.text}{stands}; {'holds' if reading.holds else 'fails'}{by}"


def range_text(evidence: Evidence) -> str:
    """Returns the range in words, with the numbers that the run measured."""
    parts = [evidence.range]
    if isinstance(evidence, Below):
        parts.append(f"fails at n = {evidence.n_from - 1:,}: {shorten(evidence.example)}")
    if isinstance(evidence, Searched):
        if evidence.stopped:
            parts.append(f"stopped by a witness at case {evidence.cases:,}")
        else:
            if evidence.n_max is not None:
                parts.append(f"n ≤ {evidence.n_max:,}")
            parts.append(f"{evidence.cases:,} {'case' if evidence.cases == 1 else 'cases'}")
            if isinstance(evidence, Stored):
                parts.append(
                    f"as stored in {evidence.name}, {evidence.document[:12]}; weights of {evidence.built:,} built anew"
                )
    if isinstance(evidence, Measured):
        parts[-1] += f": {evidence.value}"
        parts.append(f"{evidence.spread} in {evidence.runs} runs; again: {evidence.command}")
    if isinstance(evidence, Proved):
        parts.append(f"by {evidence.by}")
        if evidence.theorems:
            several = f", the first of {evidence.theorems}" if evidence.theorems > 1 else ""
            parts.append(f"accepted by its checker: {shorten(evidence.theorem)}{several}")
        if evidence.limit:
            parts.append(f"for {evidence.limit}")
    if evidence.precision:
        parts.append(evidence.precision)
    return ", ".join(parts)


def shorten(text: str, limit: int = LONGEST_CASE) -> str:
    """Returns the text, cut to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def table(rows: Sequence[Row]) -> Table:
    """Returns one line a claim: verdict and evidence in columns of their own, and beside them what was claimed and covered.

    The words of the evidence column come from the types of the evidence alone.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    engines = {row.engine for row in rows if row.engine}
    ledger = Table(box=box.HORIZONTALS, show_lines=True, pad_edge=False, expand=True)
    ledger.add_column("claim", no_wrap=True)
    ledger.add_column("verdict", no_wrap=True)
    ledger.add_column("evidence", no_wrap=True)
    ledger.add_column("statement, range, witness", ratio=1)
    for row in sorted(rows, key=sort_key):
        names = [row.claim.id, row.claim.variant, *([row.engine] if len(engines) > 1 and row.engine else [])]
        verdict = Text(row.verdict_short.replace(" ", "\n", 1), style=STYLES[row.verdict])
        if not row.as_expected:
            verdict.append(f"\n({row.claim.expected}\nexpected)", style="bold")
        kinds = dict.fromkeys(evidence.kind for evidence in row.evidence)
        body = Text(row.claim.statement)
        if row.claim.finding:
            body.append(f"\n{row.claim.finding} as printed, all else repaired")
        if row.verdict is Verdict.HOLDS:
            body.append(f"\n{row.verdict_text}", style=STYLES[row.verdict])
        for reading in row.claim.readings:
            body.append(f"\n{reading_text(reading)}")
        for evidence in row.evidence:
            body.append(f"\n{evidence.kind}: {range_text(evidence)}", style="dim")
        if row.note:
            body.append(f"\n{row.note}", style="dim")
        if row.witness is not None:
            body.append(f"\nwitness: {shorten(compact(row.witness.case))}", style="red")
        ledger.add_row(Text("\n".join(names)), verdict, Text("\n".join(kinds)), body)
    return ledger


def summary(rows: Sequence[Row], not_judged: int = 0) -> str:
    """Returns how many claims got which verdict."""
    counts = Counter(row.verdict for row in rows)
    parts = [
        f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict] or verdict is not Verdict.MEASURED
    ]
    surprises = sum(not row.as_expected for row in rows)
    return ", ".join(parts) + f"; {surprises} not as expected" + (f"; {not_judged} not judged" if not_judged else "")


def text(rows: Sequence[Row], width: int, color: bool, not_judged: int = 0) -> str:
    """Returns the table and its totals as terminal text."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out, width=max(width, LEAST_WIDTH), force_terminal=color, color_system="standard" if color else None
    )
    console.print(table(rows))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(lines) + "\n" + summary(rows, not_judged) + "\n"


def replay_lines(
    rows: Sequence[Row],
    stored: Mapping[str, Witness],
    ledger: Path | None,
    files: Mapping[str, Path] = MappingProxyType({}),
    witnesses: Path | None = None,
) -> list[str]:
    """Returns one command for each witness: short if it is stored, else one that reads the ledger or carries the witness.

    files: claim → the file that it stands in. witnesses: where those that are stored were read.
    """
    lines = []
    for row in sorted(rows, key=sort_key):
        if row.witness is None:
            continue
        file = files.get(row.claim.id)
        there = where(file) if file else ""
        if stored.get(row.claim.id) == row.witness:
            elsewhere = file and witnesses and witnesses.resolve() != file.resolve().parents[1] / STORED
            named = f" --witnesses {shlex.quote(os.path.relpath(witnesses))}" if witnesses and elsewhere else ""
            lines.append(f"python -m verify.replay {row.claim.id}{there}{named}")
        elif ledger is not None:
            lines.append(f"python -m verify.replay {row.claim.id} --ledger {ledger}{there}")
        else:
            lines.append(row.witness.command(row.claim.id) + there)
    return lines


def load_witnesses(path: Path) -> dict[str, Witness]:
    """Returns the stored witnesses by claim; none if there is no file. ValueError if the file is something else."""
    if not path.exists():
        return {}
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
        return {claim: Witness.from_json(witness) for claim, witness in document["witnesses"].items()}
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not a file of witnesses: {error}") from error


def update_witnesses(path: Path, rows: Sequence[Row]) -> None:
    """Stores what this run found; forgets the witnesses of claims that it judged and did not refute."""
    stored = load_witnesses(path)
    for claim in {row.claim.id for row in rows}:
        stored.pop(claim, None)
    for row in sorted(rows, key=sort_key, reverse=True):  # of several engines, the first stays
        if row.witness is not None:
            stored[row.claim.id] = row.witness
    document = {"schema": SCHEMA, "witnesses": {claim: asdict(stored[claim]) for claim in sorted(stored, key=natural)}}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
