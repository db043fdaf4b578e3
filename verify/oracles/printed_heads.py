"""Lemmas C.15 and C.16 as printed for c = 1: what the print leaves open, taken either way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from constructions.parts.heads import match, match_close
from constructions.wiring.affine import reg
from constructions.wiring.part import Part, Setting
from constructions.wiring.wire import BlockPlan, Head

READS = {"out": reg("payload")}


def _as_printed(part: Part, head: Callable[[Setting], Head]) -> Part:
    return replace(
        part, plan=lambda setting, printed: [BlockPlan((), match.prepare()), BlockPlan((head(setting),), ())]
    )


def printed_at_one(lemma: str, shared: bool) -> Part:
    """C.15 and C.16 as printed for c = 1, that is for positions up to n. shared: see `match.Print`."""
    pairs, how = (match.TEST_PAIR,), match.Print(1, shared)
    if lemma == "C.15":
        return _as_printed(match.PART, lambda s: match.match("match", pairs, READS, s, printed=how))
    return _as_printed(match_close.PART, lambda s: match_close.match_close("close", pairs, READS, s, printed=how))
