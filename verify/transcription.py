"""Where a claim stands in docs/transcription.md, the page of the paper's formulas: link("Lemma C.15") is transcription.md#c15.

A place is a number of the paper: 3, 3.2, 4.7, A.5, C.15, C.6.2; or B, the whole appendix.
Its anchor on the page is the number in small letters without dots.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "transcription.md"
ALGORITHMS = {"Algorithm 1": "C.29", "Algorithm 2": "5.3"}  # the place of each
_NUMBER = r"(?:(?:\d|[AC])(?:\.\d+)+|(?<=section )\d|(?<=appendix )B)(?!\.?\d)"
_PLACES = re.compile(rf"\b({_NUMBER})(?: to ({_NUMBER}))?")


def places_of(source: str) -> tuple[str, ...]:
    """Returns the places that a claim's source names, in its order: "Lemmas C.15 to C.18" names four.

    Raises ValueError for a source that names no place.
    """
    for name, place in ALGORITHMS.items():
        source = source.replace(name, place)
    places: list[str] = []
    for first, last in _PLACES.findall(source):
        part, _, number = first.rpartition(".")
        end = int(last.rpartition(".")[2] or number) if part else 0
        places += [f"{part}.{i}" for i in range(int(number), end + 1)] if part else [first]
    if not places:
        raise ValueError(f"{source!r} names no place of the paper")
    return tuple(dict.fromkeys(places))


def anchor_of(place: str) -> str:
    """Returns the anchor of a place on the page: c15 for C.15."""
    return place.replace(".", "").lower()


def link(source: str) -> str:
    """Returns the link from a page of docs/ to the first place that a source names. Raises ValueError as places_of does."""
    return f"{PAGE.name}#{anchor_of(places_of(source)[0])}"
