"""Which token sequences a certificate speaks of: places in a sequence, and which place may stand behind which.

A place is a state of a finite automaton, with bounds of its position and of its token's number. This is all that is assumed of an
input; it is part of the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

from constructions.retrieval.task import ASK, START


@dataclass(frozen=True)
class Place:
    """Positions low … high, where the token is `word`, or a number in `numbers`; behind one of the places `after`.

    behind: if given, the number is at most its position minus this.
    """

    name: str
    low: int
    high: int
    after: tuple[int, ...]
    word: str = ""
    numbers: tuple[int, int] = (0, 0)
    behind: int | None = None


@dataclass(frozen=True)
class Consecutive:
    """An invariant of the ideal run, assumed and named: for each number s ≥ 1 and at each position, the positions up to it whose
    register `group` holds s have 1/2, 1/3, …, 1/(d + 1) in `count`, each once, for some d from 0 to `most`.
    """

    name: str
    group: str
    count: str
    most: int
    statement: str


@dataclass(frozen=True)
class Language:
    """Places, and the invariants that the runs of these inputs are known to keep.

    answers: names of the places where the next token matters; behind the last block nothing else is read.
    """

    places: tuple[Place, ...]
    answers: frozenset[str]
    invariants: tuple[Consecutive, ...] = ()


def edge_counts(n: int) -> Consecutive:
    """Of a simple graph: a vertex has at most n − 1 edges, and each is its own place among them."""
    statement = (
        "at each position, the records of a vertex so far have the counts 1/2, …, 1/(d + 1), each once, d ≤ n − 1"
    )
    return Consecutive("counts of one vertex", "self", "edge_count", n - 1, statement)


def retrieval(task: str, n: int, length: int, asked: int) -> Language:
    """`<s> s_1 … s_m ? query`, m ≤ length, numbers up to n; the query has `asked` tokens."""
    every = (1, n)
    places = [
        Place("<s>", 1, 1, (), START),
        Place("sequence", 2, length + 1, (0, 1), numbers=every),
        Place("?", 2, length + 2, (0, 1), ASK),
    ]
    if task == "index":
        places[2] = Place("?", 3, length + 2, (1,), ASK)
        query = Place("query", 4, length + 3, (2,), numbers=(1, min(n, length)), behind=3)
        return Language((*places, query), frozenset(["query"]))
    for i in range(1, asked + 1):
        name = "query" if asked == 1 else f"query {i}"
        low, high = 2 + i, length + 2 + i
        if task == "counting" and i == asked:
            places.append(Place("threshold", low, high, (i + 1,), numbers=every))
            places.append(Place("threshold 0", low, high, (i + 1,), "0"))
        else:
            places.append(Place(name, low, high, (i + 1,), numbers=every))
    last = places[asked + 2].name
    return Language(tuple(places), frozenset([last, f"{last} 0"] if task == "counting" else [last]))


def istree(n: int) -> Language:
    """`<s> a ~ b a ~ b …`, up to n(n − 1)/2 edges, and behind n − 1 of them up to 2n − 1 vertices of a chain of thought."""
    edges, every, prompt = n * (n - 1) // 2, (1, n), 3 * n - 2
    start = Place("<s>", 1, 1, (), START)
    if n == 1:
        thought = Place("thought 1", 2, 2, (0,), numbers=every)
        return Language((start, thought), frozenset([start.name, thought.name]))
    places = (
        start,
        Place("first endpoint", 2, 3 * edges - 1, (0, 3), numbers=every),
        Place("~", 3, 3 * edges, (1,), "~"),
        Place("second endpoint", 4, 3 * edges + 1, (2,), numbers=every),
        Place("thought 1", prompt + 1, prompt + 1, (3,), numbers=every),
        Place("thought", prompt + 2, prompt + 2 * n - 1, (4, 5), numbers=every),
    )
    return Language(places, frozenset(place.name for place in places), (edge_counts(n),))
