"""Up to where exported models were tried: in floating point nothing is rounded on purpose, and no theorem speaks of that.

Each entry was run over inputs that are no worked examples (tests/exports), and gave the tokens of the reference semantics at every
position that the model writes. What is larger is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from constructions.wiring.wired import Wired
from precision.format import Discipline

FLOATS = ("float64", "float32")


class ExportError(ValueError):
    """A model cannot be exported so; the message is one line."""


@dataclass(frozen=True)
class Tried:
    """Models up to this n, at formats of up to this p, on sequences of up to this length that begin with this word.

    All of them repaired, and wired for fused rounding.
    """

    n: int
    precision_bits: int
    length: int
    begin: str = "<s>"


def _both(n: int, precision_bits: int, length: int) -> Mapping[str, Tried]:
    return dict.fromkeys(FLOATS, Tried(n, precision_bits, length))


TRIED: Mapping[tuple[str, str], Mapping[str, Tried]] = {
    ("istree", "transformer"): {"float64": Tried(16, 51, 395), "float32": Tried(8, 45, 103)},
    ("istree", "rag"): {"float64": Tried(8, 21, 554)},
    ("istree", "hybrid"): {"float64": Tried(8, 51, 404)},
    **{(task, model): _both(32, 33, 36) for task in ("index", "counting") for model in ("transformer", "hybrid")},
    **{(task, model): _both(32, 45, 36) for task in ("recall", "ngram") for model in ("transformer", "hybrid")},
    **{(task, "rag"): _both(32, 27, 44) for task in ("index", "recall", "ngram", "counting")},
    ("turing", "hybrid"): {"float64": Tried(30, 49, 152)},
    ("turing", "rag"): {"float64": Tried(30, 25, 396)},
}


def longest_sequence(wired: Wired, model: str, float_name: str) -> int:
    """The most tokens that this model may be given as an export. Raises ExportError for one that was not tried."""
    what = f"{wired.construction} ({model})"
    if wired.printed:
        raise ExportError(f"{what} as printed is not exported: what it writes depends on the rounding of R_p")
    found = TRIED.get((wired.construction, model), {}).get(float_name)
    if found is None:
        raise ExportError(
            f"no size of {what} is known to write the right tokens in {float_name}, so it is not exported"
        )
    for kind, other in (
        (f"the variant {wired.variant}", wired.variant != "repaired"),
        ("sequential rounding", wired.arithmetic.discipline is not Discipline.FUSED),
        (f"sequences that do not begin with {found.begin}", found.begin not in wired.vocabulary),
    ):
        if other:
            raise ExportError(f"{what}, {kind}: not tried in {float_name}, so it is not exported")
    bits = wired.arithmetic.format.significand_bits + 1
    for name, value, most in (("n", wired.n, found.n), ("p", bits, found.precision_bits)):
        if value > most:
            raise ExportError(
                f"{what} at {name} = {value} was not tried in {float_name}; {name} = {most} is the largest that was"
            )
    return found.length if wired.model.longest is None else min(wired.model.longest, found.length)


def float_formats(wired: Wired, model: str) -> dict[str, str]:
    """In which float formats this model is known to write the same tokens without any rounding on purpose, as sentences."""
    found = {}
    for name in FLOATS:
        try:
            longest = longest_sequence(wired, model, name)
        except ExportError as error:
            found[name] = str(error)
        else:
            found[name] = f"without any R(…), the same next tokens on every input tried, of up to {longest} tokens"
    return found
