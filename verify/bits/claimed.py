"""How many bits each model takes, in the words of the claims of a ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Protocol

from rich import box
from rich.table import Table

from constructions.show import markdown as page
from verify.framework.claim import Claim, Row, Verdict

ROUNDING = ("rounding", "above", "cells-rounding")
HEADER = ("model", "p as wired", "rounding certified by", "fewer bits")
NOTE = "For which n rounding is certified stands in [the results](results.md), model by model."


class ClaimBasis(Protocol):
    """What a cell of the table rests on."""

    def has(self, claim: Claim) -> bool:
        """Returns whether a claim is one of it."""


@dataclass(frozen=True)
class Bits:
    """The p of a model. wired: at most so much. certified: by which claims. fails: below which p some input fails."""

    model: str
    wired: str
    certified: str
    fails: str


def claimed_bits(rows: Sequence[Row], models: Iterable[tuple[str, ClaimBasis]]) -> list[Bits]:
    """Returns the bits of every model with a claim about its p that holds."""
    result = []
    for name, basis in models:
        for variant in dict.fromkeys(
            ("repaired", *(row.claim.variant for row in rows if row.claim.variant != "printed"))
        ):
            own = [row for row in rows if basis.has(row.claim) and row.claim.variant == variant and _stands(row)]
            about = {
                aspect: [row for row in own if row.claim.aspect.removeprefix(f"{variant}-") == aspect]
                for aspect in ("precision", "least-bits", *ROUNDING)
            }
            wired, fails = (" ".join(_statements(about[aspect])) for aspect in ("precision", "least-bits"))
            certified = ", ".join(row.claim.id for aspect in ROUNDING for row in about[aspect])
            if wired:
                result.append(Bits(name if variant == "repaired" else f"{name}, {variant}", wired, certified, fails))
    return result


def _stands(row: Row) -> bool:
    claim = row.claim
    return not claim.finding and claim.expected is Verdict.HOLDS and row.verdict is Verdict.HOLDS


def _statements(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.claim.statement for row in rows))


def markdown(found: Sequence[Bits]) -> str:
    """Returns the table as Markdown."""
    linked = (
        replace(item, certified=", ".join(f"[{id}](ledger.md#{id})" for id in item.certified.split(", ") if id))
        for item in found
    )
    return "\n".join([*page.table(HEADER, ([text or "—" for text in astuple(item)] for item in linked)), "", NOTE, ""])


def table(found: Sequence[Bits], width: int) -> Table:
    """Returns the table for a terminal."""
    shown = Table(box=box.HORIZONTALS, show_lines=True, pad_edge=False, padding=0, width=width)
    for column in HEADER:
        shown.add_column(column, ratio=1, overflow="fold")
    for item in found:
        shown.add_row(*(text or "—" for text in astuple(item)))
    return shown
