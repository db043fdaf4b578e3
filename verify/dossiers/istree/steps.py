"""One step of Algorithm 1 as a program: what should be said after a text of IsTree. Written by a person, as the tasks are.

At `current`, come from `previous`, the search goes on after the edge to `previous`, or with the first edge if it came down from
the father; an edge that leads to the father is left out. It follows that edge, unless it leads to a vertex seen before, which
closes a cycle. If there is none it goes back to the father; at the root, vertex 1, it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from constructions.istree.graphs import TokenLayout
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    Count,
    If,
    Matching,
    Next,
    NumberOf,
    Read,
    Say,
    SayNumber,
    Term,
    as_term,
)
from verify.automata.token_automaton import Label
from verify.dossiers.istree.texts import IN_PROMPT, IN_THOUGHT, SECOND, THOUGHT
from verify.programs.shorthand import K, back, equal, let, read_match, word

NUMBER = as_term(NumberOf())


def definition(n: int, layout: TokenLayout, label: Label, *, by_counts: bool = False) -> Answer | None:
    """Returns what should be said in this state of a text, the prompt's end or a vertex of the chain of thought; None if nothing
    is due.

    by_counts: the edge after another one is told by how many edges of the vertex stand before it; else by the edge before it.
    """
    search = (ByCounts if by_counts else ByNeighbours)(n, layout)
    if label.part == THOUGHT.part:
        return search.step
    if layout.end_of_prompt is None:
        if label.part in (layout.start, SECOND.part):
            return If(equal(K, as_term(3 * n - 2)), SayNumber(ONE), Say(layout.no))
        return None
    if label.which == IN_PROMPT:
        return SayNumber(ONE)
    return search.verdict if label.which == IN_THOUGHT else None


@dataclass(frozen=True)
class _Search:
    """A record of the edge a ~ b stands at b, and one at the token after: `own` is b, then a, and `other` the other end."""

    n: int
    layout: TokenLayout

    @property
    def at_end(self) -> Term:
        """Returns whether the token is the second endpoint of an edge."""
        return word(self.layout.joint, 1)

    @property
    def behind(self) -> Term:
        """Returns whether it stands after one."""
        return word(self.layout.joint, 2)

    @property
    def own(self) -> Term:
        return self.at_end * NUMBER + self.behind * back(NUMBER, 3)

    @property
    def other(self) -> Term:
        return self.at_end * back(NUMBER, 2) + self.behind * back(NUMBER, 1)

    @property
    def closes(self) -> Term:
        """Returns whether it is the token that ends the prompt or the search."""
        return word(str(self.layout.end_of_prompt))

    @property
    def prompt_end(self) -> Term:
        """The position of that token, where one marks the prompt's end; else 1."""
        return read_match(K, (self.closes, ONE))

    @property
    def thought(self) -> Term:
        """Returns whether it is after the prompt."""
        if self.layout.end_of_prompt is None:
            return as_term(Above(K - (3 * self.n - 2)))
        return read_match(self.closes, (self.closes, ONE))

    @property
    def later(self) -> Term:
        """Returns whether it is after the prompt, and not the first thought."""
        if self.layout.end_of_prompt is None:
            return as_term(Above(K - (3 * self.n - 1)))
        return self.thought - back(self.closes, 1)

    @property
    def visited(self) -> Term:
        """Returns whether it is a vertex of the search."""
        if self.layout.end_of_prompt is None:
            return self.thought
        return let("visited", self.thought - self.closes * self.thought)

    @property
    def complete(self) -> Term:
        """Returns whether 2n − 1 vertices stand between both ends, or more, as in no search."""
        return as_term(Above(K - self.prompt_end - (2 * self.n - 1)))

    @property
    def verdict(self) -> Answer:
        """Returns what is said after the search's end."""
        return If(self.complete, Say(self.layout.yes), Say(self.layout.no))

    @property
    def current(self) -> Term:
        return self.thought * NUMBER

    @property
    def previous(self) -> Term:
        return self.later * back(NUMBER, 1)

    @property
    def father(self) -> Term:
        """Returns where the search was when it first came to `current`."""
        return read_match(self.previous, (self.current, self.current))

    @property
    def stop(self) -> str:
        """Returns the word in place of a vertex: where the graph is seen to be no tree, or at the end if a verdict follows."""
        return self.layout.end_of_prompt or self.layout.no

    def back(self) -> Answer:
        """Returns the answer that goes back to the father; at the root it ends the search, after 2n − 1 vertices."""
        ended: Answer = Say(self.stop)
        if self.layout.end_of_prompt is None:
            ended = If(equal(K, as_term(5 * self.n - 3)), Say(self.layout.yes), Say(self.layout.no))
        return If(equal(self.current, ONE), ended, SayNumber(self.father))

    def seen(self, vertex: Term) -> Term:
        raise NotImplementedError

    def onward(self, vertex: Term) -> Answer:
        """Returns the answer that goes on to this vertex, if it exists. If it was seen before, the edge closes a cycle."""
        there = If(self.seen(vertex), Say(self.stop), SayNumber(vertex))
        return If(equal(vertex, ZERO), self.back(), there)


class ByNeighbours(_Search):
    """At the root, `previous` and the father are −1."""

    @property
    def previous(self) -> Term:
        return let("previous", super().previous - self.thought + self.later)

    def seen(self, vertex: Term) -> Term:
        return equal(read_match(self.visited, (self.current, vertex), last=True), ONE)

    def edge_behind(self, vertex: Term) -> Term:
        """Returns where the edge of `current` leads before which its edge to this vertex is the last one; 0 if there is none."""
        own, other = let("own", self.own), let("other", self.other)
        before = read_match(let("other′", back(self.other, 1)), (let("own′", back(self.own, 1)), own), last=True)
        return read_match(other, (own, self.current), (before, vertex), last=True)

    @property
    def come_from(self) -> Term:
        """The vertex after whose edge the search goes on; 0 if it came down from the father."""
        return self.previous - equal(self.previous, self.father) * self.previous

    @property
    def step(self) -> Answer:
        following = self.edge_behind(self.come_from)
        return If(equal(following, self.father), self.onward(self.edge_behind(self.father)), self.onward(following))


class ByCounts(_Search):
    """An edge's order at a vertex is one more than its place among the vertex's edges."""

    @property
    def thought(self) -> Term:
        if self.layout.end_of_prompt is None:
            return super().thought
        return let("after_prompt", ONE - equal(self.prompt_end, ONE))

    @property
    def complete(self) -> Term:
        return equal(K - self.prompt_end, as_term(2 * self.n))

    def seen(self, vertex: Term) -> Term:
        return ONE - equal(read_match(K, (self.current, vertex)), ONE)

    @property
    def occurrences(self) -> Count:
        """Counts how often the vertex at k stands up to there."""
        return Count(Matching(((NUMBER, NUMBER),)))

    @property
    def order(self) -> Term:
        count = as_term(self.occurrences) + 1
        return let("order", self.at_end * count + self.behind * back(count, 3))

    @property
    def counted(self) -> tuple[Term, Term]:
        """A record's vertex and order, which an invariant is about: lemmas/counts.smt2 shows it."""
        return let("own", self.own), self.order

    @property
    def edge_walked(self) -> Term:
        """The order of the edge between `current` and `previous`."""
        return read_match(self.order, (let("own", self.own), self.current), (let("other", self.other), self.previous))

    @property
    def walked(self) -> Term:
        """The order after which the search goes on; below all of them if it came down from the father."""
        came_down = equal(self.previous, self.father)
        return let("walked", came_down + (ONE - came_down) * self.edge_walked)

    def behind_order(self, order: Term) -> Next:
        """Returns the record of `current` of the next order."""
        return Next(Matching(((let("own", self.own), self.current),)), self.order, order)

    @property
    def first(self) -> Next:
        return self.behind_order(self.walked)

    @property
    def second(self) -> Next:
        return self.behind_order(as_term(Read(self.order, self.first)))

    def to(self, record: Next) -> Term:
        """Returns where the edge of this record leads."""
        return as_term(Read(let("other", self.other), record))

    @property
    def step(self) -> Answer:
        to_first, to_second = self.to(self.first), self.to(self.second)
        at_first, at_second = (as_term(Read(self.order, record)) for record in (self.first, self.second))

        def unless_father(otherwise: Answer) -> Answer:
            further = If(as_term(Above(at_second - at_first)), self.onward(to_second), self.back())
            return If(equal(to_first, self.father), further, otherwise)

        edge_left = If(as_term(Above(at_first - self.walked)), unless_father(self.onward(to_first)), self.back())
        nothing_walked = unless_father(self.back())  # in no search
        return If(as_term(Above(self.walked)), edge_left, nothing_walked)
