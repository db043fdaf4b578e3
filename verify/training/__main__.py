"""`python -m verify.training`: trains small models on IsTree, and wired ones further, and writes what was measured.

Source: section 6. Also ours: gradient descent that starts at weights wired by hand (`verify.training.wired`).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch

from constructions.exports.files import replacing
from constructions.show import cli
from verify.training import cells, wired
from verify.training.stored import PARTS, PROG, TrainingJob, departures, jobs, of_cell, read, write
from verify.training.texts import Mode

DESCRIPTION = """Trains Transformers, RNNs and hybrids on IsTree, each cell with several seeds, and prints how often they are
right. Then trains models wired by hand, from their own weights, and prints at which p they are no longer right."""
EPILOG = f"""examples:
  {PROG} --write docs      training.json and training.svg, in about ten minutes of one core; needs the extra plot
  {PROG} --only RNN/chain  some cells, and nothing is written
  {PROG} --only recall --json

A run with --write that is cut off goes on where it was, if sizes, steps, rates and seeds have not changed.

exit status: 0 all was measured, 2 usage"""
TITLES = {Mode.PLAIN: "verdict alone", Mode.CHAIN: "with a chain of thought", Mode.SEARCH: "with searches"}


def known(chosen: Sequence[TrainingJob], path: Path) -> dict[int, dict[str, Any]]:
    """Returns the rows that a file has for the settings of now, by the places of their jobs; none if there is no such file."""
    try:
        document = read(path)
        rows = [(part, row) for part in PARTS for row in document[part]]
    except (OSError, ValueError, KeyError):
        return {}
    return {place: row for place, job in enumerate(chosen) for part, row in rows if part == job.part and job.is_of(row)}


def collected(chosen: Sequence[TrainingJob], rows: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """Returns the document of these rows, in the order of their jobs."""
    return {
        "schema": 1,
        **{part: [rows[i] for i, job in enumerate(chosen) if i in rows and job.part == part] for part in PARTS},
    }


def measured(chosen: Sequence[TrainingJob], path: Path | None) -> dict[str, Any]:
    """Measures each job that the file has no row for, and writes the file after each. Returns the document."""
    torch.set_num_threads(1)  # the order of float sums depends on it
    rows = {} if path is None else known(chosen, path)
    missing = [place for place in range(len(chosen)) if place not in rows]
    total = [0, *itertools.accumulate(chosen[place].work for place in missing)]
    with cli.progress("train", len(missing), lambda done: total[done], "rows") as tick:
        for done, place in enumerate(missing, start=1):
            rows[place] = chosen[place].measure()
            if path is not None:
                write(path, collected(chosen, rows))
            tick(done)
    return collected(chosen, rows)


def show(document: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines for people."""
    for cell in cells.cells():
        if values := of_cell(document, cell):
            yield f"{cell.name:<24} {median(values):.3f}  from {min(values):.3f} to {max(values):.3f}, {len(values)} seeds"
    for name, descent in itertools.product(wired.SUBJECTS, wired.DESCENTS):
        if any((row["subject"], row["descent"]) == (name, descent.name) for row in document["wired"]):
            ends = [
                f"{how}: {', '.join(_place(p) for p in departures(document, name, descent.name, what))}"
                for what, how in (("right_after", "in float64"), ("right_rounded", "rounded to p bits"))
            ]
            yield f"{name}/{descent.name}: leaves at p, for each seed, {'; '.join(ends)}"


def _place(p: int | None) -> str:
    return "never" if p is None else str(p)


def draw(document: Mapping[str, Any], path: Path) -> None:
    """Writes an SVG, the same bytes for the same document: accuracy by n, and for wired models by p."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    colors = dict(zip(cells.MODES, ("#3b6ea5", "#b5483a", "#4a9c6d"), strict=True))
    with mpl.rc_context({"svg.hashsalt": "training", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(9, 3.4), layout="constrained")
        panels = figure.subplots(1, len(Mode) + 1, width_ratios=[1, 1, 1, 1.4])
        for panel, mode in zip(panels, Mode, strict=False):
            for place, (architecture, color) in enumerate(colors.items()):
                if mode not in cells.MODES[architecture]:
                    continue
                values = [of_cell(document, cells.TrainingCell(architecture, mode, n)) for n in cells.SIZES]
                middle = [median(each) for each in values]
                ends = [
                    [m - min(v) for m, v in zip(middle, values, strict=True)],
                    [max(v) - m for m, v in zip(middle, values, strict=True)],
                ]
                beside = [n + 0.08 * (place - 1) for n in cells.SIZES]  # or equal points hide each other
                panel.errorbar(beside, middle, ends, color=color, marker="o", ms=4, lw=1, capsize=3, label=architecture)
            panel.axhline(0.5, color="#888888", lw=0.8, ls=":")
            panel.set(title=TITLES[mode], xlabel="vertices", xticks=cells.SIZES, ylim=(0.4, 1.03))
            panel.grid(visible=True, alpha=0.2)
        panels[0].set_ylabel("right verdicts")
        panels[1].legend(fontsize=7, loc="lower left")
        last, name = panels[-1], next(iter(wired.SUBJECTS))
        formats = wired.SUBJECTS[name].formats
        for place, descent in enumerate(wired.DESCENTS):
            rows = [row for row in document["wired"] if (row["subject"], row["descent"]) == (name, descent.name)]
            for what, style in (("right_after", ":"), ("right_rounded", "-")):
                middle = [median(row[what] for row in rows if row["p"] == p) for p in formats]
                label = descent.name if style == "-" else None
                last.plot(formats, middle, style, color=f"C{place}", marker="o", ms=3, lw=1, label=label)
        last.set(title=f"{name}, trained further", xlabel="p", xticks=formats, ylim=(-0.04, 1.04))
        last.grid(visible=True, alpha=0.2)
        last.legend(fontsize=7, loc="center right", title="—: rounded to p bits\n···: in float64", title_fontsize=7)
        with replacing(path) as fresh:
            figure.savefig(fresh, format="svg", metadata={"Date": None})


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EPILOG)
    parser.add_argument("--only", metavar="NAME", help="measure what has this in its name, such as RNN/chain/8 or Adam")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write training.json and training.svg there")
    args: argparse.Namespace = parser.parse_args(argv)
    if args.write is not None and args.only is not None:
        raise cli.CommandError("--write: writes all that is measured, so --only has no use")
    if args.write is not None and not args.write.is_dir():
        raise cli.CommandError(f"--write {args.write}: there is no such folder")
    chosen = [job for job in jobs() if args.only is None or args.only in job.name]
    if not chosen:
        names = ", ".join(dict.fromkeys(job.name for job in jobs()))
        raise cli.CommandError(f"--only {args.only}: there are {names}")
    path = None if args.write is None else args.write / "training.json"
    document = measured(chosen, path)
    if path is not None:
        write(path, document)
        draw(document, path.with_suffix(".svg"))
    if args.json:
        cli.write_json(document)
    else:
        print("\n".join(show(document)))
    return cli.HOLDS


if __name__ == "__main__":
    sys.exit(main())
