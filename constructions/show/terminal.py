"""What rich draws: tables and text on stdout, a bar of progress on stderr. Commands import it when they come to draw something."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

WIDTH = 150  # of tables that no terminal limits
DEFAULT_WIDTH = 80  # of a terminal that does not know its own
LEAST_BAR, LONGEST_BAR = 5, 40
BESIDE_THE_BAR = 45  # columns: percent and times, with days among them


class _Console(Console):
    """rich would end the process; here a closed pipe is an error like any other."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Colours and the terminal's width on a terminal, neither elsewhere."""
    return _Console(file=sys.stdout, width=_width(), highlight=False, emoji=False, markup=False)


def _width() -> int:
    """Returns COLUMNS if it is a number above 0, else the terminal's width; `WIDTH` where there is no terminal."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    with contextlib.suppress(OSError, ValueError):
        if sys.stdout.isatty():
            return os.get_terminal_size(sys.stdout.fileno()).columns or DEFAULT_WIDTH
    return WIDTH


def print_table(console: Console, table: Table, least_width: int | None = None) -> None:
    """Prints a table; with less room than this, by default with what would break its words, its rows one below the other."""
    if least_width is None:
        least_width = Measurement.get(console, console.options.update(width=10 * WIDTH), table).minimum
    if console.width >= least_width:
        console.print(table)
        return
    if table.title:
        console.print(Text(str(table.title), style=table.title_style or ""))
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        record = Table.grid(padding=(0, 2, 0, 0))
        record.add_column(style="dim", overflow="fold", max_width=console.width // 2)
        record.add_column(overflow="fold")
        for column, cell in zip(table.columns, cells, strict=True):
            if str(cell):
                record.add_row(column.header, cell)
        console.print(record)
        console.print()
    if table.caption:
        console.print(Text(str(table.caption), style="dim"))


class _WordsColumn(ProgressColumn):
    """Shows words, as far as there is room."""

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__(Column(overflow="ellipsis"))
        self.words = words

    def render(self, task: Task) -> Text:
        return Text(self.words(), no_wrap=True)


@contextlib.contextmanager
def bar(
    title: str,
    last: int | None,
    work_at: Callable[[int], float],
    done: int = 0,
    unit: str = "tokens",
    detail: Callable[[], str] = lambda: "",
    stream: TextIO | None = None,
) -> Iterator[Callable[[int], None]]:
    """Yields a bar with the time left; what it yields is told how many units are through. done: at the start."""
    console, percent = Console(file=stream, stderr=True), TaskProgressColumn()
    room = console.width - len(f"{title} {last}/{last}") - BESIDE_THE_BAR
    columns: list[ProgressColumn] = [TextColumn("{task.description}")]
    if last is None:
        columns += [TimeElapsedColumn()]
    elif room < LEAST_BAR:
        columns += [percent, TimeRemainingColumn(), TextColumn("left")]
    else:
        counted = TextColumn("{task.fields[at]}/{task.fields[last]} {task.fields[unit]},")
        gone_and_left = [TimeElapsedColumn(), TextColumn("gone,"), TimeRemainingColumn(), TextColumn("left")]
        columns += [BarColumn(min(room, LONGEST_BAR)), percent, counted, *gone_and_left]
    columns += [_WordsColumn(detail)]
    # The work left is taken at the speed of the whole run: one unit may take minutes.
    progress = Progress(*columns, console=console, transient=True, speed_estimate_period=math.inf)
    total = None if last is None else work_at(last)
    task = progress.add_task(title, total=total, at=done, last=last, unit=unit)
    progress.update(task, completed=work_at(done))
    with progress:
        yield lambda length: progress.update(task, completed=work_at(length), at=length)
