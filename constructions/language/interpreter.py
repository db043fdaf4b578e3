"""What a term is on one input, by the plain meaning of each word. It shares no code with engines, checker or normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from constructions.language.terms import (
    Above,
    Answer,
    Anything,
    At,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Digits,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    Named,
    Nearest,
    Next,
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

Number = int | Fraction
Spoken = tuple[str, int]  # a word and 0, or the name of a family of numbers and the number, from 1


ANYTHING = "anything"  # no word is this one


@dataclass(frozen=True)
class Input:
    """Tokens: numbers of a family, or words. numbers: the names of the families.

    known: the values that were asked for. An input that begins with the same tokens has them too.
    """

    tokens: Sequence[Spoken]
    numbers: frozenset[str] = frozenset([""])
    known: dict[tuple[Term, int], Number] = field(default_factory=dict)

    def value(self, term: Term, k: int) -> Number:
        """Returns the term's value at position k, from 1; an int if it is one: ints calculate several times as fast."""
        if (term, k) not in self.known:
            total: Number = 0
            for monomial, c in term.items:
                product: Number = c.numerator if c.denominator == 1 else c
                for atom in monomial:
                    product *= self._atom(atom, k)
                total += product
            self.known[term, k] = total
        return self.known[term, k]

    def _atom(self, atom: Atom, k: int) -> Number:
        name, number = self.tokens[k - 1]
        match atom:
            case Position():
                return k
            case NumberOf(family):
                return number if name == family and name in self.numbers else 0
            case IsNumber(family):
                return int(name == family and name in self.numbers)
            case IsWord(word):
                return int(name == word and name not in self.numbers)
            case Positive(of):
                return max(self.value(of, k), 0)
            case Equal(of, value):
                return int(self.value(of, k) == value)
            case Above(of):
                return int(self.value(of, k) > 0)
            case Reciprocal(of):
                return Fraction(1) / self.value(of, k)
            case Named(_, of):
                return self.value(of, k)
            case Sum(of):
                return sum(self.value(of, j) for j in range(1, k + 1))
            case Comb(of, steps, sign):
                return sum((1, sign)[i % 2] * self.value(of, j) for i, j in enumerate(range(k, 0, -steps)))
            case Digits(of, base, count):
                return sum(int(base**i) * self.value(of, k - i) for i in range(min(count, k)))
            case Count(where):
                return len(self._matches(where, k))
            case Read(value, where):
                values = [self.value(value, j) for j in self.chosen(where, k)]
                return values[0] if len(values) == 1 else Fraction(sum(values)) / max(len(values), 1)
        raise TypeError(f"no atom: {atom}")

    def word_at(self, answer: Answer, k: int) -> str:
        """Returns the word that the program outputs at position k."""
        word, number = self.spoken(answer, k)
        return str(number) if word in self.numbers else word

    def spoken(self, answer: Answer, k: int) -> tuple[str, Number]:
        """Returns what is said at position k as a token: a word and 0, or a family of numbers and the number."""
        match answer:
            case If(bit, then, otherwise):
                return self.spoken(then if self.value(bit, k) else otherwise, k)
            case SayNumber(number, family):
                return family, self.value(number, k)
            case Say(word):
                return word, 0
            case Anything():
                return ANYTHING, 0

    def chosen(self, where: Selection, k: int) -> list[int]:
        """Returns the positions that k reads: several if scores tie, none if k goes back too far."""
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
                return [min((abs(j - named), j) for j in range(1, k + 1))[1]]
            case Pick(matching, last):
                matches = self._matches(matching, k)
                return [matches[-1 if last else 0]] if matches else [1]
            case Closest(matching, target):
                matches, named = self._matches(matching, k), self.value(target, k)
                return [min((abs(j - named), j) for j in matches)[1]] if matches else [1]
            case Next(matching, key, query):
                matches = self._matches(matching, k)
                successors = [j for j in matches if self.value(key, j) == self.value(query, k) + 1]
                return successors[:1] or [max((self.value(key, j), -j) for j in matches)[1] * -1] if matches else [1]
            case Best(rows):
                scores = [
                    sum(self.value(key, j) * self.value(query, k) for key, query in rows) for j in range(1, k + 1)
                ]
                return [j for j, score in enumerate(scores, start=1) if score == max(scores)]

    def _matches(self, matching: Matching, k: int) -> list[int]:
        """Returns the positions, from 2 on, whose keys are what k asks for."""
        matches = list(range(2, k + 1))
        for key, query in matching.pairs:
            matches = [j for j in matches if self.value(key, j) == self.value(query, k)]
        return matches
