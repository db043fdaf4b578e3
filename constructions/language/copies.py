"""Exact copies of what a person's file gives: an object of a class of its own may answer each question as it likes.

    class Word(str):
        def __eq__(self, other): return True

A word of this class equals any other word, so a comparison with it says nothing. Its exact copy is a plain `str`. Words, integers
and fractions are copied without a call of their methods. Containers are asked once. An object of this project is made anew from
copies of its fields, and whatever else somebody stored in it is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

from constructions.language.functions import OURS
from constructions.language.terms import (
    Above,
    Answer,
    Atom,
    Back,
    Closest,
    Comb,
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
    Say,
    SayNumber,
    Sum,
    Term,
    term,
)
from constructions.language.values import Output, Value, say
from constructions.wiring.part import Setting
from precision.format import Discipline

T = TypeVar("T")
ATOMS = (
    *(NumberOf, IsNumber, IsWord, Position, Positive, Equal, Above, Count, Sum, Comb, Named),
    *(Read, Back, Nearest, Pick, Closest, Matching),
)
"""What programs of files are made of; other atoms hold under invariants that nobody shows of a file's texts."""
KINDS: Mapping[str, Any] = {"Term": Term, "str": str, "int": (int, Fraction), "Fraction": (int, Fraction)}
"""Of the fields of atoms, by their annotation."""
_NUMERATOR, _DENOMINATOR = (Fraction.__dict__[f"_{part}"].__get__ for part in ("numerator", "denominator"))


def exact_copy(value: Any) -> Any:
    """Returns the value as plain objects. Raises ValueError for an object of a class that is neither plain nor this project's."""
    return _Copies().copy(value)


def text_of(value: Any) -> str:
    """Returns a text as a plain `str`. Raises ValueError for what is no text."""
    if not issubclass(type(value), str):  # isinstance asks the object for its class
        raise ValueError(f"text is due, not an object of the class {type.__getattribute__(type(value), '__name__')}")
    return str.__str__(value)


def answer(given: Output) -> Answer:
    """Returns an answer as plain objects. Raises ValueError for one that the language of programs does not have."""
    return _require_answer(exact_copy(given).answer)


class _Copies:
    """Copies, each made once: a term has many parts that stand in several places."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}

    def copy(self, value: Any) -> Any:
        if id(value) not in self.made:
            self.made[id(value)] = (value, self._make(value))  # the value is kept, or another one might have its id
        return self.made[id(value)][1]

    def _make(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, float) or (issubclass(kind, int | Fraction) and is_ours(kind)):
            return value  # the last are numbers that depend on n
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, int):
            return int.__index__(value)
        if issubclass(kind, Fraction):
            return Fraction(int.__index__(_NUMERATOR(value)), int.__index__(_DENOMINATOR(value)))
        if issubclass(kind, tuple):
            return tuple(map(self.copy, tuple.__iter__(value)))
        if issubclass(kind, list):
            return [*map(self.copy, list.__iter__(value))]
        if issubclass(kind, Mapping):
            return {self.copy(key): self.copy(content) for key, content in dict(value).items()}
        if is_dataclass(kind) and is_ours(kind):
            return self._rebuild(kind, value)
        raise ValueError(f"an object of the class {type.__getattribute__(kind, '__name__')} is no plain value")

    def _rebuild(self, kind: type[Any], value: Any) -> Any:
        if kind is Value:  # how it was combined is asked for where it is written, and not later
            return Value(self.copy(object.__getattribute__(value, "term")))
        given = {one.name: self.copy(object.__getattribute__(value, one.name)) for one in fields(kind) if one.init}
        return term(given["items"]) if kind is Term else kind(**given)


def is_ours(kind: type[Any]) -> bool:
    """Returns whether a class is one that a module of this project defines under its name."""
    module, name = (type.__getattribute__(kind, part) for part in ("__module__", "__name__"))
    if type(module) is not str or module.partition(".")[0] not in OURS:
        return False
    return bool(vars(sys.modules.get(module, sys)).get(name) is kind)


def _require_answer(given: Any) -> Answer:
    match given:
        case If(Term() as bit, then, otherwise):
            _require_atoms(bit)
            _require_answer(then)
            _require_answer(otherwise)
        case SayNumber(Term() as number, family) if not family:
            _require_atoms(number)
        case Say(word):
            say(word)
        case _:
            raise ValueError(f"a program says a word, a number or one of two answers, not a {type(given).__name__}")
    result: Answer = given
    return result


def _require_atoms(given: Term) -> None:
    """Raises ValueError for an atom that no function of the language makes."""
    pending: list[Any] = [given]
    met: set[int] = set()
    while pending:
        part = pending.pop()
        if id(part) in met:
            continue
        met.add(id(part))
        if isinstance(part, tuple):
            pending += part
        elif isinstance(part, Term):
            pending += [monomial for monomial, _ in part.items]
        elif isinstance(part, Atom):
            own = {one.name: (one.type, getattr(part, one.name)) for one in fields(part)}
            odd = [name for name, (kind, value) in own.items() if not isinstance(value, KINDS.get(str(kind), object))]
            if type(part) not in ATOMS or odd or own.get("family", ("", ""))[1]:
                raise ValueError(f"{type(part).__name__} of {odd or 'this'} is nothing that a program is made of")
            pending += [value for _, value in own.values()]


class Once(Generic[T]):
    """A function of a file, asked once for each n. Its first answer is kept, so weights, definition and trials have the same.

    take: makes an exact copy of an answer. What it says of a symbol for n is asked anew for each symbol.
    """

    def __init__(self, function: Callable[..., Any], take: Callable[[Any], T]) -> None:
        self._function, self._take = function, take
        self._keep: dict[Any, T] = {}

    def __call__(self, *arguments: Any) -> T:
        if not all(map(_is_plain, arguments)):
            return self._take(self._function(*arguments))
        if arguments not in self._keep:
            self._keep[arguments] = self._take(self._function(*map(_fresh, arguments)))
        return self._keep[arguments]


def _is_plain(argument: Any) -> bool:
    if type(argument) is Setting:
        return type(argument.n) is int and type(argument.length) is int
    return type(argument) in (int, Discipline)


def _fresh(argument: Any) -> Any:
    """Returns what the function may change without changing the verifier's own."""
    return replace(argument, format=replace(argument.format)) if type(argument) is Setting else argument
