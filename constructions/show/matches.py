"""Where a search of a model found what it found, in tokens: for people, who want to see the match."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Match:
    """A search that was carried out. matched, group: positions from 1 of the tokens that it touches; None if there was no match."""

    pattern: str
    matched: range | None = None
    group: range | None = None

    def document(self) -> dict[str, object]:
        """Returns this match as JSON: first and last position of each range."""
        ends = {name: [r[0], r[-1]] for name, r in (("matched", self.matched), ("group", self.group)) if r}
        return {"pattern": self.pattern, **ends}


def find_match(tokens: Sequence[str], opened: int, closed: int) -> Match:
    """Returns the match of the pattern between two positions in the tokens before the first, by the definition of A.5.

    The search has been carried out before, by the run itself, so it is a pattern, and ends.
    """
    pattern = " ".join(tokens[opened : closed - 1])
    before = tokens[: opened - 1]
    match = re.search(pattern, " ".join(before))
    if match is None or match[1] is None:
        return Match(pattern)
    starts, at = list[int](), 0
    for token in before:
        starts.append(at)
        at += len(token) + 1

    def touched(begin: int, end: int) -> range:
        return range(bisect_right(starts, begin), bisect_right(starts, max(begin, end - 1)) + 1)

    return Match(pattern, touched(*match.span()), touched(*match.span(1)))
