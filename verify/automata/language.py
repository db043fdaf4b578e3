"""Which token sequences a certificate speaks of: places in a sequence, and which place may stand behind which.

A place is a state of a finite automaton, with bounds of its position and of its token's number. This is all that is assumed of an
input; it is part of the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.istree.graphs import LAYOUTS, Layout
from constructions.models.program import Family
from constructions.models.search import FAILED
from constructions.retrieval.rag import PLAIN, REPEAT, Script
from constructions.retrieval.task import ASK, START
from verify.algebra.domains import SIZE, Integer
from verify.algebra.polynomial import Polynomial, atom, constant, whole

Bound = int | Polynomial  # a polynomial in the size n; affine, or quadratic with n² ≥ 0 for an upper bound


@dataclass(frozen=True)
class Place:
    """Positions low … high, where the token is `word`, or a number in `numbers`; behind one of the places `after`.

    family: of the numbers. every: positions are low, low + every, … behind: if given, the number is at most its position minus
    this. same: if given, it is the number that stands so many positions before; no certificate uses that, but programs do.
    """

    name: str
    low: Bound
    high: Bound
    after: tuple[int, ...]
    word: str = ""
    numbers: tuple[Bound, Bound] = (0, 0)
    behind: int | None = None
    every: int = 1
    family: str = ""
    same: int = 0


@dataclass(frozen=True)
class Consecutive:
    """An invariant of the ideal run, assumed and named: for each number s ≥ 1 and at each position, the positions up to it whose
    register `group` holds s have 1/2, 1/3, …, 1/(d + 1) in `count`, each once, for some d from 0 to `most`.
    """

    name: str
    group: str
    count: str
    most: Bound
    statement: str


@dataclass(frozen=True)
class Delayed:
    """An invariant of the ideal run, assumed and named: at each position the register `late` holds what `early` held `by` positions
    before, 0 where there was none.
    """

    name: str
    late: str
    early: str
    by: int
    statement: str


@dataclass(frozen=True)
class Apart:
    """An invariant of the ideal run, assumed and named: positions whose register `group` holds the same number s ≥ 1 are at least
    `by` apart.
    """

    name: str
    group: str
    by: int
    statement: str


@dataclass(frozen=True)
class Limited:
    """An invariant of the ideal run, assumed and named: at each position the register `sum`, which a recurrence adds up, is at most
    `most`.
    """

    name: str
    sum: str
    most: Bound
    statement: str


Invariant = Consecutive | Delayed | Apart | Limited


@dataclass(frozen=True)
class Language:
    """Places, and the invariants that the runs of these inputs are known to keep.

    answers: names of the places where the next token matters; behind the last block nothing else is read.
    sizes: n lies in this interval. loose: registers of which the check keeps the bounds, and forgets what they depend on.
    """

    places: tuple[Place, ...]
    answers: frozenset[str]
    sizes: tuple[int, int]
    invariants: tuple[Invariant, ...] = ()
    loose: frozenset[str] = frozenset()

    def positions(self, place: Place) -> Integer:
        """Where such a token can stand."""
        low, high = self.range(place.low)[0], self.range(place.high)[1]
        return Integer(low, high, place.every).within(low, high)

    def range(self, bound: Bound) -> tuple[int, int]:
        """The least value of a lower bound and the largest of an upper one: at an end of the interval, as they are convex."""
        if not isinstance(bound, Polynomial):
            return bound, bound
        ends = [whole(bound.substitute({SIZE: constant(n)}).constant) for n in self.sizes]
        return min(ends), max(ends)


def edge_counts(most: Bound) -> Consecutive:
    """Of a simple graph: a vertex has at most n − 1 edges, and each is its own place among them."""
    statement = (
        "at each position, the records of a vertex so far have the counts 1/2, …, 1/(d + 1), each once, d ≤ n − 1"
    )
    return Consecutive("counts of one vertex", "self", "edge_count", most, statement)


def retrieval(task: str, n: int, length: int, query_length: int) -> Language:
    """`<s> s_1 … s_m ? query`, m ≤ length, numbers up to n; the query has `query_length` tokens."""
    every = (1, n)
    places = [
        Place("<s>", 1, 1, (), START),
        Place("sequence", 2, length + 1, (0, 1), numbers=every),
        Place("?", 2, length + 2, (0, 1), ASK),
    ]
    if task == "index":
        places[2] = Place("?", 3, length + 2, (1,), ASK)
        query = Place("query", 4, length + 3, (2,), numbers=(1, min(n, length)), behind=3)
        return Language((*places, query), frozenset(["query"]), (n, n))
    for i in range(1, query_length + 1):
        name = "query" if query_length == 1 else f"query {i}"
        low, high = 2 + i, length + 2 + i
        if task == "counting" and i == query_length:
            places.append(Place("threshold", low, high, (i + 1,), numbers=every))
            places.append(Place("threshold 0", low, high, (i + 1,), "0"))
        else:
            places.append(Place(name, low, high, (i + 1,), numbers=every))
    last = places[query_length + 2].name
    return Language(tuple(places), frozenset([last, f"{last} 0"] if task == "counting" else [last]), (n, n))


def searching(prompt: Language, script: Script, families: Sequence[Family]) -> Language:
    """Prompts of a retrieval task, a search behind them as it is spelled, and its result: a word of the prompt, or FAILED.

    The numbers in the search are any that it can spell. What matters is the next token from the end of the prompt on.
    """
    of = {family.name: (family.low, family.high) for family in families}
    of_numbers = [replace(p, word="", numbers=(0, 0)) if p.word == "0" else p for p in prompt.places]
    places = [p if p.word else replace(p, family=PLAIN) for p in of_numbers]
    ends = [i for i, place in enumerate(places) if place.name in prompt.answers]
    low, high = min(prompt.range(places[i].low)[0] for i in ends), max(prompt.range(places[i].high)[1] for i in ends)
    after = tuple(ends)
    for j, item in enumerate(script, start=1):
        place = Place(f"search {j}", low + j, high + j, after)
        if isinstance(item, str):
            places.append(replace(place, word=item))
        else:
            family = PLAIN if item.spelled == "%d" else REPEAT
            places.append(replace(place, numbers=of[family], family=family))
        after = (len(places) - 1,)
    result = Place("result", low + len(script) + 1, high + len(script) + 1, after)
    places.append(replace(result, numbers=of[PLAIN], family=PLAIN))
    places += [replace(result, name=f"result {word}", word=word) for word in (START, ASK, FAILED)]
    answers = {*prompt.answers, *(place.name for place in places[len(prompt.places) :])}
    return replace(prompt, places=tuple(places), answers=frozenset(answers))


def istree(low: int, high: int, layout: Layout = "paper") -> Language:
    """A prompt of up to n(n − 1)/2 edges `a ~ b`, and behind it up to 2n − 1 vertices of a chain of thought.

    Layout `paper`: behind n − 1 edges. Layout `eos`: behind any number, and [EOS] behind both.
    For every n from low to high, low at least 2.
    """
    words = LAYOUTS[layout]
    n = constant(low) if low == high else atom(SIZE)
    last = (n * n - n) * Fraction(3, 2)  # of the prompt, less <s>
    every = (1, n)
    places = [
        Place(words.start, 1, 1, (), words.start),
        Place("first endpoint", 2, last - 1, (0, 3), numbers=every, every=3),
        Place(words.joint, 3, last, (1,), words.joint, every=3),
        Place("second endpoint", 4, last + 1, (2,), numbers=every, every=3),
    ]
    end = words.end_of_prompt
    if end is None:
        places += [
            Place("thought 1", n * 3 - 1, n * 3 - 1, (3,), numbers=every),
            Place("thought", n * 3, n * 5 - 2, (4, 5), numbers=every),
        ]
    else:
        places += [
            Place(f"{end} of the prompt", 2, last + 2, (0, 3), end),
            Place("thought 1", 3, last + 3, (4,), numbers=every),
            Place("thought", 4, last + n * 2 + 1, (5, 6), numbers=every),
            Place(f"{end} of the thought", 4, last + n * 2 + 2, (5, 6), end),
        ]
    answers = frozenset(place.name for place in places)
    return Language(tuple(places), answers, (low, high), (edge_counts(n - 1),))
