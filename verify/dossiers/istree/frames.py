"""One step of IsTree's search in frames as a program: what should be said after a text of the hybrid. Written by a person, as the
tasks are.

A frame tells where the search is, at a vertex v with a base and a target, two positions. It is about to go on after the base, and
looks for the record of v that is nearest to the target (of two as near, the later one).

  v @1 @2                  at the start, and  - u v @1 @2  after a step from u down to v
  ^ u v @r @r+1            after a step from u up to its father v; r is the record of v that leads to u
  / v @r @r+1              after the record r of v, which leads to its father
  > v @base @target        after none: as before, with a target that is twice as far from the base

Where nothing is found after the base, the search looks further, up to the last record, and then goes up. What is due is left open
after frames that no search writes, and at a vertex of which they say what is not so: that it has a record, or a father.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from constructions.istree.hybrid import DOWN, FURTHER, JOINT, NO, PASS, PLACE, START, UP, VERTEX, YES
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    Anything,
    Closest,
    Count,
    If,
    Matching,
    NumberOf,
    Read,
    Say,
    SayNumber,
    Term,
    as_term,
)
from verify.automata.token_automaton import Label
from verify.dossiers.istree.texts import FIRST_FRAME, FRAME, SECOND
from verify.programs.shorthand import K, back, equal, let, read_match, word

HERE, THERE = as_term(NumberOf(VERTEX)), as_term(NumberOf(PLACE))
AT_END, BEHIND = word(JOINT, 1), word(JOINT, 2)
OWN = let("own", AT_END * HERE + BEHIND * back(HERE, 3))
OTHER = let("other", AT_END * back(HERE, 2) + BEHIND * back(HERE, 1))
"""A record of the edge a ~ b stands at b, and one at the token after: its own vertex is b, then a."""


def definition(n: int, label: Label) -> Answer | None:
    """Returns what should be said in this state of a text; None if nothing is due."""
    return Frames(n).due.get(label)


def nearest_record(vertex: Term, target: Term) -> Closest:
    """Returns the record of the vertex that is nearest to the target, of two as near the later one."""
    return Closest(Matching(((OWN, vertex),)), target + Fraction(1, 4))


@dataclass(frozen=True)
class Frames:
    """What is due at each state, and the terms that tell it."""

    n: int

    @cached_property
    def due(self) -> dict[Label, Answer]:
        """Returns the word that is due, by the label of a text's state."""
        root = If(equal(K, as_term(3 * self.n - 2)), SayNumber(ONE, VERTEX), Say(NO))
        again = SayNumber(back(HERE, 3), VERTEX)
        answer_at: dict[Label, Answer] = {Label(START): root, SECOND: root}
        frames: dict[Label, tuple[Answer, ...]] = {
            FIRST_FRAME: (SayNumber(ONE, PLACE), *self.new_base),
            Label(FRAME, DOWN): (again, self.next_vertex, self.unless_visited, *self.new_base),
            Label(FRAME, UP): (again, self.up, self.edge_gone_up, *self.new_base),
            Label(FRAME, PASS): (again, self.edge_passed, *self.new_base),
            Label(FRAME, FURTHER): (again, SayNumber(back(THERE, 3), PLACE), self.twice_as_far, self.decision),
        }
        for frame, answers in frames.items():
            answer_at |= {replace(frame, number=i): answer for i, answer in enumerate(answers, start=1)}
        return answer_at

    # After the mark, v, a base, a target

    @property
    def next_vertex(self) -> Answer:
        """Says the word after `- v`: where the record leads that is found from the frame before."""
        other = self.nearest(OTHER, HERE, back(THERE, 2))
        return If(equal(other, ZERO), Anything(), SayNumber(other, VERTEX))

    @property
    def unless_visited(self) -> Answer:
        """Says the word after `- u v`: a base before all records, unless the search was at v before."""
        first = read_match(K, (self.came_to, HERE))
        return If(as_term(Above(K - first)), Say(NO), SayNumber(ONE, PLACE))

    @property
    def up(self) -> Answer:
        """Says the word after `^ v`."""
        father = self.father(HERE)
        return If(equal(father, ZERO), Anything(), SayNumber(father, VERTEX))

    @property
    def edge_gone_up(self) -> Answer:
        """Says the word after `^ u v`: where the record of v stands that leads to u."""
        return SayNumber(read_match(K, (OWN, HERE), (OTHER, back(HERE, 1))), PLACE)

    @property
    def edge_passed(self) -> Answer:
        """Says the word after `/ v`: where the record stands that is found from the frame before."""
        return SayNumber(self.nearest(K, HERE, back(THERE, 2)), PLACE)

    @property
    def new_base(self) -> tuple[Answer, Answer]:
        """Says the words after a base, and after the target."""
        return self.place(THERE + 1), self.decision

    @property
    def twice_as_far(self) -> Answer:
        """Says the word after `> v @base`: as far after the last target as that is after the base."""
        return self.place(back(THERE, 3) * 2 - THERE)

    def place(self, position: Term) -> Answer:
        """Returns the position, if there is a word for it."""
        above = If(as_term(Above(position - (6 * self.n - 4))), Anything(), SayNumber(position, PLACE))
        return If(as_term(Above(position)), above, Anything())

    @property
    def decision(self) -> Answer:
        """Says the word after `v @base @target`."""
        vertex, base = back(HERE, 2), back(THERE, 1)
        nearest, nearest_other = self.nearest(K, vertex, THERE), self.nearest(OTHER, vertex, THERE)
        father = self.father(vertex)
        ended = If(equal(self.downs, as_term(self.n - 1)), Say(YES), Say(NO))
        over = If(equal(father, ZERO), ended, Say(UP))
        follow = If(equal(nearest_other, father), Say(PASS), Say(DOWN))
        # What a target finds before it, one that was less far has found.
        follow = If(as_term(Above(THERE - nearest)), Anything(), follow)
        further = If(as_term(Above(THERE - (3 * self.n - 2))), over, Say(FURTHER))
        step = If(as_term(Above(nearest - base)), follow, further)
        # No search goes down to more vertices than there are.
        return If(as_term(Above(self.downs - (self.n - 1))), Anything(), step)

    @property
    def downs(self) -> Term:
        """Returns how often the search went down."""
        return as_term(Count(Matching(((word(DOWN), ONE),))))

    # What is known of a vertex

    def nearest(self, value: Term, vertex: Term, target: Term) -> Term:
        """Reads a value at the record of the vertex that is nearest to the target."""
        return as_term(Read(value, nearest_record(vertex, target)))

    @property
    def came_to(self) -> Term:
        """The vertex that the search has just come to from its father: the root where the search begins."""
        return let("came_to", equal(K, as_term(3 * self.n - 1)) + word(DOWN, 2) * HERE)

    def father(self, vertex: Term) -> Term:
        """Returns where the search first came to the vertex from; 0 for the root."""
        return read_match(word(DOWN, 2) * back(HERE, 1), (self.came_to, vertex))
