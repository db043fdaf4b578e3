"""What a term is on one input, by the plain meaning of each word. It shares no code with engines, checker or normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from verify.programs.terms import (
    Above,
    Answer,
    At,
    Atom,
    Back,
    Best,
    Count,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    Named,
    Nearest,
    NumberOf,
    Pick,
    Position,
    Positive,
    Read,
    Reciprocal,
    Say,
    SayNumber,
    Selection,
    Sum,
    Term,
)

Spoken = tuple[str, int]  # a word and 0, or the name of a family of numbers and the number, from 1


@dataclass(frozen=True)
class Input:
    """Tokens: numbers of a family, or words. numbers: the names of the families."""

    tokens: Sequence[Spoken]
    numbers: frozenset[str] = frozenset([""])
    known: dict[tuple[Term, int], Fraction] = field(default_factory=dict)

    def value(self, term: Term, k: int) -> Fraction:
        """The term's value at position k, from 1."""
        if (term, k) not in self.known:
            total = Fraction(0)
            for monomial, c in term.items:
                for atom in monomial:
                    c *= self._atom(atom, k)
                total += c
            self.known[term, k] = total
        return self.known[term, k]

    def _atom(self, atom: Atom, k: int) -> Fraction:
        name, number = self.tokens[k - 1]
        match atom:
            case Position():
                return Fraction(k)
            case NumberOf(family):
                return Fraction(number if name == family and name in self.numbers else 0)
            case IsNumber(family):
                return Fraction(int(name == family and name in self.numbers))
            case IsWord(word):
                return Fraction(int(name == word and name not in self.numbers))
            case Positive(of):
                return max(self.value(of, k), Fraction(0))
            case Equal(of, value):
                return Fraction(int(self.value(of, k) == value))
            case Above(of):
                return Fraction(int(self.value(of, k) > 0))
            case Reciprocal(of):
                return 1 / self.value(of, k)
            case Named(_, of):
                return self.value(of, k)
            case Sum(of):
                return sum((self.value(of, j) for j in range(1, k + 1)), Fraction(0))
            case Count(where):
                return Fraction(sum(self._matches(where, j, k) for j in range(2, k + 1)))
            case Read(value, where):
                chosen = self.chosen(where, k)
                return sum((self.value(value, j) for j in chosen), Fraction(0)) / max(len(chosen), 1)
        raise TypeError(f"no atom: {atom}")

    def said(self, answer: Answer, k: int) -> str:
        """The word that is said at position k."""
        match answer:
            case If(bit, then, otherwise):
                return self.said(then if self.value(bit, k) else otherwise, k)
            case SayNumber(number, _):
                return str(self.value(number, k))
            case Say(word):
                return word

    def chosen(self, where: Selection, k: int) -> list[int]:
        """The positions that k reads; several for scores alone, none behind the first ones."""
        match where:
            case Back(steps):
                return [k - steps] if k > steps else []
            case At(target):
                named = self.value(target, k)
                if not (named.denominator == 1 and 1 <= named <= k):
                    raise ValueError(f"position {k} is told to read {named}")
                return [int(named)]
            case Nearest(target):
                named = self.value(target, k)
                return [min(range(1, k + 1), key=lambda j: abs(j - named))]
            case Pick(matching, last):
                found = [j for j in range(2, k + 1) if self._matches(matching, j, k)]
                return [found[-1 if last else 0]] if found else [1]
            case Best(rows):
                scores = [
                    sum((self.value(key, j) * self.value(query, k) for key, query in rows), Fraction(0))
                    for j in range(1, k + 1)
                ]
                return [j for j, score in enumerate(scores, start=1) if score == max(scores)]

    def _matches(self, matching: Matching, j: int, k: int) -> bool:
        return all(self.value(key, j) == self.value(query, k) for key, query in matching.pairs)
