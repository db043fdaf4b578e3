"""Which texts a certificate speaks of, and what it assumes of their runs.

Standard library alone. A text is a sequence of tokens: at position 1 a state of the automaton that position 1 is open to, and
at each later position h a state that h is open to, with the state of h − 1 among its `after`. A state has a word, or any number
of a family between bounds, which may depend on n. It is the reader who says that these are the texts of the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from verify.trusted.abstract_state import SIZE, Integer
from verify.trusted.model import MOST_ROWS, parse, whole
from verify.trusted.numbers import Case, is_whole
from verify.trusted.polynomials import Polynomial, names_of, number, substitute
from verify.trusted.rejection import reject


@dataclass(frozen=True)
class Place:
    """A state of the automaton: positions low, low + every, … up to high, with a word, or a number of a family.

    label: its name, which several may share. ends: a number is at most its position minus this. answer: whether the next token
    matters.
    """

    label: str
    word: str
    family: str
    numbers: tuple[Polynomial, Polynomial]
    low: Polynomial
    high: Polynomial
    every: int
    ends: int | None
    after: frozenset[int]
    answer: bool


def read_place(item: Any, many: int, case: Case | None = None) -> Place:
    """Reads a state of the automaton. many: how many states there are."""
    low, high, *numbers = (parse(item[field], case) for field in ("low", "high", "least", "most"))
    label, word, family, every, answer = (item[field] for field in ("label", "word", "family", "every", "answer"))
    ends = None if item["ends"] is None else whole(item["ends"])
    after = frozenset(map(whole, item["after"]))
    if not all(type(text) is str for text in (label, word, family)) or whole(every) < 1 or type(answer) is not bool:
        reject("automaton: malformed state")
    if every > 1 and names_of(low):
        reject("automaton: positions by a step begin where n says")
    if not all(0 <= i < many for i in after):
        reject("automaton: a state comes after one that is not there")
    return Place(label, word, family, (numbers[0], numbers[1]), low, high, every, ends, after, answer)


def range_of(bound: Polynomial, size: Integer) -> tuple[int, int]:
    """Returns the least and the largest value of a bound: at an end of the interval of n, as it is affine, or rises."""
    if not names_of(bound) <= {SIZE} or max(map(len, bound), default=0) > 2 or bound.get((SIZE, SIZE), 0) < 0:
        reject("automaton: a bound of positions or numbers that is none")
    if (bend := bound.get((SIZE, SIZE), 0)) and 2 * bend * size.low + bound.get((SIZE,), 0) < 0:
        reject("automaton: a bound that falls and rises")
    values = [substitute(bound, {SIZE: number(n)}).get((), 0) for n in (size.low, size.high)]
    if not all(map(is_whole, values)):
        reject("automaton: a bound that is no whole number")
    return min(values), max(values)  # type: ignore[return-value]


# What is assumed of the exact machine's runs. Lemmas show it elsewhere; a certificate lists what it uses. Registers are those at
# the entry of each block that uses it: with a head that reads by it, such a recurrence, or classes that have such a count.


class Apart(NamedTuple):
    """Assumes that positions whose register `group` holds the same number s ≥ 1 are at least `by` apart."""

    group: int
    by: int


class Consecutive(NamedTuple):
    """Assumes, for each number s ≥ 1 and at each position: the positions up to it whose register `group` holds s have 1/2, 1/3, …,
    1/(d + 1) in `share`, each once, for some d from 0 to `most`.
    """

    group: int
    share: int
    most: Polynomial


class Limited(NamedTuple):
    """Assumes that at each position the register `sum`, which a recurrence adds up, keeps at most `most`."""

    sum: int
    most: Polynomial


class Delayed(NamedTuple):
    """Assumes that at each position `late` holds what `early` held `by` positions before, 0 where there was none."""

    late: int
    early: int
    by: int


Invariant = Apart | Consecutive | Limited | Delayed
KINDS: dict[str, Any] = {"apart": Apart, "consecutive": Consecutive, "limited": Limited, "delayed": Delayed}


def parse_size(text: Any, case: Case | None) -> Polynomial:
    """Reads a polynomial in n. Raises Rejected for any other."""
    if not names_of(bound := parse(text, case)) <= {SIZE}:
        reject("an invariant speaks of more than n")
    return bound


def read_invariants(items: Any, case: Case | None = None) -> list[Invariant]:
    if len(items) > MOST_ROWS:
        reject(f"more than {MOST_ROWS} invariants")
    return [read_invariant(item, case) for item in items]


def read_invariant(item: Any, case: Case | None = None) -> Invariant:
    kind = KINDS.get(item["kind"]) or reject(f"{item['kind']} is no kind of invariant")
    read = {field: parse_size if field == "most" else whole for field in kind._fields}
    return kind(*(read[field](item[field], case) for field in kind._fields))  # type: ignore[no-any-return]
