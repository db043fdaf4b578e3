"""How commands are told which model they are to speak of: options of a parser, and the subject that these name."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from constructions.models.door import find_door
from constructions.show import cli
from precision.format import Discipline
from verify.certificates.document import SCHEMA, UNKNOWN
from verify.dossiers.dossier import ENDLESS, LARGEST_N, TRANSFORMER, Dossier, Subject, name_of_model
from verify.dossiers.registry import find_dossier, find_dossiers, find_program

DEFAULT_N = 16
LAYOUTS = ("paper", "eos")  # of a graph's tokens; imported from the task, they would load its code for every other task
AT_HOME = {
    "layout": "--tokens is for istree as a Transformer; everything else has one layout",
    "lean": "the variant lean is istree's as a Transformer, and has nothing as printed",
    "all_cells": "--all-cells is for turing as cot: every number of cells and steps, none of them named",
    "cells": "--cells is for turing as cot; other texts may visit as many cells as they have steps",
    "machine": "--machine and --tape are for turing",
    "tape": "--machine and --tape are for turing",
}
"""What is said of an option that is none of the model's."""


def add_model(parser: ArgumentParser, *, files: bool = True) -> None:
    """Adds the options that name a model but for its size. files: whether it may be an exported one."""
    add = parser.add_argument
    file = ", or an exported .safetensors file" if files else ""
    program = "a program: FILE.py, FILE.py:NAME or one of the gallery"
    add("what", nargs="?", metavar="CONSTRUCTION|FILE", help=f"a construction, {program}{file}")
    add_built_as(parser)
    add("--variant", choices=("repaired", "printed", "lean"), default="repaired", help="default: repaired")
    add("--printed", metavar="FINDING[,…]", help="put these findings back to print")
    machine = "turing: as 1RB1LB_1LA1RZ, a name or a file (default: bb2); N is its steps"
    add("--machine", metavar="MACHINE", help=machine)
    add("--tape", metavar="WORD", help="turing: the word on the tape (default: blank)")
    cells = "turing, cot: the cells of the tape (default: 16 beside the word, or N)"
    add("--cells", type=cli.whole_number(1, LARGEST_N), metavar="M", help=cells)
    add("--all-cells", action="store_true", help="turing, cot: every number of cells, each for any run that ends")
    add("--tokens", choices=LAYOUTS, default="paper", help="layout of a graph's tokens (istree; default: paper)")


def add_arithmetic(parser: ArgumentParser) -> None:
    """Adds the options of the numbers that a model computes with."""
    least = "bits of R_p, odd (default: the least p of the construction)"
    parser.add_argument("--precision", type=cli.precision, metavar="P", help=least)
    disciplines = [discipline.value for discipline in Discipline]
    parser.add_argument("--discipline", choices=disciplines, default="fused", help="default: fused")


def add_built_as(parser: ArgumentParser) -> None:
    """Adds the option that says which model of a construction is meant."""
    usual = "the construction's usual one, which is hybrid for turing and transformer for the others; a program's own"
    parser.add_argument("--model", choices=(TRANSFORMER, "rnn", "rag", "hybrid", "cot"), help=f"default: {usual}")


def model_of(args: Namespace, name: str | None, *, files: bool = False) -> str:
    """Returns the model that is meant: the usual one of the construction where --model names none. files: as of `add_model`.

    Raises CommandError for no name, and for one that no construction has, or for a model that this one has not.
    """
    if not name:
        heads_last = sorted(find_dossiers().items(), key=lambda item: not item[1].has_door)
        names = ", ".join(dict.fromkeys(name for (name, _), _ in heads_last))
        raise cli.CommandError(f"name a construction ({names}){' or a file' if files else ''}")
    with cli.usage_errors():
        if (program := find_program(name, args.model)) is not None:
            return program.model
        head = find_dossier(name, args.model or TRANSFORMER)
    if head is not None and not head.has_door:
        return head.model
    if files and Path(name).suffix:
        raise cli.CommandError(f"{name}: of files, an exported model in .safetensors is read here, its .json beside it")
    with cli.usage_errors():
        return find_door(name).model(args.model)


def say_not_covered(name: str, model: str, *, as_json: bool, but: str = "") -> int:
    """Says so, and returns the exit status. but: what is covered."""
    what = f"not covered{but and '; '}{but}"
    document = {"schema": SCHEMA, "construction": name, "model": model, "verdict": UNKNOWN}
    document |= {"where": f"{name} as {model}", "what": what}
    if as_json:
        cli.write_json(document)
    else:
        print(f"{named(document)}: cannot tell\n  {document['where']}: {what}")
    return cli.UNKNOWN


def sizes(text: str) -> tuple[int, int]:
    """Returns a parser's type: one n, or the first and the last of many."""
    number = cli.whole_number(1, LARGEST_N)
    first, dash, last = text.partition("-")
    if not first or not dash:
        return number(text), 0
    low, high = number(first), number(last)
    if low > high:
        raise ArgumentTypeError(f"{low} is above {high}: from A to B, A is the smaller one")
    return low, high


def subject_of(args: Namespace, dossier: Dossier) -> Subject:
    """Returns the model of this dossier as the options want it, of the default n.

    Raises CommandError for options that do not go together.
    """
    ids = [finding.id for finding in dossier.findings]
    if args.variant == "printed" and not ids:
        raise cli.CommandError(
            f"{args.what} as {dossier.model} has no variant printed: nothing of it was found to be wrong"
        )
    printed = tuple(ids) if args.variant == "printed" else ()
    if args.printed is not None:
        if args.variant == "printed":
            raise cli.CommandError("--printed picks findings for --variant repaired; --variant printed has all of them")
        printed = tuple(part.strip() for part in args.printed.split(",") if part.strip())
        if not printed:
            raise cli.CommandError(f"--printed names no finding; known: {', '.join(ids) or 'none'}")
    if unknown := set(printed) - set(ids):
        raise cli.CommandError(f"unknown finding {min(unknown)!r}; known: {', '.join(ids) or 'none'}")
    named = {"layout": args.tokens if args.tokens != "paper" else None, "lean": args.variant == "lean" or None}
    named |= {"all_cells": args.all_cells or None, "cells": args.cells, "machine": args.machine, "tape": args.tape}
    options = {key: value for key, value in named.items() if value is not None}
    if others := [key for key in options if key not in dossier.options]:
        raise cli.CommandError(AT_HOME[others[0]])
    if args.variant == "lean" and printed:
        raise cli.CommandError(AT_HOME["lean"])
    if args.all_cells and (args.cells is not None or args.n is not None or args.all_n):
        raise cli.CommandError(AT_HOME["all_cells"])
    with cli.usage_errors():
        subject = Subject(dossier.given(options), DEFAULT_N, printed=printed)
    return subject if subject.counts_n else replace(subject, n=1, last=ENDLESS)


def sized(document: Mapping[str, Any]) -> str:
    """Returns the sizes that a document is about, after the model's name, for people."""
    match document.get("n"):
        case [first, None]:
            return f", every n from {first} on"
        case [first, last]:
            return f", n = {first} … {last}"
        case None:
            return ""
    return f", n = {document['n']}"


def named(document: Mapping[str, Any]) -> str:
    """Returns the model that a document is about, but for its size, for people."""
    model, layout, tape = document.get("model", TRANSFORMER), document.get("layout", "paper"), document.get("tape")
    cells, printed = document.get("cells"), "+".join(document.get("printed", ()))
    cells = "any number of" if isinstance(cells, list) else cells
    name, file = document["construction"], str(document.get("program_file") or "")
    if ".py" in file and Path(file.partition(":")[0]).stem != name:  # a file may call its model as it likes
        name = f"{name} of {file}"
    parts = [name, name_of_model(model), "lean" * (document.get("variant") == "lean")]
    parts += [document.get("machine"), tape and f"on {tape}", cells and f"{cells} cells"]
    parts += [f"layout {layout}" * (layout != "paper"), printed and f"{printed} as printed"]
    return ", ".join(filter(None, parts))
