"""A term that is read in a text, taken apart: the head that reads it, the keys by which that picks, and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constructions.language.terms import POSITION, Above, At, Back, Count, Matching, Named, Pick, Read, Term, as_term
from verify.programs.forms import alone, read_alone

MANY = 2


@dataclass(frozen=True)
class Inner:
    """What is read at the last position where the key is what the position that reads asks for."""

    value: Term
    key: Term
    query: Term

    @property
    def parts(self) -> tuple[Term, ...]:
        return self.value, self.key, self.query


@dataclass(frozen=True)
class Occurs:
    """How often a key has been this number; it is told up to MANY."""

    key: Term
    number: int

    @property
    def parts(self) -> tuple[Term, ...]:
        return (self.key,)


Pairs: TypeAlias = "Sequence[tuple[Term | Inner | Occurs, Term]]"


@dataclass(frozen=True)
class PatternHead:
    """What is read at the first or the last position at which each key is what is asked for."""

    value: Term
    last: bool
    pairs: Pairs


def head_of(term: Term) -> PatternHead | None:
    """Returns the head by which it is read."""
    match read_alone(term):
        case Read(value, Pick(matching, last)):
            return PatternHead(value, last, _pairs(matching))
        case Read(value, At(target)):  # no other position is that; and at 1 nothing is read
            return PatternHead(value, False, [(as_term(POSITION), target)])
    return None


def more_than(term: Term) -> tuple[Pairs, Term] | None:
    """Returns what matches, and more than how many of it there are if the term is 1."""
    bit = alone(term)
    counts = [a for a in bit.of.atoms if isinstance(a, Count)] if isinstance(bit, Above) else []
    if not isinstance(bit, Above) or len(counts) != 1:
        return None
    return _pairs(counts[0].where), as_term(counts[0]) - bit.of


def _pairs(matching: Matching) -> Pairs:
    return [(_inner(key, query) or key, query) for key, query in matching.pairs]


def _inner(key: Term, query: Term) -> Inner | Occurs | None:
    inner = alone(key)
    if isinstance(inner, Count):
        (of, number), *others = inner.where.pairs
        if others or not number.is_constant or number.constant.denominator != 1:
            raise ValueError("no more is counted than how often a key is one number")
        if not query.is_constant or query.constant >= MANY:
            raise ValueError("no more is told of a count than whether it is 0 or 1")
        return Occurs(of, int(number.constant))
    if not isinstance(inner, Read) or not isinstance(inner.where, Pick):
        return None
    if len(inner.where.matching.pairs) > 1 or not inner.where.last:
        raise ValueError("no value of a key that is read so")
    return Inner(inner.value, *inner.where.matching.pairs[0])


def tells_positions(term: Term) -> bool:
    """Returns whether a position is told by it."""
    inner = (
        atom.of if isinstance(atom, Named) else atom.value for atom in term.atoms if isinstance(atom, Named | Read)
    )
    return POSITION in term.atoms or any(map(tells_positions, inner))


def depth(term: Term) -> int:
    """Returns how many words back it is told from."""
    depths = [0]
    for atom in term.atoms:
        match atom:
            case Named(_, of):
                depths.append(depth(of))
            case Read(value, Back(steps)):
                depths.append(steps + depth(value))
    return max(depths)
