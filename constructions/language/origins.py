"""From compiled weights back to the file: which value of it a place of the model computes, in which line, and how it is notation.

A place is notation as in `constructions/places.py`: `block 2, head 1 (…)`, `block 2, feed-forward, unit 3, gate`, or a place that
ends with `register NAME`. Any other place, such as the output head, belongs to the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from constructions.language.compiler import Compiler
from constructions.language.terms import (
    ONE,
    Above,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Named,
    Nearest,
    NumberOf,
    Pick,
    Position,
    Positive,
    Read,
    Sum,
    Term,
)

HEAD = re.compile(r"block (\d+), head (\d+)")
UNIT = re.compile(r"block (\d+), feed-forward, unit (\d+)")
REGISTER = re.compile(r", register (\S+)$")


@dataclass(frozen=True)
class Origin:
    """A value of the file. name: "" for the output. line: 0 if the file does not give it a line. construct: how it is notation."""

    name: str
    line: int
    construct: str

    def text(self, file: str) -> str:
        """Returns one clause for people, as in `mine.py:7: often, select(…).count()`."""
        where = f"{file}:{self.line}: " if self.line else f"{file}: " if file else ""
        return f"{where}{self.name or 'the output'}, {self.construct}"


def origin_of_place(compiler: Compiler, place: str) -> Origin:
    """Returns the smallest value of the file whose weights stand at this place; the output if no value does."""
    return _origin(compiler, [*_parts(compiler, place)])


def origin_of_terms(compiler: Compiler, terms: Iterable[Term]) -> Origin:
    """Returns the value of the file that the first of these terms is, or else a value that it is made of; else the output."""
    names, some = compiler.program.names, [*terms]
    for value in some:
        for own in (value, ONE - value):
            if own in names:
                return _origin_of_value(compiler, own)
    inside = (_origin_of_value(compiler, own) for value in some for own in _inner_values(compiler, value))
    return next(inside, _origin(compiler, [a for value in some for a in value.atoms]))


def _parts(compiler: Compiler, place: str) -> Iterator[Atom]:
    """Yields the atoms that the weights at a place compute or read."""
    if found := HEAD.search(place):
        heads = [*compiler.blocks[int(found[1])].heads.items()]
        for where, draft in heads[int(found[2]) - 1 : int(found[2])]:
            yield where
            if isinstance(where, Best):  # one head has the means of several values
                for register in draft.reads:
                    yield from _atoms_of(compiler, register)
    elif found := UNIT.search(place):
        gadgets = compiler.blocks[int(found[1])].gadgets
        units = [unit for gadget in gadgets for unit in gadget.units]
        for unit in units[int(found[2]) - 1 : int(found[2])]:
            for register in unit.into:
                yield from _atoms_of(compiler, register)
    elif found := REGISTER.search(place):
        yield from _atoms_of(compiler, found[1])


def _atoms_of(compiler: Compiler, register: str) -> Iterator[Atom]:
    """Yields the atoms of what a register holds."""
    meaning = compiler.meanings.get(register)
    yield from sorted(meaning.atoms, key=lambda a: -len(a.order)) if meaning is not None else ()


def _origin(compiler: Compiler, parts: Iterable[Atom]) -> Origin:
    """Returns the smallest value that is made of one of these parts, the first part before others."""
    construct = "what is said"
    for part in parts:
        construct = notation(part) if construct == "what is said" else construct
        holders = [value for value in compiler.program.names if part.order in value.order]
        for value in sorted(holders, key=lambda one: len(one.order))[:1]:
            return Origin(compiler.program.names[value], _line(compiler, value), construct)
    return Origin("", compiler.program.lines.get("", 0), construct)


def _inner_values(compiler: Compiler, value: Term) -> list[Term]:
    """Returns the values of the file that a term is made of, the largest first."""
    inside = [own for own in compiler.program.names if any(a.order in value.order for a in own.atoms)]
    return sorted(inside, key=lambda own: -len(own.order))


def _origin_of_value(compiler: Compiler, value: Term) -> Origin:
    atoms = sorted(value.atoms, key=lambda a: -len(a.order))
    many = len(value.items) > 1 and len(atoms) > 1
    construct = "a sum" if many else notation(atoms[0]) if atoms else "a number"
    return Origin(compiler.program.names[value], _line(compiler, value), construct)


def _line(compiler: Compiler, value: Term) -> int:
    """Returns the line of the file that gives a value its name; 0 if there is none."""
    return compiler.program.lines.get(compiler.program.names[value], 0)


NOTATIONS: Mapping[type[Atom], str] = {
    Closest: "select(…).nearest(…)",
    Nearest: "….at(…)",
    Count: "select(…).count()",
    Sum: "running_sum(…)",
    Best: "running_sum(…) or select(…).count(), compared",
    Equal: "… == …",
    Above: "… > …",
    Positive: "positive(…)",
    Position: "position",
    NumberOf: "number",
    IsNumber: "number",
    IsWord: "word(…)",
}


def notation(part: Atom) -> str:
    """Returns how people write such a part of a program."""
    match part:
        case Read(_, where):
            return notation(where)
        case Named(_, of) if len(of.atoms) == 1:
            return notation(next(iter(of.atoms)))
        case Pick(_, last):
            return f"select(…).{'last' if last else 'first'}(…)"
        case Back(steps):
            return f"….back({steps})"
        case Comb(_, steps, sign):
            every = "" if steps == 1 else f", every={steps}"
            return f"{'alternating' if sign < 0 else 'running'}_sum(…{every})"
    return NOTATIONS.get(type(part), "a sum or a product")
