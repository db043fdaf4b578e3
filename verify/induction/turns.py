"""Algorithm 2 turn by turn, in the language of programs: where the walk goes that the turns of a text make.

The walk is a text in the layout eos: the edges, the token behind them, and of each turn its second vertex v. The first vertex u of
a turn is the vertex before, 1 at the first turn; the father of v is the u of the first turn at v; a turn has the mark `-` if u is
the father of v, else `^`. That turns make this walk is argued, one by one: what `v - w` begins is the first turn at w (lemma
new-visit), and in `v ^ f` v is not the father of f (father-of-here).
"""

from __future__ import annotations

from verify.programs.searches import NUMBER, ByNeighbours
from verify.programs.shorthand import at, back, equal, let
from verify.programs.terms import ONE, ZERO, Answer, Count, If, Matching, Say, SayNumber, Term, as_term


class ByTurns(ByNeighbours):
    """As `ByNeighbours`, but the root comes from itself and is its own father, and at the end the answer is said at once."""

    @property
    def previous(self) -> Term:
        return let("previous", self.later * back(NUMBER, 1) + self.thought - self.later)

    @property
    def records(self) -> Count:
        """How many turns have come down from the father, or from the root to itself."""
        return Count(Matching(((self.visited * equal(self.previous, self.father), ONE),)))

    def seen(self, vertex: Term) -> Term:
        """Whether a record of it is found; what is found there is a vertex."""
        return ONE - equal(at(self.previous, (self.current, vertex)), ZERO)

    @property
    def stop(self) -> str:
        return self.layout.no

    def back(self) -> Answer:
        """Up to the father; from the root it would lead to itself, and that is the end."""
        verdict = If(equal(as_term(self.records), as_term(self.n)), Say(self.layout.yes), Say(self.layout.no))
        return If(equal(self.current, self.father), verdict, SayNumber(self.father))
