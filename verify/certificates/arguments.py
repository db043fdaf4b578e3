"""How commands are told which model they are to speak of: options of a parser, and the subject that these name."""

from __future__ import annotations

import contextlib
import itertools
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from constructions.models.door import NoConstruction, find_door
from constructions.show import cli, options
from verify.certificates.document import SCHEMA, UNKNOWN
from verify.dossiers.dossier import ENDLESS, LARGEST_N, TRANSFORMER, Dossier, Subject, name_of_model
from verify.dossiers.registry import find_dossier, find_dossiers, find_program, is_named

DEFAULT_N = 16


def add_model(parser: cli.Parser, argv: Sequence[str], *, files: bool = True) -> None:
    """Adds the options that name a model but for its size; its own ones, if `argv` names it. files: whether it may be exported."""
    add = parser.add_argument
    file = ", or an exported .safetensors file" if files else ""
    what = "a construction (with --help: its own options), a program: FILE.py, FILE.py:NAME or one of the gallery"
    add("what", nargs="?", metavar="CONSTRUCTION|FILE", help=what + file)
    dossier = add_own(parser, argv)
    variants = dict.fromkeys(("repaired", "printed", *(() if dossier is None else dossier.variants)))
    add("--variant", metavar="VARIANT", default="repaired", help=f"{', '.join(variants)} (default: repaired)")
    add("--printed", metavar="FINDING[,…]", help="put these findings back to print")


def add_own(parser: cli.Parser, argv: Sequence[str]) -> Dossier | None:
    """Adds --model, and the options of the model that `argv` names, which is returned; None if it names none."""
    parser.add_argument(
        "--model", metavar="MODEL", help="of the construction (default: its usual one; a program's own)"
    )
    dossier = _dossier_in(argv)
    if dossier is not None:
        name = f"{dossier.construction} as {dossier.model}"
        own = options.add_options(parser.add_argument_group(f"options of {name}"), dossier, dossier.model)
        parser.hint = f"; besides the options of every model, {name} has {', '.join(own) or 'none of its own'}"
    return dossier


def _dossier_in(argv: Sequence[str]) -> Dossier | None:
    """Returns the model that arguments name, before anybody knows which options they may have. No other model is imported.

    A program has no options.
    """
    words = [word for word in argv if not word.startswith("-") and not word.isdecimal()]
    after = dict(itertools.pairwise(argv))
    given = next((word.partition("=")[2] for word in argv if word.startswith("--model=")), after.get("--model"))
    for word in [word for word in words if is_named(word)] or [word for word in words if "." not in word][:1]:
        with contextlib.suppress(cli.CommandError, ValueError):
            return find_dossier(word, model_of(Namespace(model=given), word))
    return None


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
    if (
        files and Path(name).suffix and (name, args.model or TRANSFORMER) not in find_dossiers()
    ):  # a head is called C.13
        raise cli.CommandError(f"{name}: of files, an exported model in .safetensors is read here, its .json beside it")
    try:
        return find_door(name).model(args.model)
    except NoConstruction as error:
        head = find_dossier(name, args.model or TRANSFORMER)
        if head is None or head.has_door:
            raise cli.CommandError(str(error)) from error
        return head.model


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
    if args.variant not in (known := ("repaired", "printed", *dossier.variants)):
        has = ", ".join(dict.fromkeys(known))
        raise cli.CommandError(f"{args.what} as {dossier.model} has no variant {args.variant}; it has {has}")
    if printed and args.variant in dossier.items():
        raise cli.CommandError(f"the variant {args.variant} has nothing as printed")
    with cli.usage_errors():
        subject = Subject(dossier.take(values_of(args, dossier, args.variant), files=True), DEFAULT_N, printed=printed)
    if subject.counts_n:
        return subject
    if args.n or args.all_n:
        raise cli.CommandError(f"every number of {subject.unit} is asked for, and of steps: leave out --n and --all-n")
    return replace(subject, n=1, last=ENDLESS)


def values_of(args: Namespace, dossier: Dossier, variant: str = "") -> dict[str, Any]:
    """Returns the values of a model's options that a command was given, by the names of fields, and those of a variant."""
    values = {one.name: getattr(args, key) for key, one in options.options_in(args, dossier, dossier.model).items()}
    return values | ({variant: True} if variant in dossier.items(dossier.model) else {})


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
    name, model = document["construction"], document.get("model", TRANSFORMER)
    file, printed = str(document.get("program_file") or ""), "+".join(document.get("printed", ()))
    dossier = None if file else find_dossier(name, model)  # a program has no options
    if ".py" in file and Path(file.partition(":")[0]).stem != name:  # a file may call its model as it likes
        name = f"{name} of {file}"
    own = () if dossier is None else dossier.phrases(document)
    return ", ".join(filter(None, [name, name_of_model(model), *own, printed and f"{printed} as printed"]))
