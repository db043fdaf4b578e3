"""What a term reads in texts of any length: a head over the text as an automaton that reads it word by word.

The term is read where a head picks the first or the last position that matches, else position 1. There it is the number of one
word, or 0. Keys are told from the last few words, and from what another head picks for each position among those that have the
first numeral; queries are told from the words of a search, or of the task, which stand at the text's end. Of a number no more is
known than its letter; but of one that is compared with positions, or with how many match, also how far these are from it (`tally`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from constructions.language.terms import (
    Atom,
    Back,
    IsNumber,
    IsWord,
    Named,
    NumberOf,
    Position,
    Read,
    Term,
)
from verify.automata.token_automaton import State
from verify.patterns.heads import MANY, Inner, Occurs, PatternHead, depth, head_of, more_than, tells_positions
from verify.patterns.pattern import NUMERALS
from verify.patterns.tally import Tally, initial

NOTHING, MARKED, ANOTHER = range(3)  # what is read: 0, the number of the marked word, or that of another one


class Word(NamedTuple):
    """A word of a text. name: it, or the family of its number. number: its letter; None of a word.

    marked: whether this is the word that is asked for. plus: how much is added to the number of a pattern's word.
    """

    name: str
    number: str | None = None
    marked: bool = False
    plus: int = 0


class ReadValue(NamedTuple):
    """A number that is told, plus that of a word if there is one."""

    constant: int = 0
    word: Word | None = None


@dataclass(frozen=True)
class KeptText:
    """What is kept of a text. words: the last ones.

    before: what heads have picked last among the positions of the first numeral, or how many match. read: what the term's head
    has; None if nothing. tally: of positions, or of how many match.
    """

    words: tuple[Word, ...] = ()
    before: tuple[ReadValue, ...] = ()
    read: int | None = None
    tally: Tally = field(default_factory=Tally)


POSITIONS = Word("how many positions there are")
BITS = {bit: ReadValue(int(bit)) for bit in (False, True)}
FIRST = ReadValue(word=Word("", NUMERALS[0]))


class TermReading:
    """What `term` reads after texts and a search. Raises ValueError where that cannot be told.

    A term that is 1 where more positions match than a number says, else 0, reads the text's first word or nothing.
    asks: the words that the texts end with, if it is read there and not after the search. positive: whether all numbers are 1 or
    more. more: by how much the term is more than the number that it is. counts: the letter of the number that is compared with
    positions, or with how many match; it is `least` or more, whatever the others are.
    """

    def __init__(
        self,
        term: Term,
        search: Sequence[Word],
        *,
        asks: Sequence[Word] = (),
        positive: bool = False,
        more: int = 0,
        counts: str = "",
        least: int = 0,
    ) -> None:
        last = asks or search
        self.head, above = head_of(term), more_than(term)
        if self.head is None and above is None:
            raise ValueError("the term is read by no head")
        if self.head and not positive and not more:
            raise ValueError("a number that is read may be 0, as where none is")
        pairs = self.head.pairs if self.head else above[0] if above else []
        if any(depth(query) >= len(last) for _, query in pairs):
            raise ValueError("what is asked for stands before the words that ask")
        self.term, self.search, self.positive, self.more = term, search, positive, more
        self.asks, self.counts, self.least, self.unread = asks, counts, least, () if asks else search
        self.before = initial(least) if counts else (Tally(),)
        self.inner = [key for key, _ in pairs if not isinstance(key, Term)]
        key_terms = [part for key, _ in pairs for part in ((key,) if isinstance(key, Term) else key.parts)]
        values = [self.head.value] if self.head else []
        self.width = 1 + max(2, *map(depth, [*values, *key_terms]))
        self.known = dict[tuple[KeptText, Word], tuple[KeptText, ...]]()
        self.values = dict[tuple[Term, tuple[Word, ...]], ReadValue]()
        self.asked = [(key, self._value(query, last)) for key, query in pairs]
        self.above = self._value(above[1], last) if above else ReadValue()
        inner = [part for key in self.inner for part in key.parts]
        if any(map(tells_positions, [*values, *inner, *(query for _, query in pairs)])):
            raise ValueError("only a key may be a position")
        if any(word.plus for word in self.unread):
            raise ValueError("a number of the search is more than it says")
        if above and (self.above.word is None or self.above.word.number != counts):
            raise ValueError("how many match is compared with another number")

    def further(self, seen: KeptText, word: Word) -> tuple[KeptText, ...]:
        """Returns the readings after one more word, for each number that may be compared."""
        if (seen, word) not in self.known:
            self.known[seen, word] = self._advance(seen, word)
        return self.known[seen, word]

    def _advance(self, seen: KeptText, word: Word) -> tuple[KeptText, ...]:
        here = replace(seen, words=(*seen.words, word)[-self.width :])
        if seen.words:
            before = [self._keep(head, value, here) for head, value in zip(self.inner, here.before, strict=True)]
            here = replace(here, before=tuple(before))
        else:  # position 1, where heads read that find nothing
            values = [self.head, *self.inner]
            if any(
                self._evaluate(of.value, here) != ReadValue() for of in values if isinstance(of, PatternHead | Inner)
            ):
                raise ValueError("something is read at position 1")
            here = replace(here, before=(ReadValue(),) * len(self.inner))
        if self.head is None:
            matches = bool(seen.words) and self._matches(here)
            read = here.read if seen.words else MARKED if word.marked else ANOTHER
            return tuple(replace(here, read=read, tally=tally) for tally in seen.tally.advance(matches))
        each = [replace(here, tally=tally) for tally in seen.tally.advance(bool(self.counts))]
        return tuple(
            replace(now, read=self._result(self._evaluate(self.head.value, now)))
            if seen.words and (now.read is None or self.head.last) and self._matches(now)
            else now
            for now in each
        )

    def may_find(self, seen: KeptText, word: Word) -> bool:
        """Returns whether the next word is one that it may be about."""
        return word.number is not None if self.head else not seen.words

    def may_stand(self, state: State, word: Word, seen: KeptText) -> bool:
        """Returns whether a word that is the last one can stand at this state, where its number is compared with positions."""
        if state.behind is None or self.head is None or word.number != self.counts:
            return True
        return seen.tally.is_passed(state.behind - 1)

    def end(self, seen: KeptText) -> set[int]:
        """Returns what may be read where this text ends, or after the search."""
        ends = [(seen, seen)]
        for word in self.unread:
            marked = word._replace(marked=word.number is not None)
            both = [(self.further(a, word), self.further(b, marked)) for a, b in ends]
            ends = [pair for of_a, of_b in both for pair in zip(of_a, of_b, strict=True)]
        if any(behind.read != other.read for behind, other in ends):
            raise ValueError("what is read is a number of the search")
        return {self._count_in_all(behind) for behind, _ in ends}

    def _count_in_all(self, seen: KeptText) -> int:
        if self.head is None and not seen.tally.is_passed(self.above.constant):
            return NOTHING
        return seen.read or NOTHING

    def _keep(self, inner: Inner | Occurs, value: ReadValue, here: KeptText) -> ReadValue:
        """Returns what is kept of a head of keys, this position included."""
        if isinstance(inner, Inner):
            return self._pick(inner, value, here)
        matches = self._equal(self._evaluate(inner.key, here), ReadValue(inner.number), here.tally)
        if matches is None:
            raise ValueError("a number may be one that is counted or not")
        return ReadValue(min(value.constant + matches, MANY))

    def _pick(self, head: Inner, value: ReadValue, here: KeptText) -> ReadValue:
        """Returns what a head of positions with the first numeral has picked last, this one included; without its mark."""
        if not self._is_first(head.key, here):
            return value
        picked = self._evaluate(head.value, here)
        return picked if picked.word is None else picked._replace(word=Word("", picked.word.number))

    def _matches(self, here: KeptText) -> bool:
        """Returns whether the term's head may pick this position."""
        before, equal = iter(here.before), list[bool | None]()
        for key, target in self.asked:
            if isinstance(key, Inner) and not self._is_first(key.query, here):
                raise ValueError("a head picks for another number than the first")
            value = self._evaluate(key, here) if isinstance(key, Term) else next(before)
            equal.append(self._equal(value, target, here.tally))
            if equal[-1] is False:
                return False
        if None in equal:
            raise ValueError("two numbers may be the same or not")
        return True

    def _is_first(self, term: Term, here: KeptText) -> bool:
        """Returns whether it is the first numeral's number."""
        if (equal := self._equal(self._evaluate(term, here), FIRST, here.tally)) is None:
            raise ValueError("a number may be the first or not")
        return equal

    def _result(self, value: ReadValue) -> int:
        if value == ReadValue():
            return NOTHING
        if value.word is None or value.constant != self.more:
            raise ValueError("what is read is the number of no word")
        return MARKED if value.word.marked else ANOTHER

    def _equal(self, a: ReadValue, b: ReadValue, tally: Tally) -> bool | None:
        """Returns whether they are the same; None if that is open."""
        if a.word is None and b.word is None:
            return a.constant == b.constant
        if a.word is None or b.word is None:
            word, constant = (a, b.constant) if a.word else (b, a.constant)
            return False if self.positive and constant < word.constant + self._least(word) else None
        if POSITIONS in (a.word, b.word):
            position, number = (a, b) if a.word == POSITIONS else (b, a)
            compared = self.counts and number.word and number.word.number == self.counts
            return tally.is_left(position.constant - number.constant) if compared else None
        letters = {a.word.number, b.word.number}
        return len(letters) == 1 if a.constant == b.constant and letters & {*NUMERALS} else None

    def _least(self, value: ReadValue) -> int:
        """Returns the least value of the number, where all are positive."""
        return self.least if self.counts and value.word and value.word.number == self.counts else 1

    def _evaluate(self, term: Term, here: KeptText) -> ReadValue:
        key = term, here.words
        if key not in self.values:
            self.values[key] = self._value(*key)
        return self.values[key]

    def _value(self, term: Term, words: Sequence[Word], back: int = 0) -> ReadValue:
        """Returns the value of a term without a head at the last of these words, so many before the text's last one."""
        total, named = 0, list[Word]()
        for monomial, coefficient in term.items:
            factors = [self._atom(atom, words, back) for atom in monomial]
            product = math.prod([f.constant for f in factors if not f.word], start=coefficient.numerator)
            word_factors = [f for f in factors if f.word]
            if coefficient.denominator != 1 or (
                product and word_factors and (product != 1 or len(word_factors) > 1 or word_factors[0].constant)
            ):
                raise ValueError("no sum of whole numbers")
            if product and word_factors:
                named += [f.word for f in word_factors if f.word]
            elif product:
                total += product
        if len(named) > 1:
            raise ValueError("a sum of two numbers")
        return ReadValue(total, named[0] if named else None)

    def _atom(self, atom: Atom, words: Sequence[Word], back: int) -> ReadValue:
        word = words[-1]
        match atom:
            case Position():
                return ReadValue(-back, POSITIONS)
            case IsWord(name):
                return BITS[word.number is None and word.name == name]
            case IsNumber(family):
                return BITS[word.number is not None and family in ("", word.name)]
            case NumberOf(family):
                if word.number is None or family not in ("", word.name):
                    return BITS[False]
                return ReadValue(word=word)
            case Named(_, of):
                return self._value(of, words, back)
            case Read(value, Back(steps)):
                return self._value(value, words[:-steps], back + steps) if len(words) > steps else BITS[False]
        raise ValueError(f"no value of {type(atom).__name__} in a text of any length")
