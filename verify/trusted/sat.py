"""Checks proofs that two gates of a circuit never differ: from the gates to clauses, and a refutation of these step by step.

Source: G. S. Tseitin, On the complexity of derivation in propositional calculus, 1968; N. Wetzler, M. Heule and W. Hunt, DRAT-trim,
2014; L. Cruz-Filipe et al., Efficient Certified RAT Verification, 2017, for the format LRAT. Only its steps by unit propagation
are read.

A clause is a list of literals, whole numbers other than 0; it says that one of them is true, and −x says that x is not. A step of a
proof is a line of whole numbers:

    number literals 0 hints 0

It says that the clause of these literals follows from those that have the numbers of the hints. Soundness: suppose that a
valuation makes all clauses before it true and all literals of the new one false. Each hint is a clause with one literal that is
not known to be false; it must be true. The last hint has none, which cannot be. So every step holds wherever the first clauses do,
and a step without literals holds nowhere. A line `number d numbers 0` forgets clauses.

`python -I -S verify/trusted/sat.py CNF PROOF` reads DIMACS and LRAT. It ends with 0 if the proof shows that no valuation makes all
clauses true, 1 if it does not, 2 if a file cannot be read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeAlias

AND, XOR, ONE, FREE = "and", "xor", "one", "free"
Gate: TypeAlias = tuple[str, int, int]
Clause: TypeAlias = Sequence[int]


class Rejected(Exception):
    """The proof does not show the theorem. The message says which step is wrong."""


def check_equal(gates: Sequence[Gate], pairs: Sequence[tuple[int, int]], proof: Iterable[str]) -> None:
    """Returns if the proof shows that the gates of each pair are equal, whatever the free gates are. Raises Rejected."""
    check(clauses(gates, pairs), proof)


def clauses(gates: Sequence[Gate], pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Returns clauses that are true together if and only if the gates of a pair can differ.

    gates: each is ("and", a, b) or ("xor", a, b) of two gates before it, ("one", 0, 0), or ("free", 0, 0), which can be 0 or 1.
    Gate g is the variable g + 1. One more variable is 1, and one for each pair says that its gates differ.
    """
    result: list[list[int]] = []
    for g, (kind, left, right) in enumerate(gates):
        x, a, b = g + 1, left + 1, right + 1
        if kind in (AND, XOR) and not (0 < a < x and 0 < b < x):
            raise Rejected(f"gate {g} reads no gate before it")
        if kind == AND:
            result += [[-x, a], [-x, b], [x, -a, -b]]
        elif kind == XOR:
            result += [[-x, a, b], [-x, -a, -b], [x, -a, b], [x, a, -b]]
        elif kind == ONE:
            result += [[x]]
        elif kind != FREE:
            raise Rejected(f"gate {g} is no gate: {kind}")
    one = len(gates) + 1
    result += [[one]]
    for number, (left, right) in enumerate(pairs, start=1):
        if not (0 <= left < len(gates) and 0 <= right < len(gates)):
            raise Rejected(f"pair {number} is not of two gates")
        result += [[-(one + number), left + 1, right + 1], [-(one + number), -(left + 1), -(right + 1)]]
    return [*result, [one + number for number in range(1, len(pairs) + 1)]]


def check(formula: Sequence[Clause], proof: Iterable[str]) -> None:
    """Returns if the proof shows that no valuation makes all clauses of the formula true. Raises Rejected."""
    known: dict[int, Clause] = dict(enumerate(formula, start=1))
    if any(0 in clause for clause in formula):
        raise Rejected("a clause has the literal 0")
    for line in proof:
        try:
            step = line.split()
            if step[1:2] == ["d"]:
                for number in _ended(step[2:]):
                    known.pop(number, None)
                continue
            number, *rest = map(int, step)
        except ValueError as error:
            raise Rejected(f"malformed: {line[:80]!r}") from error
        if 0 not in rest:
            raise Rejected(f"malformed: {line[:80]!r}")
        end = rest.index(0)
        literals, hints = rest[:end], rest[end + 1 :]
        if hints[-1:] != [0] or number in known:
            raise Rejected(f"step {number}: no end, or a number that is taken")
        _require_consequence(number, literals, hints[:-1], known)
        if not literals:
            return
        known[number] = literals
    raise Rejected("no step says that nothing is possible")


def _require_consequence(number: int, literals: Clause, hints: Iterable[int], known: dict[int, Clause]) -> None:
    """Returns if unit propagation along the hints shows the clause. Raises Rejected."""
    false = set(literals)
    for hint in hints:
        if hint not in known:
            raise Rejected(f"step {number}: there is no clause {hint}")
        open_literal = 0
        for literal in known[hint]:
            if literal not in false and literal != open_literal:
                if open_literal:
                    raise Rejected(f"step {number}: two literals of clause {hint} may be true")
                open_literal = literal
        if not open_literal:
            return
        false.add(-open_literal)
    raise Rejected(f"step {number}: the hints end, and the clause can be false")


def _ended(words: Sequence[str]) -> list[int]:
    """Returns the numbers before the 0 that must end them."""
    numbers = list(map(int, words))
    if numbers[-1:] != [0]:
        raise ValueError("no 0 at the end")
    return numbers[:-1]


def read_formula(text: str) -> list[list[int]]:
    """Returns the clauses of a DIMACS file. Raises ValueError for a file that is none, or has another number of clauses."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("c")]
    if not lines or len(lines[0]) != 4 or lines[0][:2] != ["p", "cnf"]:
        raise ValueError("no line `p cnf VARIABLES CLAUSES`")
    result: list[list[int]] = [[]]
    for word in (word for line in lines[1:] for word in line):
        if int(word):
            result[-1].append(int(word))
        else:
            result.append([])
    if result.pop() or len(result) != int(lines[0][3]):
        raise ValueError(f"not the {lines[0][3]} clauses that its first line promises")
    return result


def main(arguments: Sequence[str]) -> int:
    """Checks two files and returns the exit code."""
    if len(arguments) != 2:
        print("usage: sat.py CNF PROOF", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="ascii") as file:
            formula = read_formula(file.read())
        with open(arguments[1], encoding="ascii") as file:
            check(formula, file)
    except Rejected as error:
        print(f"rejected: {error}")
        return 1
    except (OSError, ValueError) as error:
        print(f"{arguments[0]}, {arguments[1]}: {error}", file=sys.stderr)
        return 2
    print(f"the {len(formula)} clauses contradict each other")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
