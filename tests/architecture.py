"""Of docs/architecture.md the picture, drawn from imports, and how many lines the files of its tables have.

`python -m tests.architecture` writes both anew.

A box is a room: a folder, or a file that stands alone. A line goes down from a room to one that it imports. What a room also
imports by way of others has no line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from tests.imports import BELOW, ROOT, UPWARDS, floor, modules

PICTURE, PAGE = ROOT / "docs" / "architecture.svg", ROOT / "docs" / "architecture.md"
NAMES = {
    "constructions": "constructions: tasks",
    "verify": "verify: commands",
    "verify.dossiers": "verify/dossiers: models",
    "verify.dossiers.dossier": "verify/dossiers/dossier",
    "verify.dossiers.registry": "verify/dossiers/registry",
}
COLOURS = {"precision": "#fde9c8", "constructions": "#d9e8fb", "circuits": "#e4f3da", "verify": "#f0e1f5"}
Point: TypeAlias = tuple[float, float]
WIDTH, HIGH, GAP, ROW, MARGIN = 156, 34, 16, 74, 12  # of a box, between boxes, from row to row, around all


def rooms() -> dict[str, set[str]]:
    """Each room, and those that it imports; what is imported against the floors is left out, as imports.py lists it."""
    result: dict[str, set[str]] = {name: set() for name in BELOW}
    for start, ends in modules().items():
        result[floor(start)] |= {floor(end) for end in ends if (start, end) not in UPWARDS} - {floor(start)}
    return result


def levels(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """How many rooms stand below each other under a room."""
    order = TopologicalSorter(graph).static_order()  # CycleError if rooms import each other in a circle
    result: dict[str, int] = {}
    for name in order:
        result[name] = max((result[end] + 1 for end in graph[name]), default=0)
    return result


def direct(graph: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The arrows that no way by others replaces."""
    level, reached = levels(graph), dict[str, set[str]]()
    for name in sorted(graph, key=lambda one: level[one]):
        reached[name] = graph[name].union(*(reached[end] for end in graph[name]))
    return [
        (start, end)
        for start, ends in graph.items()
        for end in sorted(ends)
        if not any(end in reached[other] for other in ends - {end})
    ]


def placed(
    graph: Mapping[str, set[str]], lines: Sequence[tuple[str, str]]
) -> tuple[dict[str, Point], list[list[Point]]]:
    """The middle of each box, and the points of each line: a line takes a place in each row that it passes."""
    level = levels(graph)
    rows: list[list[str]] = [[name for name in graph if level[name] == i] for i in range(max(level.values()) + 1)]
    ways = []
    for start, end in lines:
        passed = [f"{start} {end} {i}" for i in range(level[start] - 1, level[end], -1)]
        for i, name in zip(range(level[start] - 1, level[end], -1), passed, strict=True):
            rows[i].append(name)
        ways.append([start, *passed, end])
    widest = max(map(len, rows)) * (WIDTH + GAP)

    def at(row: Sequence[str]) -> dict[str, float]:
        return {name: widest * (i + 0.5) / len(row) for i, name in enumerate(row)}

    x = {name: place for row in rows for name, place in at(row).items()}
    tied: dict[str, list[str]] = {name: [] for name in x}
    for one, other in (pair for way in ways for pair in pairwise(way)):
        tied[one].append(other)
        tied[other].append(one)
    for _ in range(30):
        for row in rows:
            row.sort(key=lambda name: sum(x[other] for other in tied[name]) / max(len(tied[name]), 1))
            x |= at(row)
    top = len(rows) - 1
    points = {
        name: (x[name] + MARGIN, (top - i) * ROW + MARGIN + HIGH / 2) for i, row in enumerate(rows) for name in row
    }
    return {name: points[name] for name in graph}, [[points[name] for name in way] for way in ways]


def drawn() -> str:
    """The picture as SVG."""
    graph = rooms()
    place, lines = placed(graph, direct(graph))
    width = max(x for x, _ in place.values()) + WIDTH / 2 + MARGIN
    height = max(y for _, y in place.values()) + HIGH / 2 + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="12">',
        "<title>Rooms of the project; a line goes down to what a room imports</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
    ]
    for line in lines:
        (x, y), *_ = line
        path = f"M{x:.0f} {y + HIGH / 2:.0f}"
        for (x, y), (u, v) in pairwise(line):
            up, down, bend = y + HIGH / 2, v - HIGH / 2, (ROW - HIGH) / 2
            path += f"L{x:.0f} {up:.0f}C{x:.0f} {up + bend:.0f} {u:.0f} {down - bend:.0f} {u:.0f} {down:.0f}"
        parts.append(f'<path d="{path}" fill="none" stroke="#777"/>')
    for name, (x, y) in place.items():
        package, _, rest = name.partition(".")
        said = NAMES.get(name, f"{package}/{rest}" if rest else package)
        parts.append(
            f'<rect x="{x - WIDTH / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{WIDTH}" height="{HIGH}" rx="5" '
            f'fill="{COLOURS[package]}" stroke="#555"/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{escape(said)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def lines_of(patterns: Sequence[str]) -> int:
    """How many lines the files have together. Raises FileNotFoundError for a pattern of none."""
    files = set[Path]()
    for pattern in patterns:
        matches = set(ROOT.glob(pattern))
        if not matches:
            raise FileNotFoundError(pattern)
        files |= matches
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def about(number: int) -> str:
    """Two digits of it, so that the page need not change with every line."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{(number + unit // 2) // unit * unit:,}"


def page(text: str) -> str:
    """The page, where each row of a table says how many lines the files have that it names."""

    def counted(row: re.Match[str]) -> str:
        return f"{row[1]} {about(lines_of(re.findall(r'`(.*?)`', row[1])))} |"

    def counted_table(table: re.Match[str]) -> str:
        return re.sub(r"^(\|.*`.*\|)[^|\n]*\|$", counted, table[0], flags=re.M)

    return re.sub(r"<!-- (\w+): begin -->\n.*?<!-- \1: end -->", counted_table, text, flags=re.S)


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
