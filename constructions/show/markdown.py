"""Tables of pages in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Returns the lines of a table. In its rows, `|` and ends of lines are text."""
    lines = (" | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows)
    return [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {line} |" for line in lines)]
