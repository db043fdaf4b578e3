"""Terms that tokens alone tell, as tables: what each token makes of them."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from constructions.language.terms import (
    FIRST,
    Atom,
    Back,
    Equal,
    IsNumber,
    IsWord,
    Named,
    NumberOf,
    Read,
    Term,
    as_term,
)
from verify.automata.token_automaton import State, TokenAutomaton
from verify.programs.forms import alone, content

MOST_VALUES = 256  # of the numbers of a family, told one by one
MOST_TEXTS = 1 << 17  # of a few tokens
MOST_STEPS = 4  # back
AT_FIRST = 1  # in place of a number, of the word at position 1
Token = tuple[Atom, int]  # its kind, and its number
Kind = tuple[Atom, range]  # a word, or a number of these


def is_table(value: Term) -> bool:
    """Returns whether the token at k alone tells it, and it compares its number, so that it is no polynomial of that."""
    return any(isinstance(a, Equal) for a in value.atoms) and all(map(is_told, value.atoms))


def is_told(a: Atom) -> bool:
    """Returns whether the token at k alone tells it."""
    match a:
        case Equal(of) if a != FIRST:
            return all(map(is_told, of.atoms))
        case Named(_, of):
            return all(map(is_told, of.atoms))
    return a == FIRST or isinstance(a, NumberOf | IsNumber | IsWord)


def is_number(value: Term) -> bool:
    """Returns whether it is the number of one token."""
    match alone(value):
        case NumberOf():
            return True
        case Read(of, Back()):
            return isinstance(alone(of), NumberOf)
    return False


def by_token(value: Term, automaton: TokenAutomaton, of: Callable[[Fraction], Fraction]) -> Term | None:
    """Returns a function of a sum of numbers of several families and of words, as a table: a token is one of them.

    None if it is no such sum, or one of many numbers, or of a single family's.
    """
    kinds = {_kind(a) for a in value.atoms}
    if None in kinds or sum(isinstance(kind, IsNumber) for kind in kinds) < 2:
        return None
    table = as_term(of(value.constant))
    for kind in kinds:
        if kind is None:
            raise TypeError("there is no kind")
        numbers = _numbers(kind, automaton)
        if numbers is None:
            return None
        table = table - as_term(kind) * of(value.constant)
        for number in numbers:
            table = table + (_is(kind, number) if len(numbers) > 1 else as_term(kind)) * of(
                _value_at_token(value, (kind, number))
            )
    return table


def _kind(a: Atom) -> Atom | None:
    """Returns the token's kind, if the atom is 0 at all others."""
    if isinstance(a, NumberOf):
        return IsNumber(a.family)
    return a if isinstance(a, IsNumber | IsWord) else None


def _numbers(kind: Atom, automaton: TokenAutomaton) -> range | None:
    """Returns the numbers that a token of this kind can be, 0 for a word; None if they are many."""
    if not isinstance(kind, IsNumber):
        return range(1)
    ranges_of_states = [
        _range(state, automaton) for state in automaton.states if not state.word and state.family == kind.family
    ]
    ranges = [numbers for numbers in ranges_of_states if numbers is not None]
    if len(ranges) < len(ranges_of_states):
        return None
    return range(min((r.start for r in ranges), default=0), max((r.stop for r in ranges), default=0))


def _range(state: State, automaton: TokenAutomaton) -> range | None:
    low, high = (automaton.range(end)[i] for i, end in enumerate(state.numbers))
    few = isinstance(low, int) and isinstance(high, int) and high - low < MOST_VALUES
    return range(low, high + 1) if few else None


def _is(kind: Atom, number: int) -> Term:
    if not isinstance(kind, IsNumber):
        raise TypeError("kind is no IsNumber")
    bit = as_term(Equal(as_term(NumberOf(kind.family)), Fraction(number)))
    return bit if number else as_term(kind) * bit


def _value_at_token(value: Term, token: Token) -> Fraction:
    """Returns the value of a term at a token."""
    return sum((c * math.prod(_atom_at(a, token) for a in monomial) for monomial, c in value.items), Fraction(0))


def _atom_at(a: Atom, token: Token) -> Fraction:
    match a:
        case Equal(of, value) if a != FIRST:
            return Fraction(_value_at_token(of, token) == value)
        case Named(_, of):
            return _value_at_token(of, token)
        case NumberOf(family):
            return Fraction(token[1] if token[0] == IsNumber(family) else 0)
    return Fraction(isinstance(token[0], IsWord) and token[1] == AT_FIRST if a == FIRST else token[0] == a)


def extent(value: Term, automaton: TokenAutomaton) -> tuple[Fraction, Fraction] | None:
    """Returns the least and the largest value, if a few tokens up to k tell it: over all of these that may stand behind each
    other.
    """
    value = content(value)
    kinds = [_of_state(p, automaton) for p in automaton.states]
    few = tuple((kind, p.after) for kind, p in zip(kinds, automaton.states, strict=True) if kind is not None)
    return _extent(value, few) if len(few) == len(kinds) else None


@functools.lru_cache(maxsize=64)
def _extent(value: Term, states: tuple[tuple[Kind, tuple[int, ...]], ...]) -> tuple[Fraction, Fraction] | None:
    """Returns the least and the largest value over all texts; None if there are too many. states: tokens, and states before."""
    reads = {a: of_one(a) for a in value.atoms}
    steps = max((steps for steps, _ in reads.values()), default=0)
    if steps > MOST_STEPS or not all(is_told(a) for _, of in reads.values() for a in of.atoms):
        return None
    sums: set[Fraction] = set()
    at_token = functools.cache(lambda of_one, token: _value_at_token(of_one[1], token))
    for text in _texts(states, steps):
        if math.prod(len(numbers) for _, numbers in text) > MOST_TEXTS:
            return None
        every = [[(kind, number) for number in numbers] for kind, numbers in text]
        at = {
            a: [at_token(reads[a], token) for token in every[reads[a][0]]] if reads[a][0] < len(every) else []
            for a in reads
        }
        for indices in itertools.product(*(range(len(tokens)) for tokens in every)):
            here = {a: values[indices[reads[a][0]]] if values else Fraction(0) for a, values in at.items()}
            products = (
                c * math.prod(map(here.__getitem__, m)) for m, c in value.items if all(map(here.__getitem__, m))
            )
            sums.add(sum(products, Fraction(0)))
    return min(sums), max(sums)


def of_one(a: Atom) -> tuple[int, Term]:
    """Returns how many steps back a token tells it, and as what at that."""
    match a:
        case Read(value, Back(steps)):
            return steps, value
        case Equal(of, value) if value and is_number(of) and isinstance(inner := alone(of), Read):
            steps, number = of_one(inner)
            return steps, as_term(Equal(number, value))
    return 0, as_term(a)


def _texts(states: Sequence[tuple[Kind, Sequence[int]]], steps: int) -> set[tuple[Kind, ...]]:
    """Returns what may stand at k, before it, and so on; it ends where a text begins. states: what stands there, and after
    which.
    """
    ways: set[tuple[tuple[Kind, ...], int]] = {((kind,), i) for i, (kind, _) in enumerate(states)}
    for _ in range(steps):
        begun = {(text, i) for text, i in ways if not states[i][1]}
        ways = begun | {((*text, states[j][0]), j) for text, i in ways for j in states[i][1]}
    return {text for text, _ in ways}


def _of_state(state: State, automaton: TokenAutomaton) -> Kind | None:
    """Returns the word or the numbers that stand at a state; None if the numbers are many."""
    if state.word:
        return IsWord(state.word), range(AT_FIRST, AT_FIRST + 1) if not state.after else range(1)
    numbers = _range(state, automaton)
    return None if numbers is None else (IsNumber(state.family), numbers)
