"""`python -m constructions`: the constructions of this package, and the gadgets, heads and recurrences that they are made of."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from constructions.language.files import load_program, names_of_gallery
from constructions.language.program import Program
from constructions.measures import measure
from constructions.models.model import Model
from constructions.models.registry import find_constructions, find_parts
from constructions.show import cli
from constructions.show.terminal import console, print_table
from constructions.wiring.part import Part

PROG = "python -m constructions"
SIZES_AT = 8  # the n at which layers, heads and width are counted; they do not depend on it
LEAST_WIDTH = 100  # of a terminal that shows tables; a narrower one shows their rows one below the other


def main(argv: Sequence[str] | None = None) -> int:
    """Lists constructions and parts, or runs a program; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["run"]:
        from constructions import run

        return run.main(words[1:])
    if words[:1] == ["zoo"]:
        from verify import zoo

        return zoo.main(words[1:])
    return cli.run_command(PROG, _command, argv)


def _command(argv: Sequence[str]) -> int:
    parser = cli.Parser(
        PROG,
        "Lists the constructions, each run by `python -m constructions.NAME`, and the parts that they are made of.",
        "examples:\n  python -m constructions --json\n  python -m constructions run --help    programs, one's own too"
        f"\n  {PROG} zoo --help    models with known mechanisms as a data set",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    args = parser.parse_args(argv)
    all_constructions, parts = find_constructions(), find_parts()
    if args.json:
        constructions = [construction_document(item) for item in all_constructions]
        gallery = [program_document(load_program(name)) for name in names_of_gallery()]
        documents = [part_document(part) for part in parts]
        cli.write_json({"schema": 1, "constructions": constructions, "parts": documents, "gallery": gallery})
        return cli.HOLDS
    screen = console()
    print_table(screen, _constructions_table(all_constructions), LEAST_WIDTH)
    screen.print()
    print_table(screen, _parts_table(parts), LEAST_WIDTH)
    screen.print()
    print_table(screen, _gallery_table([load_program(name) for name in names_of_gallery()]), LEAST_WIDTH)
    return cli.HOLDS


def sizes(item: Model[Any, Any], variant: str) -> dict[str, int]:
    """Measures the weights of one variant. heads: the most in one block. state_numbers: how many numbers recurrences keep."""
    findings = tuple(f.id for f in item.construction.findings) if variant == "printed" else ()
    model = item.in_variant(variant).build(SIZES_AT, printed=findings).model
    heads = [len(block.heads) for block in model.blocks]
    return {
        "layers": len(model.blocks),
        "heads": max(heads),
        "width": model.width,
        "parameters": model.parameters,
        "state_numbers": measure(model, 1).state_numbers,
    }


def construction_document(item: Model[Any, Any]) -> dict[str, object]:
    """Returns a construction as JSON; layers, heads and width are those of the first variant, `sizes` has them for each."""
    about = item.construction
    by_variant = {variant: sizes(item, variant) for variant in about.variants}
    first = by_variant[about.variants[0]]
    return {
        "name": about.name,
        "source": about.source,
        "statement": about.statement,
        "variants": list(about.variants),
        "model": about.model,
        "layers": first["layers"],
        "heads": first["heads"],
        "width": first["width"],
        "precision": about.precision,
        "sizes": by_variant,
        "findings": [
            {"id": f.id, "source": f.source, "printed": f.printed, "used": f.used, "why": f.why} for f in about.findings
        ],
    }


def part_document(part: Part) -> dict[str, object]:
    """Returns a gadget or head as JSON."""
    return {
        "id": part.id,
        "name": part.name,
        "source": part.source,
        "statement": part.statement,
        "findings": [finding.id for finding in part.findings],
    }


def program_document(program: Program) -> dict[str, object]:
    """Returns a program of the gallery as JSON."""
    return {
        "name": program.name,
        "source": program.source,
        "statement": program.statement,
        "model": program.architecture,
        "examples": list(program.examples),
    }


def _gallery_table(programs: Sequence[Program]) -> Table:
    table = _table("Gallery, by `python -m constructions run NAME`", "name", "model", "what it says", "source", "input")
    for item in programs:
        name = Text(item.name, style="bold")
        table.add_row(name, item.architecture, item.statement, item.source, item.examples[0])
    return table


def _constructions_table(all_constructions: Sequence[Model[Any, Any]]) -> Table:
    table = _table(
        "Constructions", "name", "model", "source", "variants", "layers", "heads", "state", "width", "least precision"
    )
    for item in all_constructions:
        about = item.construction
        counted = [sizes(item, variant) for variant in about.variants]
        columns = [
            ", ".join(str(size[key]) for size in counted) for key in ("layers", "heads", "state_numbers", "width")
        ]
        table.add_row(
            Text(about.name, style="bold"),
            about.model,
            about.source,
            ", ".join(about.variants),
            *columns,
            about.precision,
        )
    table.caption = "layers, heads in one layer, numbers that recurrences keep, and width: in the order of the variants"
    return table


def _parts_table(parts: Sequence[Part]) -> Table:
    table = _table("Parts", "lemma", "name", "what it does", "findings")
    for part in parts:
        findings = ", ".join(finding.id for finding in part.findings)
        table.add_row(part.id, Text(part.name, style="bold"), part.statement, findings)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", caption_justify="left", box=None, padding=(0, 2, 0, 0)
    )
    table.pad_edge = False
    for column in columns:
        table.add_column(column, header_style="dim", overflow="fold")
    return table


if __name__ == "__main__":
    sys.exit(main())
