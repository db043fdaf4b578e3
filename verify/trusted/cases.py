"""Checks certificates of rounding for all large n, in cases: `python -I -S verify/trusted/cases.py CASES.json`.

Standard library alone, with `rounding.py`, `growth.py` and what these need. The file is

    {"bits_of_bits": 4, "models": [MODEL, …], "certificates": [{"entries", "steps"}, …], "cases": [CASE, CASE]}

about each n whose bit length B has at least that many bits: here B ≥ 8, n ≥ 128. The first case is of an even number of bits of B,
the second of an odd one; or there is one case of both. A CASE is {"split", "parts"}, with a split as `growth.py` reads it, or
{"model": i, "certificate": j}. A MODEL has all that `rounding.py` reads of a certificate but entries and steps, and "rows", the
weights. Numbers may depend on n: $n, $B, $E = 2^B, $v and $V = 2^v stand beside the atoms of a term. In place of a whole number of
JSON there may be such a text.

Theorem, if the file is accepted. Each of these n belongs to the box of a case. Take the certificate and the model of this case, and
give the symbols the values that they have at n: then the theorem of `rounding.py` holds.

That each n has a case is growth's rule: a split has each n of the box in the right part. That the theorem holds at each n of a box
is said in `growing.py`: the check calculates with numbers that are right at each of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from verify.trusted import growth
from verify.trusted.growing import Case
from verify.trusted.model import MOST_BYTES, read_json, read_rows, whole
from verify.trusted.rejection import reject
from verify.trusted.rounding import Checker, answer_command, safely

MOST_DEPTH = 60
FIELDS = {"p", "discipline", "n", "automaton", "invariants", "rows"}


def check(data: bytes) -> int:
    """Returns how many classes there are in all cases. Raises Rejected, whatever the bytes are."""
    if len(data) > MOST_BYTES:
        reject("a file is too large")
    return safely(lambda: sum(check_case(*one) for one in cases_of(read_json(data))))


def cases_of(document: Any) -> Iterator[tuple[Any, Any, Case]]:
    """Yields the model, the certificate and the n of each case. Raises Rejected."""
    bits, parts = whole(document["bits_of_bits"]), document["cases"]
    if not 2 <= bits <= 64 or len(parts) not in (1, 2):
        reject("B has from 2 to 64 bits at least, and there are one or two cases of them")
    for r, part in zip((0, 1) if len(parts) == 2 else (None,), parts, strict=True):
        yield from walked(document, part, Case(growth.root(bits, r)), 0)


def walked(document: Any, part: Any, case: Case, depth: int) -> Iterator[tuple[Any, Any, Case]]:
    """Yields the same for the parts of a case."""
    if depth > MOST_DEPTH:
        reject("a case is split too often")
    if set(part) == {"split", "parts"}:
        for one, inside in zip(part["parts"], case.parts(part["split"]), strict=True):
            yield from walked(document, one, inside, depth + 1)
    elif set(part) == {"model", "certificate"}:
        yield document["models"][whole(part["model"])], document["certificates"][whole(part["certificate"])], case
    else:
        reject("a case is neither split nor about a model")


def check_case(model: Any, certificate: Any, case: Case) -> int:
    """Returns how many classes a certificate has, if it is accepted for each n of the case."""
    if set(model) != FIELDS or set(certificate) != {"entries", "steps"}:
        reject("a model or a certificate has other fields than are due")
    if model["n"] != ["1*$n", "1*$n"]:
        reject("a model is not that of n")
    return Checker({**model, **certificate}, read_rows(model["rows"], case), case).check()


def main(arguments: list[str]) -> int:
    """Checks the file of the command; returns the exit status."""
    return answer_command(arguments, (1,), "cases.py CASES.json", check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
