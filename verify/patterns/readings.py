"""What a term reads in texts of any length: a head over the text as an automaton that reads it word by word.

The term is read where a head picks the first or the last position that matches, else position 1. There it is the number of one
word, or 0. Keys are told from the last few words, and from what another head picks for each position among those that have the
first numeral; queries are told from the words of a search, which stand at the text's end. Of a number no more is known than its
letter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from verify.patterns.pattern import NUMERALS
from verify.programs.forms import read_alone
from verify.programs.terms import (
    POSITION,
    Atom,
    Back,
    IsNumber,
    IsWord,
    Named,
    NumberOf,
    Pick,
    Position,
    Read,
    Term,
    as_term,
)

NOTHING, MARKED, ANOTHER = range(3)  # what is read: 0, the number of the marked word, or that of another one


@dataclass(frozen=True)
class Word:
    """A word of a text. name: it, or the family of its number. number: its letter, or itself where it is told; None of a word.

    marked: whether this is the word that is asked for.
    """

    name: str
    number: str | int | None = None
    marked: bool = False


@dataclass(frozen=True)
class Value:
    """A number that is told, plus that of a word if there is one."""

    constant: int = 0
    word: Word | None = None


@dataclass(frozen=True)
class Seen:
    """What is kept of a text. words: the last ones. position: of the last one; far behind the numbers of a search it stays one.

    before: what heads have picked last among the positions of the first numeral. read: what the term's head has; None if nothing.
    """

    words: tuple[Word, ...] = ()
    position: int = 0
    before: tuple[Value, ...] = ()
    read: int | None = None


@dataclass(frozen=True)
class Inner:
    """What is read at the last position where the key is what the position that reads asks for."""

    value: Term
    key: Term
    query: Term


@dataclass(frozen=True)
class Head:
    """What is read at the first or the last position at which each key is what is asked for."""

    value: Term
    last: bool
    pairs: Sequence[tuple[Term | Inner, Term]]


BITS = {bit: Value(int(bit)) for bit in (False, True)}
FIRST = Value(word=Word("", NUMERALS[0]))


class Reading:
    """What `term` reads behind texts and a search. Raises ValueError where that cannot be told.

    asks: the words that the texts end with, if it is read there and not behind the search. positive: whether all numbers are 1 or
    more. more: by how much the term is more than the number that it is.
    """

    def __init__(
        self, term: Term, search: Sequence[Word], *, asks: Sequence[Word] = (), positive: bool = False, more: int = 0
    ) -> None:
        last = asks or search
        found = _head(term)
        if found is None:
            raise ValueError("the term is read by no head")
        if not positive and not more:
            raise ValueError("a number that is read may be 0, as where none is")
        if any(_depth(query) >= len(last) for _, query in found.pairs):
            raise ValueError("what is asked for stands before the words that ask")
        self.term, self.search, self.positive, self.more = term, search, positive, more
        self.head, self.asks, self.unread = found, asks, () if asks else search
        self.inner = [key for key, _ in found.pairs if isinstance(key, Inner)]
        keys = [[key] if isinstance(key, Term) else [key.value, key.key, key.query] for key, _ in found.pairs]
        self.width = 1 + max(2, *map(_depth, [found.value, *itertools.chain(*keys)]))
        self.known = dict[tuple[Seen, Word], Seen]()
        self.values = dict[tuple[Term, tuple[Word, ...], int], Value]()
        self.asked = [(key, self._value(query, last, len(last))) for key, query in found.pairs]
        inner = [part for key in self.inner for part in (key.value, key.key, key.query)]
        if any(map(_counts, [found.value, *inner, *(query for _, query in found.pairs)])):
            raise ValueError("only a key may be a position")
        self.positions = max(2, *map(_last_told, self.asked))

    def further(self, seen: Seen, word: Word) -> Seen:
        """Behind one more word."""
        if (seen, word) not in self.known:
            self.known[seen, word] = self._further(seen, word)
        return self.known[seen, word]

    def _further(self, seen: Seen, word: Word) -> Seen:
        here = replace(seen, words=(*seen.words, word)[-self.width :], position=min(seen.position + 1, self.positions))
        if not seen.words:  # position 1, where heads read that find nothing
            if any(
                self._at(value, here) != Value() for value in [self.head.value, *(head.value for head in self.inner)]
            ):
                raise ValueError("something is read at position 1")
            return replace(here, before=(Value(),) * len(self.inner))
        kept = [self._picked(head, value, here) for head, value in zip(self.inner, here.before, strict=True)]
        here = replace(here, before=tuple(kept))
        if (here.read is None or self.head.last) and self._matches(here):
            return replace(here, read=self._told(self._at(self.head.value, here)))
        return here

    def end(self, seen: Seen) -> int:
        """What is read where this text ends, or behind the search."""
        behind = other = seen
        for word in self.unread:
            marked = replace(word, marked=word.number is not None)
            behind, other = self.further(behind, word), self.further(other, marked)
        if behind.read != other.read:
            raise ValueError("what is read is a number of the search")
        return behind.read or NOTHING

    def _picked(self, head: Inner, value: Value, here: Seen) -> Value:
        """What a head of positions with the first numeral has picked last, this one included; without its mark."""
        if not self._is_first(head.key, here):
            return value
        picked = self._at(head.value, here)
        return picked if picked.word is None else replace(picked, word=Word("", picked.word.number))

    def _matches(self, here: Seen) -> bool:
        """Whether the term's head may pick this position."""
        before, equal = iter(here.before), list[bool | None]()
        for key, asked in self.asked:
            if isinstance(key, Inner):
                if not self._is_first(key.query, here):
                    raise ValueError("a head picks for another number than the first")
                value = next(before)
            else:
                value = self._at(key, here)
            equal.append(self._equal(value, asked))
            if equal[-1] is False:
                return False
        if None in equal:
            raise ValueError("two numbers may be the same or not")
        return True

    def _is_first(self, term: Term, here: Seen) -> bool:
        """Whether it is the first numeral's number."""
        if (equal := self._equal(self._at(term, here), FIRST)) is None:
            raise ValueError("a number may be the first or not")
        return equal

    def _told(self, value: Value) -> int:
        if value == Value():
            return NOTHING
        if value.word is None or value.constant != self.more:
            raise ValueError("what is read is the number of no word")
        return MARKED if value.word.marked else ANOTHER

    def _equal(self, a: Value, b: Value) -> bool | None:
        """Whether they are the same; None if that is open."""
        if a.word is None and b.word is None:
            return a.constant == b.constant
        if a.word is None or b.word is None:
            least = max((v.constant for v in (a, b) if v.word), default=0)
            told = min(v.constant for v in (a, b) if not v.word)
            return False if self.positive and told <= least else None
        letters = {a.word.number, b.word.number}
        return len(letters) == 1 if a.constant == b.constant and letters & {*NUMERALS} else None

    def _at(self, term: Term, here: Seen) -> Value:
        key = term, here.words, here.position
        if key not in self.values:
            self.values[key] = self._value(*key)
        return self.values[key]

    def _value(self, term: Term, words: Sequence[Word], position: int) -> Value:
        """Of a term without a head, at the last of these words."""
        total, named = 0, list[Word]()
        for monomial, coefficient in term.items:
            factors = [self._atom(atom, words, position) for atom in monomial]
            product = math.prod([f.constant for f in factors if not f.word], start=coefficient.numerator)
            found = [f for f in factors if f.word]
            if coefficient.denominator != 1 or (
                product and found and (product != 1 or len(found) > 1 or found[0].constant)
            ):
                raise ValueError("no sum of whole numbers")
            if product and found:
                named += [f.word for f in found if f.word]
            elif product:
                total += product
        if len(named) > 1:
            raise ValueError("a sum of two numbers")
        return Value(total, named[0] if named else None)

    def _atom(self, atom: Atom, words: Sequence[Word], position: int) -> Value:
        word = words[-1]
        match atom:
            case Position():
                return Value(position)
            case IsWord(name):
                return BITS[word.number is None and word.name == name]
            case IsNumber(family):
                return BITS[word.number is not None and family in ("", word.name)]
            case NumberOf(family):
                if word.number is None or family not in ("", word.name):
                    return BITS[False]
                return Value(word=word) if isinstance(word.number, str) else Value(word.number)
            case Named(_, of):
                return self._value(of, words, position)
            case Read(value, Back(steps)):
                return self._value(value, words[:-steps], position - steps) if len(words) > steps else BITS[False]
        raise ValueError(f"no value of {type(atom).__name__} in a text of any length")


def _head(term: Term) -> Head | None:
    """The head by which it is read."""
    found = read_alone(term)
    if found is None or not isinstance(found.where, Pick):
        return None
    pairs = [(_inner(key) or key, query) for key, query in found.where.matching.pairs]
    return Head(found.value, found.where.last, pairs)


def _inner(term: Term) -> Inner | None:
    found = read_alone(term)
    if found is None or not isinstance(found.where, Pick):
        return None
    if len(found.where.matching.pairs) > 1 or not found.where.last:
        raise ValueError("no value of a key that is read so")
    return Inner(found.value, *found.where.matching.pairs[0])


def _last_told(compared: tuple[Term | Inner, Value]) -> int:
    """A position from which on a key that is one is not what is asked for."""
    key, asked = compared
    if isinstance(key, Inner) or not _counts(key):
        return 0
    if asked.word or not (more := key - as_term(POSITION)).is_constant:
        raise ValueError("no more of a position is told than whether it is a certain one")
    return asked.constant - math.floor(more.constant) + 1


def _counts(term: Term) -> bool:
    """Whether a position is told by it."""
    inner = (
        atom.of if isinstance(atom, Named) else atom.value for atom in term.atoms if isinstance(atom, Named | Read)
    )
    return POSITION in term.atoms or any(map(_counts, inner))


def _depth(term: Term) -> int:
    """How many words back it is told from."""
    depths = [0]
    for atom in term.atoms:
        match atom:
            case Named(_, of):
                depths.append(_depth(of))
            case Read(value, Back(steps)):
                depths.append(steps + _depth(value))
    return max(depths)
