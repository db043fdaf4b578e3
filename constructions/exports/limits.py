"""Up to where exported models were tried: in floating point nothing is rounded on purpose, and no theorem speaks of that.

Each entry was run over 200 inputs that are no worked examples, the hardest families first, as every kind of export and in the
runtime that it is for, and gave what the engines give at every position that the model writes. `make export-test` does so again.
The entries stand in tried.json. What is larger is refused. docs/exports.md says which size fails first, and why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from constructions.exports.kinds import FLOATS
from constructions.wiring.wired import Wired
from precision.format import Discipline


class ExportError(ValueError):
    """A model cannot be exported so; the message is one line."""


@dataclass(frozen=True)
class Tried:
    """Models up to this n, at formats of up to this p, on sequences of up to this length that begin with this word, or with any.

    All of them wired for fused rounding. least_precision: p from which on, where the least for n does not do.
    """

    n: int
    precision_bits: int
    length: int
    begin: str | None = "<s>"
    least_precision: int = 0


_ROWS = json.loads(Path(__file__).with_name("tried.json").read_text(encoding="utf-8"))
KEEPS = {(row["construction"], row["model"]): row["keeps"] for row in _ROWS if "keeps" in row}  # in wide numbers
TRIED: Mapping[tuple[str, str, str], Mapping[str, Tried]] = {
    (row["construction"], row["model"], row["variant"]): {name: Tried(**one) for name, one in row["formats"].items()}
    for row in _ROWS
    if "formats" in row
}
"""Of Counting at the least p for n = 24 … 27, losers keep a weight, which R_p rounds to 0: 24 of 24 tokens are not more than 23. Of
RNNs, PARITY over 8 words, a shift register over 4, a sum over 3: their least p is 61 bits, that of longer prompts is more.
"""
SIGNIFICAND = {"float64": 53, "float32": 24}


def longest_sequence(wired: Wired, model: str, float_name: str, size: str = "n") -> int:
    """Returns the most tokens that this model may be given as an export. size: what callers call its n.

    Raises ExportError for one that was not tried.
    """
    what = f"{wired.construction} ({model})"
    if wired.printed:
        raise ExportError(f"{what} as printed is not exported: what it writes depends on the rounding of R_p")
    bits = wired.arithmetic.format.significand_bits + 1
    tried = {
        variant: entry for (name, of, variant), entry in TRIED.items() if (name, of) == (wired.construction, model)
    }
    if not any(float_name in entry for entry in tried.values()):
        raise ExportError(_unknown(what, bits, float_name, wired.variant, KEEPS.get((wired.construction, model), "")))
    trial = tried.get(wired.variant, {}).get(float_name)
    if trial is None:
        raise ExportError(f"{what}, the variant {wired.variant}: not tried in {float_name}, so it is not exported")
    for kind, other in (
        ("sequential rounding", wired.arithmetic.discipline is not Discipline.FUSED),
        (f"sequences that do not begin with {trial.begin}", trial.begin not in (None, *wired.vocabulary)),
    ):
        if other:
            raise ExportError(f"{what}, {kind}: not tried in {float_name}, so it is not exported")
    for name, value, most in ((size, wired.n, trial.n), ("p", bits, trial.precision_bits)):
        if value > most:
            raise ExportError(
                f"{what} at {name} = {value} was not tried in {float_name}; {name} = {most} is the largest that was"
            )
    if bits < trial.least_precision:
        raise ExportError(
            f"{what} at p = {bits} was not tried in {float_name}; p = {trial.least_precision} is the least that was"
        )
    return trial.length if wired.model.longest is None else min(wired.model.longest, trial.length)


def _unknown(what: str, bits: int, float_name: str, variant: str, keeps: str) -> str:
    if variant == "program":
        return f"{what}, a program, is tried in {float_name} when it is exported"
    significand = SIGNIFICAND[float_name]
    if keeps and bits > significand:
        return f"{what} keeps {keeps} in numbers of p = {bits} bits, {float_name} holds {significand}, so it is not exported"
    return f"no size of {what} is known to write the right tokens in {float_name}, so it is not exported"


def float_formats(wired: Wired, model: str) -> dict[str, str]:
    """Returns sentences on the float formats in which this model is known to write the same tokens with ordinary arithmetic."""
    sentences = {}
    for name in FLOATS:
        try:
            longest = longest_sequence(wired, model, name)
        except ExportError as error:
            sentences[name] = str(error)
        else:
            sentences[name] = f"without any R(…), the same next tokens on every input tried, of up to {longest} tokens"
    return sentences
