"""Whether lemmas suppose what can be: axioms, and what each lemma uses, are evaluated along concrete runs, without a solver.

From facts that contradict each other everything follows. So a theory names some runs, and what every symbol is at each of their
places, computed by other code: a search over a graph, a simulator, the plain meaning of terms. Each axiom and each invariant must
be true there; and for each lemma there must be a place where all that it uses is true. A proof by contradiction ends with `false`:
what it supposes cannot be true together, so each supposition must be true at some place.

"For all integers" is evaluated over the integers of a window around the text: quickly, so at every place. Of all integers a solver
is asked, at some of the places (interpretation.py).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from constructions.language.interpreter import Input
from constructions.language.terms import Atom, Closest, Count, IsWord, Matching, Named, Next, Pick, Term

if TYPE_CHECKING:
    from verify.induction.theory import Expression, Fact, Theory


class Compiled:
    """Facts as functions of Python; "all integers" are those of a window, and each symbol is what it is called in `names`."""

    def __init__(self, theory: Theory, tried: Mapping[str, Fact]) -> None:
        self.names: dict[str, Any] = {"div": div, "mod": mod}
        self.macros = [
            (str(name), [str(pair[0]) for pair in parameters], body)
            for declaration in theory.declarations
            if isinstance(declaration, list) and declaration[0] == "define-fun"
            for _, name, parameters, _, body in [declaration]
        ]
        self.functions = {name: self._compile(parameters, body) for name, parameters, body in self.macros}
        self.facts = {name: self._compile([], fact.formula) for name, fact in tried.items()}
        below: dict[str, frozenset[str]] = {}
        for name, _, body in self.macros:  # each after those that it uses
            below[name] = _declare(body, below)
        self.rests_on = {name: sorted(_declare(fact.formula, below)) for name, fact in tried.items()}
        self.known: dict[str, tuple[list[Any], bool]] = {}

    def truths(self, names: Mapping[str, Any], window: Sequence[int]) -> dict[str, bool]:
        """Returns whether each fact holds."""
        self.move_to(names, window)
        return {name: bool(holds()) for name, holds in self.facts.items()}

    def move_to(self, names: Mapping[str, Any], window: Sequence[int]) -> None:
        """Moves to another place of a run. names: the values of symbols there; window: the integers that quantifiers range over."""
        self.names.update({symbol(name): value for name, value in names.items()} | {"window": window})
        for name, parameters, _ in self.macros:
            self.names[symbol(name)] = self.functions[name] if parameters else self.functions[name]()

    def holds(self, name: str) -> bool:
        """Returns whether a fact does, at this place; remembered up to a place where something that it is about is another
        value.
        """
        values = [self.names["window"], *(self.names.get(symbol(one)) for one in self.rests_on[name])]
        before, result = self.known.get(name, ([], False))
        same = len(before) == len(values) and all(
            one is other or (isinstance(one, int) and one == other) for one, other in zip(before, values, strict=True)
        )
        if not same:
            result = bool(self.facts[name]())
            self.known[name] = values, result
        return result

    def _compile(self, parameters: list[str], body: Expression) -> Callable[..., Any]:
        function: Callable[..., Any] = eval(f"lambda {', '.join(map(symbol, parameters))}: {_python(body)}", self.names)
        return function


def _declare(expression: Expression, macros: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Returns the symbols that stand in it and in macros of its own, bound ones among them."""
    if isinstance(expression, str):
        return macros.get(expression, frozenset([expression]))
    return frozenset[str]().union(*(_declare(part, macros) for part in expression))


OPERATORS = {"=": "=="} | {sign: sign for sign in ("<", "<=", ">", ">=", "+", "-", "*", "and", "or")}


def symbol(name: str) -> str:
    """Returns what a symbol is called in Python."""
    return "v" + "".join(c if c.isalnum() else f"_{ord(c)}_" for c in name)


def _python(expression: Expression) -> str:
    """Translates an expression to Python."""
    match expression:
        case "true" | "false":
            return expression.capitalize()
        case str():
            return expression if expression.isdecimal() else symbol(expression)
        case ["!", formula, *_]:
            return _python(formula)
        case ["forall", [*bound], formula]:
            return f"all({_python(formula)} {' '.join(f'for {symbol(str(pair[0]))} in window' for pair in bound)})"
        case ["let", [[name, value]], formula]:
            return f"(lambda {symbol(str(name))}: {_python(formula)})({_python(value)})"
        case ["ite", bit, then, otherwise]:
            return f"({_python(then)} if {_python(bit)} else {_python(otherwise)})"
        case ["=>", first, second]:
            return f"(not {_python(first)} or {_python(second)})"
        case [("not" | "-") as operator, inner]:
            return f"({operator} {_python(inner)})"
        case [("div" | "mod") as operator, first, second]:
            return f"{operator}({_python(first)}, {_python(second)})"
        case [str(operator), *parts] if operator in OPERATORS:
            return f"({f' {OPERATORS[operator]} '.join(map(_python, parts))})"
        case [function, *arguments]:
            return f"{_python(function)}({', '.join(map(_python, arguments))})"
    raise TypeError(expression)


def div(number: int, by: int) -> int:
    """Divides as SMT-LIB does, so that the remainder is never negative. Raises ZeroDivisionError."""
    return number // by if by > 0 else -(number // -by)


def mod(number: int, by: int) -> int:
    """Returns the remainder of `div`."""
    return number % abs(by)


def function_of(text: Input, atom: Atom) -> Callable[..., Any]:
    """Returns what a function of a definition is, each value computed once; at positions that are none, as at 1, where nothing is
    to be read.
    """
    match atom:
        case Count(Matching(((key, _),))):
            return _counting(text, key)
    return cache(partial(_value, text, atom))


def _value(text: Input, atom: Atom, *at: int) -> Any:
    k = max(at[-1], 1)
    match atom:
        case Pick() | Next() | Closest():
            return text.chosen(atom, k)[0]
        case Named(_, of):
            return text.value(of, k)
        case IsWord(word):
            return text.tokens[k - 1] == (word, 0)
    raise TypeError(atom)


def _counting(text: Input, key: Term) -> Callable[[int, int], int]:
    """Returns a function of a number and a position: how many positions up to that one, from 2 on, have the number as key."""
    places, read = defaultdict[Any, list[int]](list), 1

    def count(number: int, at: int) -> int:
        nonlocal read
        while read < at:
            places[text.value(key, read + 1)].append(read + 1)
            read += 1
        return bisect_right(places.get(number, ()), at)

    return count
