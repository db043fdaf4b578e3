"""A place of a run as an interpretation over all integers: a solver says of it which facts are true there.

Facts that are all true in one interpretation do not contradict each other. A place tells what each symbol is at the integers of
a table. Beyond it, a symbol goes on in the straight line in which the table ends; what grows otherwise has a definition by
recursion. That is only a proposal: where a fact is false of some integer beyond, the solver does not say that it is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from verify.induction.theory import ask, expression_text

if TYPE_CHECKING:
    from verify.induction.place import Place
    from verify.induction.theory import Expression, Theory

EFFORT = 20_000_000  # for a fact, in units of z3; the dearest of the hybrid's IsTree took 160,000


def first_doubt(theory: Theory, place: Place, names: Iterable[str]) -> tuple[str, str] | None:
    """Returns the first of these facts that the solver does not confirm for all integers, and its answer.

    Raises LookupError for a symbol of which the place says nothing, ValueError for what z3 cannot read.
    """
    import z3

    tried = list(names)
    formulas = [expression_text(_without_patterns(theory.facts[name].formula)) for name in tried]
    script = [*definitions(theory, place), *(f"(assert (not {formula}))" for formula in formulas)]
    context = z3.Context()
    try:
        read = z3.parse_smt2_string("\n".join(script), ctx=context)
    except z3.Z3Exception as error:
        raise ValueError(f"z3 cannot read it: {error}") from None
    for name, false in zip(tried, read, strict=True):
        solver = z3.Solver(ctx=context)
        solver.set("rlimit", EFFORT)
        solver.add(false)
        if (answer := ask(solver)) != "unsat":
            return name, answer
    return None


def definitions(theory: Theory, place: Place) -> Iterator[str]:
    """Yields the SMT-LIB definition of each declared symbol; macros as they stand."""
    for declaration in theory.declarations:
        match declaration:
            case ["declare-const", str(name), str(sort)] if name in theory.defined:
                yield f"(define-fun {name} () {sort} {expression_text(theory.defined[name])})"
            case ["declare-const", str(name), str(sort)]:
                yield f"(define-fun {name} () {sort} {_of_sort(sort, _number(int(place.symbols[name])))})"
            case ["declare-fun", str(name), _, str(sort)] if name in place.recursive:
                yield _recursive(name, sort, *place.recursive[name])
            case ["declare-fun", str(name), [*sorts], str(sort)]:
                body = _tabulate(place.symbols[name], len(sorts), place.table)
                of = " ".join(f"(x{i} Int)" for i, _ in enumerate(sorts, start=1))
                yield f"(define-fun {name} ({of}) {sort} {_of_sort(sort, body)})"
            case _:
                yield expression_text(_without_patterns(declaration))


def _recursive(name: str, sort: str, start: int, step: str) -> str:
    """Defines a recursive function: each value is told by the one before. Without it, z3 would say of any fact that it is true."""
    if strange := set(re.findall(r"[^\s()]+", step)) - {"before", "+", "-", "*"} - {*re.findall(r"\b\d+\b", step)}:
        raise ValueError(f"{name}: a step is of before, numbers, +, - and *, not of {', '.join(sorted(strange))}")
    return (
        f"(define-fun-rec {name} ((x1 Int)) {sort}"
        f" (ite (<= x1 0) {_number(start)} (let ((before ({name} (- x1 1)))) {step})))"
    )


def _without_patterns(expression: Expression) -> Expression:
    """Removes the patterns of quantifiers. They only guide the search for instances, and z3 refuses them for defined symbols."""
    match expression:
        case str():
            return expression
        case ["!", formula, *_]:
            return _without_patterns(formula)
    return [_without_patterns(part) for part in expression]


@lru_cache(maxsize=64)  # most symbols are the same at all places of a run
def _tabulate(function: Callable[..., int], arguments: int, table: range) -> str:
    """Tabulates a function of two integers: a row for each first argument, extrapolated at both ends."""
    if arguments == 1:
        return _line([(int(function(i)), 0) for i in table], table[0], "x1")
    rows = [[(int(function(i, j)), 0) for j in table] for i in table]
    lines = [_line(row, table[0], "x2") for row in rows]
    for end, inner in ((0, 1), (-1, -2)):
        slopes = [v - w if end else w - v for (v, _), (w, _) in zip(rows[end], rows[inner], strict=True)]
        ends = [(v, slope) for (v, _), slope in zip(rows[end], slopes, strict=True)]
        lines[end] = _line(ends, table[0], "x2", f"(- x1 {_number(table[end])})")
    return _pieces([(i, line) for i, line in zip(table, lines, strict=True)], "x1")


def _line(values: Sequence[tuple[int, int]], low: int, of: str, beyond: str = "0") -> str:
    """Returns a function of the symbol `of`, from `low` on: values, each with a slope in `beyond`."""
    pieces, start = list[tuple[int, str]](), 0
    while start < len(values):
        first, more = values[start]
        slopes = [v - w for (w, _), (v, again) in pairwise(values[start : start + 3]) if again == more]
        slope = slopes[0] if slopes and len(set(slopes)) == 1 else 0
        end = start
        while end < len(values) and values[end] == (first + slope * (end - start), more):
            end += 1
        line = f"(+ {_number(first)} (* {_number(slope)} (- {of} {_number(low + start)})))" if slope else _number(first)
        pieces.append((low + start, f"(+ {line} (* {_number(more)} {beyond}))" if more else line))
        start = end
    return _pieces(pieces, of)


def _pieces(pieces: Sequence[tuple[int, str]], of: str) -> str:
    """Returns each from an integer on, the first one also below."""
    pieces = [pieces[0], *(after for before, after in pairwise(pieces) if before[1] != after[1])]
    if len(pieces) == 1:
        return pieces[0][1]
    half = len(pieces) // 2
    return f"(ite (< {of} {_number(pieces[half][0])}) {_pieces(pieces[:half], of)} {_pieces(pieces[half:], of)})"


def _of_sort(sort: str, body: str) -> str:
    return f"(= {body} 1)" if sort == "Bool" else body


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
