"""Writes certificates that the small checkers read, for `verify.certify` and `verify.explain`."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from constructions.exports.files import write_bytes
from constructions.show import cli
from verify.algebra.domains import Refused
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import build, can_be_written, model_of, part_of
from verify.certificates.definition import answers_of
from verify.certificates.statement import Document
from verify.dossiers.dossier import ENDLESS, Subject
from verify.rounding.model import ExactModel
from verify.trusted.kernel import Rejected

BESIDE = ("rows", "definition")  # files that may stand beside a certificate


def add_certificate(parser: ArgumentParser, checker: str) -> None:
    """Adds the options that write a certificate. checker: the file that reads it."""
    help_ = f"write what verify/trusted/{checker} checks by itself, of one n or of one interval"
    parser.add_argument("--certificate", type=Path, metavar="OUT.json", help=help_)
    cli.add_force(parser)


def require_certificate(args: Namespace) -> None:
    """Raises CommandError where --certificate has no use, or a file could not be written."""
    if args.certificate is None:
        return
    if args.what is None or args.replay or args.what.endswith(".safetensors"):
        raise cli.CommandError("--certificate is for the name of a construction")
    for file in (args.certificate, *(args.certificate.with_suffix(f".{name}.json") for name in BESIDE)):
        cli.check_writable(file, "--certificate", force=args.force)


def write_certificate(subject: Subject, path: Path, *, program: bool) -> int:
    """Writes the certificate of rounding, or of the program too, and returns the exit status: cannot tell where no rule holds.

    Of several n, or where users get no file, the exact rows are written beside it, and with a program its definition.
    """
    if subject.last == ENDLESS:
        raise cli.CommandError("--certificate is of one n or of one interval of n: give --n")
    with cli.usage_errors():
        try:
            document, beside = _certificate(subject, program=program)
        except (Rejected, Refused) as why:
            print(f"{subject.dossier.construction}, n = {subject.n}: no certificate can be made: {why}")
            return cli.UNKNOWN
    files = {path: json.dumps(document).encode() + b"\n"}
    files |= {path.with_suffix(f".{name}.json"): data for name, data in beside.items()}
    with cli.usage_errors(f"{path}: "):
        for file, data in files.items():
            write_bytes(file, data)
    print("wrote " + " and ".join(map(str, files)))
    return cli.HOLDS


def _certificate(subject: Subject, *, program: bool) -> tuple[Document, dict[str, bytes]]:
    """Returns the certificate, and what stands beside it by name. Raises Rejected, Refused."""
    from verify.certificates import finder, ghosts  # which take long to load

    answers = answers_of(subject) if program else None
    if not subject.last and can_be_written(subject, model_of(subject)):
        if answers is None:
            return finder.certificate_of_file(subject)[0], {}
        document, _, _, definition = ghosts.program_certificate_of_file(subject, answers)
        return document, {"definition": definition}
    model, texts = _one_interval(subject) if subject.last else build(subject)
    if answers is None:
        document, rows = finder.certificate_of(model, texts)
        return document, {"rows": rows}
    document, rows, definition = ghosts.program_certificate(model, texts, answers)
    return document, {"rows": rows, "definition": definition}


def _one_interval(subject: Subject) -> tuple[ExactModel, TokenAutomaton]:
    """Returns the model and the texts of all n of a subject, which must have the same forms of n."""
    part = part_of(replace(subject, last=0), subject.last)
    if part.high < subject.last:
        raise cli.CommandError(f"--certificate is of one interval; that of the first n is n = {part.low} … {part.high}")
    return part.model, part.inputs
