"""Single changes of an answer: another constant, comparison, direction, default, word or term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Answer,
    Atom,
    Back,
    Closest,
    Comb,
    Equal,
    If,
    IsWord,
    Matching,
    Named,
    Nearest,
    Pick,
    Position,
    Read,
    Say,
    SayNumber,
    Sum,
    Term,
    as_term,
    term,
)


def changes_of(answer: Answer, words: tuple[str, ...]) -> Iterator[Answer]:
    """Yields the answer with one thing changed, each such answer once. words: those that may stand in the place of another."""
    met = {answer}
    for changed in _of_answer(answer, words):
        if changed not in met:
            met.add(changed)
            yield changed


def _of_answer(answer: Answer, words: tuple[str, ...]) -> Iterator[Answer]:
    match answer:
        case If(bit, then, otherwise):
            yield from (then, otherwise, If(bit, otherwise, then))
            yield from (If(other, then, otherwise) for other in _of_term(bit, words))
            yield from (If(bit, other, otherwise) for other in _of_answer(then, words))
            yield from (If(bit, then, other) for other in _of_answer(otherwise, words))
        case SayNumber(number, family):
            yield from (SayNumber(other, family) for other in _of_term(number, words))
            yield from map(Say, words)
        case Say(word):
            yield from (Say(other) for other in words if other != word)


def _of_term(value: Term, words: tuple[str, ...]) -> Iterator[Term]:
    """Yields the term with one coefficient changed, one product left out, or one atom changed."""
    yield from (value + 1, value - 1)
    for monomial, c in value.items:
        product = term([(monomial, c)])
        rest = value - product
        if monomial:
            yield from (rest, rest - product, value + term([(monomial, 1)]))
        for i, atom in enumerate(monomial):
            others = term([((*monomial[:i], *monomial[i + 1 :]), c)])
            yield from (rest + others * other for other in _of_atom(atom, words))


def _of_atom(atom: Atom, words: tuple[str, ...]) -> Iterator[Term]:
    yield from (as_term(other) for other in _other_kinds(atom))
    for field in fields(atom):
        part = getattr(atom, field.name)
        yield from (as_term(replace(atom, **{field.name: other})) for other in _of_part(part, words))


def _other_kinds(atom: Atom) -> Iterator[Term | Atom]:
    """Yields atoms of another kind with the same parts, and what stands inside."""
    match atom:
        case Above(of):
            yield Equal(of, Fraction(0))
        case Equal(of, value):
            yield from (Above(of - value), Above(of * -1 + value))
        case IsWord():
            yield from (ONE, ZERO)
        case Position():
            yield from (as_term(Read(as_term(atom), Back(steps))) + steps for steps in (1, 2, 3))
        case Read(value, Back(steps)):
            yield from (value, Read(value, Nearest(as_term(POSITION) - steps)))
        case Read(value, Nearest()):
            yield value
        case Comb(of, 1, -1):
            yield Sum(of)
        case Sum(of):
            yield from (of, Comb(of, 1, -1))


def _of_part(part: Any, words: tuple[str, ...]) -> Iterator[Any]:
    """Yields what may stand in the place of one part of an atom."""
    match part:
        case Term():
            yield from _of_term(part, words)
        case bool():
            yield not part
        case Fraction():
            yield from (part + 1, part - 1)
        case Back(steps):
            yield from (Back(other) for other in (steps + 1, steps - 1) if other)
        case Pick(matching, last):
            yield Pick(matching, not last)
            yield from (Pick(other, last) for other in _of_part(matching, words))
        case Closest(matching, target):
            yield from (Pick(matching), Pick(matching, last=True))
            yield from (Closest(matching, other) for other in _of_term(target, words))
            yield from (Closest(other, target) for other in _of_part(matching, words))
        case Matching(pairs):
            for i, (key, query) in enumerate(pairs):
                before, after = pairs[:i], pairs[i + 1 :]
                if len(pairs) > 1:
                    yield Matching((*before, *after))
                yield from (Matching((*before, (other, query), *after)) for other in _of_term(key, words))
                yield from (Matching((*before, (key, other), *after)) for other in _of_term(query, words))
        case Atom() if not isinstance(part, Named):
            for field in fields(part):
                yield from (replace(part, **{field.name: x}) for x in _of_part(getattr(part, field.name), words))
        case str() if part in words:
            yield from (other for other in words if other != part)
