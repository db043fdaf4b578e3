"""What two ledgers say differently: `python -m verify.diff OLD NEW [--json] [--no-time]`.

Rows are compared by claim and engine: those that came, those that went, and in the others verdict, evidence with its sizes and
numbers, witness, and words. Times are compared where both runs had the same options, after the one run's pace is
taken out of the other's, and only what is far beyond the usual scatter is told.
"""

from __future__ import annotations

import itertools
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from constructions.show import cli
from constructions.show.terminal import console
from verify.framework.claim import EVIDENCE, Json, Row, compact
from verify.framework.ledger import range_text, read_run, shorten, sort_key

PROG = "python -m verify.diff"
EPILOG = f"""examples:
  {PROG} docs/ledger.json run.json            what has changed since
  {PROG} old.json new.parquet --no-time       verdicts and evidence alone, as for continuous integration
  {PROG} old.json new.json --json | jq '.changed[] | select(.what == "verdict")'

exit status: 0 both say the same, 1 they differ, 2 usage"""
SAME, DIFFERENT = 0, 1
NOISE_FACTOR = 2.0  # times within it are noise
NOISE_SECONDS = 1.0  # and so are times no further apart
LEAST_COMMON = 20  # rows, for a pace
LONGEST = 400  # of a value
SHORT = 80  # old and new on one line
OF_THE_RUN = ("n_max", "p_bits", "engine", "seed")  # fields of a witness that repeat the options

Key = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """One thing that a row says differently. where: the range of the evidence that it is about, or "". None: not there."""

    id: str
    engine: str
    what: str
    where: str
    old: Json
    new: Json


@dataclass(frozen=True)
class LedgerDifference:
    """Between two ledgers. pace: how many times as long the new run took, as a rule; None if times are not compared."""

    options: Mapping[str, tuple[Json, Json]]
    came: tuple[Row, ...]
    went: tuple[Row, ...]
    changed: tuple[Change, ...]
    common: int
    pace: float | None

    @property
    def same(self) -> bool:
        """Returns whether there is none."""
        return not (self.options or self.came or self.went or self.changed)

    def document(self) -> dict[str, Json]:
        """Returns the differences as JSON."""
        return {
            "schema": 1,
            "same": self.same,
            "options": {name: {"old": old, "new": new} for name, (old, new) in self.options.items()},
            "came": [_name(row) for row in self.came],
            "went": [_name(row) for row in self.went],
            "changed": [asdict(change) for change in self.changed],
            "common": self.common,
            "pace": self.pace,
        }


def _name(row: Row) -> dict[str, Json]:
    return {"id": row.claim.id, "engine": row.engine, "verdict": row.verdict}


def difference(
    old: Sequence[Row],
    new: Sequence[Row],
    old_options: Mapping[str, Json],
    new_options: Mapping[str, Json],
    *,
    times: bool = True,
) -> LedgerDifference:
    """Compares two ledgers. Raises ValueError if one of them judges a claim twice."""
    before, after = _by_key(old), _by_key(new)
    common = [(before[key], after[key]) for key in before if key in after]
    names = [*old_options, *(name for name in new_options if name not in old_options)]
    options = {
        name: (old_options.get(name), new_options.get(name))
        for name in names
        if old_options.get(name) != new_options.get(name)
    }
    pace = _pace(common) if times and not options else None
    changed = [change for pair in common for change in changes(*pair, pace)]
    return LedgerDifference(
        options,
        tuple(after[key] for key in after if key not in before),
        tuple(before[key] for key in before if key not in after),
        tuple(changed),
        len(common),
        pace,
    )


def _by_key(rows: Sequence[Row]) -> dict[Key, Row]:
    result: dict[Key, Row] = {}
    for row in sorted(rows, key=sort_key):
        key = row.claim.id, row.engine
        if key in result:
            raise ValueError(f"claim {row.claim.id} stands there twice")
        result[key] = row
    return result


def _pace(common: Sequence[tuple[Row, Row]]) -> float:
    ratios = [new.seconds / old.seconds for old, new in common if min(old.seconds, new.seconds) > 0.1]
    return statistics.median(ratios) if len(ratios) >= LEAST_COMMON else 1.0


def changes(old: Row, new: Row, pace: float | None) -> list[Change]:
    """Returns what the new row says differently, time included unless `pace` is None."""
    result = []

    def compare(before: Json, after: Json, what: str = "", where: str = "") -> None:
        """Compares two objects field by field; as a whole where one of them is not there."""
        if before is None or after is None:
            fields = {what: (before, after)}
        else:
            prefix = f"{what}: " if what else ""
            names = dict.fromkeys((*before, *after))
            fields = {prefix + name: (before.get(name), after.get(name)) for name in names}
        for name, (was, now) in fields.items():
            if was != now:
                result.append(Change(old.claim.id, old.engine, name, where, was, now))

    compare(_plain(old), _plain(new))
    parts = [{part["range"]: part for part in row.to_json()["evidence"]} for row in (old, new)]
    for where in dict.fromkeys((*parts[0], *parts[1])):
        compare(parts[0].get(where), parts[1].get(where), "evidence", where)
    compare(_case(old), _case(new), "witness")
    if pace is not None and _apart(old.seconds * pace, new.seconds):
        compare({"seconds": old.seconds}, {"seconds": new.seconds})
    return result


def _plain(row: Row) -> Json:
    return {name: value for name, value in row.to_json().items() if name not in ("evidence", "witness", "seconds")}


def _case(row: Row) -> Json:
    """Returns the witness without the options of its run."""
    if row.witness is None:
        return None
    return {name: value for name, value in asdict(row.witness).items() if name not in OF_THE_RUN}


def _apart(expected: float, seconds: float) -> bool:
    low, high = sorted((expected, seconds))
    return high - low > NOISE_SECONDS and high > NOISE_FACTOR * low


def lines(found: LedgerDifference) -> Iterator[tuple[str, Text]]:
    """Yields a title, a claim or "", and the lines below it: − before what is gone, + before what is new."""
    for name, pair in found.options.items():
        yield "options", Text(f"{name}: {' → '.join(map(compact, pair))}")
    for sign, style, rows in (("−", "red", found.went), ("+", "green", found.came)):
        for row in rows:
            yield _title(row.claim.id, row.engine), Text(f"{sign} {row.verdict_text}", style)
    for change in found.changed:
        title = _title(change.id, change.engine)
        values = [_words(change.what, value) for value in (change.old, change.new)]
        where = f" ({change.where})" if change.where and change.what != "evidence" else ""
        if None not in (change.old, change.new) and sum(map(len, values)) < SHORT:
            text = f"{change.what}: {' → '.join(values)}{where}"
            yield title, Text(text, "bold" if change.what == "verdict" else "")
            continue
        for sign, style, value, words in zip("−+", ("red", "green"), (change.old, change.new), values, strict=True):
            if value is not None:
                yield title, Text(f"{sign} {change.what}: {words}{where}", style)


def _title(claim: str, engine: str) -> str:
    return f"{claim} ({engine})" if engine else claim


def _words(what: str, value: Json) -> str:
    if what == "evidence" and value is not None:
        fields = {name: field for name, field in value.items() if name != "kind"}
        return f"{value['kind']}: {range_text(EVIDENCE[value['kind']](**fields))}"
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value):
        return value[:12]
    return shorten(value if isinstance(value, str) and value else compact(value), LONGEST)


def _print(console: Console, found: LedgerDifference) -> None:
    for title, group in itertools.groupby(lines(found), key=lambda line: line[0]):
        console.print(Text(title, "bold"))
        for _, text in group:
            console.print(Text("  ").append_text(text), soft_wrap=True)


def summary(found: LedgerDifference) -> str:
    """Returns the change in one line."""
    if found.same:
        return f"the same: {found.common} claims"
    changed = len({(change.id, change.engine) for change in found.changed})
    return f"{len(found.came)} came, {len(found.went)} went, {changed} changed of {found.common} that are in both"


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, "What two ledgers say differently, claim by claim.", EPILOG)
    parser.add_argument("old", type=Path, metavar="OLD", help="a ledger, from python -m verify --ledger PATH")
    parser.add_argument("new", type=Path, metavar="NEW", help="another one")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--no-time", action="store_true", help="leave out how long claims took")
    arguments = parser.parse_args(argv)
    old, new = arguments.old, arguments.new
    with cli.usage_errors():
        (rows, options), (others, their) = read_run(old), read_run(new)
        found = difference(rows, others, options, their, times=not arguments.no_time)
    if arguments.json:
        cli.write_json(found.document())
    else:
        screen = console()
        if not found.same:
            _print(screen, found)
        screen.print(summary(found))
    return SAME if found.same else DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
