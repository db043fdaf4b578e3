"""The searches that the paper prints, by Python's `re` on plain text: no model writes them here, and no weights are looked at.

Source: sections 5.2 to 5.4, Algorithm 2, definition A.5. `re.search` finds the leftmost match. What the print leaves open is a
parameter: where the blanks stand, and which group a search returns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from constructions.istree.graphs import Graph

FAILED = "FAILED"


def first_group(pattern: str, text: str) -> str:
    """Returns the text of group 1; FAILED if nothing matches, or the group took no part."""
    match = re.search(pattern, text)
    return FAILED if match is None or match[1] is None else match[1]


def group_that_took_part(pattern: str, text: str) -> str:
    """Returns the text of the first group that took part in the match; FAILED if nothing matches."""
    match = re.search(pattern, text)
    return FAILED if match is None else next((group for group in match.groups() if group is not None), FAILED)


def query_search(query: Sequence[int]) -> str:
    r"""Returns \\bk1 … k(c−1) \\b(\\S+)\\b: 5.2's search for what follows the query; blanks between words."""
    return rf"\b{' '.join(map(str, query))} \b(\S+)\b"


@dataclass
class PrintedWalk:
    """Algorithm 2 with the searches r1 to r4 that it prints, a blank on both sides of a sign.

    r1 is one group of alternatives that is not counted, and so is the walked edge before it; each alternative has its own group
    around the neighbour, and a search returns the one that took part.
    """

    graph: Graph

    def __post_init__(self) -> None:
        self.words = ["<s>", *(word for a, b in self.graph.edges for word in (str(a), "~", str(b)))]

    def search(self, pattern: str) -> str:
        """Searches the text, and writes the search and its result after it."""
        result = group_that_took_part(pattern, " ".join(self.words))
        self.words += ["<StartSearch>", pattern, "<EndSearch>", result]
        return result

    def father(self, v: str) -> str:
        """Writes r2 and r4: the father in the first record of v."""
        return self.search(rf"\b(\S+)\b - \b{v}\b")

    def neighbour(self, v: str, behind: str = "") -> str:
        """Writes r1 and r3: the first neighbour of v, or the next one after its edge to another."""
        ends = rf"(?:\b(\S+)\b ~ \b{v}\b|\b{v}\b ~ \b(\S+)\b)"
        return self.search(rf"(?:\b{behind}\b ~ \b{v}\b|\b{v}\b ~ \b{behind}\b).*?{ends}" if behind else ends)

    def is_tree(self) -> bool:
        """Returns whether the walk ends with YES."""
        stack, before, closed = ["1"], "", set[str]()
        self.words.append("1")
        while stack:
            v = stack[-1]
            father = self.father(v)
            following = self.neighbour(v, "" if before == father else before)
            if following == father != FAILED:
                following = self.neighbour(v, father)
            if following == FAILED:
                closed.add(before := stack.pop())
            elif self.father(following) == FAILED:
                stack.append(following)
                self.words += [v, "-", following]
                before = v
            else:
                return False
        return len(closed) == self.graph.n
