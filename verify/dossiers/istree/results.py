"""What the searches of Algorithm 2 find, as terms over the text, in place of Python's `re`.

The edges are of a simple graph, and after them stand turns. So `~` is in edges alone, and `-` in records.
"""

from __future__ import annotations

from collections.abc import Mapping

from constructions.istree.rag import RECORD
from constructions.language.terms import ZERO, Term
from verify.dossiers.istree import turns
from verify.dossiers.istree.steps import NUMBER, ByNeighbours
from verify.dossiers.istree.turns import Items
from verify.programs.shorthand import back, let, read_match, word


class SearchResult(ByNeighbours):
    """At the token that ends a search; 0 where nothing is found."""

    @property
    def current(self) -> Term:
        """The vertex that the search is about: all of them name it last but for a word."""
        return let("current", back(NUMBER, 2))

    @property
    def came_to(self) -> Term:
        """The vertex of which a record ends."""
        return let("came_to", word(RECORD, 1) * NUMBER)

    @property
    def recorded(self) -> Term:
        """The father in its first record."""
        return read_match(back(NUMBER, 2), (self.came_to, self.current))

    @property
    def first(self) -> Term:
        """The other end of its first edge."""
        return self.edge_behind(ZERO)

    @property
    def next(self) -> Term:
        """Returns the neighbour after u, which the search names for the last time six tokens before its end."""
        return self.edge_behind(self.come_from)

    @property
    def come_from(self) -> Term:
        """The vertex u."""
        return back(NUMBER, 6)

    @property
    def searches(self) -> Mapping[str, tuple[Items, Term]]:
        """Returns how each search is written, and what it finds."""
        return {
            "the father in a vertex's record": (turns.FATHER, self.recorded),
            "a vertex's first neighbour": (turns.FIRST, self.first),
            "its next neighbour after another one": (turns.NEXT, self.next),
        }
