"""One step of Algorithm 1 as a program: what should be said behind a text of IsTree. Written by a person, as the tasks are.

At `current`, come from `previous`, the search goes on behind the edge to `previous`, or with the first edge if it came down from
the father; an edge that leads to the father is left out. It follows that edge, unless it leads to a vertex seen before, which
closes a cycle. If there is none it goes back to the father; at the root, vertex 1, it ends.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from constructions.istree.graphs import TokenLayout
from verify.programs.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Answer,
    Back,
    Equal,
    If,
    IsWord,
    Matching,
    Named,
    NumberOf,
    Pick,
    Read,
    Say,
    SayNumber,
    Term,
    as_term,
)

K, NUMBER = as_term(POSITION), as_term(NumberOf())


def _back(value: Term, steps: int) -> Term:
    return as_term(Read(value, Back(steps)))


def _at(value: Term, *pairs: tuple[Term, Term], last: bool = False) -> Term:
    """The value at the first or last position that matches."""
    return as_term(Read(value, Pick(Matching(pairs), last)))


def _let(name: str, value: Term) -> Term:
    return as_term(Named(name, value))


def _equal(a: Term, b: Term) -> Term:
    return as_term(Equal(a - b, Fraction(0)))


@cache
def definition(n: int, layout: TokenLayout, place: str) -> Answer | None:
    """What should be said at this place of a text, the prompt's end or a vertex of the chain of thought; None if nothing is due.

    A record of the edge a ~ b stands at b, and one at the token behind: `own` is b, then a, and `other` the other end.
    """
    yes, no = Say(layout.yes), Say(layout.no)
    if place in (layout.start, "second endpoint"):
        return If(_equal(K, as_term(3 * n - 2)), SayNumber(ONE), no)
    if not place.startswith("thought"):
        return None
    at_end, behind = (_back(as_term(IsWord(layout.joint)), steps) for steps in (1, 2))
    own = at_end * NUMBER + behind * _back(NUMBER, 3)
    other = at_end * _back(NUMBER, 2) + behind * _back(NUMBER, 1)
    own, other, own_before, other_before = (
        _let(name, value)
        for name, value in (("own", own), ("other", other), ("own′", _back(own, 1)), ("other′", _back(other, 1)))
    )
    before = _at(
        other_before, (own_before, own), last=True
    )  # where the edge before this one at `own` leads; 0 at the first
    thought, later = as_term(Above(K - (3 * n - 2))), as_term(Above(K - (3 * n - 1)))
    current = thought * NUMBER
    previous = _let("previous", later * _back(NUMBER, 1) - thought + later)  # −1 at the root
    father = _at(previous, (current, current))
    came_down = _equal(previous, father)

    def edge_behind(vertex: Term) -> Term:
        return _at(other, (own, current), (before, vertex), last=True)

    following = edge_behind(previous - came_down * previous)
    ended = If(_equal(K, as_term(5 * n - 3)), yes, no)  # 2n − 1 vertices
    back = If(_equal(current, ONE), ended, SayNumber(father))

    def onward(vertex: Term) -> Answer:
        seen = _at(thought, (current, vertex), last=True)
        return If(_equal(vertex, ZERO), back, If(_equal(seen, ONE), no, SayNumber(vertex)))

    return If(_equal(following, father), onward(edge_behind(father)), onward(following))
