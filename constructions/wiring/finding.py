"""Findings: the places where the print fails and what stands there instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One erratum.

    id: what `--printed` takes. source: where it is printed. printed: what the paper says. used: what we use. why: the reason.
    """

    id: str
    source: str
    printed: str
    used: str
    why: str
