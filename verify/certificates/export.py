"""Writes certificates that the small checkers read, for `verify.certify` and `verify.explain`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from constructions.exports.files import write_bytes, write_text
from constructions.show import cli
from verify.algebra.domains import Refused
from verify.certificates.building import build, can_be_written, model_of, part_of
from verify.dossiers.dossier import Subject
from verify.trusted.kernel import Rejected


def write_certificate(subject: Subject, path: Path, *, program: bool) -> int:
    """Writes the certificate of rounding, or of the program too, and returns the exit status: cannot tell where no rule holds.

    Of several n, or where users get no file, the exact rows are written beside it, and with a program its definition.
    """
    from verify.certificates import finder, ghosts

    beside: dict[str, bytes] = {}
    with cli.usage_errors():
        try:
            answers = ghosts.answers_of(subject) if program else {}
            if not subject.last and can_be_written(subject, model_of(subject)):
                if program:
                    document, _, _, beside["definition"] = ghosts.program_certificate_of_file(subject, answers)
                else:
                    document, _, _ = finder.certificate_of_file(subject)
            else:
                model, texts = build(subject) if not subject.last else (None, None)
                if model is None or texts is None:
                    part = part_of(replace(subject, last=0), subject.last)
                    if part.high < subject.last:
                        sizes = f"n = {part.low} … {part.high}"
                        raise cli.CommandError(f"--certificate is of one interval; that of the first n is {sizes}")
                    model, texts = part.model, part.inputs
                if program:
                    document, beside["rows"], beside["definition"] = ghosts.program_certificate(model, texts, answers)
                else:
                    document, beside["rows"] = finder.certificate_of(model, texts)
        except (Rejected, Refused) as why:
            print(f"{subject.dossier.construction}, n = {subject.n}: no certificate can be made: {why}")
            return cli.UNKNOWN
    with cli.usage_errors(f"{path}: "):
        write_text(path, json.dumps(document) + "\n")
        for name, data in beside.items():
            write_bytes(path.with_suffix(f".{name}.json"), data)
    print("wrote " + " and ".join([str(path), *(str(path.with_suffix(f".{name}.json")) for name in beside)]))
    return cli.HOLDS
