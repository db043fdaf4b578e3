"""Facts: what the passes know of a program's terms before anything is wired."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from constructions.language.bounds import Bound, Bounds
from constructions.language.digits import round_up
from constructions.language.interpreter import Input
from constructions.language.program import Architecture, NotCompiled
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Atom,
    Comb,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    Named,
    Position,
    Read,
    Sum,
    Term,
    as_term,
    is_integer,
)
from constructions.language.values import START
from constructions.language.weights import ProgramWeights

COUNT_ALONE = (
    "a count m is known as 1/(1 + m) only: say it, or compare it with a number or with another count, alone on its side"
)


@dataclass(frozen=True)
class TermFacts:
    """What is known of the terms of one program for one n.

    lowest: the least number of a text. length: the most tokens of a text. bounds: with n rounded up as p asks. tight: with n
    itself, for comparisons.
    """

    architecture: Architecture
    words: tuple[str, ...]
    has_numbers: bool
    lowest: int
    length: Bound
    bounds: Bounds
    tight: Bounds

    @property
    def attends(self) -> bool:
        """True if sums over all positions are means, as a head has them; else a recurrence has the sums themselves."""
        return self.architecture == "transformer"

    def has_count(self, term: Term) -> bool:
        """Returns whether one of its atoms is a count that is known as a share only, or another name for one."""
        return any(self._is_count(atom) for atom in term.atoms)

    def _is_count(self, atom: Atom) -> bool:
        match atom:
            case Count(where):
                return (self.attends or self.summand_of(atom) is None) and asked_position(where) is None
            case Named(_, of):
                return self.has_count(of)
        return False

    def has_sum(self, term: Term) -> bool:
        """Returns whether one of its atoms is a running sum, or another name for one."""
        return any(
            isinstance(atom, Sum)
            or (isinstance(atom, Count) and asked_position(atom.where) is None)
            or (isinstance(atom, Named) and self.has_sum(atom.of))
            for atom in term.atoms
        )

    def is_whole(self, term: Term) -> bool:
        """Returns whether its value is an integer that a register can hold."""
        return all(is_integer(c) for _, c in term.items) and not self.has_count(term)

    def require_whole(self, term: Term, what: str) -> None:
        """Raises NotCompiled for a term that is no integer, or a count that no register holds."""
        if self.has_count(term):
            raise NotCompiled(COUNT_ALONE)
        if not self.is_whole(term):
            raise NotCompiled(f"{what} is for integers")

    def is_bit(self, term: Term) -> bool:
        """Returns whether its value is seen to be 0 or 1."""
        if not self.is_whole(term):
            return False
        low, high = self.bounds.term(term)
        return bool(low >= 0 and high <= 1)

    def is_condition(self, atom: Atom) -> bool:
        """Returns whether a term is 0 or 1 by its form, not because the texts have no other numbers."""
        match atom:
            case IsWord() | IsNumber() | Equal() | Above():
                return True
            case Comb():
                return self.is_bit(as_term(atom))
            case Named(_, of) | Read(of, _):
                return self.is_flag(of)
        return False

    def is_flag(self, term: Term) -> bool:
        """Returns whether it is 0 or 1, and made of conditions alone."""
        return self.is_bit(term) and all(map(self.is_condition, term.atoms))

    def summand(self, of: Term) -> Term | None:
        """Returns what adds up to `of` over all positions; None if `of` is no such sum.

        Sums are running sums, counts of what does not depend on the query, the position, and numbers.
        """
        summand = ZERO
        for monomial, c in of.items:
            if len(monomial) > 1:
                return None
            part = self.summand_of(monomial[0]) if monomial else as_term(IsWord(START))
            if part is None:
                return None
            summand = summand + part * c
        return summand

    def summand_of(self, atom: Atom) -> Term | None:
        """Returns what adds up to the atom over all positions; None if it is no such sum."""
        match atom:
            case Sum(of):
                return of
            case Position():
                return ONE
            case Named(_, of):
                return self.summand(of)
            case Count(where) if all(query.is_constant for _, query in where.pairs):
                summand = ONE
                for key, query in where.pairs:
                    plain = self.is_flag(key) and query == ONE
                    summand = summand * (key if plain else is_key(key, query))
                return summand - as_term(IsWord(START)) * value_at_start(summand)
        return None


def known_facts(weights: ProgramWeights, *, leading: bool = False) -> TermFacts:
    """Returns the facts of a program for one n. leading: whether n counts as rounded up to its first digits, as for p."""
    n, texts = weights.n, weights.texts
    size = round_up(n) if leading else n
    largest = max((piece.largest(size) for piece in texts.pieces if piece.numbers), default=0)
    return TermFacts(
        weights.program.architecture,
        weights.words,
        weights.has_numbers,
        weights.numbers[0],
        weights.length,
        bounds=Bounds((weights.numbers[0], largest), texts.length(size), texts.last(size)),
        tight=Bounds(weights.numbers, weights.length, texts.last(n)),
    )


def value_at_start(term: Term) -> Fraction:
    """Returns the value of a term at position 1, where `<s>` stands."""
    return Fraction(Input(((START, 0),)).value(term, 1))


def is_key(key: Term, query: Term) -> Term:
    """Returns the bit that a key equals a constant query."""
    return as_term(Equal(key - key.constant, query.constant - key.constant))


def asked_position(matching: Matching) -> Term | None:
    """Returns the one position that can match, where positions themselves are the key; else None."""
    return matching.pairs[0][1] if len(matching.pairs) == 1 and matching.pairs[0][0] == as_term(Position()) else None
