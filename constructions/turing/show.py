"""How a person sees a run: a line for each configuration, with the number of steps, the state, and the tape around the head.

The head's cell stands in brackets, and a cell keeps its column from line to line: 0 1[1]0. If the run does not fit the width, the
window jumps by half of itself when the head leaves it, and … stands where cells of the word, or visited ones, are out of sight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from constructions.turing.machine import DIGITS
from constructions.turing.simulator import Configuration, TuringStep

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LEAST_CELLS = 4
MOST_LINES = 200
HEAD_STYLE = "bold reverse"
FAINT = "dim"


@dataclass(frozen=True)
class ConfigurationLine:
    """One configuration. first: the cell of the first column. before, after: whether the tape goes on out of sight."""

    steps: int
    state: str
    head: int
    first: int
    cells: str
    before: bool
    after: bool

    def text(self, steps_width: int) -> Text:
        """Returns the line as a person reads it; without a style it reads the same."""
        from rich.text import Text

        at = self.head - self.first
        text = Text(f"{self.steps:>{steps_width}}  {self.state}  ")
        text.append("…" if self.before else " ", FAINT)
        text.append(" ".join(("", *self.cells[:at])))
        text.append("[").append(self.cells[at], HEAD_STYLE).append("]")
        text.append(" ".join((*self.cells[at + 1 :], "")))
        text.append("…" if self.after else "", FAINT)
        text.rstrip()
        return text


def lines_of(word: Sequence[int], run: Iterable[TuringStep], met: range, cells: int) -> Iterator[ConfigurationLine]:
    """Yields the start and the configuration after every step, in a window of `cells` cells. met: all cells that the steps meet."""
    contents = dict(enumerate(word))
    low, high = 0, max(len(word) - 1, 0)  # of the cells that are on the tape
    size = min(len(met), max(LEAST_CELLS, cells))

    def window(head: int) -> int:
        """Returns the first cell of the window around the head, within what the run comes to use."""
        return min(max(head - size // 2, met.start), met.stop - size)

    first = window(0)

    def line(count: int, state: str, head: int) -> ConfigurationLine:
        shown = "".join(DIGITS[contents.get(cell, 0)] for cell in range(first, first + size))
        return ConfigurationLine(count, state, head, first, shown, low < first, high >= first + size)

    yield line(0, "A", 0)
    for step in run:
        contents[step.head] = step.written
        head = step.head + step.move
        low, high = min(low, head), max(high, head)
        if not first <= head < first + size:
            first = window(head)
        yield line(step.number, step.next_state, head)


def outcome(end: Configuration) -> str:
    """Returns a run's end in a sentence."""
    how = f"halted in state {end.state}" if end.halted else f"still running, in state {end.state},"
    return (
        f"{how} after {_count(end.steps, 'step')}, head on cell {end.head}, {_count(end.nonblank, 'cell')} not blank,"
        f" {len(end.tape):,} on the tape"
    )


def print_steps(
    console: Console, word: Sequence[int], run: Iterable[TuringStep], end: Configuration, most_lines: int = MOST_LINES
) -> None:
    """Prints a run's steps, as far as `most_lines` reach, and how they end."""
    from rich.text import Text

    printed = min(end.steps, max(1, most_lines) - 1)
    width = len(str(end.steps))
    room = (console.width - width - len("  A  …]…")) // 2
    first_steps = list(islice(run, printed))
    heads = [0, max(len(word) - 1, 0)] + [cell for step in first_steps for cell in (step.head, step.head + step.move)]
    for line in lines_of(word, first_steps, range(min(heads), max(heads) + 1), room):
        _print(console, line.text(width))
    if printed < end.steps:
        _print(console, Text(f"… {_count(end.steps - printed, 'more step')}", FAINT))
    console.print(Text(outcome(end)), soft_wrap=not console.is_terminal, highlight=False)


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True, highlight=False)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
