"""Joins a query with the keys of one class: what the head scores there, over the atoms of both.

Standard library alone. A query of one class meets keys of each class that an earlier position may have, and its own. Of each
such pair the score is a polynomial over the atoms of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from verify.trusted.abstract_state import POSITION, Score, Square, State
from verify.trusted.numbers import Number
from verify.trusted.polynomials import Polynomial, atom, names_of, plus, substitute

# Registers beside the model's, of a query and a key together: substitutions reach them as they do registers.
READ, VALUE, SCORE, PLACE = -1, -100_000, -200_000, -200_001
KEY, GROUP, COUNT, QUERY, ASKED = -210_000, -220_000, -230_000, -240_000, -300_000
LINE = "h"  # the key's position, where scores are a function of it


@dataclass(frozen=True)
class Pair:
    """A query and keys of one class, or its own position, as one state over the atoms of both.

    Nothing is said of which positions both may have: that is quick, and enough for most keys that lose.
    own: the atoms of the key alone. noise: how far rounding may take the score. asked: the atoms of the query's rows.
    """

    key: int | None
    joint: State
    own: frozenset[str]
    noise: Number
    asked: tuple[str, ...]

    @property
    def exact(self) -> Polynomial:
        return self.joint.register(SCORE)

    @property
    def place(self) -> Polynomial:
        return self.joint.register(PLACE)

    @cached_property
    def upper(self) -> Number:
        """Returns what the score is not above."""
        return Score.complete(self.joint, self.exact, sorted(names_of(self.exact) & self.own)).upper(self.joint)

    @cached_property
    def candidate(self) -> Candidate | None:
        """Returns the candidate, or None if no key of the class stands before the query."""
        part: State | None = self.joint
        if self.key is not None:
            distance = plus(self.place, atom(POSITION), -1)
            part = self.joint.restrict(distance, None, -1) if self.joint.by_two_forms(distance)[0] <= -1 else None
        return None if part is None else Candidate(self.key, part, self.own, self.noise, self.asked)


@dataclass(frozen=True)
class Candidate(Pair):
    """A pair at positions that both may have. whole: nothing else was restricted."""

    whole: bool = True

    def value(self, i: int) -> Polynomial:
        return self.joint.register(VALUE - i)

    @cached_property
    def upper(self) -> Number:
        return self.score.upper(self.joint)

    @cached_property
    def lower(self) -> Number:
        return self.score.lower(self.joint)

    @cached_property
    def score(self) -> Score:
        """Returns the squares of the score: of the key's atoms first, its position last. Any order is right.

        Of the query itself the position comes last of all, if else a form could not be 0.
        """
        place, exact = names_of(self.place), names_of(self.exact)
        keys = [*sorted(exact & self.own - place), *sorted(place & self.own)]
        score = Score.complete(self.joint, self.exact, keys)
        if self.key is None and any(square.least for square in score.squares):
            other = Score.complete(self.joint, self.exact, [*sorted(exact - place), *sorted(exact & place)])
            score = score if any(square.least for square in other.squares) else other
        return score

    def say(self, function: Polynomial) -> Polynomial:
        """Returns a function of the query's atoms, of which some are other polynomials here."""
        return self.joint.fixed(
            substitute(function, {a: self.joint.register(ASKED - i) for i, a in enumerate(self.asked)})
        )


def candidates_of(pairs: Sequence[Pair]) -> list[Candidate]:
    return [pair.candidate for pair in pairs if pair.candidate is not None]


def line_of(c: Candidate) -> tuple[Polynomial, Square | None] | None:
    """Returns the score as a function of the key's position, if it depends on nothing else of the key, and has no value twice."""
    own = {POSITION} if c.key is None else c.own
    if (
        len(names := names_of(c.place)) != 1
        or names_of(c.exact) & own != names
        or c.place != atom(name := next(iter(names)))
    ):
        return None
    values = {name: atom(LINE)}
    squares = [square for square in c.score.squares if names_of(square.form) & own]
    if not squares:
        linear = all(name not in monomial or monomial == (name,) for monomial in c.exact)
        return (substitute(c.exact, values), None) if linear else None
    (square,) = squares if len(squares) == 1 else (None,)
    if square is None or abs(square.form.get((name,), 0)) != 1 or name in names_of(c.score.rest):
        return None
    low, high = c.joint.bounds(square.form)
    if low < 0 < high and not square.asymmetry:
        return None
    return substitute(c.exact, values), square._replace(form=substitute(square.form, values))
