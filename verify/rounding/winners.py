"""Which keys can have the largest score, whether several can at once, and their margin.

The scores of keys that can win are often one function of the position, the *line*, which has no value twice: those of keys that are
equal to the query, and that of a default at position 1. It is c·k' + d, or −c·(k' − f)² on one side of f, or on both if 2f is no
whole number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from verify.algebra.domains import POSITION, SHARED
from verify.algebra.polynomial import Polynomial, atom, is_whole
from verify.algebra.symbolic import grows
from verify.rounding.candidates import PLACE, QUERY, Candidate
from verify.rounding.scores import Square, complete_squares, lattice


def scored(candidate: Candidate) -> Candidate:
    """Completes the score's squares: those of the key's atoms first, its position last of them.

    The squares and the rest are the score, whatever the order. Of the query itself the position is last of all, if else a form has
    a constant that is no whole number: of −S·(x − k)² + c·k then x − k is the form, and c·k the rest. The query's atoms are first,
    if else something of the key is left: of −S·(k' − 1)² − G·(k' − k)², where k' has two squares and k has one.
    """
    exact, place, own = candidate.exact, candidate.place, candidate.own
    keys = [name for name in sorted(exact.atoms & own) if name not in place.atoms]
    last, others = [name for name in place.atoms if name in own], sorted(exact.atoms - own)
    score = complete_squares(candidate.joint, exact, keys + last + others, fractions=True)
    if candidate.is_self and not all(square.can_vanish for square in score.squares):
        order = [name for name in others if name not in place.atoms] + [name for name in others if name in place.atoms]
        by_others = complete_squares(candidate.joint, exact, order, fractions=True)
        score = by_others if all(square.can_vanish for square in by_others.squares) else score
    elif score.rest.atoms & own:
        by_others = complete_squares(candidate.joint, exact, others + keys + last, fractions=True)
        score = score if by_others.rest.atoms & own else by_others
    return replace(candidate, score=score)


def winning_part(candidate: Candidate, winning: Fraction, lost: list[Fraction]) -> Candidate | None:
    """Returns the part in which it can have the largest score, which is `winning` at least. lost: by how much the rest is below
    that.
    """
    while True:
        joint, score = candidate.joint, candidate.score
        upper = candidate.upper
        if upper < winning:
            lost.append(winning - upper)
            return None
        for square in score.squares:
            low, high = joint.bounds(square.form)
            least, behind = square.least, square.behind
            if low <= 0 <= high and low < high and behind > 0 and upper - behind < winning:
                lost.append(winning - upper + behind)
                part = joint.restricted(square.form, least, least)
                if part is None:
                    return None
                candidate = scored(replace(candidate, joint=part, whole=False, equal=(*candidate.equal, square.form)))
                break
        else:
            if (other := _without_losing_bit(candidate, winning, lost)) is None:
                return candidate
            candidate = other


def _without_losing_bit(candidate: Candidate, winning: Fraction, lost: list[Fraction]) -> Candidate | None:
    """Returns the part in which an atom of the key that has two values has the one with which it can win; None if each can, or
    none.

    The query's atoms are the key's where both are one position.

    Of −S·(1 − b) − c·(k' − w)² keys with b = 0 lose. lost: by how much they are behind.
    """
    of_key = candidate.score.rest.atoms if candidate.is_self else candidate.score.rest.atoms & candidate.own
    for name in sorted(of_key - SHARED):
        domain = candidate.joint.integer(name)
        if domain is None or domain.high != domain.low + domain.step:
            continue
        parts = [(v, candidate.joint.restricted(atom(name), v, v)) for v in (domain.low, domain.high)]
        some = [(v, scored(replace(candidate, joint=part, whole=False))) for v, part in parts if part is not None]
        able = [(v, part) for v, part in some if part.upper >= winning]
        if len(able) == 1 < len(some):
            lost += [winning - part.upper for _, part in some if part.upper < winning]
            ((value, part),) = able
            return replace(part, equal=(*part.equal, atom(name) - value))
    return None


@dataclass(frozen=True)
class Winners:
    """The parts that can win. many: whether there may be several keys of each. apart: the least distance of two on the line."""

    parts: Sequence[Candidate]
    many: Sequence[bool]
    apart: int = 1

    def unique(self) -> bool:
        """Returns whether no two positions can tie."""
        on, least = self.line()
        if any(many and not is_on for many, is_on in zip(self.many, on, strict=True)):
            return False
        return all(margin for margin, _ in self._margins(on, least))

    def margin(self, lost: Sequence[Fraction]) -> Fraction:
        """Returns by how much the largest score exceeds any other one, ties left out; 0 if that is not seen.

        lost: by how much those are behind that never win.
        """
        on, least = self.line()
        for part, many, is_on in zip(self.parts, self.many, on, strict=True):
            if many and not is_on and part.lower < part.upper:
                return Fraction(0)
        margins = [margin for _, margin in self._margins(on, least) if margin is not None]
        several = sum(1 + many for many, is_on in zip(self.many, on, strict=True) if is_on) > 1
        return min([*lost, *margins, *([least * self.apart] if several else [])], default=Fraction(0))

    def ranks(self) -> list[int]:
        """Returns how many of the others each one surely beats. Those on the line are not compared: it says who wins."""
        on, _ = self.line()
        pairs = [(c, is_on) for c, is_on in zip(self.parts, on, strict=True)]
        return [
            sum(other.upper < c.lower and not (is_on and is_other_on) for other, is_other_on in pairs)
            for c, is_on in pairs
        ]

    def line(self) -> tuple[list[bool], Fraction]:
        """Returns which parts are on the line, and by how much it differs at two positions that are beside each other, at least."""
        nothing = [False for _ in self.parts], Fraction(0)
        functions = [f for c in self.parts if (f := _without_ties(c)) is not None]
        if not functions:
            return nothing
        function, square = functions[-1]
        on = [c.joint.fixed(c.exact) == c.over_joint_atoms(function.substitute({PLACE: c.place})) for c in self.parts]
        if square is None:
            return on, abs(function.terms[PLACE,])
        line_parts = [c for c, is_on in zip(self.parts, on, strict=True) if is_on]
        sides = [c.joint.bounds(c.over_joint_atoms(square.form.substitute({PLACE: c.place}))) for c in line_parts]
        low, high = min(low for low, _ in sides), max(high for _, high in sides)
        if low < 0 < high:
            return (on, square.cost * square.asymmetry) if square.asymmetry else nothing
        return on, square.cost * (2 * max(low, -high, Fraction(0)) + 1)

    def _margins(self, on: Sequence[bool], least: Fraction) -> Iterator[tuple[Fraction, Fraction | None]]:
        """Yields, for two parts that are not both on the line, by how much their scores at two positions differ at least.

        And by how much if they do, None if they never do.
        """
        spans = [(c.lower, c.upper) for c in self.parts]
        for i, c in enumerate(self.parts):
            for j in range(i):
                same = c.place.is_constant and c.place == self.parts[j].place  # one position has one state
                if same or (on[i] and on[j]):
                    continue
                (low, high), (other_low, other_high) = spans[i], spans[j]
                numbers = low == high, other_low == other_high
                if margin := max(low - other_high, other_low - high, Fraction(0)):
                    yield margin, margin
                elif all(numbers):
                    yield margin, None
                elif (
                    any(numbers)
                    and (low == other_high or other_low == high)
                    and on[side := j if numbers[0] else i]
                    and _ends_like_values(self.parts[side])
                ):
                    yield margin, least  # a number that may be the line's value at its end
                elif (least_apart := _least_apart(c, self.parts[j])) is not None:
                    yield least_apart, least_apart


def _least_apart(one: Candidate, other: Candidate) -> Fraction | None:
    """Returns by how much the scores of two keys differ at least, one of each part; 0 if that is not seen, None if no query
    meets both.

    An atom of the query has one name and one value in both parts. Where one of them has another form for it, the two are equal.
    """
    if grows(one.joint.space.steps):  # a comparison of numbers that grow may split the case
        return Fraction(0)
    pairs = [(one.joint.register(QUERY - i), other.joint.register(QUERY - i)) for i, _ in enumerate(one.asked)]
    both = one.joint.met(other.joint, [one.exact - other.exact, *(a - b for a, b in pairs)])
    for i, _ in enumerate(pairs):
        if both is not None and both.is_integer_affine(equal := both.register(-2 - i)):
            both = both.restricted(equal, Fraction(0), Fraction(0))
    if both is None:
        return None
    difference = both.fixed(both.register(-1))
    low, high = both.by_squares(difference)
    # Its values are the constant and multiples of a number.
    offset, step = difference.constant, lattice([difference - difference.constant])
    return max(low, -high, min(offset % step, -offset % step) if step else abs(offset))


def _ends_like_values(candidate: Candidate) -> bool:
    """Returns whether the score is one square and a number, and bounds of its form are whole numbers away from values of it."""
    score = candidate.score
    if not score.rest.is_constant or len(score.squares) != 1:
        return False
    (square,) = score.squares
    return all(is_whole(end - square.form.constant) for end in candidate.joint.bounds(square.form))


def _without_ties(candidate: Candidate) -> tuple[Polynomial, Square | None] | None:
    """Returns the score as a function of the key's position k', if it has no value twice and depends on nothing else of the key.

    Also the square of a form in k' that it is made of, None if it is c·k' and what has no k', c ≠ 0.
    """
    own = {POSITION} if candidate.is_self else candidate.own
    squares = [s for s in candidate.score.squares if s.form.atoms & own]
    if len(candidate.place.atoms) != 1:
        return None
    (name,) = candidate.place.atoms
    place = {name: atom(PLACE)}
    if (candidate.exact.atoms & own) != {name}:
        return None
    if not squares:
        is_line = all(name not in monomial or monomial == (name,) for monomial in candidate.exact.terms)
        return (candidate.exact.substitute(place), None) if is_line else None
    if len(squares) != 1:
        return None
    (square,) = squares
    low, high = candidate.joint.bounds(square.form)
    if (low < 0 < high and not square.asymmetry) or abs(square.form.terms.get((name,), Fraction(0))) != 1:
        return None
    if name in candidate.score.rest.atoms:
        return None
    return candidate.exact.substitute(place), replace(square, form=square.form.substitute(place))
