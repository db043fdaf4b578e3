"""How certify, explain and theorem are asked: about a construction, about an exported model, or about a document of theirs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from constructions.show import cli
from verify.algebra.domains import Refused
from verify.certificates.arguments import DEFAULT_N, model_of, say_not_covered, sizes, subject_of
from verify.certificates.building import every_n
from verify.certificates.document import CERTIFIED, REFUSED, SCHEMA, UNKNOWN, Judged
from verify.certificates.files import Exported, read
from verify.dossiers.dossier import LEAST, Json, Subject
from verify.dossiers.registry import find_dossier

CODES = {CERTIFIED: cli.HOLDS, REFUSED: cli.REFUTED, UNKNOWN: cli.UNKNOWN}


def add_question(parser: ArgumentParser, first: str) -> None:
    """Adds the options that all three commands have, after those of `add_model`. first: where all n begin."""
    add = parser.add_argument
    one_or_many = f"or every n from A to B (default: {DEFAULT_N}); with --all-n the first, by default {first}"
    add("--n", type=sizes, metavar="N|A-B", help=one_or_many)
    every = "every n from N on, small n by intervals, the others in cases; where there are none, to 2^64"
    add("--all-n", action="store_true", help=every)
    add("--json", action="store_true", help="one JSON document on standard output")
    again = "make a stored document again and compare every field"
    add("--replay", type=Path, metavar="DOCUMENT", help=again)


def asked(args: Namespace, *, files: bool = False) -> Subject | None:
    """Returns what the options name, of the default n; None if it is not covered, which is said. files: as of `add_model`.

    Raises CommandError for options that do not go together.
    """
    model = model_of(args, args.what, files=files)
    dossier = find_dossier(args.what, model)
    if dossier is None:
        say_not_covered(args.what, model, as_json=args.json)
        return None
    return subject_of(args, dossier)


def sized_by(args: Namespace, subject: Subject, first: int, *, theorem: bool = False) -> Subject:
    """Returns the subject of the n that --n and --all-n ask for. first: where all n begin.

    theorem: as of `every_n`. Raises CommandError for options that do not go together.
    """
    first = first if subject.dossier.has_door else LEAST
    n, last = args.n or (first if args.all_n else DEFAULT_N, 0)
    if args.all_n and last:
        raise cli.CommandError("--all-n has no last n to be given; with it, --n is the first n alone")
    if not subject.counts_n:
        return subject
    if (args.all_n or last) and subject.dossier.one_n:
        raise cli.CommandError(f"many n are not for {subject.model}: {subject.dossier.one_n}")
    if (args.all_n or last) and subject.printed:
        raise cli.CommandError(
            "many n are for what is repaired or lean: a weight as printed is rounded, at each n anew"
        )
    return every_n(replace(subject, n=n), theorem=theorem) if args.all_n else replace(subject, n=n, last=last)


def of_file(path: Path, judge: Callable[[Exported], Json]) -> Json:
    """Returns what is said of an exported model, or why it cannot be. Raises CommandError for a file that is none."""
    try:
        with cli.usage_errors():
            exported = read(path)
    except Refused as error:
        return {"schema": SCHEMA, "construction": path.name, **Judged.at(error).told}
    in_file = {} if exported.moved is None else {"coordinates": exported.moved.text}
    return {**judge(exported), **in_file, "file": path.name}


def stored(path: Path, kind: str) -> Json:
    """Returns a document of one of the three. kind: what it is to be. Raises ValueError for what is no document, and
    CommandError.
    """
    document = cli.read_json(path)
    if not isinstance(document, dict):
        raise ValueError(f"this is no {kind}")
    return document


def differing(path: Path, document: Json, changed: list[str], now: str) -> Json:
    """Refuses a stored document for the fields that have changed. now: what says so; the fields beside these are not repeated."""
    named = {key: document[key] for key in ("construction", "model", "n")}
    what = f"differs from what {now}: {', '.join(changed)}"
    return {"schema": SCHEMA, **named, "verdict": REFUSED, "where": str(path), "what": what}
