"""The document of measured figures: what it holds, how it is read, and what is made of several seeds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from constructions.exports.files import write_text
from verify.training import cells, wired
from verify.training.texts import TreeTask

STORED = Path(__file__).parents[1] / "training.json"  # a link to the one in docs/, so that it is installed as well
PROG = "python -m verify.training"
PARTS = ("trained", "wired")
WORK = 1_000  # of a descent, in trained words
Row = Mapping[str, Any]


def settings() -> str:
    """Returns the digest of all that a run depends on besides the code: sizes, steps, rates, seeds."""
    return cells.digest({"cells": cells.SETTINGS, "wired": wired.SETTINGS})


@dataclass(frozen=True)
class TrainingJob:
    """One row of the document, before it is measured. name: what `--only` takes. work: about how long it takes."""

    part: str
    name: str
    about: Mapping[str, Any]
    work: int

    def measure(self) -> dict[str, Any]:
        """Returns the row."""
        from verify.training import descent, learning  # these load torch, which reading the document does not need

        about = dict(self.about)
        if self.part == PARTS[0]:
            cell = cells.cell_of(about)
            return {**about, "right": learning.accuracy(cell, about["seed"])}
        how = next(one for one in wired.DESCENTS if one.name == about["descent"])
        return {**about, **descent.measure(about["subject"], about["p"], how, about["seed"])}

    def is_of(self, row: Row) -> bool:
        """Returns whether a row is this one, measured."""
        return all(row.get(what) == value for what, value in self.about.items())


def jobs() -> Iterator[TrainingJob]:
    """Yields all rows, seed by seed, so that a run which is cut off has whole seeds."""
    for seed in cells.SEEDS:
        for cell in cells.cells():
            length = TreeTask(cell.n, cell.mode).longest + 3 * cell.n
            yield TrainingJob("trained", cell.name, {**cell.about, "seed": seed}, cell.steps * length)
        for name, p, descent in wired.runs():
            about = {"subject": name, "p": p, "descent": descent.name, "seed": seed}
            yield TrainingJob("wired", f"{name}/{descent.name}", about, WORK)


def read(path: Path = STORED) -> dict[str, Any]:
    """Returns the document. Raises ValueError if it was made with other settings, or is none."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if document["settings"] != settings():
        raise ValueError(f"{path.name} was made with other settings; make it again: {PROG} --write docs")
    return dict(document)


def write(path: Path, rows: Mapping[str, Sequence[Row]]) -> None:
    """Writes the document, a row a line."""
    parts = ['"schema": 1', f'"settings": "{settings()}"']
    for part in PARTS:
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows[part])
        parts.append(f'"{part}": [\n{lines}\n]')
    write_text(path, "{" + ",\n".join(parts) + "}\n")


def of_cell(document: Mapping[str, Any], cell: cells.TrainingCell) -> list[float]:
    """Returns how often a cell is right, for each seed."""
    return [row["right"] for row in document["trained"] if cells.cell_of(row) == cell]


def departures(document: Mapping[str, Any], subject: str, descent: str, what: str) -> list[int | None]:
    """Returns for each seed the least p at which the descent leaves, see `wired.leaves_at`.

    what: `right_after` or `right_rounded`.
    """
    rows = [row for row in document["wired"] if (row["subject"], row["descent"]) == (subject, descent)]
    return [
        wired.leaves_at([row for row in rows if row["seed"] == seed], what)
        for seed in sorted({row["seed"] for row in rows})
    ]
