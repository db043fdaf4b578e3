"""The last screen of a run: each task by architecture, how many claims hold, and where the rest is.

A run of many claims ends in it, `pytest verify/ --n-max 10000`; `--full` prints the whole ledger instead.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from verify import table
from verify.framework import ledger
from verify.framework.claim import Kind, Row, Verdict

LEAST_WIDTH = 80
NOTE = (
    "certified: rounding and program, for every input of these n; n: tokens, vertices, steps or cells; "
    "—: nothing is claimed. Longer: python -m verify.table LEDGER"
)


def text(rows: Sequence[Row], width: int, color: bool, not_judged: int, path: Path | None) -> str:
    """Returns the screen. rows: of one run. path: the ledger that this run wrote, if it wrote one."""
    out = io.StringIO()
    screen = Console(
        file=out,
        width=max(min(width, table.WIDTH), LEAST_WIDTH),
        force_terminal=color,
        color_system="standard" if color else None,
    )
    shown = list(table.cells(rows))
    if any(cell.outcome is not table.Mark.NOT_SETTLED for cell in shown):
        screen.print(_architectures(shown))
        screen.print(NOTE, style="dim")
    surprising = [row for row in rows if not row.as_expected]
    if surprising:
        screen.print(Text(f"\nNot as expected: {len(surprising)}", style="bold red"))
        screen.print(ledger.table(surprising))
    screen.print(Text("\n").append(counts(rows, not_judged)))
    screen.print(
        Text(f"{where(path)}\nOne claim: python -m verify --claim ID; its witness: python -m verify.replay ID")
    )
    return (
        "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines()) + ledger.summary(rows, not_judged) + "\n"
    )


def counts(rows: Sequence[Row], not_judged: int) -> str:
    """Returns the sentence with the number of claims of each verdict, refuted ones by kind."""
    verdicts = Counter(row.verdict for row in rows)
    kinds = Counter(row.claim.kind for row in rows if row.verdict is Verdict.REFUTED)
    named = ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds[kind])
    repaired = sum(
        row.verdict is Verdict.REFUTED and row.claim.variant != "printed" and not row.claim.finding for row in rows
    )
    parts = [f"{verdicts[Verdict.HOLDS]} of {len(rows)} claims hold", f"{verdicts[Verdict.REFUTED]} are refuted"]
    sentence = ", ".join(parts) + (f" ({named})" if named else "") + f", {verdicts[Verdict.UNKNOWN]} unknown"
    measured = verdicts[Verdict.MEASURED]
    return (
        sentence
        + (f", {measured} measured" if measured else "")
        + (f", {not_judged} not judged" if not_judged else "")
        + "."
        + ("" if repaired else " No repaired construction is refuted.")
    )


def where(path: Path | None) -> str:
    """Returns the line on where all rows are."""
    if path is None:
        return "All rows: --full prints them, --ledger PATH writes them; docs/ledger.md has those of the committed run"
    return f"All rows: {path}; --full prints them"


def _architectures(cells: Sequence[table.TableCell]) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
    shown.add_column("", style="bold", width=table.TASK_WIDTH)
    for architecture in table.ARCHITECTURES:
        shown.add_column(architecture, ratio=1, overflow="fold")
    for task, line in table.grid(cells):
        shown.add_row(task, *map(_cell, line))
    return shown


def _cell(cell: table.TableCell | None) -> Text:
    if cell is None:
        return Text("—", style="dim")
    lines = cell.lines(every_claim=False)
    if cell.outcome in (table.Mark.REFUTED, table.Mark.NOT_SETTLED):
        named = lines[:3] + ["…"] * (len(lines) > 3)
    elif cell.outcome is table.Mark.SOLVED:
        named = cell.certified_sizes()
    else:
        named = [lines[0], *cell.evidence[:1]]
    return Text(cell.outcome, table.STYLES[cell.outcome]).append("".join(f"\n{line}" for line in named), "default")
